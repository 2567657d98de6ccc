//! f32 arithmetic on words, to nearest even: what the recipes do in floats.

use crate::dpa::Scalar;
use crate::format::{Class, Exact, F32, Overflow, Rounding};

/// The largest finite f32.
pub(super) const FLOAT_MAX: u32 = 0x7f7f_ffff;

fn unit() -> Option<Scalar> {
    Scalar::new(F32, Rounding::Rne).ok()
}

/// `x + y`.
pub(super) fn add(x: u32, y: u32) -> u32 {
    unit().map_or(0, |unit| unit.add(x.into(), y.into()) as u32)
}

/// `x − y`.
pub(super) fn subtract(x: u32, y: u32) -> u32 {
    add(x, y ^ 1 << 31)
}

/// `x · y`.
pub(super) fn multiply(x: u32, y: u32) -> u32 {
    unit().map_or(0, |unit| unit.multiply(x.into(), y.into()) as u32)
}

/// `x / y`, IEEE 754 in everything; a NaN is the default quiet NaN.
pub(super) fn divide(x: u32, y: u32) -> u32 {
    const NAN: u32 = 0x7fc0_0000;
    let [a, b] = [x, y].map(|word| F32.decode(word.into()));
    let negative = a.negative != b.negative;
    let sign = u32::from(negative) << 31;
    match (a.class, b.class) {
        (Class::Nan, _) | (_, Class::Nan) => NAN,
        (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => NAN,
        (Class::Infinite, _) | (_, Class::Zero) => 0x7f80_0000 | sign,
        (Class::Zero, _) | (_, Class::Infinite) => sign,
        (Class::Finite, Class::Finite) => {
            // 60 bits more than the quotient of the significands has: at least 36 are significant.
            let (over, under) = (u128::from(a.significand) << 60, u128::from(b.significand));
            let exact = Exact {
                negative,
                magnitude: over / under,
                exponent: a.exponent - b.exponent - 60,
                sticky: over % under != 0,
            };
            F32.round(&exact, Rounding::Rne, Overflow::Ieee) as u32
        }
    }
}
