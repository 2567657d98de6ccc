//! GPS / FTZ-AddMul, §2.5: rounded products summed pairwise, with a flush after every step.

use super::FlushSign;
use super::ieee;
use super::output::{Output, Word};
use super::pair::Pair;
use crate::format::{Class, Unpacked};

/// One group of P products: their pairwise sum is added to c.
pub(super) fn block(
    pairs: &[Pair],
    c: &Unpacked,
    flush_in: FlushSign,
    flush_out: FlushSign,
    output: &Output,
) -> Word {
    let c = flush_operand(c, flush_in);
    let mut sums: Vec<Word> = pairs
        .iter()
        .map(|pair| {
            let (a, b) = (
                flush_operand(&pair.a, flush_in),
                flush_operand(&pair.b, flush_in),
            );
            flush_result(ieee::multiply(&a, &b, output), flush_out)
        })
        .collect();
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|two| flushed_sum(two, flush_out, output))
            .collect();
    }
    flush_result(ieee::add(&c, &sums[0].unpack(), output), flush_out)
}

/// `(x + y)`, flushed; a lone x stays as it is.
fn flushed_sum(words: &[Word], flush_out: FlushSign, output: &Output) -> Word {
    match *words {
        [x, y] => flush_result(ieee::add(&x.unpack(), &y.unpack(), output), flush_out),
        _ => words[0],
    }
}

/// An operand whose exponent field is 0, a zero included, becomes a zero.
fn flush_operand(x: &Unpacked, sign: FlushSign) -> Unpacked {
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
fn flush_result(word: Word, sign: FlushSign) -> Word {
    let x = word.unpack();
    if x.class != Class::Finite || x.significand >> x.fraction_bits != 0 {
        return word;
    }
    let zero = word.format.zero(x.negative && sign == FlushSign::Kept);
    Word {
        bits: word.format.to_register(zero),
        ..word
    }
}
