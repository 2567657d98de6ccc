//! Constants that compilers compute: reciprocals, and operations whose operands are all constants.

use super::graph::Op;
use crate::dpa::Scalar;
use crate::format::{BF16, Class, Exact, Format, Overflow, Rounding};
use crate::precision::eval::{divided, quotient, rooted};

const ONE: Exact = Exact {
    negative: false,
    magnitude: 1,
    exponent: 0,
    sticky: false,
};

/// `1/c` rounded to nearest even, and whether it is exact; `None` where it is no normal number.
pub(super) fn reciprocal(format: &Format, word: u64) -> Option<(u64, bool)> {
    let value = format.decode(format.from_register(word)).exact()?;
    if value.magnitude == 0 {
        return None;
    }
    let exact = quotient(&ONE, &value);
    let code = format.round(&exact, Rounding::Rne, Overflow::Ieee);
    let rounded = format.decode(code);
    let normal =
        rounded.class == Class::Finite && rounded.significand >> rounded.fraction_bits == 1;
    let power_of_two = value.magnitude.is_power_of_two();
    normal.then(|| (format.to_register(code), power_of_two))
}

/// The result of an operation on constants of a type `from`, in the type `format`, rounded to nearest even; `None` for
/// other operations, for the root of a negative number, and for a NaN in another type.
pub(super) fn computed(format: &Format, from: &Format, op: &Op, words: &[u64]) -> Option<u64> {
    if *op == Op::Convert {
        let value = from.decode(from.from_register(words[0]));
        let code = match (value.class, value.exact()) {
            (Class::Infinite, _) => format.infinity(value.negative, Overflow::Ieee),
            (_, Some(exact)) => format.round(&exact, Rounding::Rne, Overflow::Ieee),
            _ => return None,
        };
        return Some(format.to_register(code));
    }
    let scalar = Scalar::new(*format, Rounding::Rne).ok()?;
    let sign = 1 << (format.register.bits - 1);
    let result = match (op, words) {
        (Op::Neg, &[x]) => return Some(x ^ sign),
        (Op::Call(name), &[x]) if name == "abs" => return Some(x & !sign),
        // Roots of ∞ and of bf16 constants stay.
        (Op::Call(name), &[x]) if name == "sqrt" && *format != BF16 && !is_infinite(format, x) => {
            rooted(format, x)
        }
        (Op::Add, &[x, y]) => scalar.add(x, y),
        (Op::Sub, &[x, y]) => scalar.add(x, y ^ sign),
        (Op::Mul, &[x, y]) => scalar.multiply(x, y),
        (Op::Div, &[x, y]) => divided(format, x, y),
        (Op::Fma, &[x, y, z]) => scalar.fused_multiply_add(x, y, z),
        _ => return None,
    };
    if is_nan(format, result) {
        return match op {
            Op::Call(_) => None,
            _ => Some(format.to_register(format.nan_or_substitute())),
        };
    }
    Some(result)
}

/// Whether a word is NaN.
pub(super) fn is_nan(format: &Format, word: u64) -> bool {
    format.decode(format.from_register(word)).class == Class::Nan
}

/// Whether a word is infinite.
pub(super) fn is_infinite(format: &Format, word: u64) -> bool {
    format.decode(format.from_register(word)).class == Class::Infinite
}
