//! The verdict of `check` on discriminating lines: which neighbours of the model explain every answer.

use serde_json::{Value, json};

use mmascope::discriminate::neighbours;
use mmascope::dpa::{Modifiers, OperandWords, Unit};
use mmascope::isa::Instruction;
use mmascope::vector::{Answer, Vector};

/// The most lines of an instruction that a verdict weighs; a pack has a few dozen.
const MOST_LINES: usize = 4096;
/// Neighbours that are named.
const NAMED: usize = 6;

/// Discriminating lines, instruction by instruction.
#[derive(Default)]
pub(super) struct Packs<'c>(Vec<Pack<'c>>);

/// The lines of one instruction.
struct Pack<'c> {
    instruction: &'c Instruction,
    lines: Vec<(OperandWords, Modifiers, Answer)>,
    /// Lines beyond those that are weighed.
    left_out: usize,
}

/// What the answers of one instruction fit.
pub(super) struct Verdict {
    arch: String,
    inst: String,
    lines: usize,
    left_out: usize,
    /// How many lines the model itself explains.
    model: usize,
    /// Neighbours with the lines that each explains, the best first.
    neighbours: Vec<(String, usize)>,
}

impl<'c> Packs<'c> {
    /// Takes a line if it is one of a discriminating pack.
    pub(super) fn add(&mut self, text: &str, vector: &Vector<'c>, answer: &Answer) {
        if !is_discriminating(text) || !vector.is_single() {
            return;
        }
        let same = |pack: &&mut Pack<'c>| std::ptr::eq(pack.instruction, vector.instruction);
        let pack = match self.0.iter_mut().find(same) {
            Some(pack) => pack,
            None => {
                self.0.push(Pack {
                    instruction: vector.instruction,
                    lines: Vec::new(),
                    left_out: 0,
                });
                let Some(last) = self.0.last_mut() else {
                    return;
                };
                last
            }
        };
        if pack.lines.len() < MOST_LINES {
            let words = vector.words.clone();
            pack.lines.push((words, vector.modifiers, *answer));
        } else {
            pack.left_out += 1;
        }
    }

    /// What the answers fit.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.0.iter().filter_map(Pack::verdict).collect()
    }
}

impl Pack<'_> {
    fn verdict(&self) -> Option<Verdict> {
        let unit = self.instruction.unit().ok()?;
        let mut explained: Vec<(String, usize)> = neighbours(unit)
            .into_iter()
            .map(|(name, unit)| (name, self.explained_by(&unit)))
            .collect();
        // A change of one parameter is the simpler explanation. Of several at once there are F with e0, and F with F2.
        let is_of_two = |name: &str| name.contains(" e0=") || name.contains(" floor=");
        explained.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), is_of_two(name)));
        Some(Verdict {
            arch: self.instruction.architecture.clone(),
            inst: self.instruction.name.clone(),
            lines: self.lines.len(),
            left_out: self.left_out,
            model: self.explained_by(unit),
            neighbours: explained,
        })
    }

    /// How many answers are those of a unit.
    fn explained_by(&self, unit: &Unit) -> usize {
        let explains = |(words, modifiers, answer): &&(OperandWords, Modifiers, Answer)| {
            let Ok(got) = unit.dot(&words.operands(), modifiers) else {
                return false;
            };
            match answer {
                Answer::AnyNan => unit.is_nan(got),
                Answer::Word(expected) => unit.agrees(*expected, got),
            }
        };
        self.lines.iter().filter(explains).count()
    }
}

impl Verdict {
    /// The neighbours that explain every line.
    fn fitting(&self) -> Vec<&str> {
        let all = self.neighbours.iter();
        all.filter(|(_, count)| *count == self.lines)
            .map(|(name, _)| &**name)
            .collect()
    }

    /// The verdict in one line; several packs are told apart by their instructions.
    pub(super) fn line(&self, is_alone: bool) -> String {
        let text = self.text(is_alone);
        match self.left_out {
            0 => text,
            more => format!(
                "{text} (the first {} lines were weighed, {more} more were not)",
                self.lines
            ),
        }
    }

