//! One rule: which modifiers, types and operands an opcode takes on which targets.

use super::form::InstructionForm;
use super::target::{Suffix, Target};

/// A group of modifiers in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Whether one of them must stand there.
    pub(super) required: bool,
    /// The modifiers, at most one of which may stand there.
    pub(super) words: Vec<String>,
}

/// A piece of a rule's targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every target from this SM number on.
    From(u32),
    /// Exactly this one.
    Exactly(Target),
}

impl Scope {
    pub(super) fn contains(self, target: Target) -> bool {
        match self {
            Self::From(sm) => target.sm >= sm,
            Self::Exactly(one) => target == one,
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) opcodes: Vec<String>,
    pub(super) groups: Vec<Group>,
    pub(super) types: Vec<Vec<String>>,
    /// Allowed numbers of operands; any number when it is empty.
    pub(super) operands: Vec<usize>,
    pub(super) scopes: Vec<Scope>,
    /// The rule as it stands in the table.
    pub text: String,
    /// Its line in `ptx.txt`.
    pub line: usize,
    /// Notes about it.
    pub notes: Vec<String>,
}

/// How a form misses a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Miss {
    /// Required modifiers that are not there, each a group of alternatives.
    pub(super) missing: Vec<Vec<String>>,
    /// Modifiers that the rule does not have, or has twice.
    pub(super) extra: Vec<String>,
}

impl Miss {
    pub(super) fn size(&self) -> usize {
        self.missing.len() + self.extra.len()
    }
}

impl Rule {
    /// Whether the rule speaks of a form's opcode and types.
    pub(super) fn concerns(&self, form: &InstructionForm) -> bool {
        self.opcodes.contains(&form.opcode) && self.types.contains(&form.types)
    }

    /// Whether the number of operands fits, where any are written.
    pub(super) fn takes_operands(&self, form: &InstructionForm) -> bool {
        match form.operands {
            Some(count) => self.operands.is_empty() || self.operands.contains(&count),
            None => true,
        }
    }

    /// How the form's modifiers differ from the rule's.
    pub(super) fn miss(&self, form: &InstructionForm) -> Miss {
        let mut left: Vec<&String> = form.modifiers.iter().collect();
        let mut miss = Miss::default();
        for group in &self.groups {
            match left
                .iter()
                .position(|word| group.words.iter().any(|known| fits(known, word)))
            {
                Some(found) => {
                    left.remove(found);
                }
                None if group.required => miss.missing.push(group.words.clone()),
                None => {}
            }
        }
        miss.extra = left.into_iter().cloned().collect();
        miss
    }

    /// Whether this target is in the rule's scope.
    #[must_use]
    pub fn reaches(&self, target: Target) -> bool {
        self.scopes.iter().any(|scope| scope.contains(target))
    }

    /// Its targets in words: `sm_89 and later`, or their names.
    #[must_use]
    pub fn targets_in_words(&self) -> String {
        let known = super::Rules::built_in().targets();
        let reached: Vec<Target> = known
            .iter()
            .copied()
            .filter(|target| self.reaches(*target))
            .collect();
        let least = reached.iter().map(|target| target.sm).min().unwrap_or(0);
        let later = known.iter().filter(|target| target.sm >= least);
        if later.eq(&reached) {
            return format!("sm_{least} and later");
        }
        let names: Vec<String> = reached.iter().map(ToString::to_string).collect();
        names.join(", ")
    }

    /// The last field of the rule's text: its targets in the table's words.
    #[must_use]
    pub fn targets(&self) -> &str {
        self.text.rsplit('|').next().unwrap_or("").trim()
    }
}

/// Whether a word is a rule's word; `{8..256/8}` stands for every multiple of 8 from 8 to 256.
pub(super) fn fits(known: &str, word: &str) -> bool {
    let (Some(open), Some(close)) = (known.find('{'), known.find('}')) else {
        return known == word;
    };
    let range = || -> Option<bool> {
        let (first, rest) = known[open + 1..close].split_once("..")?;
        let (last, step) = rest.split_once('/')?;
        let (first, last, step): (u32, u32, u32) =
            (first.parse().ok()?, last.parse().ok()?, step.parse().ok()?);
        let digits = word
            .strip_prefix(&known[..open])?
            .strip_suffix(&known[close + 1..])?;
        let number: u32 = digits.parse().ok()?;
        let written = number.to_string() == digits;
        Some(
            written
                && (first..=last).contains(&number)
                && (number - first).is_multiple_of(step.max(1)),
        )
    };
    range().unwrap_or(false)
}

/// The scopes that one word of a rule's targets stands for, given the members of families.
pub(super) fn scopes(
    word: &str,
    families: &[(u32, Vec<u32>)],
    targets: &[Target],
) -> Option<Vec<Scope>> {
    if let Some(number) = word.strip_suffix('+') {
        return Some(vec![Scope::From(number.parse().ok()?)]);
    }
    if let Some(number) = word.strip_suffix('f') {
        let number: u32 = number.parse().ok()?;
        let (_, members) = families.iter().find(|(family, _)| *family == number)?;
        let specific =
            |target: &&Target| target.suffix != Suffix::None && members.contains(&target.sm);
        return Some(
            targets
                .iter()
                .filter(specific)
                .copied()
                .map(Scope::Exactly)
                .collect(),
        );
    }
    let suffix = if word.ends_with('a') {
        Suffix::Architecture
    } else {
        Suffix::None
    };
    let sm = word.strip_suffix('a').unwrap_or(word).parse().ok()?;
    let one = Target { sm, suffix };
    targets.contains(&one).then(|| vec![Scope::Exactly(one)])
}
