//! GPS / FTZ-AddMul, §2.5: rounded products summed pairwise, with a flush after every step.

use super::Step;
use crate::dpa::general::{AddMul, General, Terms};
use crate::dpa::output::Output;
use crate::dpa::pair::Pair;
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::{FlushSign, ZeroSign, ieee};
use crate::format::{Class, Overflow, Unpacked};

/// FTZ-AddMul of the MMA-Sim paper (arXiv 2511.10909v2): rounded products, pairwise rounded sums of P, flushes everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FtzAddMul {
    /// Products per pairwise sum, a power of two.
    pub p: u32,
    /// Sign of a flushed operand.
    pub flush_in: FlushSign,
    /// Sign of a flushed result.
    pub flush_out: FlushSign,
}

impl Step for FtzAddMul {
    const NAME: &'static str = "ftz-addmul";
    const TITLE: &'static str = "FTZ-AddMul";
    const ROWS: &'static [Row<Self>] = &[
        row!(P, p),
        row!(FLUSH_IN, flush_in).or(|_| Value::Word("plus")),
        row!(FLUSH_OUT, flush_out).or(|_| Value::Word("kept")),
    ];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Ieee, ZeroSign::Ieee);

    fn new() -> Self {
        Self {
            p: 1,
            flush_in: FlushSign::Plus,
            flush_out: FlushSign::Kept,
        }
    }

    fn block(&self) -> usize {
        self.p as usize
    }

    fn rounds_every_operation(&self) -> bool {
        true
    }

    fn general(&self, _: &Output) -> General {
        let (flush_in, flush_out) = (Some(self.flush_in), Some(self.flush_out));
        General::AddMul(AddMul {
            p: self.p,
            sequential: false,
            flush_sums: flush_out,
            terms: Terms {
                flush_in,
                flush_c: flush_in,
                flush_products: flush_out,
                // A zero has the exponent field 0 as well.
                plus_zeros: self.flush_in == FlushSign::Plus,
                ..Terms::default()
            },
        })
    }

    fn check(&self) -> Result<(), String> {
        match self.p.is_power_of_two() {
            true => Ok(()),
            false => Err(format!("P={} is not a power of two", self.p)),
        }
    }

    fn start(&self, c: Unpacked) -> Unpacked {
        flush_operand(&c, self.flush_in)
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        block(pairs, c, self.flush_in, self.flush_out, output)
    }
}

/// One group of P products: their pairwise sum is added to c, which has been flushed as an operand
/// once, before the first group.
fn block(
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
    // A result is flushed once it is rounded, whatever the statement does with its own.
    let unflushed = Output {
        flush: None,
        ..*output
    };
    let product = |pair: &Pair| {
        let a = flush_operand(&pair.a, flush_in);
        let b = flush_operand(&pair.b, flush_in);
        flush_result(ieee::product(&a, &b, &unflushed), flush_out)
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
