//! The family `exhaustive`: all pairs (a0, b0) of operands of at most 8 bits, each with 16 chosen c.

use super::Layout;
use crate::dpa::OperandWords;
use crate::dpa::Signature;
use crate::error::{Error, Result};

/// Widest operand of which all pairs are tried.
const WIDEST: u32 = 8;
/// How many c there are for each pair.
const ACCUMULATORS: u64 = 16;

pub(super) fn check(signature: &Signature) -> Result<()> {
    let wide = [("a", signature.a), ("b", signature.b)]
        .into_iter()
        .find(|(_, format)| format.bits > WIDEST);
    match wide {
        None => Ok(()),
        Some((name, format)) => Err(Error::Argument(format!(
            "family exhaustive: {name} is {format}, of {} bits; it tries all pairs of operands of at \
             most {WIDEST} bits",
            format.bits
        ))),
    }
}

pub(super) fn count(layout: &Layout) -> u64 {
    ACCUMULATORS << (layout.a.format.bits + layout.b.format.bits)
}

pub(super) fn case(layout: &Layout, index: u64, case: &mut OperandWords) {
    let (a_code, b_code) = (&layout.a, &layout.b);
    let (a_bits, b_bits) = (a_code.format.bits, b_code.format.bits);
    layout.clear(case);
    case.c = accumulator(layout, (index >> (a_bits + b_bits)) % ACCUMULATORS);
    case.a[0] = index & a_code.format.mask();
    case.b[0] = (index >> a_bits) & b_code.format.mask();
    if let Some((code, _)) = layout.scale {
        let one = code.number(false, 0, 0);
        case.scale_a.resize(layout.blocks(), one);
        case.scale_b.resize(layout.blocks(), one);
    }
}

/// The chosen c: zeros, ones, the ends of the subnormals, long fractions, large ones, ∞, NaN.
fn accumulator(layout: &Layout, which: u64) -> u64 {
    let c = &layout.c;
    match which {
        0 => c.zero(false),
        1 => c.zero(true),
        2 => c.number(false, 0, 0),
        3 => c.number(true, 0, 0),
        4 => c.subnormal(false, 1),
        5 => c.subnormal(true, 1),
        6 => c.number(false, c.e_min, 0),
        7 => c.subnormal(true, c.ones()),
        8 => c.number(false, 0, c.ones()),
        9 => c.number(true, 0, 1),
        10 => c.number(false, 8, 0),
        11 => c.number(true, 13, 0),
        12 => c.near_largest(false, 0),
        13 => c.near_largest(true, 0),
        14 => c.infinity(false),
        _ => c.nan(1),
    }
}
