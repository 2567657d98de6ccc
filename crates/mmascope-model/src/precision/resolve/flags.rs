//! Fast-math flags: a set that only ever shrinks.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A set of fast-math flags. There is no way to add a flag to a set: sets are read, joined and lose flags, so
/// that a flag on a result stood on every operation that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fmf(u8);

/// The flags by name, as LLVM writes them.
const NAMES: &[(&str, Fmf)] = &[
    ("nnan", Fmf::NNAN),
    ("ninf", Fmf::NINF),
    ("nsz", Fmf::NSZ),
    ("arcp", Fmf::ARCP),
    ("contract", Fmf::CONTRACT),
    ("afn", Fmf::AFN),
    ("reassoc", Fmf::REASSOC),
];

impl Fmf {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The result is no NaN.
    pub const NNAN: Self = Self(1);
    /// The result is no infinity.
    pub const NINF: Self = Self(2);
    /// The sign of a zero does not matter.
    pub const NSZ: Self = Self(4);
    /// A quotient may be a product with the reciprocal.
    pub const ARCP: Self = Self(8);
    /// A product and a sum may become one fused operation.
    pub const CONTRACT: Self = Self(16);
    /// Approximate functions may stand for exact ones.
    pub const AFN: Self = Self(32);
    /// Sums and products may be regrouped.
    pub const REASSOC: Self = Self(64);
    /// `afn` and `contract`, as serving uses them.
    pub(super) const AFN_CONTRACT: Self = Self(48);
    /// All seven.
    pub const FAST: Self = Self(127);

    /// Whether every flag of `other` is in this set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What holds of an operation made of two: the flags that both carry.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// This set without the flags of another.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The names of the flags.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// A set from several names, which is where flags come from.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest flag.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        names.into_iter().try_fold(Self::NONE, |set, name| {
            let flags: Self = name.trim().parse()?;
            Ok(Self(set.0 | flags.0))
        })
    }
}

impl FromStr for Fmf {
    type Err = Error;

    /// One flag, or `fast` for all.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "fast" => Ok(Self::FAST),
            "none" => Ok(Self::NONE),
            _ => NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, flag)| *flag)
                .ok_or_else(|| {
                    Error::unknown(
                        "fast-math flag",
                        name,
                        Self::names().chain(["fast", "none"]),
                    )
                }),
        }
    }
}

impl fmt::Display for Fmf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = NAMES
            .iter()
            .filter(|(_, flag)| self.has(*flag))
            .map(|(name, _)| *name)
            .collect();
        match &names[..] {
            [] => out.write_str("none"),
            names if names.len() == NAMES.len() => out.write_str("fast"),
            names => out.write_str(&names.join(",")),
        }
    }
}
