//! One k of a dot product: the two operands, their block scales, and the product they make.

use super::Special;
use crate::format::{Class, Format, Rounding, Unpacked};

/// The operands of one k, decoded, with the scales of their blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) a: Unpacked,
    pub(super) b: Unpacked,
    pub(super) scales: &'a Scales,
}

/// The decoded scales of one block of A and of B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    pub(super) a: Unpacked,
    pub(super) b: Unpacked,
}

impl Scales {
    /// The neutral scales, where a unit has none.
    pub(super) const NONE: Self = Self { a: ONE, b: ONE };
}

/// 1.
pub(super) const ONE: Unpacked = Unpacked {
    negative: false,
    class: Class::Finite,
    exponent: 0,
    significand: 1,
    fraction_bits: 0,
};

/// A finite, non-zero term of a fused sum: `±significand · 2^(exponent − fraction_bits)`.
/// The significand is not normalised: below 4 for a product, below 1 for a subnormal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) negative: bool,
    /// The exponent that takes part in alignment.
    pub(super) exponent: i32,
    pub(super) significand: u128,
    pub(super) fraction_bits: i32,
}

impl Term {
    /// The term as a multiple of `2^grid`, rounded; sign included.
    ///
    /// The caller chooses grids at most 64 fraction bits below the largest exponent, and
    /// significands have at most 50 bits above their exponent's place, so i128 holds it.
    #[inline]
    pub(super) fn align(&self, grid: i32, rounding: Rounding) -> i128 {
        let last_place = self.exponent - self.fraction_bits;
        let magnitude = if last_place >= grid {
            self.significand << (last_place - grid)
        } else {
            let width = (grid - last_place) as u32;
            rounding.shift_right(self.negative, self.significand, false, width)
        } as i128;
        if self.negative { -magnitude } else { magnitude }
    }

    /// A c as a term; `None` when it is zero.
    pub(super) fn of_value(value: &Unpacked) -> Option<Self> {
        (value.significand != 0).then(|| Self {
            negative: value.negative,
            exponent: value.exponent,
            significand: u128::from(value.significand),
            fraction_bits: value.fraction_bits as i32,
        })
    }
}

impl Pair<'_> {
    /// The product as ∞ or NaN, if it is one: a NaN operand, or 0·∞, is NaN (§2.2 step 1); a NaN
    /// scale makes it NaN too (§2.3).
    #[inline]
    pub(super) fn special(&self) -> Option<Special> {
        let is_nan = |x: &Unpacked| x.class == Class::Nan;
        if is_nan(&self.scales.a) || is_nan(&self.scales.b) {
            return Some(Special::Nan);
        }
        special_product(&self.a, &self.b)
    }

    /// Whether an operand is ∞ or NaN, or a scale NaN: without one the product is a number.
    #[inline]
    pub(super) fn has_special(&self) -> bool {
        let is_nan = |x: &Unpacked| x.class == Class::Nan;
        self.a.is_special()
            || self.b.is_special()
            || is_nan(&self.scales.a)
            || is_nan(&self.scales.b)
    }

    /// The pair with both operands as numbers of another format that has all their values.
    pub(super) fn widened(&self, format: &Format) -> Self {
        Self {
            a: widened(&self.a, format),
            b: widened(&self.b, format),
            ..*self
        }
    }

    /// Sign of the product.
    pub(super) fn negative(&self) -> bool {
        self.a.negative != self.b.negative
    }

    /// The exact product of the operands without scales; `None` when it is zero. The caller has
    /// excluded ∞ and NaN.
    #[inline]
    pub(super) fn product(&self) -> Option<Term> {
        let significand = u128::from(self.a.significand) * u128::from(self.b.significand);
        (significand != 0).then(|| Term {
            negative: self.negative(),
            exponent: self.a.exponent + self.b.exponent,
            significand,
            fraction_bits: (self.a.fraction_bits + self.b.fraction_bits) as i32,
        })
    }
}

/// A value in another format that has it: a subnormal number moves up, as far as the other format's
/// exponents reach. The significand keeps its fraction bits; zeros after them change nothing.
fn widened(value: &Unpacked, format: &Format) -> Unpacked {
    let Some(top) = value.significand.checked_ilog2() else {
        return *value;
    };
    if top >= value.fraction_bits {
        return *value;
    }
    let emin = format.float().map_or(0, |float| float.emin());
    let up = (value.fraction_bits - top).min((value.exponent - emin) as u32);
    Unpacked {
        exponent: value.exponent - up as i32,
        significand: value.significand << up,
        ..*value
    }
}

/// The product of two operands as ∞ or NaN, if it is one.
#[inline]
pub(super) fn special_product(a: &Unpacked, b: &Unpacked) -> Option<Special> {
    use Class::{Infinite, Nan, Zero};
    match (a.class, b.class) {
        (Nan, _) | (_, Nan) | (Infinite, Zero) | (Zero, Infinite) => Some(Special::Nan),
        (Infinite, _) | (_, Infinite) => Some(Special::Infinite {
            negative: a.negative != b.negative,
        }),
        _ => None,
    }
}
