//! FDRDA / TR-FDPA, §2.7: a truncated fused dot product, then c, floored twice and rounded.

use super::Step;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::Term;
use crate::dpa::product::{Product, common_zero, zero_of};
use crate::dpa::schema::{Row, row};
use crate::dpa::survey::Survey;
use crate::dpa::{Special, ZeroSign, special_sum, special_value};
use crate::format::{Class, Overflow, Rounding, Unpacked};

/// TR-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): truncated fused dot product, then c, then floor and RNE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrFdpa {
    /// Products per block.
    pub l: u32,
    /// Fraction bits of the products' alignment.
    pub f: u32,
    /// Fraction bits kept of the sum before the final rounding.
    pub f2: u32,
}

impl Step for TrFdpa {
    const NAME: &'static str = "tr-fdpa";
    const TITLE: &'static str = "TR-FDPA";
    const ROWS: &'static [Row<Self>] = &[row!(L, l), row!(F, f), row!(F2, f2)];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Exact);

    fn new() -> Self {
        Self { l: 1, f: 1, f2: 1 }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, output: &Output) -> General {
        General::Fused(late(self.l, self.f, self.f2, Rounding::Rz, output))
    }

    fn sums_products(&self, _: bool) -> bool {
        true
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        block(products, c, self.f, self.f2, output)
    }
}

/// The step of the model space: products, or groups of them, are joined, then c. The exponent of a
/// zero c (step 3) is left out, since it shows nowhere: step 4 floors to a coarser grid.
pub(super) fn late(l: u32, f: u32, f2: u32, join: Rounding, output: &Output) -> Fused {
    Fused {
        join: Some((f, join)),
        f_c: Some(f),
        align: Rounding::Rd,
        align_c: Rounding::Rd,
        f2: Some(f2),
        product_limit: Some(product_overflow(output)),
        ..Fused::plain(l, Some(f2 + 1))
    }
}

/// Exponent of the smallest normal number of the accumulator: −126 for f32.
fn min_exponent(output: &Output) -> i32 {
    output.format.float().map_or(0, |float| float.emin())
}

/// Products of 2^this and more are ∞ before the sum: 128 for f32.
fn product_overflow(output: &Output) -> i32 {
    output
        .format
        .float()
        .map_or(0, |float| 1 << (float.exponent_bits - 1))
}

/// One block.
fn block(products: &[Product], c: &Unpacked, f: u32, f2: u32, output: &Output) -> u64 {
    let survey = Survey::of(products.iter());
    if let Some(special) = specials(std::slice::from_ref(&survey), products, c, output) {
        return output.special(special);
    }
    // Step 2.
    let sum = Sum::of(&survey, products.iter(), f);
    let zeros = common_zero(products.iter().map(Product::zero).chain([zero_of(c)]));
    add_c(sum, zeros, c, f, f2, output)
}

/// T of step 2: `multiple · 2^(exponent − F)`, where `exponent` is that of the largest product.
pub(super) struct Sum {
    pub(super) multiple: i128,
    pub(super) exponent: i32,
}

impl Sum {
    /// The truncated sum of products; `None` when all are zero. A sum that truncates to zero keeps its exponent.
    pub(super) fn of<'p>(
        survey: &Survey,
        products: impl Iterator<Item = &'p Product>,
        f: u32,
    ) -> Option<Self> {
        let exponent = survey.largest?;
        let multiple = survey.sum(products, exponent, f, Rounding::Rz);
        Some(Self { multiple, exponent })
    }
}

/// Step 1: products that overflow are ∞; then the rules of §2.2 over products and c.
pub(super) fn specials(
    surveys: &[Survey],
    products: &[Product],
    c: &Unpacked,
    output: &Output,
) -> Option<Special> {
    let limit = product_overflow(output);
    // A small product is below 2^(its exponent + 2).
    let may_be_special = |survey: &Survey| {
        let may_overflow = |largest| largest + 2 > limit || !survey.are_small;
        survey.has_special || survey.largest.is_some_and(may_overflow)
    };
    if !surveys.iter().any(may_be_special) && !c.is_special() {
        return None;
    }
    let special = |product: &Product| {
        let negative = product.negative;
        let overflows = product.exact().top().is_some_and(|top| top >= limit);
        let infinite = overflows.then_some(Special::Infinite { negative });
        product.special.or(infinite)
    };
    special_sum(products.iter().map(special).chain([special_value(c)]))
}

/// Steps 3 and 4: the sum of the products (`None`: all are zero) and c, floored to a common grid,
/// added, floored again, rounded. `zeros` is the sign that all terms share if all are zeros.
pub(super) fn add_c(
    products: Option<Sum>,
    zeros: Option<bool>,
    c: &Unpacked,
    f: u32,
    f2: u32,
    output: &Output,
) -> u64 {
    let e_c = exponent_of_c(c, output);
    let e = products.as_ref().map_or(e_c, |sum| sum.exponent.max(e_c));
    // T is floored to F2+1 bits below E and c to F bits below E; both are multiples of `fine`.
    let (t_grid, c_grid) = (e - (f2 as i32 + 1), e - f as i32);
    let t = products.map_or((0, c_grid), |sum| {
        floor_to(sum.multiple, sum.exponent - f as i32, t_grid)
    });
    let c = Term::of_value(c).map_or(0, |term| term.align(c_grid, Rounding::Rd));
    let fine = t.1.min(c_grid);
    let total = (t.0 << (t.1 - fine)) + (c << (c_grid - fine));
    if total == 0 {
        return output.fixed(0, fine, zeros);
    }
    let n = (fine + total.unsigned_abs().ilog2() as i32).max(min_exponent(output));
    let (floored, place) = floor_to(total, fine, n - f2 as i32);
    // A negative sum cannot be floored to zero, so the sign of a zero result is that of `total`.
    output.fixed(floored, place, None)
}

/// e(c) of step 3: that of the smallest normal number when c is zero.
pub(super) fn exponent_of_c(c: &Unpacked, output: &Output) -> i32 {
    if c.class == Class::Zero {
        min_exponent(output)
    } else {
        c.exponent
    }
}

/// `value · 2^place` rounded down to a multiple of `2^grid`, as (multiple, its place). A value
/// that is a multiple already keeps its place.
pub(in crate::dpa) fn floor_to(value: i128, place: i32, grid: i32) -> (i128, i32) {
    if grid <= place {
        return (value, place);
    }
    // An arithmetic shift rounds toward −∞; beyond 127 only the sign is left.
    (value >> (grid - place).min(127), grid)
}
