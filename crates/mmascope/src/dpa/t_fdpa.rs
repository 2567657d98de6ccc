//! FDA / T-FDPA, §2.2, and ST-FDPA, §2.3: the truncated fused dot-product-add.

use super::output::Output;
use super::pair::{Pair, Term};
use super::{special_sum, special_value};
use crate::format::{Class, Rounding, Unpacked};

/// One block: all products and c are aligned to the largest exponent, truncated to F fraction
/// bits, summed exactly and converted once.
pub(super) fn block(
    pairs: &[Pair],
    c: &Unpacked,
    f: u32,
    e0: i32,
    align: Rounding,
    output: &Output,
) -> u64 {
    // Step 1. Infinities come from operands only; a finite product never overflows.
    if c.is_special() || pairs.iter().any(Pair::has_special) {
        let specials = pairs.iter().map(Pair::special).chain([special_value(c)]);
        if let Some(special) = special_sum(specials) {
            return output.special(special);
        }
    }
    // Step 2. Exact products; with block scales (powers of two) the exponents move (§2.3).
    let products = || pairs.iter().filter_map(scaled_product);
    let own = Term::of_value(c);
    // Step 3. A zero term does not raise E; the floor e0 does.
    let exponents = products().map(|term| term.exponent);
    let largest = exponents.fold(own.map_or(e0, |term| term.exponent.max(e0)), i32::max);
    // Steps 4 and 5.
    let grid = largest - f as i32;
    let narrow = pairs
        .iter()
        .all(|pair| (pair.a.significand | pair.b.significand) >> 32 == 0);
    let sum: i128 = if align == Rounding::Rz && narrow {
        products().map(|term| truncated(&term, grid)).sum()
    } else {
        products().map(|term| term.align(grid, align)).sum()
    };
    let sum = sum + own.map_or(0, |term| term.align(grid, align));
    // Steps 6 and 7.
    output.fixed(sum, grid, common_zero(pairs, c))
}

/// A product of at most 64 bits as a multiple of 2^grid, truncated; sign included.
#[inline]
fn truncated(term: &Term, grid: i32) -> i128 {
    let significand = term.significand as u64;
    let up = term.exponent - term.fraction_bits - grid;
    let magnitude = if up >= 0 {
        i128::from(significand) << up
    } else {
        i128::from(significand.checked_shr(up.unsigned_abs()).unwrap_or(0))
    };
    if term.negative { -magnitude } else { magnitude }
}

/// A product whose exponent has gained those of its blocks' scales.
fn scaled_product(pair: &Pair) -> Option<Term> {
    let product = pair.product()?;
    let exponent = product.exponent + pair.scales.a.exponent + pair.scales.b.exponent;
    Some(Term {
        exponent,
        ..product
    })
}

/// Whether every finite term is zero, so that nothing is aligned.
pub(super) fn no_terms(pairs: &[Pair], c: &Unpacked) -> bool {
    let special = |pair: &Pair| pair.special().is_some();
    c.class == Class::Zero
        && !pairs
            .iter()
            .any(|pair| special(pair) || pair.product().is_some())
}

/// Whether a product is a zero of c's sign.
pub(super) fn is_zero_like(pair: &Pair, c: &Unpacked) -> bool {
    pair.negative() == c.negative && (pair.a.class == Class::Zero || pair.b.class == Class::Zero)
}

/// The sign that all terms share if all are zeros.
pub(super) fn common_zero(pairs: &[Pair], c: &Unpacked) -> Option<bool> {
    let all = c.class == Class::Zero && pairs.iter().all(|pair| is_zero_like(pair, c));
    all.then_some(c.negative)
}
