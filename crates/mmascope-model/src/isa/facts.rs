//! The facts of a catalogue as lines, so that two states of it can be compared.

use std::collections::BTreeMap;

use super::{Architecture, Catalogue, Instruction, Model};

impl Catalogue {
    /// What the catalogue states, as text that stays the same while no fact changes: an architecture a line, below it
    /// each arithmetic with its evidence, below that the instructions, in alphabetical order. Instructions without a model are
    /// counted by reason.
    ///
    /// ```
    /// use mmascope_model::isa::Catalogue;
    /// let facts = Catalogue::built_in().facts();
    /// assert!(facts.contains("\nvolta\n") && facts.contains("\n  t-fdpa L=4 F=23 e0=-131 -> rz f32"));
    /// ```
    #[must_use]
    pub fn facts(&self) -> String {
        let mut out = String::from("facts of the catalogue\n");
        for architecture in self.architectures() {
            architecture.write_facts(&mut out);
        }
        out
    }

    /// What differs from facts that [`Catalogue::facts`] gave before, a line each: `+` is new, `-` is gone, `~` has changed.
    #[must_use]
    pub fn facts_since(&self, before: &str) -> Vec<String> {
        let now = self.facts();
        let (before, now) = (read(before), read(&now));
        let mut lines = Vec::new();
        for ((architecture, name), fact) in &now {
            match before.get(&(*architecture, *name)) {
                None => lines.push(format!("+ {architecture} {name}: {fact}")),
                Some(then) if then != fact => {
                    lines.push(format!("~ {architecture} {name}: {then} => {fact}"));
                }
                Some(_) => {}
            }
        }
        for ((architecture, name), then) in &before {
            if !now.contains_key(&(*architecture, *name)) {
                lines.push(format!("- {architecture} {name}: {then}"));
            }
        }
        lines
    }
}

/// Every instruction with its arithmetic and evidence, and every reason why some have no model with their number, from a
/// text of facts.
fn read(text: &str) -> BTreeMap<(&str, &str), &str> {
    let mut found = BTreeMap::new();
    let (mut architecture, mut heading) = ("", "");
    for line in text.lines().skip(1) {
        if let Some(name) = line.strip_prefix("    ") {
            found.insert((architecture, name), heading);
        } else if let Some(words) = line.strip_prefix("  ") {
            heading = words;
            if let Some((count, reason)) = unmodelled(words) {
                found.insert((architecture, reason), count);
            }
        } else {
            architecture = line;
        }
    }
    found
}

/// The number and the reason of a line about instructions without a model.
fn unmodelled(words: &str) -> Option<(&str, &str)> {
    words.strip_prefix("unmodelled ")?.split_once(": ")
}

impl Architecture {
    fn write_facts(&self, out: &mut String) {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        let mut add = |heading: String, name: Option<String>| {
            let at = groups.iter().position(|(known, _)| *known == heading);
            let at = at.unwrap_or_else(|| {
                groups.push((heading, Vec::new()));
                groups.len() - 1
            });
            groups[at].1.extend(name);
        };
        let mut unmodelled: Vec<(&str, usize)> = Vec::new();
        for row in self.instructions() {
            match &row.model {
                Model::Known(unit) => {
                    let heading = format!("{} | {}", unit.program(), row.evidence);
                    add(heading, Some(named(row)));
                }
                Model::Unmodelled(reason) => {
                    match unmodelled.iter_mut().find(|(known, _)| known == reason) {
                        Some((_, count)) => *count += 1,
                        None => unmodelled.push((reason, 1)),
                    }
                }
            }
        }
        for (reason, count) in unmodelled {
            add(format!("unmodelled {count}: {reason}"), None);
        }
        groups.sort();
        *out += &format!("{}\n", self.name);
        for (heading, mut names) in groups {
            names.sort();
            *out += &format!("  {heading}\n");
            for name in names {
                *out += &format!("    {name}\n");
            }
        }
    }
}

/// A row by its name, with its operands where the name leaves them open.
fn named(row: &Instruction) -> String {
    format!("{} ({})", row.name, row.signature)
}
