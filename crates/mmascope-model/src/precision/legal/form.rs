//! An instruction as written: opcode, modifiers, types and operands.

use std::fmt;

use super::Rules;
use crate::error::{Error, Result, quoted};

/// A PTX instruction taken apart. Modifiers keep the order in which they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionForm {
    /// The opcode, for example `cvt` or `tcgen05.mma`.
    pub opcode: String,
    /// What is no type: roundings, `.ftz`, shapes, kinds.
    pub modifiers: Vec<String>,
    /// The types, in the order in which they were written.
    pub types: Vec<String>,
    /// How many operands were written, if any were.
    pub operands: Option<usize>,
}

/// Words that belong to an opcode and say nothing about legality; they may be left out.
const SILENT: &[(&str, &[&str])] = &[
    ("mma", &["sync", "aligned", "row", "col"]),
    ("wgmma.mma_async", &["sync", "aligned"]),
];

/// Words that stand behind the types.
const LAST: &[&str] = &["xor", "and", "popc"];

impl InstructionForm {
    /// Reads an instruction, with or without operands: `cvt.rn.satfinite.e4m3x2.f32 h2,f0,f1`.
    ///
    /// A text that begins with a shape is a matrix instruction: `m16n8k16.row.col.f32.f16.f16.f32` is
    /// `mma.sync`, `m64n8k32.f32.e4m3.e4m3` is `wgmma`.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::Unknown`] naming the part that is no opcode, modifier or type.
    pub(super) fn read(text: &str, rules: &Rules) -> Result<Self> {
        let text = text.trim().trim_end_matches(';').trim();
        let text = text.strip_suffix("[f16acc]").unwrap_or(text).trim();
        let (name, operands) = match text.split_once(char::is_whitespace) {
            Some((name, operands)) => (name, Some(count(text, operands)?)),
            None => (text, None),
        };
        let mut words: Vec<&str> = name.split('.').collect();
        if words.contains(&"") {
            return Err(Error::Argument(format!(
                "instruction '{}': an empty word; it is OPCODE.MODIFIER….TYPE…, for example add.rn.ftz.f32",
                quoted(text)
            )));
        }
        let opcode = match opcode(&words, rules) {
            Some((opcode, length)) => {
                words.drain(..length);
                opcode
            }
            None if is_shape(words[0]) && words[0].starts_with("m64n") => {
                "wgmma.mma_async".to_owned()
            }
            None if is_shape(words[0]) => "mma".to_owned(),
            None => {
                return Err(unknown(
                    "opcode",
                    words[0],
                    rules.opcodes(),
                    rules.opcodes(),
                ));
            }
        };
        if let Some(reason) = rules.beyond(&opcode, &words) {
            return Err(Error::Unmodelled {
                name: quoted(text),
                reason: reason.to_owned(),
            });
        }
        let silent = SILENT.iter().find(|(of, _)| *of == opcode);
        let layouts = |word: &&str| ["row", "col"].contains(word);
        let usual = words.iter().copied().filter(layouts).eq(["row", "col"]);
        words.retain(|word| {
            let known = silent.is_some_and(|(_, silent)| silent.contains(word));
            !known || (layouts(word) && !usual)
        });
        let (types, modifiers): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|word| rules.is_type(word));
        for modifier in &modifiers {
            if !rules.is_modifier(modifier) && !is_shape(modifier) {
                let own = rules.words_of(&opcode);
                return Err(unknown("modifier or type", modifier, rules.words(), own));
            }
        }
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        Ok(Self {
            opcode,
            modifiers: owned(modifiers),
            types: owned(types),
            operands,
        })
    }
}

/// A word that nobody knows, with the nearest known ones, or with what is allowed where none is near.
fn unknown(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = impl AsRef<str>>,
    all: impl Iterator<Item = impl AsRef<str>>,
) -> Error {
    match Error::unknown(what, name, known) {
        Error::Unknown {
            what,
            name,
            nearest,
            allowed,
            elsewhere,
        } if nearest.is_empty() && allowed.is_empty() => Error::Unknown {
            what,
            name,
            nearest,
            allowed: all.map(|word| word.as_ref().to_owned()).collect(),
            elsewhere,
        },
        error => error,
    }
}

/// The longest opcode that the words begin with, and its number of words. `wgmma` alone is short for the
/// one instruction of that name.
fn opcode(words: &[&str], rules: &Rules) -> Option<(String, usize)> {
    let known = (1..=words.len().min(3)).rev().find_map(|length| {
        let name = words[..length].join(".");
        rules.has_opcode(&name).then_some((name, length))
    });
    known.or_else(|| (words[0] == "wgmma").then(|| ("wgmma.mma_async".to_owned(), 1)))
}

/// Whether a word is a shape of the form `m16n8k16`.
fn is_shape(word: &str) -> bool {
    let mut rest = word;
    ["m", "n", "k"].iter().all(|letter| {
        let Some(after) = rest.strip_prefix(letter) else {
            return false;
        };
        rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        rest.len() < after.len()
    }) && rest.is_empty()
}

/// The number of operands in a list; braces and brackets keep theirs together.
fn count(text: &str, operands: &str) -> Result<usize> {
    let wrong = |what: &str| {
        let text = quoted(text);
        Err(Error::Argument(format!("instruction '{text}': {what}")))
    };
    let (mut open, mut commas) = (Vec::new(), 0);
    let mut empty = true;
    for letter in operands.trim().chars() {
        match letter {
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.pop() != Some(letter) => {
                return wrong("a bracket of the operands closes nothing");
            }
            ',' if open.is_empty() && empty => return wrong("an operand is empty"),
            ',' if open.is_empty() => {
                commas += 1;
                empty = true;
                continue;
            }
            _ => {}
        }
        empty &= letter.is_whitespace();
    }
    match (open.is_empty(), empty) {
        (false, _) => wrong("a bracket of the operands is left open"),
        (_, true) => wrong("an operand is empty"),
        _ => Ok(commas + 1),
    }
}

impl fmt::Display for InstructionForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.opcode)?;
        let (last, rest): (Vec<&String>, Vec<&String>) = self
            .modifiers
            .iter()
            .partition(|word| LAST.contains(&word.as_str()));
        let mut put = |words: &[&str]| words.iter().try_for_each(|word| write!(out, ".{word}"));
        let silent = SILENT.iter().find(|(of, _)| *of == self.opcode);
        let (shapes, rest): (Vec<&str>, Vec<&str>) = rest
            .into_iter()
            .map(String::as_str)
            .partition(|word| silent.is_some() && is_shape(word));
        if let Some((_, silent)) = silent {
            put(&silent[..2])?;
            put(&shapes)?;
            if !rest.iter().any(|word| ["row", "col"].contains(word)) {
                put(&silent[2..])?;
            }
        }
        put(&rest)?;
        put(&self.types.iter().map(String::as_str).collect::<Vec<_>>())?;
        put(&last.into_iter().map(String::as_str).collect::<Vec<_>>())
    }
}
