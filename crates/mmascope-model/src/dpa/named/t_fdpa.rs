//! FDA / T-FDPA, §2.2: the truncated fused dot-product-add; its function serves ST-FDPA, §2.3, too.

use super::Step;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::ONE;
use crate::dpa::product::{Product, common_zero};
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::survey::Survey;
use crate::dpa::{ZeroSign, special_sum};
use crate::format::{Overflow, Rounding, Unpacked};

/// T-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): a truncated fused sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TFdpa {
    /// Products per block.
    pub l: u32,
    /// Fraction bits kept in alignment.
    pub f: u32,
    /// Floor of the alignment exponent.
    pub e0: i32,
    /// Rounding of each term to the alignment grid (every known unit: RZ).
    pub align: Rounding,
}

impl Step for TFdpa {
    const NAME: &'static str = "t-fdpa";
    const TITLE: &'static str = "T-FDPA";
    const ROWS: &'static [Row<Self>] = &[
        row!(L, l),
        row!(F, f),
        row!(E0, e0),
        row!(ALIGN, align).or(|_| Value::Rounding(Rounding::Rz)),
    ];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Plus);

    fn new() -> Self {
        Self {
            l: 1,
            f: 1,
            e0: 0,
            align: Rounding::Rz,
        }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Fused(Fused {
            e0: Some(self.e0),
            align: self.align,
            align_c: self.align,
            ..Fused::plain(self.l, Some(self.f))
        })
    }

    fn sums_products(&self, _: bool) -> bool {
        true
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        block(products, c, self.f, self.e0, self.align, output)
    }
}

/// One block: all products and c are aligned to the largest exponent, truncated to F fraction
/// bits, summed exactly and converted once.
pub(in crate::dpa) fn block(
    products: &[Product],
    c: &Unpacked,
    f: u32,
    e0: i32,
    align: Rounding,
    output: &Output,
) -> u64 {
    // c is a term like the products: c · 1.
    let c = Product::of(c, &ONE);
    let terms = || products.iter().chain([&c]);
    let survey = Survey::of(terms());
    // Step 1. Infinities come from operands only; a finite product never overflows.
    if survey.has_special
        && let Some(special) = special_sum(terms().map(|term| term.special))
    {
        return output.special(special);
    }
    // Step 2, the exact products, is done. Step 3. A zero term does not raise E; the floor e0 does.
    let largest = survey.largest.map_or(e0, |largest| largest.max(e0));
    // Steps 4 and 5.
    let sum = survey.sum(terms(), largest, f, align);
    // Steps 6 and 7.
    let zeros = common_zero(terms().map(Product::zero));
    output.fixed(sum, largest - f as i32, zeros)
}
