//! Makes values at quarters of a last place: below, at and above ties.

use crate::exact::{Dyadic, Exact};
use crate::probe::bench::{Bench, Input, Reading, two};

/// Multiples of a quarter of the last place: below, at and above ties, beside even and odd.
const QUARTERS: [i64; 6] = [1, 2, 3, 5, 6, 7];

pub(super) fn signed_quarters() -> impl Iterator<Item = (bool, i64)> {
    [false, true]
        .into_iter()
        .flat_map(|negative| QUARTERS.map(|quarters| (negative, quarters)))
}

/// Whether below, at and above a tie was asked, for both signs.
pub(super) fn enough(asked: &[(bool, i64)]) -> bool {
    [false, true]
        .into_iter()
        .all(|negative| (1..=3).all(|quarters| asked.contains(&(negative, quarters))))
}

/// ±quarters/4 · 2^place.
pub(super) fn quarter(negative: bool, quarters: i64, place: i32) -> Exact {
    Exact::new(negative, quarters as u128, place - 2)
}

pub(super) fn quarter_value(negative: bool, quarters: i64, place: i32) -> Dyadic {
    let quarters = if negative { -quarters } else { quarters };
    Dyadic::new(quarters.into(), i64::from(place) - 2)
}

/// ±quarters/4 · 2^place as a product, the fraction in a. False: these formats have no such product.
pub(super) fn quarter_product(
    bench: &Bench<'_>,
    input: &mut Input,
    k: usize,
    negative: bool,
    quarters: i64,
    place: i32,
) -> bool {
    let number = quarter(negative, quarters, place);
    let wanted = quarter_value(negative, quarters, place);
    let Some(top) = number.top() else {
        return false;
    };
    let (a, b) = (&bench.maker.a, &bench.maker.b);
    let ways = |low_a: i32, low_b: i32| {
        let from = low_a.max(top - b.top);
        from..=a.top.min(top - low_b)
    };
    // Normal operands where there are any, of exponents near each other.
    let normal = ways(a.normal, b.normal);
    let middle = i32::midpoint(*normal.start(), *normal.end());
    let exponents = if normal.is_empty() {
        ways(a.lowest, b.lowest)
    } else {
        middle..=middle
    };
    for exponent in exponents {
        let other = two(false, top - exponent);
        bench.product(input, k, number.with_top(exponent), other);
        if bench.product_at(input, k).as_ref() == Some(&wanted) {
            return true;
        }
    }
    false
}

/// (reading − base) / 2^place, if it is a whole number.
pub(super) fn multiple(reading: &Reading, base: &Dyadic, place: i32) -> Option<i64> {
    let difference = &reading.number()? - base;
    if difference.is_zero() {
        return Some(0);
    }
    let scaled = difference.scaled(-i64::from(place));
    let exponent = scaled.exponent();
    if !(0..62).contains(&exponent) {
        return None;
    }
    let significand = i64::try_from(scaled.significand()).ok()?;
    significand.checked_mul(1 << exponent)
}
