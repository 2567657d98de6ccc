//! What a fused sum adds beside c: products as they are, or terms that were made of them.

use crate::dpa::pair::Term;
use crate::dpa::product::Product;
use crate::dpa::survey::Survey;
use crate::exact::{Exact, Rounding, Sum};

/// The finite terms of a sum.
pub(super) trait Summands {
    /// The largest exponent of one that is not zero.
    fn largest(&self) -> Option<i32>;

    /// Their sum as a multiple of 2^(top − f), each rounded to one; none has an exponent above `top`.
    fn aligned(&self, top: i32, f: u32, align: Rounding) -> i128;

    /// Whether one is no multiple of 2^grid.
    fn have_bits_below(&self, grid: i32) -> bool;

    /// Their exact sum with c, if it takes part.
    fn exact(&self, c: Option<&Term>) -> Exact;
}

impl Summands for [Term] {
    fn largest(&self) -> Option<i32> {
        self.iter().map(|term| term.exponent).max()
    }

    fn aligned(&self, top: i32, f: u32, align: Rounding) -> i128 {
        let grid = top - f as i32;
        self.iter().map(|term| term.align(grid, align)).sum()
    }

    fn have_bits_below(&self, grid: i32) -> bool {
        self.iter().any(|term| term.value.has_bits_below(grid))
    }

    fn exact(&self, c: Option<&Term>) -> Exact {
        exact_total(self.iter().chain(c).map(|term| &term.value))
    }
}

/// Products, none of them ∞ or NaN, with what they are like.
pub(super) struct Surveyed<'a> {
    pub(super) products: &'a [Product],
    pub(super) survey: Survey,
}

impl Summands for Surveyed<'_> {
    fn largest(&self) -> Option<i32> {
        self.survey.largest
    }

    fn aligned(&self, top: i32, f: u32, align: Rounding) -> i128 {
        self.survey.sum(self.products.iter(), top, f, align)
    }

    fn have_bits_below(&self, grid: i32) -> bool {
        let mut not_zero = (self.products.iter()).filter(|product| product.significand != 0);
        not_zero.any(|product| product.exact().has_bits_below(grid))
    }

    fn exact(&self, c: Option<&Term>) -> Exact {
        let mut sum = Sum::default();
        (self.products.iter()).for_each(|product| sum.add(&product.exact()));
        c.iter().for_each(|c| sum.add(&c.value));
        sum.exact()
    }
}

/// The exact sum.
pub(super) fn exact_total<'a>(values: impl IntoIterator<Item = &'a Exact>) -> Exact {
    let mut sum = Sum::default();
    values.into_iter().for_each(|value| sum.add(value));
    sum.exact()
}
