//! GFDRDA / GTR-FDPA, §2.8: even and odd k are summed apart, then joined as in TR-FDPA.

use super::output::{Output, Word};
use super::pair::{Pair, Term};
use super::tr_fdpa::{add_c, floor_to, min_exponent, specials};
use crate::format::{Class, Rounding, Unpacked};

/// One block.
pub(super) fn block(pairs: &[Pair], c: &Unpacked, f: u32, f2: u32, output: &Output) -> Word {
    // NaN and ∞ of c are decided before c may be dropped.
    if let Some(special) = specials(pairs, c, output) {
        return output.special(special);
    }
    let sums = [0, 1].map(|parity| parity_sum(pairs, parity, f));
    let Some(e_dot) = sums.iter().flatten().map(|sum| sum.exponent).max() else {
        return add_c(0, 0, None, c, f, f2, output);
    };
    let grid = e_dot - f as i32;
    let sum = sums
        .iter()
        .flatten()
        .map(|sum| {
            let (multiple, place) = floor_to(sum.multiple, sum.exponent - f as i32, grid);
            multiple << (place - grid)
        })
        .sum();
    let e_c = if c.class == Class::Zero {
        min_exponent(output)
    } else {
        c.exponent
    };
    let dropped = e_c < e_dot.max(e_c) - f as i32 - 1;
    let zero = Unpacked {
        class: Class::Zero,
        significand: 0,
        negative: false,
        ..*c
    };
    add_c(
        sum,
        grid,
        Some(e_dot),
        if dropped { &zero } else { c },
        f,
        f2,
        output,
    )
}

/// The truncated sum of one parity: a multiple of `2^(exponent − F)`.
struct ParitySum {
    multiple: i128,
    exponent: i32,
}

/// `None` when the parity has no non-zero product; a sum that truncates to zero keeps its exponent.
fn parity_sum(pairs: &[Pair], parity: usize, f: u32) -> Option<ParitySum> {
    let products = || {
        pairs
            .iter()
            .skip(parity)
            .step_by(2)
            .filter_map(Pair::product)
    };
    let exponent = products().map(|term: Term| term.exponent).max()?;
    let grid = exponent - f as i32;
    let multiple = products().map(|term| term.align(grid, Rounding::Rz)).sum();
    Some(ParitySum { multiple, exponent })
}
