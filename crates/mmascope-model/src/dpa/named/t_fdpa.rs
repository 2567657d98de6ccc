//! FDA / T-FDPA, §2.2: the truncated fused dot-product-add; its function serves ST-FDPA, §2.3, too.

use super::Step;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::{Pair, Term};
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::{ZeroSign, special_sum, special_value};
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
    // Step 1. Infinities come from operands only; a finite product never overflows.
    if c.is_special() || pairs.iter().any(Pair::has_special) {
        let specials = pairs.iter().map(Pair::special).chain([special_value(c)]);
        if let Some(special) = special_sum(specials) {
            return output.special(special);
        }
    }
    // Step 2. Exact products; with block scales (powers of two) the exponents move (§2.3).
    let own = Term::of_value(c);
    // Step 3. A zero term does not raise E; the floor e0 does.
    let exponents = pairs.iter().filter(|pair| !is_zero(pair)).map(exponent);
    let largest = exponents.fold(own.map_or(e0, |term| term.exponent.max(e0)), i32::max);
    // Steps 4 and 5.
    let grid = largest - f as i32;
    let sum: i128 = if align == Rounding::Rz && f <= 48 && pairs.iter().all(is_small) {
        let terms = pairs.iter().map(|pair| truncated(pair, grid));
        i128::from(terms.sum::<i64>())
    } else {
        let terms = pairs.iter().filter_map(scaled_product);
        terms.map(|term| term.align(grid, align)).sum()
    };
    let sum = sum + own.map_or(0, |term| term.align(grid, align));
    // Steps 6 and 7.
    output.fixed(sum, grid, common_zero(pairs, c))
}

/// Whether the product is zero.
#[inline]
fn is_zero(pair: &Pair) -> bool {
    pair.a.significand == 0 || pair.b.significand == 0
}

/// The product's exponent with those of its block's scales.
#[inline]
fn exponent(pair: &Pair) -> i32 {
    pair.a.exponent + pair.b.exponent + pair.scales.a.exponent + pair.scales.b.exponent
}

/// Whether the product has at most 64 bits and is below 4 in units of its exponent, as those of floats are.
#[inline]
fn is_small(pair: &Pair) -> bool {
    let (a, b) = (pair.a.significand, pair.b.significand);
    (a | b) >> 32 == 0 && a >> pair.a.fraction_bits <= 1 && b >> pair.b.fraction_bits <= 1
}

/// A small product as a multiple of 2^grid, truncated; sign included. It is below 2^(F + 2), and K at
/// most 2^12.
#[inline]
fn truncated(pair: &Pair, grid: i32) -> i64 {
    let significand = pair.a.significand * pair.b.significand;
    if significand == 0 {
        return 0;
    }
    let fraction_bits = (pair.a.fraction_bits + pair.b.fraction_bits) as i32;
    let up = exponent(pair) - fraction_bits - grid;
    let magnitude = if up >= 0 {
        significand << up
    } else {
        significand.checked_shr(up.unsigned_abs()).unwrap_or(0)
    } as i64;
    if pair.negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// A product whose exponent has gained those of its blocks' scales.
fn scaled_product(pair: &Pair) -> Option<Term> {
    let mut product = pair.product()?;
    let scales = pair.scales.a.exponent + pair.scales.b.exponent;
    product.exponent += scales;
    product.value.exponent += scales;
    Some(product)
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
