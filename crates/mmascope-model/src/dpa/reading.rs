//! The reading of operands by a statement: as numbers of another format, or a part of their significands.

use std::fmt;

use super::pair::Pair;
use crate::format::{Class, Format, Unpacked};

/// How a statement reads its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reading {
    /// Format that the operands are widened to before, exactly. It matters because the units align by
    /// field exponents: a subnormal may become a normal number.
    pub widened: Option<Format>,
    /// The part of a's significand that is multiplied; the same k may take part again with another.
    pub a: Part,
    /// The same of b.
    pub b: Part,
}

/// A part of a significand: so many bits from a place on, counted from the hidden bit, which is 0.
/// Other bits count as 0; sign and exponent stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// All bits.
    #[default]
    Whole,
    /// Some bits.
    Bits {
        /// The first one's place.
        first: u32,
        /// How many.
        count: u32,
    },
}

impl Part {
    /// The last place that a part may have.
    pub const LAST: u32 = 63;

    /// Reads `FIRST:COUNT`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (first, count) = text.split_once(':')?;
        let (first, count) = (first.parse().ok()?, count.parse().ok()?);
        let part = Self::Bits { first, count };
        part.is_possible().then_some(part)
    }

    /// Whether its places are some of a significand.
    pub(super) fn is_possible(self) -> bool {
        match self {
            Self::Whole => true,
            Self::Bits { first, count } => {
                count > 0 && first <= Self::LAST && count <= Self::LAST + 1 - first
            }
        }
    }

    /// Whether both have a place.
    fn overlaps(self, other: Self) -> bool {
        let places = |part| match part {
            Self::Whole => 0..u32::MAX,
            Self::Bits { first, count } => first..first + count,
        };
        let (own, other) = (places(self), places(other));
        own.start < other.end && other.start < own.end
    }

    /// The part of a number.
    fn of(self, x: Unpacked) -> Unpacked {
        let Self::Bits { first, count } = self else {
            return x;
        };
        if x.class != Class::Finite {
            return x;
        }
        // Place p has the weight 2^(fraction_bits − p).
        let below = |place: u32| match (x.fraction_bits + 1).checked_sub(place) {
            Some(bits) => u64::MAX
                .checked_shr(64_u32.saturating_sub(bits))
                .unwrap_or(0),
            None => 0,
        };
        let significand = x.significand & below(first) & !below(first + count);
        Unpacked {
            significand,
            class: if significand == 0 {
                Class::Zero
            } else {
                Class::Finite
            },
            ..x
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => out.write_str("whole"),
            Self::Bits { first, count } => write!(out, "{first}:{count}"),
        }
    }
}

impl Reading {
    /// As they are.
    pub const WHOLE: Self = Self {
        widened: None,
        a: Part::Whole,
        b: Part::Whole,
    };

    /// Widened to a format.
    #[must_use]
    pub fn widened(format: Option<Format>) -> Self {
        Self {
            widened: format,
            ..Self::WHOLE
        }
    }

    /// Whether significands are taken whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.a == Part::Whole && self.b == Part::Whole
    }

    /// Whether both take the product of some bits.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.a.overlaps(other.a) && self.b.overlaps(other.b)
    }

    /// A pair as it is read.
    pub(super) fn pair<'a>(&self, pair: &Pair<'a>) -> Pair<'a> {
        let pair = match &self.widened {
            Some(format) => pair.widened(format),
            None => *pair,
        };
        Pair {
            a: self.a.of(pair.a),
            b: self.b.of(pair.b),
            ..pair
        }
    }

    /// The parts of two operands.
    pub(crate) fn parts(&self, a: Unpacked, b: Unpacked) -> (Unpacked, Unpacked) {
        (self.a.of(a), self.b.of(b))
    }
}