    fn text(&self, is_alone: bool) -> String {
        let row = format!("{}:{}", self.arch, self.inst);
        let fitting = self.fitting();
        let text = if self.model == self.lines {
            let others = match &fitting[..] {
                [] => "no neighbour explains all lines as well".to_owned(),
                names => format!("{} cannot be told from it by these lines", listed(names)),
            };
            return format!("these answers fit {row}; {others}");
        } else if let Some((best, others)) = fitting.split_first() {
            match others {
                [] => format!("these answers fit {best}"),
                others => format!("these answers fit {best}; they fit {} too", listed(others)),
            }
        } else {
            let lines = match self.lines {
                1 => "the only line".to_owned(),
                many => format!("all {many} lines"),
            };
            let best = self.neighbours.first().map_or(0, |(_, count)| *count);
            if best <= self.model {
                format!(
                    "no neighbour explains {lines}; none explains more than the model, which explains {} (`infer` looks \
                     further, and asks the device itself)",
                    self.model
                )
            } else {
                let nearest = self.neighbours.iter().filter(|(_, count)| *count == best);
                let names: Vec<&str> = nearest.map(|(name, _)| &**name).collect();
                let explain = if names.len() == 1 {
                    "explains"
                } else {
                    "explain"
                };
                format!(
                    "no neighbour explains {lines}; the nearest, {}, {explain} {best} (`infer` looks further, and asks the \
                     device itself)",
                    listed(&names)
                )
            }
        };
        match is_alone {
            true => text,
            false => format!("{row}: {text}"),
        }
    }

    pub(super) fn json(&self) -> Value {
        let nearest: Vec<Value> = self
            .neighbours
            .iter()
            .take(NAMED)
            .map(|(name, count)| json!({"neighbour": name, "explained": count}))
            .collect();
        json!({
            "arch": self.arch,
            "inst": self.inst,
            "lines": self.lines,
            "left_out": self.left_out,
            "model": self.model,
            "fits": self.fitting(),
            "nearest": nearest,
        })
    }
}

/// Names in a sentence, the first few of many; runs of numbers are one name.
fn listed(names: &[&str]) -> String {
    let names = in_ranges(names);
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => match shown.rsplit_once(", ") {
            Some((before, last)) => format!("{before} and {last}"),
            None => shown,
        },
        more => format!("{shown} and {more} more"),
    }
}

/// `e0=-5`, `e0=-4`, `e0=-3` and so on as `e0=-5..-3`: names that differ in a number alone, three or more that
/// follow each other.
fn in_ranges(names: &[&str]) -> Vec<String> {
    let numbered = |name: &str| -> Option<(String, i64)> {
        let (key, value) = name.rsplit_once('=')?;
        Some((key.to_owned(), value.parse().ok()?))
    };
    let follows = |left: &&str, right: &&str| match (numbered(left), numbered(right)) {
        (Some((key, value)), Some((other, next))) => key == other && value + 1 == next,
        _ => false,
    };
    let mut found = Vec::new();
    for run in names.chunk_by(follows) {
        match (run, run.last().and_then(|last| numbered(last))) {
            ([first, _, _, ..], Some((_, last))) => found.push(format!("{first}..{last}")),
            _ => found.extend(run.iter().map(ToString::to_string)),
        }
    }
    found
}

/// Whether a line says that it is one of a discriminating pack.
fn is_discriminating(text: &str) -> bool {
    // Most lines are not: they are not parsed a second time.
    text.contains("discriminating")
        && serde_json::from_str::<Value>(text).is_ok_and(|line| line["kind"] == "discriminating")
}

/// A line without its list of neighbours, which may be kilobytes.
pub(super) fn without_neighbours(line: &str) -> String {
    const KEY: &str = ",\"separates\":";
    let Some(at) = line.find(KEY) else {
        return line.to_owned();
    };
    let rest = &line[at + KEY.len()..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => format!("{}{}", &line[..at], &rest[values.byte_offset()..]),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn numbers_that_follow_each_other_are_one_name() {
        let names = [
            "e0=-5",
            "e0=-4",
            "e0=-3",
            "e0=-1",
            "F=1",
            "F=2",
            "F=25 e0=-131",
            "sticky=kept",
        ];
        assert_eq!(
            listed(&names),
            "e0=-5..-3, e0=-1, F=1, F=2, F=25 e0=-131 and sticky=kept"
        );
        assert_eq!(listed(&["F=21"]), "F=21");
    }
}
