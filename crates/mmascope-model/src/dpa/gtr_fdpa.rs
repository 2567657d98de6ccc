//! GFDRDA / GTR-FDPA, §2.8: even and odd k are summed apart, then joined as in TR-FDPA.

use super::output::Output;
use super::pair::Pair;
use super::t_fdpa::common_zero;
use super::tr_fdpa::{Sum, add_c, exponent_of_c, floor_to, specials};
use crate::format::{Class, Rounding, Unpacked};

/// One block.
pub(super) fn block(pairs: &[Pair], c: &Unpacked, f: u32, f2: u32, output: &Output) -> u64 {
    // NaN and ∞ of c are decided before c may be dropped.
    if let Some(special) = specials(pairs, c, output) {
        return output.special(special);
    }
    let sums = [0, 1].map(|parity| parity_sum(pairs, parity, f));
    let zeros = common_zero(pairs, c);
    let Some(exponent) = sums.iter().flatten().map(|sum| sum.exponent).max() else {
        return add_c(None, zeros, c, f, f2, output);
    };
    let grid = exponent - f as i32;
    let floored = |sum: &Sum| floor_to(sum.multiple, sum.exponent - f as i32, grid).0;
    let multiple = sums.iter().flatten().map(floored).sum();
    let e_c = exponent_of_c(c, output);
    let dropped = e_c < exponent.max(e_c) - f as i32 - 1;
    let zero = Unpacked {
        class: Class::Zero,
        significand: 0,
        negative: false,
        ..*c
    };
    let c = if dropped { &zero } else { c };
    add_c(Some(Sum { multiple, exponent }), zeros, c, f, f2, output)
}

/// The truncated sum of one parity; `None` when it has no non-zero product. A sum that truncates to
/// zero keeps its exponent.
fn parity_sum(pairs: &[Pair], parity: usize, f: u32) -> Option<Sum> {
    let products = || {
        pairs
            .iter()
            .skip(parity)
            .step_by(2)
            .filter_map(Pair::product)
    };
    let exponent = products().map(|term| term.exponent).max()?;
    let grid = exponent - f as i32;
    let multiple = products().map(|term| term.align(grid, Rounding::Rz)).sum();
    Some(Sum { multiple, exponent })
}
