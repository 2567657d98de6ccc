//! The value of a word: a number, a signed zero, an infinity or NaN.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::exact::Dyadic;
use crate::format::{Class, Format, Unpacked};

/// What a word or an intermediate result means, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracedValue {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite {
        /// Its sign.
        negative: bool,
    },
    /// A zero.
    Zero {
        /// Its sign.
        negative: bool,
    },
    /// Any other number.
    Finite(Dyadic),
}

impl TracedValue {
    /// The value of a decoded code.
    #[must_use]
    pub fn of(unpacked: &Unpacked) -> Self {
        let negative = unpacked.negative;
        match (unpacked.class, unpacked.exact()) {
            (Class::Zero, _) => Self::Zero { negative },
            (Class::Finite, Some(exact)) => Self::Finite(Dyadic::of(&exact)),
            (Class::Infinite, _) => Self::Infinite { negative },
            (Class::Nan, _) | (Class::Finite, None) => Self::Nan,
        }
    }

    /// The value of a register word of a format.
    #[must_use]
    pub fn of_word(format: &Format, word: u64) -> Self {
        Self::of(&format.decode(format.from_register(word)))
    }

    /// A sum's value; a zero is +0.
    #[must_use]
    pub fn of_number(number: &Dyadic) -> Self {
        if number.is_zero() {
            Self::Zero { negative: false }
        } else {
            Self::Finite(number.clone())
        }
    }

    /// The number; `None` for ∞ and NaN.
    #[must_use]
    pub fn number(&self) -> Option<Dyadic> {
        match self {
            Self::Nan | Self::Infinite { .. } => None,
            Self::Zero { .. } => Some(Dyadic::default()),
            Self::Finite(number) => Some(number.clone()),
        }
    }

    /// Whether this is ∞ or NaN.
    #[must_use]
    pub fn is_special(&self) -> bool {
        matches!(self, Self::Nan | Self::Infinite { .. })
    }

    /// Values that are read together, exactly and in one notation: decimals where all are short as such, otherwise
    /// hexadecimal floats.
    #[must_use]
    pub fn column<'v>(values: impl Iterator<Item = &'v Self> + Clone) -> Vec<String> {
        let is_short = |value: &Self| match value {
            Self::Finite(number) => number.short_decimal().is_some(),
            _ => true,
        };
        let all_short = values.clone().all(is_short);
        let text = |value: &Self| match value {
            Self::Finite(number) if !all_short => number.hex(),
            other => other.to_string(),
        };
        values.map(text).collect()
    }

    /// The value for people, with at most so many digits where the exact text is long.
    #[must_use]
    pub fn decimal_of(&self, digits: usize) -> String {
        match self {
            Self::Finite(number) => number.decimal_of(digits),
            other => other.to_string(),
        }
    }
}

/// The value exactly: `nan`, `inf`, `-inf`, `0`, `-0` or a number.
impl fmt::Display for TracedValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nan => out.pad("nan"),
            Self::Infinite { negative: false } => out.pad("inf"),
            Self::Infinite { negative: true } => out.pad("-inf"),
            Self::Zero { negative: false } => out.pad("0"),
            Self::Zero { negative: true } => out.pad("-0"),
            Self::Finite(number) => number.fmt(out),
        }
    }
}

impl Serialize for TracedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if let Self::Finite(number) = self {
            return number.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("special", &self.to_string())?;
        map.end()
    }
}
