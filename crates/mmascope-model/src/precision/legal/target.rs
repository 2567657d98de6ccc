//! Compilation targets: SM number and suffix.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The suffix of a target's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// None: code that later targets run too.
    None,
    /// `f`: family specific.
    Family,
    /// `a`: for this architecture alone.
    Architecture,
}

/// A target such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The SM number, 90 for `sm_90a`.
    pub sm: u32,
    /// The suffix.
    pub suffix: Suffix,
}

impl Target {
    /// The error of a target that is not among the known ones.
    pub(crate) fn unknown(self, known: impl Iterator<Item = Self>) -> Error {
        unknown(&self.to_string(), known)
    }
}

/// The error of a target's name, with the nearest ones.
pub(super) fn unknown(name: &str, known: impl Iterator<Item = Target>) -> Error {
    Error::unknown("target", name, known.map(|target| target.to_string()))
}

impl Target {
    /// Reads `sm_90a`, `compute_90a` or `90a`; `None` when the text has another form.
    pub(super) fn read(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        let number = ["sm_", "compute_", "sm"]
            .iter()
            .find_map(|prefix| lower.strip_prefix(prefix))
            .unwrap_or(&lower);
        let (digits, suffix) = match number.strip_suffix(['a', 'f']) {
            Some(digits) if number.ends_with('a') => (digits, Suffix::Architecture),
            Some(digits) => (digits, Suffix::Family),
            None => (number, Suffix::None),
        };
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 4;
        let sm = digits.parse().ok().filter(|_| plain)?;
        Some(Self { sm, suffix })
    }
}

impl FromStr for Target {
    type Err = Error;

    /// Reads `sm_90a`, `compute_90a` or `90a`; whether the rules know it is another question.
    fn from_str(text: &str) -> Result<Self> {
        let known = || super::Rules::built_in().targets().iter().copied();
        Self::read(text).ok_or_else(|| unknown(text, known()))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::Family => "f",
            Suffix::Architecture => "a",
        };
        write!(out, "sm_{}{suffix}", self.sm)
    }
}
