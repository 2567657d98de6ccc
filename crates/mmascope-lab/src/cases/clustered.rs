//! The families `stress` and `close`, whose exponents lie near each other.

use super::Layout;
use super::code::{Code, small_move, split};
use super::draw::{Draws, Role, below, between, bit, step};
use super::plain::each;
use crate::dpa::OperandWords;

/// The least and the greatest exponent from `low` to `high` that c's format can hold as well; `low` and `high` where
/// there is none.
pub(super) fn common_range(layout: &Layout, low: i32, high: i32) -> (i32, i32) {
    let c = &layout.c;
    let (from, to) = (low.max(c.e_min - c.m as i32), high.min(c.e_max));
    if from > to { (low, high) } else { (from, to) }
}

/// A product exponent and how it is split over a and b.
fn centre(layout: &Layout, case: [u32; 4]) -> (i32, (i32, i32)) {
    let (a, b) = (&layout.a, &layout.b);
    let (from, to) = common_range(layout, a.e_min + b.e_min, a.e_max + b.e_max);
    let p = between(from, to, case[0]);
    (p, split(a, b, p, case[1]))
}

pub(super) fn stress(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    let x = draws.at(Role::Case, 0);
    let (p, (e_a, e_b)) = centre(layout, x);
    let e_c = p - 24 + step(33, x[2]);
    let operand = |code: &Code, role, draw: [u32; 4]| {
        let centre = match role {
            Role::A => e_a,
            Role::B => e_b,
            _ => e_c,
        };
        stressed(code, centre, draw)
    };
    let scale = |code: &Code, draw: [u32; 4]| {
        code.number(false, step(5, draw[0]) - 2, code.random(draw[1], 0))
    };
    each(layout, draws, case, operand, scale);
    if x[3].is_multiple_of(8) {
        let y = draws.at(Role::Case, 1);
        overwrite(layout, case, y[0], y[1]);
        overwrite(layout, case, y[2], y[3]);
    }
}

fn stressed(code: &Code, centre: i32, draw: [u32; 4]) -> u64 {
    let negative = bit(draw[2], 0);
    let random = code.random(draw[3], draw[1]);
    match below(16, draw[0]) {
        0 => code.zero(negative),
        1 => code.subnormal(negative, random),
        _ => {
            let fraction = match (draw[2] >> 1) & 3 {
                0 => code.ones(),
                1 => 0,
                _ => random,
            };
            code.number(negative, centre - 2 + step(5, draw[1]), fraction)
        }
    }
}

/// Puts an extreme word in some place of the case.
fn overwrite(layout: &Layout, case: &mut OperandWords, place: u32, kind: u32) {
    let mut rows: Vec<(&mut [u64], &Code)> = vec![
        (&mut case.a, &layout.a),
        (&mut case.b, &layout.b),
        (std::slice::from_mut(&mut case.c), &layout.c),
    ];
    if let Some((code, _)) = &layout.scale {
        rows.push((&mut case.scale_a, code));
        rows.push((&mut case.scale_b, code));
    }
    let place = rows.len() as u64 * u64::from(place);
    let (words, code) = &mut rows[(place >> 32) as usize];
    let position = below(words.len() as u32, place as u32) as usize;
    words[position] = match below(5, kind) {
        0 => code.infinity(false),
        1 => code.infinity(true),
        2 => code.nan(kind),
        3 => code.near_largest(false, 0),
        _ => code.zero(false),
    };
}

/// 2^i, below K: the distance of the two products of a pair.
pub(super) fn stride(layout: &Layout, word: u32) -> usize {
    let digits = (layout.k - 1).checked_ilog2().map_or(1, |log| log + 1);
    1 << below(digits, word)
}

pub(super) fn close(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    let (a_code, b_code, c_code) = (&layout.a, &layout.b, &layout.c);
    let (x, y) = (draws.at(Role::Case, 0), draws.at(Role::Case, 1));
    let (p, (e_a, e_b)) = centre(layout, x);
    let stride = stride(layout, x[2]);
    let exact = (x[3] >> 2).is_multiple_of(4);
    let OperandWords { a, b, .. } = case;
    a.clear();
    b.clear();
    for k in 0..layout.k {
        let (draw_a, draw_b) = (draws.at(Role::A, k), draws.at(Role::B, k));
        if k & stride == 0 {
            let leader = |code: &Code, e: i32, draw: [u32; 4]| {
                let random = code.random(draw[3], draw[1]);
                code.number(bit(draw[2], 0), e - 1 + step(3, draw[0]), random)
            };
            a.push(leader(a_code, e_a, draw_a));
            b.push(leader(b_code, e_b, draw_b));
        } else {
            let by = |word: u32| if exact { 0 } else { small_move(word) };
            a.push(a_code.moved(a[k - stride], by(draw_a[0])));
            b.push(b_code.negated(b_code.moved(b[k - stride], by(draw_b[0]))));
        }
    }
    let draw = draws.at(Role::C, 0);
    let random = c_code.random(draw[3], draw[1]);
    case.c = match x[3] & 3 {
        0 => c_code.zero(false),
        1 => c_code.number(bit(draw[2], 0), p - step(28, draw[0]), random),
        2 => negated_product(layout, case.a[0], case.b[0]),
        _ => c_code.number(bit(draw[2], 0), p - 1 + step(3, draw[0]), random),
    };
    let lift = step(5, y[0]) - 2;
    let scales = |words: &mut Vec<u64>, lift: i32| {
        words.clear();
        if let Some((code, _)) = layout.scale {
            words.resize(layout.blocks(), code.number(false, lift, 0));
        }
    };
    scales(&mut case.scale_a, lift);
    scales(&mut case.scale_b, -lift);
}

/// −a·b rounded to c's format.
fn negated_product(layout: &Layout, a: u64, b: u64) -> u64 {
    let (a, b) = (layout.a.format.decode(a), layout.b.format.decode(b));
    let magnitude = u128::from(a.significand) * u128::from(b.significand);
    let place = |x: &crate::format::Unpacked| x.exponent - x.fraction_bits as i32;
    let negative = a.negative == b.negative;
    layout.c.round(negative, magnitude, place(&a) + place(&b))
}
