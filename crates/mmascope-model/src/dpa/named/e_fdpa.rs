//! E-FDPA, §2.6: the exact sum of c and L products, rounded once.

use super::Step;
use crate::dpa::general::{Fused, General};
use crate::dpa::output::Output;
use crate::dpa::pair::ONE;
use crate::dpa::product::{Product, common_zero};
use crate::dpa::schema::{Row, row};
use crate::dpa::{ZeroSign, special_sum};
use crate::exact::{Exact, Sum};
use crate::format::{Overflow, Unpacked};

/// So far apart may the last places of terms be whose sum one integer holds: fewer than 2^13 terms of 64 bits each.
const NEAR: i32 = 127 - 13 - 64;

/// E-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): exact fused sum, one rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EFdpa {
    /// Products per block.
    pub l: u32,
}

impl Step for EFdpa {
    const NAME: &'static str = "e-fdpa";
    const TITLE: &'static str = "E-FDPA";
    const ROWS: &'static [Row<Self>] = &[row!(L, l)];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Exact);

    fn new() -> Self {
        Self { l: 1 }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Fused(Fused::plain(self.l, None))
    }

    fn sums_products(&self, _: bool) -> bool {
        true
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        block(products, c, output)
    }
}

/// One block, without intermediate overflow.
fn block(products: &[Product], c: &Unpacked, output: &Output) -> u64 {
    // c is a term like the products: c · 1.
    let c = Product::of(c, &ONE);
    let terms = || products.iter().chain([&c]);
    if let Some(special) = special_sum(terms().map(|term| term.special)) {
        return output.special(special);
    }
    let zeros = common_zero(terms().map(Product::zero));
    output.finite(&exact_sum(terms), zeros)
}

/// The exact sum of finite terms.
fn exact_sum<'p, Terms: Iterator<Item = &'p Product>>(terms: impl Fn() -> Terms) -> Exact {
    let not_zero = || terms().filter(|term| term.zero().is_none());
    let lowest = not_zero().map(Product::place).min().unwrap_or(0);
    let highest = not_zero().map(Product::place).max().unwrap_or(0);
    if highest - lowest <= NEAR {
        let multiple = |term: &Product| term.multiple() << (term.place() - lowest);
        return Exact::of_multiple(not_zero().map(multiple).sum(), lowest);
    }
    let mut sum = Sum::default();
    not_zero().for_each(|term| sum.add(&term.exact()));
    sum.exact()
}
