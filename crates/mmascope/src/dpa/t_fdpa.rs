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
    let specials = pairs.iter().map(Pair::special).chain([special_value(c)]);
    if let Some(special) = special_sum(specials) {
        return output.special(special);
    }
    // Step 2. Exact products; with block scales (powers of two) the exponents move (§2.3).
    let terms = || {
        pairs
            .iter()
            .filter_map(scaled_product)
            .chain(Term::of_value(c))
    };
    // Step 3. A zero term does not raise E; the floor e0 does.
    let largest = terms().map(|term| term.exponent).fold(e0, i32::max);
    // Steps 4 and 5.
    let grid = largest - f as i32;
    let sum: i128 = terms().map(|term| term.align(grid, align)).sum();
    // Steps 6 and 7.
    output.fixed(sum, grid, common_zero(pairs, c))
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

/// The sign that all terms share if all are zeros.
pub(super) fn common_zero(pairs: &[Pair], c: &Unpacked) -> Option<bool> {
    let zero_product = |pair: &Pair| {
        pair.negative() == c.negative
            && (pair.a.class == Class::Zero || pair.b.class == Class::Zero)
    };
    (c.class == Class::Zero && pairs.iter().all(zero_product)).then_some(c.negative)
}
