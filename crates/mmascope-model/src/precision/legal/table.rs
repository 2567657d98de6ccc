//! The table of rules: reading `isa/ptx.txt`, and the answer for a form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::form::InstructionForm;
use super::rule::{Miss, Rule, Scope};
use super::target::Target;
use super::{Finding, Legality};
use crate::error::{Error, Position, Result, quoted};

/// The text of the shipped rules.
const TEXT: &str = include_str!("../../../isa/ptx.txt");
/// Its name in messages.
const FILE: &str = "ptx.txt";

/// All rules, and the words that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub(super) targets: Vec<Target>,
    pub(super) families: Vec<(u32, Vec<u32>)>,
    pub(super) sets: BTreeMap<String, Vec<Scope>>,
    pub(super) rules: Vec<Rule>,
    /// Opcodes that PTX does not have, with the reason and the line.
    pub(super) never: BTreeMap<String, (String, usize)>,
    pub(super) beyond: Vec<Beyond>,
    pub(super) opcodes: BTreeSet<String>,
    pub(super) modifiers: BTreeSet<String>,
    pub(super) types: BTreeSet<String>,
}

/// Forms that the rules do not judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beyond {
    pub(super) opcodes: Vec<String>,
    /// Words that make a form one of these; with a dot in front at the end alone.
    pub(super) words: Vec<String>,
    pub(super) reason: String,
}

/// The shipped table is read once; a test reads it too, so it has no errors.
static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| Rules::read(FILE, TEXT).unwrap_or_default());

