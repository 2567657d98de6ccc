//! FDA / T-FDPA, §2.2: the truncated fused dot-product-add; its function serves ST-FDPA, §2.3, too.

use super::Step;
use crate::dpa::ZeroSign;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::{Pair, Term, special_terms};
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::survey::Survey;
use crate::format::{Class, Overflow, Rounding, Unpacked};

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

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        block(pairs, c, self.f, self.e0, self.align, output)
    }
}

/// One block: all products and c are aligned to the largest exponent, truncated to F fraction
/// bits, summed exactly and converted once.
pub(in crate::dpa) fn block(
    pairs: &[Pair],
    c: &Unpacked,
    f: u32,
    e0: i32,
    align: Rounding,
    output: &Output,
) -> u64 {
    let products = Survey::of(pairs.iter());
    // Step 1. Infinities come from operands only; a finite product never overflows.
    if (products.has_special || c.is_special())
        && let Some(special) = special_terms(pairs, c)
    {
        return output.special(special);
    }
    // Step 2. Exact products; with block scales (powers of two) the exponents move (§2.3).
    let own = Term::of_value(c);
    // Step 3. A zero term does not raise E; the floor e0 does.
    let exponents = products
        .largest
        .into_iter()
        .chain(own.map(|term| term.exponent));
    let largest = exponents.fold(e0, i32::max);
    // Steps 4 and 5.
    let grid = largest - f as i32;
    let sum = products.sum(pairs.iter(), largest, f, align);
    let sum = sum + own.map_or(0, |term| term.align(grid, align));
    // Steps 6 and 7.
    output.fixed(sum, grid, common_zero(pairs, c))
}

/// Whether every finite term is zero, so that nothing is aligned.
pub(in crate::dpa) fn no_terms(pairs: &[Pair], c: &Unpacked) -> bool {
    let special = |pair: &Pair| pair.special().is_some();
    c.class == Class::Zero
        && !pairs
            .iter()
            .any(|pair| special(pair) || pair.product().is_some())
}

/// Whether a product is a zero of c's sign.
pub(in crate::dpa) fn is_zero_like(pair: &Pair, c: &Unpacked) -> bool {
    pair.negative() == c.negative && (pair.a.class == Class::Zero || pair.b.class == Class::Zero)
}

/// The sign that all terms share if all are zeros.
pub(in crate::dpa) fn common_zero(pairs: &[Pair], c: &Unpacked) -> Option<bool> {
    let all = c.class == Class::Zero && pairs.iter().all(|pair| is_zero_like(pair, c));
    all.then_some(c.negative)
}
