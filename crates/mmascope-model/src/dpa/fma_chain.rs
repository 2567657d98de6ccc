//! SFMA / FMA, §2.1: `d = c`; for k ascending `d = fma(a_k, b_k, d)`.

use super::ieee;
use super::output::{Output, PLUS_ZERO};
use super::pair::Pair;
use crate::format::Unpacked;

/// One link of the chain.
pub(super) fn step(pair: &Pair, accumulator: &Unpacked, output: &Output) -> u64 {
    ieee::fused_multiply_add(&pair.a, &pair.b, accumulator, output)
}

/// A chain that starts with a plain product instead of an accumulator (§3, scalar lowerings).
pub(super) fn run_from_product(pairs: &[Pair], output: &Output) -> u64 {
    let Some((first, rest)) = pairs.split_first() else {
        return PLUS_ZERO;
    };
    let product = ieee::multiply(&first.a, &first.b, output);
    rest.iter()
        .fold(product, |sum, pair| step(pair, &output.unpack(sum), output))
}
