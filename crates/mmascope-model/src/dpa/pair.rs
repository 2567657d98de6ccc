//! One k of a dot product: the two operands, their block scales, and the product they make.

use super::{Special, special_sum, special_value};
use crate::exact::{Exact, Rounding};
use crate::format::{Class, Format, Unpacked};

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

    /// Whether one of them is NaN.
    #[inline]
    pub(super) fn has_nan(&self) -> bool {
        self.a.class == Class::Nan || self.b.class == Class::Nan
    }
}

/// 1.
pub(super) const ONE: Unpacked = Unpacked {
    negative: false,
    class: Class::Finite,
    exponent: 0,
    significand: 1,
    fraction_bits: 0,
};

/// A finite, non-zero term of a fused sum: its exact value, and the exponent with which it takes
/// part in the alignment. The value is below 2^(exponent + 2) for a product, and below
/// 2^exponent for a subnormal c.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) value: Exact,
    pub(super) exponent: i32,
}

impl Term {
    /// The term as a multiple of `2^grid`, rounded; sign included.
    ///
    /// The caller chooses grids at most 64 fraction bits below the largest exponent, and
    /// values have at most 50 bits above their exponent's place, so i128 holds it.
    #[inline]
    pub(super) fn align(&self, grid: i32, rounding: Rounding) -> i128 {
        self.value.align(grid, rounding)
    }

    /// A c as a term; `None` when it is zero.
    #[inline]
    pub(super) fn of_value(value: &Unpacked) -> Option<Self> {
        (value.significand != 0).then(|| Self {
            value: Exact::new(
                value.negative,
                value.significand.into(),
                value.exponent - value.fraction_bits as i32,
            ),
            exponent: value.exponent,
        })
    }
}

impl Pair<'_> {
    /// The product as ∞ or NaN, if it is one: a NaN operand, or 0·∞, is NaN (§2.2 step 1); a NaN
    /// scale makes it NaN too (§2.3).
    #[inline]
    pub(super) fn special(&self) -> Option<Special> {
        if self.scales.has_nan() {
            return Some(Special::Nan);
        }
        special_product(&self.a, &self.b)
    }

    /// Whether an operand is ∞ or NaN, or a scale NaN: without one the product is a number.
    #[inline]
    pub(super) fn has_special(&self) -> bool {
        self.a.is_special() || self.b.is_special() || self.scales.has_nan()
    }

    /// The pair with both operands as numbers of another format that has all their values.
    pub(super) fn widened(&self, format: &Format) -> Self {
        Self {
            a: widened(&self.a, format),
            b: widened(&self.b, format),
            ..*self
        }
    }

    /// The place of the last bit of the product of the significands, without scales.
    #[inline]
    pub(super) fn place(&self) -> i32 {
        let fraction_bits = self.a.fraction_bits + self.b.fraction_bits;
        self.a.exponent + self.b.exponent - fraction_bits as i32
    }

    /// Whether the product is zero.
    #[inline(always)]
    pub(super) fn is_zero(&self) -> bool {
        (self.a.significand == 0) | (self.b.significand == 0)
    }

    /// The sign of the product, if it is a zero.
    pub(super) fn zero(&self) -> Option<bool> {
        self.is_zero().then(|| self.negative())
    }

    /// Sign of the product.
    #[inline(always)]
    pub(super) fn negative(&self) -> bool {
        self.a.negative != self.b.negative
    }

    /// The exact product of the operands without scales; `None` when it is zero. The caller has
    /// excluded ∞ and NaN.
    #[inline]
    pub(super) fn product(&self) -> Option<Term> {
        let value = self.a.times(&self.b);
        (value.magnitude != 0).then(|| Term {
            value,
            exponent: self.a.exponent + self.b.exponent,
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

/// What the products and c are in all where one of them is ∞ or NaN (§2.2 step 1).
pub(super) fn special_terms(pairs: &[Pair], c: &Unpacked) -> Option<Special> {
    // Almost every block has none.
    if !c.is_special() && !pairs.iter().any(Pair::has_special) {
        return None;
    }
    special_sum(pairs.iter().map(Pair::special).chain([special_value(c)]))
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
