//! Numbers of single words, small enough to be copied: made from words, carried from one format to
//! another. Sums and products are [`Dyadic`](crate::explain::Dyadic)s.

use num_bigint::BigInt;

use crate::explain::Dyadic;
use crate::format::{Class, Exact, Format, Overflow, Rounding, Unpacked};

/// ±significand·2^exponent with an odd significand, or 0·2^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) significand: u64,
    pub(super) exponent: i32,
}

impl Number {
    /// The number of a finite code.
    pub(super) fn of(value: &Unpacked) -> Option<Self> {
        let Exact {
            negative, exponent, ..
        } = value.exact()?;
        let zeros = value.significand.trailing_zeros();
        Some(if value.significand == 0 {
            Self {
                negative,
                significand: 0,
                exponent: 0,
            }
        } else {
            Self {
                negative,
                significand: value.significand >> zeros,
                exponent: exponent + zeros as i32,
            }
        })
    }

    /// 2^0.
    pub(super) const ONE: Self = Self {
        negative: false,
        significand: 1,
        exponent: 0,
    };

    /// The exponent of the leading bit.
    pub(super) fn top(&self) -> i32 {
        self.exponent + self.significand.checked_ilog2().unwrap_or(0) as i32
    }

    /// The same number with room for sums and products.
    pub(super) fn dyadic(&self) -> Dyadic {
        let significand = BigInt::from(self.significand);
        let signed = if self.negative {
            -significand
        } else {
            significand
        };
        Dyadic::new(signed, self.exponent.into())
    }

    /// The word of exactly this number, if the format has it.
    pub(super) fn word(&self, format: &Format) -> Option<u64> {
        let exact = Exact {
            negative: self.negative,
            magnitude: u128::from(self.significand),
            exponent: self.exponent,
            sticky: false,
        };
        let code = format.round(&exact, Rounding::Rz, Overflow::Saturate);
        let back = Self::of(&format.decode(code))?;
        (back == *self).then(|| format.to_register(code))
    }
}

/// Decodes a register word.
pub(super) fn decode(word: u64, format: &Format) -> Unpacked {
    format.decode(format.from_register(word))
}

/// The register word of the same value in another format; `None` when that has no such value. A NaN
/// becomes the default NaN.
///
/// ```
/// use mmascope_lab::diff::translate;
/// use mmascope_model::format::{BF16, F16, F32};
///
/// assert_eq!(translate(0x3c00, &F16, &F32), Some(0x3f80_0000));
/// assert_eq!(translate(0x3c01, &F16, &BF16), None); // too long
/// ```
#[must_use]
pub fn translate(word: u64, from: &Format, to: &Format) -> Option<u64> {
    if from == to {
        return Some(word);
    }
    let value = decode(word, from);
    match value.class {
        Class::Nan => Some(to.to_register(to.nan()?)),
        Class::Infinite => {
            let code = to.infinity(value.negative, Overflow::Infinity);
            (to.decode(code).class == Class::Infinite).then(|| to.to_register(code))
        }
        Class::Zero | Class::Finite => Number::of(&value)?.word(to),
    }
}
