//! The notation of the table of rules, line by line; the head of `isa/ptx.txt` describes it.

use super::rule::{self, Group, Rule, Scope};
use super::table::{Beyond, Rules};
use super::target::Target;

impl Rules {
    pub(super) fn line(&mut self, line: &str, number: usize) -> std::result::Result<(), String> {
        let (first, rest) = line.trim_start().split_once(' ').unwrap_or((line, ""));
        match first {
            "targets" => {
                for word in rest.split_whitespace() {
                    let target =
                        Target::read(word).ok_or_else(|| format!("'{word}' is no target"))?;
                    self.targets.push(target);
                }
            }
            "family" => {
                let (name, members) = rest.split_once('=').ok_or("a family is NAME = NUMBERS")?;
                let number = |text: &str| {
                    let number = text.trim().parse::<u32>();
                    number.map_err(|_| format!("'{text}' is no SM number"))
                };
                let members: std::result::Result<_, _> =
                    members.split_whitespace().map(number).collect();
                self.families.push((number(name)?, members?));
            }
            "group" => {
                let (name, members) = rest.split_once('=').ok_or("a group is NAME = TARGETS")?;
                let scopes = self.scopes(members)?;
                self.sets.insert(name.trim().to_owned(), scopes);
            }
            "never" => {
                let (opcodes, reason) = rest.split_once('|').ok_or("never is OPCODES | REASON")?;
                for opcode in opcodes.split_whitespace() {
                    self.never
                        .insert(opcode.to_owned(), (reason.trim().to_owned(), number));
                }
            }
            "beyond" => {
                let fields: Vec<&str> = rest.split('|').map(str::trim).collect();
                let &[opcodes, words, reason] = &fields[..] else {
                    return Err("beyond is OPCODES | WORDS | REASON".to_owned());
                };
                let list = |text: &str| text.split_whitespace().map(str::to_owned).collect();
                self.beyond.push(Beyond {
                    opcodes: list(opcodes),
                    words: list(words),
                    reason: reason.to_owned(),
                });
            }
            "note" => {
                let rule = self.rules.last_mut().ok_or("a note belongs to a rule")?;
                rule.notes.push(rest.to_owned());
            }
            _ => self.rule(line, number)?,
        }
        Ok(())
    }

    fn rule(&mut self, line: &str, number: usize) -> std::result::Result<(), String> {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[opcodes, modifiers, types, operands, targets] = &fields[..] else {
            return Err("a rule is OPCODES | MODIFIERS | TYPES | OPERANDS | TARGETS".to_owned());
        };
        let opcodes: Vec<String> = opcodes.split_whitespace().map(str::to_owned).collect();
        let groups = groups(modifiers)?;
        let types: Vec<Vec<String>> = types.split_whitespace().flat_map(sequences).collect();
        let count = |text: &str| {
            text.trim()
                .parse()
                .map_err(|_| format!("'{text}' is no number"))
        };
        let operands = match operands {
            "*" => Vec::new(),
            list => list
                .split(',')
                .map(count)
                .collect::<std::result::Result<_, _>>()?,
        };
        self.opcodes.extend(opcodes.iter().cloned());
        self.modifiers
            .extend(groups.iter().flat_map(|group| group.words.iter().cloned()));
        self.types.extend(types.iter().flatten().cloned());
        self.rules.push(Rule {
            opcodes,
            groups,
            types,
            operands,
            scopes: self.scopes(targets)?,
            text: line.to_owned(),
            line: number,
            notes: Vec::new(),
        });
        Ok(())
    }

    fn scopes(&self, words: &str) -> std::result::Result<Vec<Scope>, String> {
        let mut scopes = Vec::new();
        for word in words.split_whitespace() {
            let found = match self.sets.get(word) {
                Some(set) => Some(set.clone()),
                None => rule::scopes(word, &self.families, &self.targets),
            };
            scopes.extend(found.ok_or_else(|| format!("'{word}' is no group of targets"))?);
        }
        Ok(scopes)
    }
}

/// The groups of a rule's modifiers: `(a b)`, `[a b]` or a plain word.
fn groups(text: &str) -> std::result::Result<Vec<Group>, String> {
    let mut groups = Vec::new();
    let mut rest = text.trim();
    if rest == "-" {
        return Ok(groups);
    }
    while let Some(first) = rest.chars().next() {
        let close = match first {
            '(' => ')',
            '[' => ']',
            _ => ' ',
        };
        let (words, after) = if close == ' ' {
            rest.split_once(' ').unwrap_or((rest, ""))
        } else {
            rest[1..]
                .split_once(close)
                .ok_or_else(|| format!("'{first}' is never closed"))?
        };
        groups.push(Group {
            required: first != '[',
            words: words.split_whitespace().map(str::to_owned).collect(),
        });
        rest = after.trim_start();
    }
    Ok(groups)
}

/// Every sequence of types that a word with alternatives stands for.
fn sequences(word: &str) -> Vec<Vec<String>> {
    if word == "-" {
        return vec![Vec::new()];
    }
    let mut parts = Vec::new();
    let (mut part, mut depth) = (String::new(), 0);
    for letter in word.chars() {
        match letter {
            '.' if depth == 0 => parts.push(std::mem::take(&mut part)),
            _ => {
                depth += i32::from(letter == '{') - i32::from(letter == '}');
                part.push(letter);
            }
        }
    }
    parts.push(part);
    parts.iter().fold(vec![Vec::new()], |sequences, part| {
        let names: Vec<&str> = part.trim_matches(['{', '}']).split(',').collect();
        let with = |sequence: &Vec<String>, name: &str| {
            let mut longer = sequence.clone();
            longer.push(name.to_owned());
            longer
        };
        sequences
            .iter()
            .flat_map(|sequence| {
                names
                    .iter()
                    .map(|name| with(sequence, name))
                    .collect::<Vec<_>>()
            })
            .collect()
    })
}
