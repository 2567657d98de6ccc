//! The parameters of steps and results as data: one row each, from which everything else is derived.
//!
//! A [`Parameter`] says what a parameter is, wherever it stands: its symbol, what it may be, how
//! likely it is (`infer`) and which inputs show it (`cases`). A `Row` says where a step or a result
//! keeps it, what it is when nobody says it, and what it means in words. The parser, the printer, the
//! checks of limits, `show`, JSON, hints and `infer`'s neighbours read these rows and know no step.

pub mod parameters;
mod row;

use std::fmt;

use crate::format::{Format, Formats, Rounding};

pub use parameters::{
    PARAMETERS, PROGRAM_PARAMETERS, RESULT_PARAMETERS, all_parameters, parameter,
};
pub(super) use row::{Given, Row, Rows, Typed, row, typed_words};

/// Largest number of products per block or group.
pub(super) const MAX_L: i32 = 256;
/// Largest number of fraction bits kept.
pub(super) const MAX_F: i32 = 64;
/// Range of exponents: floors and limits.
pub(super) const MAX_E: i32 = 2000;

/// One parameter of steps, results or programs, the same wherever it stands.
#[derive(Debug)]
pub struct Parameter {
    /// The name in the notation, in evidence, in JSON and in `infer`.
    pub symbol: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// The values it may have.
    pub kind: ParameterKind,
    /// Description length in bits of a value that is not the default: how unlikely it is that a unit
    /// has one, before any answer is seen. From [`Parameter::UNCOMMON`] on it is believed only
    /// where nothing simpler gives the answers.
    pub cost: u8,
    /// Which inputs show its value.
    pub shown_by: ShownBy,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub struct ParameterKind {
    /// Whole numbers from … to ….
    pub numbers: Option<(i32, i32)>,
    /// Words; the first one says that the step has no such thing where `absent` says so.
    pub words: &'static [&'static str],
    /// Whether the first word is what leaving the parameter out says.
    pub absent: bool,
    /// A rounding, alone or with a format (`rne:f32`).
    pub rounding: Roundings,
    /// What may stand in front of the digits of a register word (`7fffffff`, `operand:ffc00000`); none where it may be no
    /// such word.
    pub registers: &'static [&'static str],
}

/// Whether a value is a rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roundings {
    /// No.
    No,
    /// Yes: `rz`.
    Alone,
    /// With a format: `rne:f32`.
    WithFormat,
}

/// The inputs that show a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// Large products of both signs that cancel, a small one in another block.
    Blocks,
    /// Terms so many bits below the largest one.
    Alignment,
    /// Sums with bits so far below their own leading bit.
    SumBits,
    /// Terms far below everything that formats hold otherwise.
    Floor,
    /// Terms a half of the last place that is kept, of both signs.
    Ties,
    /// Sums that cancel but for a unit or a few in the last place of the grid.
    LastPlace,
    /// Subnormal operands, or results.
    Subnormals,
    /// Infinities and NaNs among the operands.
    Specials,
    /// Products at the end of a format's range.
    Range,
    /// Operands with subnormal exponents and long significands.
    Exponents,
    /// Zeros of both signs.
    Zeros,
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A whole number.
    Number(i32),
    /// One of the parameter's words.
    Word(&'static str),
    /// A rounding.
    Rounding(Rounding),
    /// A rounding to a format.
    Rounded(Rounding, Format),
    /// A register word.
    Register(RegisterWord),
}

/// A register word as a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterWord {
    /// What stands in front of the digits, one of [`ParameterKind::registers`].
    pub prefix: &'static str,
    /// The word.
    pub bits: u64,
    /// How many hexadecimal digits it has.
    pub digits: usize,
}

impl fmt::Display for RegisterWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            prefix,
            bits,
            digits,
        } = self;
        write!(out, "{prefix}{bits:0digits$x}")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Word(word) => out.write_str(word),
            Self::Rounding(rounding) => rounding.fmt(out),
            Self::Rounded(rounding, format) => write!(out, "{rounding}:{format}"),
            Self::Register(register) => register.fmt(out),
        }
    }
}

impl Parameter {
    /// The cost from which on a value is uncommon.
    pub const UNCOMMON: u8 = 8;
    /// The cost from which on `infer` does not try a value: only algorithms of the papers are known to
    /// have one, and it tries them as wholes.
    pub const UNSEARCHED: u8 = 16;

