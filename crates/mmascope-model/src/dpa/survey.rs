//! What the products of a block are like, found in one pass, and their truncated sum: the two loops over k of every
//! fused algorithm.

use super::product::Product;
use crate::exact::Rounding;

/// Fraction bits that a small product may have: fewer than 2^13 of them, each below 4, have a sum of less than 64 bits.
const WIDE: u32 = 48;

/// What the products of a block are like.
pub(super) struct Survey {
    /// Whether one is ∞ or NaN.
    pub(super) has_special: bool,
    /// The largest exponent of a product that is not zero; `None` where all are zero.
    pub(super) largest: Option<i32>,
    /// Whether every product is below 4 in units of its exponent, as those of floats are, and those of integers are not, and
    /// has few fraction bits.
    pub(super) are_small: bool,
}

impl Survey {
    /// Looks at every product once.
    pub(super) fn of<'p>(products: impl Iterator<Item = &'p Product>) -> Self {
        // (Without an early end and without branches: a dot product takes as long as its loops.)
        let (mut has_special, mut largest, mut too_large, mut fraction_bits) =
            (false, i32::MIN, 0, 0);
        products.for_each(|product| {
            has_special |= product.special.is_some();
            let exponent = match product.significand {
                0 => i32::MIN,
                _ => product.exponent,
            };
            largest = largest.max(exponent);
            too_large |= product.significand >> product.fraction_bits >> 2;
            // (Together they are not fewer than any one.)
            fraction_bits |= product.fraction_bits;
        });
        Self {
            has_special,
            largest: (largest != i32::MIN).then_some(largest),
            are_small: too_large == 0 && u32::from(fraction_bits) <= WIDE,
        }
    }

    /// The sum of the products, each rounded to a multiple of 2^(top − f), as such a multiple. None is ∞ or NaN, and none
    /// has an exponent above `top`.
    pub(super) fn sum<'p>(
        &self,
        products: impl Iterator<Item = &'p Product>,
        top: i32,
        f: u32,
        align: Rounding,
    ) -> i128 {
        let grid = top - f as i32;
        if align == Rounding::Rz && f <= WIDE && self.are_small {
            return i128::from(
                products
                    .map(|product| truncated(product, top, f))
                    .sum::<i64>(),
            );
        }
        let not_zero = products.filter(|product| product.zero().is_none());
        not_zero
            .map(|product| product.exact().align(grid, align))
            .sum()
    }
}

/// A small product as a multiple of 2^(top − f), truncated; sign included. It is below 2^(f + 2), and K at most 2^12.
#[inline(always)]
fn truncated(product: &Product, top: i32, f: u32) -> i64 {
    // First as a multiple of 2^(exponent − WIDE), which takes no bits away; then without the places that it lies below the
    // top. (A zero may lie above it, and stays a zero.)
    let fine = product.significand << (WIDE - u32::from(product.fraction_bits));
    let below = (top - product.exponent + (WIDE - f) as i32) as u32;
    let magnitude = (fine >> below.min(63)) as i64;
    // (A multiplication instead of a branch that no processor foresees.)
    magnitude * (1 - 2 * i64::from(product.negative))
}
