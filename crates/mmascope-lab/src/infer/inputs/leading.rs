//! Makes sums whose largest product has a subnormal operand or one of the smallest normal numbers, and a term that ends where
//! the alignment does, or a few bits above or below.
//!
//! They show by which exponent a subnormal operand counts: that of the smallest normal number, or that of its leading bit,
//! as in a unit that widens operands first; and whether products of such units are normalised. Random inputs hardly ever do.

use super::{Focus, between, places};
use crate::dpa::OperandWords;
use crate::exact::Exact;
use crate::infer::maker::{Maker, drawn, fraction, word};
use crate::reveal::Random;

/// A number half between two multiples of 2^grid, one of the nearest to zero: where the largest product is small beside its exponent,
/// the result keeps what the alignment makes of it.
fn halfway(grid: i32, random: &mut Random) -> Exact {
    let whole = random.below(8) as u128;
    Exact::new(random.below(2) == 0, 2 * whole + 1, grid - 1)
}

/// Such a sum; `None` where neither format has subnormal numbers.
pub(crate) fn leading(maker: &Maker, focus: &Focus, random: &mut Random) -> Option<OperandWords> {
    let ranges = [maker.a, maker.b];
    let subnormal = ranges.map(|range| range.lowest < range.normal);
    let of_a = match subnormal {
        [false, false] => return None,
        [true, true] => random.below(2) == 0,
        [of_a, _] => of_a,
    };
    let (own, other) = match of_a {
        true => (maker.a, maker.b),
        false => (maker.b, maker.a),
    };
    let mut case = maker.blank();
    // Two meet in one block of two more often.
    let count = 2 + random.below(2);
    let places = places(maker, focus, count, random);
    let negative = random.below(2) == 0;
    // Half of them normal, where products of two and more are aligned by their leading bit or by their operands' exponents.
    let of_small = match random.below(2) {
        0 => between(own.lowest, own.normal - 1, random),
        _ => own.normal + between(0, 1, random),
    };
    let small = drawn(negative, of_small, fraction(random));
    let top = other.top.min(maker.d.top - own.normal - 2);
    let exponent = between((top - 8).max(other.normal), top.max(other.normal), random);
    let large = drawn(false, exponent, fraction(random));
    let mut put = |k: usize, opposite: bool| {
        let mut small = small;
        small.negative ^= opposite;
        let (a, b) = match of_a {
            true => (small, large),
            false => (large, small),
        };
        case.a[k] = word(a, &maker.signature.a);
        case.b[k] = word(b, &maker.signature.b);
    };
    put(places[0], false);
    // Where the largest product cancels, the small term is all that is left.
    if places.len() > 2 && random.below(2) == 0 {
        put(places[1], true);
    }
    let bits = match focus.bits.len() {
        0 => maker.bits + 2,
        count => focus.bits[random.below(count)],
    };
    let grid = own.normal + exponent - bits;
    let term = match random.below(2) {
        0 => halfway(grid, random),
        _ => drawn(
            random.below(2) == 0,
            grid + between(-2, 4, random),
            fraction(random),
        ),
    };
    match places.last() {
        Some(&k) if places.len() > 1 && random.below(3) > 0 => {
            maker.product(&mut case, k, term, 0, random);
        }
        _ => maker.set_c(&mut case, term),
    }
    Some(case)
}