    /// Whether its values are an ordered scale: the further apart two are, the more inputs tell them apart.
    #[must_use]
    pub fn is_scale(&self) -> bool {
        let is_ordered = matches!(
            self.shown_by,
            ShownBy::Blocks
                | ShownBy::Alignment
                | ShownBy::SumBits
                | ShownBy::Floor
                | ShownBy::LastPlace
        );
        is_ordered && self.kind.numbers.is_some()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(&self, text: &str, formats: &Formats) -> Result<Value, String> {
        let ParameterKind {
            numbers,
            words,
            rounding,
            registers,
            ..
        } = self.kind;
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(Value::Word(word));
        }
        if let Some((low, high)) = numbers
            && let Ok(number) = text.parse()
            && (low..=high).contains(&number)
        {
            return Ok(Value::Number(number));
        }
        let mut registers = registers.iter();
        if let Some(register) = registers.find_map(|prefix| RegisterWord::parse(prefix, text)) {
            return Ok(Value::Register(register));
        }
        let is_other = numbers.is_some() || !words.is_empty();
        match (rounding, text.split_once(':')) {
            (Roundings::Alone, None) if !is_other => {
                let rounding = Rounding::named(text).map_err(|error| error.to_string())?;
                return Ok(Value::Rounding(rounding));
            }
            (Roundings::WithFormat, Some((rounding, format))) => {
                let format = formats.named(format).map_err(|error| error.to_string())?;
                let rounding = Rounding::named(rounding).map_err(|error| error.to_string())?;
                let value = Value::Rounded(rounding, format);
                return self.check(value).map(|()| value);
            }
            _ => {}
        }
        Err(format!(
            "{}={text}: expected {}",
            self.symbol,
            self.expected()
        ))
    }

    /// Whether a value is one of the parameter's.
    ///
    /// # Errors
    /// What is needed instead.
    pub fn check(&self, value: Value) -> Result<(), String> {
        let fits = match value {
            Value::Number(number) => self
                .kind
                .numbers
                .is_some_and(|(low, high)| (low..=high).contains(&number)),
            Value::Word(word) => self.kind.words.contains(&word),
            Value::Rounding(_) => self.kind.rounding == Roundings::Alone,
            Value::Register(register) => self.kind.registers.contains(&register.prefix),
            Value::Rounded(_, format) => {
                if format.float().is_none() || !format.signed || format.bits > 32 {
                    return Err(format!(
                        "{}={value}: a signed float of at most 32 bits is needed",
                        self.symbol
                    ));
                }
                self.kind.rounding == Roundings::WithFormat
            }
        };
        match fits {
            true => Ok(()),
            false => Err(format!(
                "{}={value}: {} is needed",
                self.symbol,
                self.expected()
            )),
        }
    }

    /// Whether a value says that there is no such thing.
    #[must_use]
    pub fn is_absent(&self, value: Value) -> bool {
        let word = self.kind.words.first().filter(|_| self.kind.absent);
        word.is_some_and(|word| value == Value::Word(word))
    }

    /// What a value may be, for messages.
    fn expected(&self) -> String {
        let ParameterKind {
            numbers,
            words,
            absent,
            rounding,
            registers,
        } = self.kind;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(numbers.map(|(low, high)| format!("a whole number {low} to {high}")));
        let said = &words[usize::from(absent)..];
        parts.extend(said.iter().map(|word| format!("'{word}'")));
        match rounding {
            Roundings::No => {}
            Roundings::Alone => parts.push("a rounding like rz".to_owned()),
            Roundings::WithFormat => {
                parts.push("a rounding and a format, like rne:f32".to_owned());
            }
        }
        let in_digits = match registers {
            [] => "",
            _ => ", in hexadecimal digits",
        };
        parts.extend(registers.iter().map(|prefix| format!("{prefix}WORD")));
        parts.join(" or ") + in_digits
    }
}

impl RegisterWord {
    /// Reads a word behind a prefix.
    fn parse(prefix: &'static str, text: &str) -> Option<Self> {
        let digits = text.strip_prefix(prefix)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        Some(Self {
            prefix,
            bits,
            digits: digits.len(),
        })
    }
}
