//! §2.7: products truncated on their own grid, floors, then c, a second floor and RNE. One block.

use mmascope::dpa::Output;
use mmascope::format::Rounding;

use super::exact::Dyadic;
use super::operand::{Class, Term};
use super::result::{Outcome, finite_outcome, special, special_outcome};

/// Exponent of a zero c, and the smallest one of the normalised sum (steps 3 and 4).
const SMALLEST: i32 = -126;
/// A product whose magnitude reaches 2^128 is ∞ (step 1).
const INFINITE: i32 = 128;

pub(crate) fn block(products: &[Term], c: &Term, f: u32, f2: u32, output: &Output) -> Outcome {
    let products: Vec<Term> = products.iter().map(overflowed).collect();
    let terms = || products.iter().chain([c]);
    if let Some(special) = special(terms()) {
        return special_outcome(special, output);
    }
    let fraction = f as i32;
    let exponent_c = if c.is_zero() { SMALLEST } else { c.exponent };
    let (total, exponent) = match truncated_sum(&products, fraction) {
        Some((sum, maximum)) => (sum, maximum.max(exponent_c)),
        None => (Dyadic::zero(), exponent_c),
    };
    let total = total.to_grid(exponent - (f2 as i32 + 1), Rounding::Rd);
    let c_floor = c.value.to_grid(exponent - fraction, Rounding::Rd);
    finite_outcome(&second_floor(&total.add(&c_floor), f2), terms(), output)
}

/// Step 4: the floor of the sum at F2 bits below its own leading bit.
pub(crate) fn second_floor(sum: &Dyadic, f2: u32) -> Dyadic {
    if sum.is_zero() {
        return Dyadic::zero();
    }
    sum.to_grid(sum.logarithm().max(SMALLEST) - f2 as i32, Rounding::Rd)
}

/// Step 2: the sum truncated on the grid of the largest product, and that exponent; `None`
/// without a non-zero product.
pub(crate) fn truncated_sum<'a>(
    products: impl IntoIterator<Item = &'a Term>,
    fraction: i32,
) -> Option<(Dyadic, i32)> {
    let nonzero: Vec<&Term> = products
        .into_iter()
        .filter(|term| !term.is_zero())
        .collect();
    let maximum = nonzero.iter().map(|term| term.exponent).max()?;
    let sum = nonzero.iter().fold(Dyadic::zero(), |sum, term| {
        sum.add(&term.value.to_grid(maximum - fraction, Rounding::Rz))
    });
    Some((sum, maximum))
}

fn overflowed(product: &Term) -> Term {
    let finite =
        product.class != Class::Finite || product.is_zero() || product.value.logarithm() < INFINITE;
    if finite {
        product.clone()
    } else {
        Term::special(Class::Infinite, product.negative)
    }
}
