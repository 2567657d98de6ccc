//! Constants that compilers compute: reciprocals.

use crate::format::{Class, Format, Overflow, Rounding};
use crate::precision::eval::quotient;

/// `1/c` rounded to nearest even, and whether it is exact; `None` where it is no normal number.
pub(super) fn reciprocal(format: &Format, word: u64) -> Option<(u64, bool)> {
    let value = format.decode(format.from_register(word)).exact()?;
    if value.magnitude == 0 {
        return None;
    }
    let one = crate::format::Exact {
        negative: false,
        magnitude: 1,
        exponent: 0,
        sticky: false,
    };
    let exact = quotient(&one, &value);
    let code = format.round(&exact, Rounding::Rne, Overflow::Ieee);
    let rounded = format.decode(code);
    let normal =
        rounded.class == Class::Finite && rounded.significand >> rounded.fraction_bits == 1;
    let power_of_two = value.magnitude.is_power_of_two();
    normal.then(|| (format.to_register(code), power_of_two))
}
