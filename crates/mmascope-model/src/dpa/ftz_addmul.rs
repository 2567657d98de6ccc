//! GPS / FTZ-AddMul, §2.5: rounded products summed pairwise, with a flush after every step.

use super::FlushSign;
use super::ieee;
use super::output::Output;
use super::pair::Pair;
use crate::format::{Class, Unpacked};

/// One group of P products: their pairwise sum is added to c, which has been flushed as an operand
/// once, before the first group.
pub(super) fn block(
    pairs: &[Pair],
    c: &Unpacked,
    flush_in: FlushSign,
    flush_out: FlushSign,
    output: &Output,
) -> u64 {
    let sum = pairwise_sum(pairs, flush_in, flush_out, output);
    let word = ieee::add(c, &sum, output);
    let result = output.unpack(word);
    if is_subnormal(&result) {
        output.zero(result.negative && flush_out == FlushSign::Kept)
    } else {
        word
    }
}

/// Neighbours are added level by level: (p0+p1)+(p2+p3). What is left alone in a level moves up.
fn pairwise_sum(
    pairs: &[Pair],
    flush_in: FlushSign,
    flush_out: FlushSign,
    output: &Output,
) -> Unpacked {
    let product = |pair: &Pair| {
        let a = flush_operand(&pair.a, flush_in);
        let b = flush_operand(&pair.b, flush_in);
        flush_result(ieee::product(&a, &b, output), flush_out)
    };
    let (left, right) = match pairs {
        [pair] => return product(pair),
        [left, right] => (product(left), product(right)),
        _ => {
            let (left, right) = pairs.split_at(pairs.len().next_power_of_two() / 2);
            let sum = |half| pairwise_sum(half, flush_in, flush_out, output);
            (sum(left), sum(right))
        }
    };
    flush_result(output.unpack(ieee::add(&left, &right, output)), flush_out)
}

/// An operand whose exponent field is 0, a zero included, becomes a zero.
#[inline]
pub(super) fn flush_operand(x: &Unpacked, sign: FlushSign) -> Unpacked {
    let normal = x.significand >> x.fraction_bits != 0;
    if matches!(x.class, Class::Infinite | Class::Nan) || normal {
        return *x;
    }
    let negative = x.negative && sign == FlushSign::Kept;
    Unpacked {
        negative,
        class: Class::Zero,
        significand: 0,
        ..*x
    }
}

/// A subnormal result becomes a zero.
#[inline]
fn flush_result(mut x: Unpacked, sign: FlushSign) -> Unpacked {
    if is_subnormal(&x) {
        x.class = Class::Zero;
        x.significand = 0;
        x.negative &= sign == FlushSign::Kept;
    }
    x
}

#[inline]
fn is_subnormal(x: &Unpacked) -> bool {
    x.class == Class::Finite && x.significand >> x.fraction_bits == 0
}
