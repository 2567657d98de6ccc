//! IEEE 754 addition, multiplication and fused multiply-add on decoded values (§2.1).

use super::output::{Output, Word};
use super::pair::special_product;
use super::{special_sum, special_value};
use crate::format::{Exact, Unpacked};

/// `x + y`, rounded once.
pub(super) fn add(x: &Unpacked, y: &Unpacked, output: &Output) -> Word {
    match (
        special_sum([special_value(x), special_value(y)]),
        x.exact(),
        y.exact(),
    ) {
        (None, Some(x), Some(y)) => rounded_sum(&x, &y, output),
        (special, ..) => output.special(special.unwrap_or(super::Special::Nan)),
    }
}

/// `a · b`, rounded once.
pub(super) fn multiply(a: &Unpacked, b: &Unpacked, output: &Output) -> Word {
    match special_product(a, b) {
        Some(special) => output.special(special),
        None => {
            let product = exact_product(a, b);
            output.finite(&product, product.magnitude == 0 && product.negative)
        }
    }
}

/// `a · b + c`, rounded once.
pub(super) fn fused_multiply_add(
    a: &Unpacked,
    b: &Unpacked,
    c: &Unpacked,
    output: &Output,
) -> Word {
    match (
        special_sum([special_product(a, b), special_value(c)]),
        c.exact(),
    ) {
        (None, Some(c)) => rounded_sum(&exact_product(a, b), &c, output),
        (special, _) => output.special(special.unwrap_or(super::Special::Nan)),
    }
}

fn exact_product(a: &Unpacked, b: &Unpacked) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        magnitude: u128::from(a.significand) * u128::from(b.significand),
        exponent: a.exponent + b.exponent - (a.fraction_bits + b.fraction_bits) as i32,
        sticky: false,
    }
}

fn rounded_sum(x: &Exact, y: &Exact, output: &Output) -> Word {
    let both_negative_zero = x.magnitude == 0 && y.magnitude == 0 && x.negative && y.negative;
    output.finite(&exact_sum(x, y), both_negative_zero)
}

/// The sum of two exact values of at most 106 bits. When one lies far below the other, what falls
/// below a window of 62 or 126 bits is kept as `sticky`; every format's last place lies far above.
fn exact_sum(x: &Exact, y: &Exact) -> Exact {
    let top = |v: &Exact| {
        v.magnitude
            .checked_ilog2()
            .map(|log| i64::from(log) + i64::from(v.exponent))
    };
    let (large, small) = match (top(x), top(y)) {
        (None, None) => {
            return Exact {
                negative: false,
                magnitude: 0,
                exponent: 0,
                sticky: false,
            };
        }
        (Some(_), None) => return *x,
        (None, Some(_)) => return *y,
        (Some(top_x), Some(top_y)) if top_x >= top_y => (x, y),
        _ => (y, x),
    };
    // The larger one's top bit is moved to the window's top: two bits of room for carry and sign.
    // The narrow window serves products and values of formats of up to 32 bits.
    let narrow = large.magnitude.max(small.magnitude) >> 50 == 0;
    let room = if narrow { 61 } else { 125 } - large.magnitude.ilog2();
    let exponent = large.exponent - room as i32;
    let large_magnitude = (large.magnitude << room) as i128;
    let (small_magnitude, sticky) = if small.exponent >= exponent {
        (
            (small.magnitude << (small.exponent - exponent)) as i128,
            false,
        )
    } else {
        let width = (exponent - small.exponent) as u32;
        let kept = small.magnitude.checked_shr(width).unwrap_or(0);
        let lost = kept.checked_shl(width).unwrap_or(0) != small.magnitude;
        (kept as i128, lost)
    };
    // With the sign of the large one taken out: large − (kept + ε) = (large − kept − 1) + (1 − ε).
    let magnitude = if large.negative == small.negative {
        large_magnitude + small_magnitude
    } else {
        large_magnitude - small_magnitude - i128::from(sticky)
    };
    Exact {
        negative: large.negative != (magnitude < 0),
        magnitude: magnitude.unsigned_abs(),
        exponent,
        sticky,
    }
}
