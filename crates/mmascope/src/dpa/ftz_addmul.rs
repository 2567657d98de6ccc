//! GPS / FTZ-AddMul, §2.5: rounded products summed pairwise, with a flush after every step.

use super::FlushSign;
use super::ieee;
use super::output::{Output, Word};
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
) -> Word {
    let flushed = |word: Word| flush_result(word, flush_out);
    let mut sums: Vec<Unpacked> = pairs
        .iter()
        .map(|pair| {
            let (a, b) = (
                flush_operand(&pair.a, flush_in),
                flush_operand(&pair.b, flush_in),
            );
            flushed(ieee::multiply(&a, &b, output)).1
        })
        .collect();
    // Neighbours are added level by level: (p0+p1)+(p2+p3).
    let mut left = sums.len();
    while left > 1 {
        for i in 0..left / 2 {
            sums[i] = flushed(ieee::add(&sums[2 * i], &sums[2 * i + 1], output)).1;
        }
        if left % 2 == 1 {
            sums[left / 2] = sums[left - 1];
        }
        left = left.div_ceil(2);
    }
    flushed(ieee::add(c, &sums[0], output)).0
}

/// An operand whose exponent field is 0, a zero included, becomes a zero.
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

/// A subnormal result becomes a zero. Gives the word and what it means.
fn flush_result(word: Word, sign: FlushSign) -> (Word, Unpacked) {
    let x = word.unpack();
    if x.class != Class::Finite || x.significand >> x.fraction_bits != 0 {
        return (word, x);
    }
    let negative = x.negative && sign == FlushSign::Kept;
    let bits = word.format.to_register(word.format.zero(negative));
    (
        Word { bits, ..word },
        Unpacked {
            negative,
            class: Class::Zero,
            significand: 0,
            ..x
        },
    )
}
