//! IEEE 754 addition, multiplication and fused multiply-add on decoded values (§2.1).

use super::output::Output;
use super::pair::special_product;
use super::{Special, special_sum, special_value};
use crate::exact::Exact;
use crate::format::Unpacked;

/// `x + y`, rounded once.
#[inline]
pub(super) fn add(x: &Unpacked, y: &Unpacked, output: &Output) -> u64 {
    match (x.exact(), y.exact()) {
        (Some(x), Some(y)) => rounded_sum(&x, &y, output),
        _ => special(special_value(x), special_value(y), output),
    }
}

/// `a · b`, rounded once.
#[inline]
pub(super) fn multiply(a: &Unpacked, b: &Unpacked, output: &Output) -> u64 {
    match special_product(a, b) {
        Some(special) => output.special(special),
        None => {
            let product = a.times(b);
            output.finite(
                &product,
                (product.magnitude == 0).then_some(product.negative),
            )
        }
    }
}

/// `a · b`, rounded once, as what it means.
#[inline]
pub(super) fn product(a: &Unpacked, b: &Unpacked, output: &Output) -> Unpacked {
    if special_product(a, b).is_none()
        && let Some(product) = output.holds(&a.times(b))
    {
        return product;
    }
    output.unpack(multiply(a, b, output))
}

/// `a · b + c`, rounded once.
pub(super) fn fused_multiply_add(a: &Unpacked, b: &Unpacked, c: &Unpacked, output: &Output) -> u64 {
    match (special_product(a, b), c.exact()) {
        (None, Some(c)) => rounded_sum(&a.times(b), &c, output),
        (product, _) => special(product, special_value(c), output),
    }
}

/// The result of a sum of which at least one term is special.
fn special(x: Option<Special>, y: Option<Special>, output: &Output) -> u64 {
    output.special(special_sum([x, y]).unwrap_or(Special::Nan))
}

fn rounded_sum(x: &Exact, y: &Exact, output: &Output) -> u64 {
    let both_zero = x.magnitude == 0 && y.magnitude == 0 && x.negative == y.negative;
    output.finite(&exact_sum(x, y), both_zero.then_some(x.negative))
}

/// The sum of two exact values of at most 106 bits. The narrow window serves products and values of
/// formats of up to 32 bits.
#[inline]
fn exact_sum(x: &Exact, y: &Exact) -> Exact {
    if (x.magnitude | y.magnitude) >> 50 == 0 {
        narrow_sum(x, y)
    } else {
        wide_sum(x, y)
    }
}

/// Makes a function that adds two exact values in a window of so many bits. When one lies far below
/// the other, what falls below the window is kept as `sticky`; every format's last place lies far
/// above.
macro_rules! sum_in_window {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        #[inline]
        fn $name(x: &Exact, y: &Exact) -> Exact {
            const BITS: u32 = <$unsigned>::BITS;
            let log = |v: &Exact| (v.magnitude as $unsigned).checked_ilog2();
            let (Some(log_x), Some(log_y)) = (log(x), log(y)) else {
                return if y.magnitude == 0 { *x } else { *y };
            };
            let top = |log: u32, v: &Exact| i64::from(log) + i64::from(v.exponent);
            let (large, small, log) = if top(log_x, x) >= top(log_y, y) {
                (x, y, log_x)
            } else {
                (y, x, log_y)
            };
            // The larger one's top bit goes to the window's top: two bits of room for carry and sign.
            let room = BITS - 3 - log;
            let exponent = large.exponent - room as i32;
            let large_magnitude = ((large.magnitude as $unsigned) << room) as $signed;
            let small_magnitude = small.magnitude as $unsigned;
            let (small_magnitude, sticky) = if small.exponent >= exponent {
                (small_magnitude << (small.exponent - exponent), false)
            } else {
                let width = (exponent - small.exponent) as u32;
                let kept = small_magnitude.checked_shr(width).unwrap_or(0);
                let lost = kept.checked_shl(width).unwrap_or(0) != small_magnitude;
                (kept, lost)
            };
            // With the sign of the large one taken out:
            // large − (kept + ε) = (large − kept − 1) + (1 − ε). And −x = !x + 1, so the signs,
            // which no processor foresees, need no branch.
            let flip = -<$signed>::from(large.negative != small.negative);
            let addend = (small_magnitude as $signed ^ flip) - flip;
            let magnitude = large_magnitude + addend - (flip & <$signed>::from(sticky));
            Exact {
                negative: large.negative != (magnitude < 0),
                magnitude: u128::from(magnitude.unsigned_abs()),
                exponent,
                sticky,
            }
        }
    };
}

sum_in_window!(narrow_sum, u64, i64);
sum_in_window!(wide_sum, u128, i128);
