//! The exact product of one k: all that a fused sum takes of a pair.

use std::cell::Cell;

use super::Special;
use super::pair::{Pair, Scales, special_product};
use crate::exact::Exact;
use crate::format::{Class, Unpacked};

/// The exact product of a pair of operands of at most 32 bits, and the exponent with which it takes part in the alignment:
/// `(−1)^negative · significand · 2^(exponent − fraction_bits)`, unless it is ∞ or NaN.
///
/// Block scales that are powers of two are in the exponent (§2.3). Sums read products again and again, so they are short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// The product of both significands; 0 for zero, and for ∞ and NaN.
    pub(super) significand: u64,
    /// The sum of both field exponents.
    pub(super) exponent: i32,
    /// Bits of the significand after the binary point, both operands' together.
    pub(super) fraction_bits: u8,
    /// The sign; also of a zero.
    pub(super) negative: bool,
    /// ∞ or NaN, if it is one.
    pub(super) special: Option<Special>,
}

impl Product {
    /// The product of two operands.
    #[inline(always)]
    pub(super) fn of(a: &Unpacked, b: &Unpacked) -> Self {
        let is_special = a.is_special() | b.is_special();
        Self {
            significand: a.significand * b.significand,
            exponent: a.exponent + b.exponent,
            fraction_bits: (a.fraction_bits + b.fraction_bits) as u8,
            negative: a.negative != b.negative,
            special: if is_special {
                special_product(a, b)
            } else {
                None
            },
        }
    }

    /// The product of a pair with its scales.
    pub(super) fn of_pair(pair: &Pair) -> Self {
        let mut product = Self::of(&pair.a, &pair.b);
        product.scale(pair.scales);
        product
    }

    /// Multiplies by the powers of two of the scales; a NaN scale makes NaN.
    pub(super) fn scale(&mut self, scales: &Scales) {
        self.exponent += scales.a.exponent + scales.b.exponent;
        // (A format without fraction bits may have a zero.)
        if scales.a.class == Class::Zero || scales.b.class == Class::Zero {
            self.significand = 0;
        }
        if scales.has_nan() {
            self.special = Some(Special::Nan);
        }
    }

    /// Changes the sign.
    pub(super) fn negate(&mut self) {
        self.negative = !self.negative;
        if let Some(Special::Infinite { negative }) = &mut self.special {
            *negative = self.negative;
        }
    }

    /// The sign, if it is a zero.
    pub(super) fn zero(&self) -> Option<bool> {
        (self.significand == 0).then_some(self.negative)
    }

    /// Place of the last bit.
    #[inline(always)]
    pub(super) fn place(&self) -> i32 {
        self.exponent - i32::from(self.fraction_bits)
    }

    /// The number as a multiple of 2^[`Product::place`]. The caller has excluded ∞ and NaN.
    #[inline(always)]
    pub(super) fn multiple(&self) -> i128 {
        let magnitude = i128::from(self.significand);
        if self.negative { -magnitude } else { magnitude }
    }

    /// The number. The caller has excluded ∞ and NaN.
    #[inline(always)]
    pub(super) fn exact(&self) -> Exact {
        Exact::new(self.negative, self.significand.into(), self.place())
    }
}

thread_local! {
    static PRODUCTS: Cell<Vec<Product>> = const { Cell::new(Vec::new()) };
}

/// Does something with an empty list. Most sums are short, and millions are made: the list's memory is kept.
pub(super) fn with_list<T>(action: impl FnOnce(&mut Vec<Product>) -> T) -> T {
    let mut products = PRODUCTS.take();
    products.clear();
    let result = action(&mut products);
    PRODUCTS.set(products);
    result
}

/// Does something with the products of pairs.
pub(super) fn of_each<T>(pairs: &[Pair], action: impl FnOnce(&[Product]) -> T) -> T {
    with_list(|products| {
        products.extend(pairs.iter().map(Product::of_pair));
        action(products)
    })
}

/// The sign of a c that is zero.
pub(super) fn zero_of(c: &Unpacked) -> Option<bool> {
    (c.class == Class::Zero).then_some(c.negative)
}

/// The sign that all terms share if all of them are zeros; `terms` has the signs of those that are.
pub(super) fn common_zero(mut terms: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let first = terms.next()?;
    first.filter(|_| terms.all(|zero| zero == first))
}
