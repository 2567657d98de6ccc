//! A function's mode for subnormal numbers: LLVM's `denormal-fp-math`, a pair of output and input.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The treatment of subnormal numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Denormal {
    /// They stay.
    #[default]
    Ieee,
    /// They become a zero of their sign.
    PreserveSign,
    /// They become +0.
    PositiveZero,
    /// What the machine's mode says at run time.
    Dynamic,
}

/// The names, as LLVM writes them.
const NAMES: &[(&str, Denormal)] = &[
    ("ieee", Denormal::Ieee),
    ("preserve-sign", Denormal::PreserveSign),
    ("positive-zero", Denormal::PositiveZero),
    ("dynamic", Denormal::Dynamic),
];

/// The pair: what becomes of results, and of operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DenormalMode {
    /// Results.
    pub output: Denormal,
    /// Operands.
    pub input: Denormal,
}

impl DenormalMode {
    /// Whether LLVM's NVPTX writes `.ftz` under this mode: results keep their sign and nothing else counts.
    #[must_use]
    pub fn flushes(self) -> bool {
        self.output == Denormal::PreserveSign
    }
}

impl FromStr for Denormal {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(known, _)| *known == name.trim());
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            let names = NAMES.iter().map(|(known, _)| *known);
            Error::unknown("denormal mode", name.trim(), names)
        })
    }
}

impl FromStr for DenormalMode {
    type Err = Error;

    /// `OUTPUT,INPUT`, or one mode for both.
    fn from_str(text: &str) -> Result<Self> {
        let (output, input) = text.split_once(',').unwrap_or((text, text));
        Ok(Self {
            output: output.parse()?,
            input: input.parse()?,
        })
    }
}

impl fmt::Display for Denormal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, mode)| mode == self);
        out.write_str(name.map_or("", |(name, _)| name))
    }
}

impl fmt::Display for DenormalMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{},{}", self.output, self.input)
    }
}
