//! §2.5: rounded products, pairwise rounded sums of P, flushes everywhere.

use mmascope::dpa::{FlushSign, Output, ZeroSign};
use mmascope::format::{F32, Overflow, Rounding};

use super::fma_chain::step;
use super::operand::{Operand, Term, float};
use super::result::Outcome;

pub(crate) struct Flush {
    pub(crate) operands: FlushSign,
    pub(crate) results: FlushSign,
}

/// All the products, in groups of P, onto c.
pub(crate) fn run(
    pairs: &[(Operand, Operand)],
    c: &Operand,
    p: usize,
    flush: &Flush,
    output: &Output,
) -> Outcome {
    let ieee = Output {
        format: F32,
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
        zero: ZeroSign::Ieee,
        ..*output
    };
    let operation = |terms: &[Term]| flushed_result(step(terms, &ieee), flush, &ieee);
    // §2.5 flushes the operand c once; afterwards d is a result, not an operand.
    let mut d = flushed_operand(c, flush).term();
    let mut last = None;
    for group in pairs.chunks(p) {
        let mut sums: Vec<Term> = group
            .iter()
            .map(|(a, b)| flushed_operand(a, flush).times(&flushed_operand(b, flush)))
            .map(|exact| operation(&[exact]).term(&ieee))
            .collect();
        while sums.len() > 1 {
            sums = sums
                .chunks(2)
                .map(|pair| operation(pair).term(&ieee))
                .collect();
        }
        let outcome = operation(&[d, sums.remove(0)]);
        d = outcome.term(&ieee);
        last = Some(outcome);
    }
    last.expect("at least one product")
}

/// An operand whose exponent field is 0, −0 included.
fn flushed_operand(operand: &Operand, flush: &Flush) -> Operand {
    if !operand.has_zero_field() {
        return *operand;
    }
    Operand::zero(operand.negative && flush.operands == FlushSign::Kept)
}

/// A subnormal result; a zero was not made by a flush and keeps its sign.
fn flushed_result(outcome: Outcome, flush: &Flush, ieee: &Output) -> Outcome {
    let Outcome::Word(word) = outcome else {
        return outcome;
    };
    let sign = 1 << (ieee.format.bits - 1);
    let magnitude = word & !sign;
    if magnitude == 0 || magnitude >= 1 << float(&ieee.format).fraction_bits {
        return outcome;
    }
    Outcome::Word(if flush.results == FlushSign::Kept {
        word & sign
    } else {
        0
    })
}
