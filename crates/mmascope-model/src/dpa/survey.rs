//! What the products of a block are like, found in one pass, and their truncated sum: the two loops over k of every
//! fused algorithm.

use super::pair::Pair;
use crate::exact::Rounding;

/// What the products of a block are like.
pub(super) struct Survey {
    /// Whether an operand is ∞ or NaN, or a scale NaN.
    pub(super) has_special: bool,
    /// The largest exponent of a product that is not zero, that of its scales included; `None` where all are zero.
    pub(super) largest: Option<i32>,
    /// Whether every product has at most 64 bits and is below 4 in units of its exponent, as those of narrow floats are, and
    /// those of integers are not.
    pub(super) are_small: bool,
}

impl Survey {
    /// Looks at every product once.
    pub(super) fn of<'p>(pairs: impl Iterator<Item = &'p Pair<'p>>) -> Self {
        // (Without an early end and without branches: a dot product takes as long as its loops.)
        let (mut has_special, mut largest, mut too_large) = (false, i32::MIN, 0);
        for pair in pairs {
            let (a, b) = (&pair.a, &pair.b);
            has_special |= pair.has_special();
            let exponent = if pair.is_zero() {
                i32::MIN
            } else {
                pair.exponent()
            };
            largest = largest.max(exponent);
            // Where both have at most 32 bits, this is their product.
            let product = a.significand.wrapping_mul(b.significand);
            too_large |= (a.significand | b.significand) >> 32;
            too_large |= product >> (a.fraction_bits + b.fraction_bits) >> 2;
        }
        Self {
            has_special,
            largest: (largest != i32::MIN).then_some(largest),
            are_small: too_large == 0,
        }
    }

    /// The sum of the products, each rounded to a multiple of 2^(top − f), as such a multiple. None is ∞ or NaN, and none
    /// has an exponent above `top`.
    pub(super) fn sum<'p>(
        &self,
        pairs: impl Iterator<Item = &'p Pair<'p>>,
        top: i32,
        f: u32,
        align: Rounding,
    ) -> i128 {
        if align == Rounding::Rz && f <= 48 && self.are_small {
            return i128::from(pairs.map(|pair| truncated(pair, top, f)).sum::<i64>());
        }
        let terms = pairs.filter_map(Pair::scaled_product);
        terms.map(|term| term.align(top - f as i32, align)).sum()
    }
}

/// A small product as a multiple of 2^(top − f), truncated; sign included. It is below 2^(f + 2), and K at most 2^12.
#[inline(always)]
fn truncated(pair: &Pair, top: i32, f: u32) -> i64 {
    let significand = pair.a.significand * pair.b.significand;
    let fraction_bits = pair.a.fraction_bits + pair.b.fraction_bits;
    // First the places that it has too few, then those that it lies below the top. (A zero may lie above it, which is
    // a very large number of places then.)
    let too_few = f.saturating_sub(fraction_bits);
    let too_many = fraction_bits.saturating_sub(f);
    let below = (top - pair.exponent() + too_many as i32) as u32;
    let magnitude = ((significand << too_few) >> below.min(63)) as i64;
    // (A multiplication instead of a branch that no processor foresees.)
    magnitude * (1 - 2 * i64::from(pair.negative()))
}