impl Rules {
    /// The shipped rules.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The text of the shipped rules.
    #[must_use]
    pub fn built_in_text() -> &'static str {
        TEXT
    }

    /// Reads a table; its notation is described at the head of `isa/ptx.txt`.
    ///
    /// # Errors
    /// [`Error::Text`] with the line.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let mut rules = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim_end();
            if line.is_empty() {
                continue;
            }
            rules
                .line(line, number + 1)
                .map_err(|message| Error::Text {
                    position: Position {
                        file: file.to_owned(),
                        line: number + 1,
                        column: 1,
                    },
                    message,
                })?;
        }
        Ok(rules)
    }

    /// Every target that the rules speak of.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The target of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest targets.
    pub fn target(&self, name: &str) -> Result<Target> {
        let known = || self.targets.iter().copied();
        match name.parse::<Target>() {
            Ok(target) if self.targets.contains(&target) => Ok(target),
            Ok(target) if known().all(|other| other.sm > target.sm) => {
                let first = known().map(|other| other.sm).min().unwrap_or(0);
                Err(Error::Argument(format!(
                    "unknown target '{}'; targets start at sm_{first}",
                    quoted(name)
                )))
            }
            _ => Err(super::target::unknown(name, known())),
        }
    }

    /// How many operands a form takes, where one number is right for it.
    #[must_use]
    pub fn operands(&self, form: &InstructionForm) -> Option<usize> {
        let mut concerned = self.rules.iter().filter(|rule| rule.concerns(form));
        let rule = concerned
            .clone()
            .find(|rule| rule.miss(form).size() == 0)
            .or_else(|| concerned.next())?;
        rule.operands.first().copied()
    }

    /// Takes an instruction apart.
    ///
    /// # Errors
    /// As [`Legality::of`].
    pub fn form(&self, text: &str) -> Result<InstructionForm> {
        InstructionForm::read(text, self)
    }

    pub(super) fn has_opcode(&self, name: &str) -> bool {
        self.opcodes.contains(name) || self.never.contains_key(name)
    }

    /// Why the rules do not judge an instruction with these words, if they do not.
    pub(super) fn beyond(&self, opcode: &str, words: &[&str]) -> Option<&str> {
        let is_there = |known: &String| match known.strip_prefix('.') {
            Some(last) => words.last() == Some(&last),
            None => words.contains(&known.as_str()),
        };
        let found = self.beyond.iter().find(|beyond| {
            beyond.opcodes.iter().any(|known| known == opcode) && beyond.words.iter().any(is_there)
        });
        found.map(|beyond| beyond.reason.as_str())
    }

    pub(super) fn opcodes(&self) -> impl Iterator<Item = &String> {
        self.opcodes.iter()
    }

    pub(super) fn is_type(&self, word: &str) -> bool {
        self.types.contains(word)
    }

    pub(super) fn is_modifier(&self, word: &str) -> bool {
        self.modifiers.contains(word) || ALSO_KNOWN.contains(&word)
    }

    /// The modifiers and types of one opcode.
    pub(super) fn words_of(&self, opcode: &str) -> impl Iterator<Item = &str> {
        let own = self
            .rules
            .iter()
            .filter(|rule| rule.opcodes.iter().any(|known| known == opcode));
        let words = own.flat_map(|rule| {
            let modifiers = rule.groups.iter().flat_map(|group| &group.words);
            modifiers.chain(rule.types.iter().flatten())
        });
        words
            .map(String::as_str)
            .collect::<BTreeSet<&str>>()
            .into_iter()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.modifiers.iter().chain(&self.types).map(String::as_str);
        words.chain(ALSO_KNOWN.iter().copied())
    }

    /// The targets of an instruction.
    ///
    /// # Errors
    /// As [`Legality::of`].
    pub fn legality(&'static self, text: &str) -> Result<Legality> {
        let form = InstructionForm::read(text, self)?;
        if let Some((reason, line)) = self.never.get(&form.opcode) {
            let finding = Finding {
                text: format!("{}: {reason}", form.opcode),
                rule: format!("{FILE}:{line}"),
            };
            return Ok(self.answer(form, Vec::new(), vec![finding]));
        }
        let concerned = |rule: &&Rule| rule.concerns(&form) && rule.takes_operands(&form);
        let rules: Vec<&Rule> = self
            .rules
            .iter()
            .filter(concerned)
            .filter(|rule| rule.miss(&form).size() == 0)
            .collect();
        let findings = if rules.is_empty() {
            vec![self.why_never(&form)?]
        } else {
            let notes = rules.iter().flat_map(|rule| {
                rule.notes.iter().map(move |note| Finding {
                    text: note.clone(),
                    rule: place(rule),
                })
            });
            notes.collect()
        };
        Ok(self.answer(form, rules, findings))
    }

    /// The targets that take a form, a bit for each of [`Self::targets`].
    pub(crate) fn reach(&self, form: &InstructionForm) -> u64 {
        let fit = |rule: &&Rule| {
            rule.concerns(form) && rule.takes_operands(form) && rule.miss(form).size() == 0
        };
        let fitting: Vec<&Rule> = self.rules.iter().filter(fit).collect();
        let targets = self.targets.iter().enumerate();
        targets
            .filter(|(_, target)| fitting.iter().any(|rule| rule.reaches(**target)))
            .fold(0, |bits, (place, _)| bits | 1 << place)
    }

    /// Why no rule takes a form, for people, and by how many modifiers it misses the nearest rule of its types; `None`
    /// where no rule has its types.
    pub(crate) fn reason(&self, form: &InstructionForm) -> Option<(usize, String)> {
        let concerned = self.rules.iter().filter(|rule| rule.concerns(form));
        let size = concerned.map(|rule| rule.miss(form).size()).min()?;
        let finding = self.why_never(form).ok()?;
        Some((size, finding.text))
    }

    fn answer(
        &'static self,
        form: InstructionForm,
        rules: Vec<&'static Rule>,
        findings: Vec<Finding>,
    ) -> Legality {
        let reached = |&target: &Target| (target, rules.iter().any(|rule| rule.reaches(target)));
        Legality {
            targets: self.targets.iter().map(reached).collect(),
            form,
            rules,
            findings,
        }
    }

    /// Why no rule takes a form: the nearest rule, and what is between them.
    fn why_never(&self, form: &InstructionForm) -> Result<Finding> {
        let of_opcode = || {
            self.rules
                .iter()
                .filter(|rule| rule.opcodes.contains(&form.opcode))
        };
        let of_types = || of_opcode().filter(|rule| rule.types.contains(&form.types));
        let written = form.types.join(".");
        if of_types().next().is_none() {
            let mut known: Vec<String> = of_opcode()
                .flat_map(|rule| rule.types.iter().map(|types| types.join(".")))
                .collect();
            known.sort();
            known.dedup();
            if form.types.is_empty() {
                return Err(Error::Argument(format!(
                    "instruction '{}': a type is missing; {} takes {}",
                    quoted(&form.to_string()),
                    form.opcode,
                    listed(&known)
                )));
            }
            let line = of_opcode().next().map_or(String::new(), place);
            return Ok(Finding {
                text: format!(
                    "{} does not take the types .{written}; it takes {}",
                    form.opcode,
                    listed(&known)
                ),
                rule: line,
            });
        }
        let nearest = of_types()
            .map(|rule| (rule.miss(form), rule))
            .min_by_key(|(miss, _)| miss.size())
            .unwrap_or_else(|| (Miss::default(), &self.rules[0]));
        let (miss, rule) = nearest;
        let mut parts = Vec::new();
        for group in &miss.missing {
            let words: Vec<String> = group.iter().map(|word| format!("'.{word}'")).collect();
            parts.push(format!("modifier {} is required", words.join(" or ")));
        }
        for word in &miss.extra {
            parts.push(format!("modifier '.{word}' is illegal"));
        }
        if parts.is_empty() {
            let counts: Vec<String> = rule.operands.iter().map(ToString::to_string).collect();
            parts.push(format!(
                "it takes {} operands, not {}",
                counts.join(" or "),
                form.operands.unwrap_or(0)
            ));
        }
        Ok(Finding {
            text: format!(
                "{} with types .{written}: {}",
                form.opcode,
                parts.join("; ")
            ),
            rule: place(rule),
        })
    }
}

/// Words of PTX that no rule has, so that they are illegal and not unknown.
const ALSO_KNOWN: &[&str] = &["up", "down", "wide", "noftz"];

fn place(rule: &Rule) -> String {
    format!("{FILE}:{}", rule.line)
}

/// A list that people can read: at most a dozen names.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!(".{name}"))
        .collect();
    let more = if names.len() > 12 { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}
