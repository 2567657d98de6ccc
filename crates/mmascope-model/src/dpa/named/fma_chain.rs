//! SFMA / FMA, §2.1: `d = c`; for k ascending `d = fma(a_k, b_k, d)`.

use super::Step;
use crate::dpa::general::{Fused, General, finished};
use crate::dpa::output::{Output, PLUS_ZERO};
use crate::dpa::pair::Pair;
use crate::dpa::schema::Row;
use crate::dpa::{ZeroSign, ieee};
use crate::format::{Overflow, Unpacked};

/// A chain of FMAs: one IEEE fused multiply-add per k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FmaChain;

impl Step for FmaChain {
    const NAME: &'static str = "fma-chain";
    const TITLE: &'static str = "FMA chain";
    const ROWS: &'static [Row<Self>] = &[];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Ieee, ZeroSign::Ieee);
    const FROM_PRODUCT: bool = true;

    fn new() -> Self {
        Self
    }

    fn block(&self) -> usize {
        1
    }

    fn rounds_every_operation(&self) -> bool {
        true
    }

    fn general(&self, _: &Output) -> General {
        General::Fused(Fused::plain(1, None))
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        link(&pairs[0], c, output)
    }

    /// A chain that starts with a plain product instead of an accumulator (instructions that a compiler lowers to scalar ones).
    fn run_from_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        let Some((first, rest)) = pairs.split_first() else {
            return PLUS_ZERO;
        };
        let product = finished(ieee::multiply(&first.a, &first.b, output), output);
        rest.iter().fold(product, |sum, pair| {
            finished(link(pair, &output.unpack(sum), output), output)
        })
    }
}

/// One link of the chain.
fn link(pair: &Pair, accumulator: &Unpacked, output: &Output) -> u64 {
    ieee::fused_multiply_add(&pair.a, &pair.b, accumulator, output)
}
