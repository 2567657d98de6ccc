//! Vector lines: one dot product as a line of JSON, recorded, asked or answered.
//!
//! `{"arch":…, "inst":…, "a":HEX, "b":HEX, "c":HEX, "d":HEX}`, with `sa`, `sb` where the
//! instruction has block scales, `mods` for operand modifiers, `id` echoed, and any other key
//! carried through. A line without `d` is a question.

mod fields;
mod operands;
mod read;
mod reader;
mod together;
mod write;

use std::fmt;

use fields::Fields;
pub use read::{Line, Lines, MAX_LINE};
pub use reader::{Reader, read_operands};
pub use together::compute_together;
pub use write::{answer, hex, question};

use crate::dpa::{Modifiers, OperandWords, Operands};
use crate::error::Result;
use crate::isa::Instruction;

/// A line taken apart and checked against its instruction.
#[derive(Clone, Debug)]
pub struct Vector<'c> {
    /// The instruction that the line names.
    pub instruction: &'c Instruction,
    /// The operands.
    pub words: OperandWords,
    /// Operand modifiers.
    pub modifiers: Modifiers,
    /// Status flags as the line writes them: two hex digits.
    pub flags: Option<String>,
    /// The result, if the line has one.
    pub d: Option<Answer>,
}

/// The result that a line gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This register word.
    Word(u64),
    /// Any NaN.
    AnyNan,
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(out, "{word:x}"),
            Self::AnyNan => out.write_str("nan"),
        }
    }
}

/// What is wrong with a line, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
    /// The line's `id` as JSON text, if it could be read.
    pub id: Option<String>,
    /// Whether the instruction is known but has no model.
    pub unmodelled: bool,
}

impl Vector<'_> {
    /// The operands, for [`Instruction::dot`].
    #[must_use]
    pub fn operands(&self) -> Operands<'_> {
        self.words.operands()
    }

    /// What the model computes.
    ///
    /// # Errors
    /// [`Error::Unmodelled`](crate::Error::Unmodelled) when there is no model.
    pub fn compute(&self) -> Result<u64> {
        self.instruction.dot(&self.operands(), &self.modifiers)
    }

    /// The same with the bits of the status register that the result sets, where one is known.
    ///
    /// # Errors
    /// [`Error::Unmodelled`](crate::Error::Unmodelled) when there is no model.
    pub fn compute_with_flags(&self) -> Result<(u64, Option<u8>)> {
        (self.instruction).dot_with_flags(&self.operands(), &self.modifiers)
    }

    /// Whether the line is one instruction, not a chain of them.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.words.a.len() == self.instruction.signature.k
    }

    /// Whether `got` is the line's result. A line without a result agrees with nothing.
    ///
    /// # Errors
    /// [`Error::Unmodelled`](crate::Error::Unmodelled) when there is no model.
    pub fn agrees(&self, got: u64) -> Result<bool> {
        let unit = self.instruction.unit()?;
        Ok(match self.d {
            None => false,
            Some(Answer::AnyNan) => unit.is_nan(got),
            Some(Answer::Word(expected)) => unit.agrees(expected, got),
        })
    }

    /// A result as the line writes it: hex digits, or `nan` where the NaN's payload is not known.
    ///
    /// # Errors
    /// [`Error::Unmodelled`](crate::Error::Unmodelled) when there is no model.
    pub fn answer_text(&self, d: u64) -> Result<String> {
        Ok(answer(self.instruction.unit()?, d))
    }
}

/// The line with its `d` set to `answer`; every other key stays as it is, in its order.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_answer(line: &str, answer: &str) -> std::result::Result<String, BadLine> {
    with_key(line, "d", &serde_json::Value::from(answer))
}

/// The line with its `flags` set; every other key stays as it is, in its order.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_flags(line: &str, flags: u8) -> std::result::Result<String, BadLine> {
    let text = format!("{flags:02x}");
    with_key(line, "flags", &serde_json::Value::from(text))
}

/// The line with these modifiers, where it has none of its own: what [`Reader::with_modifiers`] takes it for.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_modifiers(line: &str, modifiers: &Modifiers) -> std::result::Result<String, BadLine> {
    let words = modifiers.words();
    if words.is_empty() || Fields::parse(line)?.get("mods").is_some() {
        return Ok(line.to_owned());
    }
    with_key(line, "mods", &serde_json::Value::from(words))
}

/// The line with one key set, which stands last.
fn with_key(
    line: &str,
    set: &str,
    value: &serde_json::Value,
) -> std::result::Result<String, BadLine> {
    let fields = Fields::parse(line)?;
    let mut out = String::with_capacity(line.len() + 24);
    let kept = fields.entries.0.iter().filter(|(key, _)| key != set);
    for (key, value) in kept {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(&serde_json::Value::from(key.as_str()).to_string());
        out.push(':');
        out.push_str(value.get());
    }
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push_str(&format!("\"{set}\":{value}}}"));
    Ok(out)
}
