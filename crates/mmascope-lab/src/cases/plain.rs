//! The families `bits`, `normal`, `outlier` and `sparse`, whose operands are independent of each other.

use super::Layout;
use super::code::{Code, uniform};
use super::draw::{Draws, Role, below, bit, step};
use crate::dpa::OperandWords;

/// A case from a function of each operand's format and draw; scales have their own.
#[inline(always)]
pub(super) fn each(
    layout: &Layout,
    draws: &Draws<'_>,
    case: &mut OperandWords,
    operand: impl Fn(&Code, Role, [u32; 4]) -> u64,
    scale: impl Fn(&Code, [u32; 4]) -> u64,
) {
    let row = |words: &mut Vec<u64>, code: &Code, role: Role| {
        words.clear();
        words.extend((0..layout.k).map(|k| operand(code, role, draws.at(role, k))));
    };
    row(&mut case.a, &layout.a, Role::A);
    row(&mut case.b, &layout.b, Role::B);
    case.c = operand(&layout.c, Role::C, draws.at(Role::C, 0));
    let scales = |words: &mut Vec<u64>, role: Role| {
        words.clear();
        if let Some((code, _)) = layout.scale {
            let blocks = 0..layout.blocks();
            words.extend(blocks.map(|block| scale(&code, draws.at(role, block))));
        }
    };
    scales(&mut case.scale_a, Role::ScaleA);
    scales(&mut case.scale_b, Role::ScaleB);
}

/// Uniform bits; these are register words already.
pub(crate) fn bits(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    each(
        layout,
        draws,
        case,
        |code, _, draw| uniform(&code.format, draw),
        |code, draw| uniform(&code.format, draw),
    );
}

pub(super) fn normal(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    each(
        layout,
        draws,
        case,
        |code, _, draw| code.deviate(draw, 0),
        moderate_scale,
    );
}

pub(super) fn outlier(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    let operand = |code: &Code, _, draw: [u32; 4]| {
        let is_large = (draw[2] >> 8) & 31 == 0;
        code.deviate(draw, if is_large { 4 + step(9, draw[3]) } else { 0 })
    };
    each(layout, draws, case, operand, moderate_scale);
}

pub(super) fn sparse(layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
    let operand = |code: &Code, role, draw: [u32; 4]| {
        let choices = if matches!(role, Role::A) { 4 } else { 2 };
        if below(choices, draw[3]) == 0 {
            code.deviate(draw, 0)
        } else {
            code.zero(bit(draw[2], 0))
        }
    };
    each(layout, draws, case, operand, moderate_scale);
}

/// A scale from 2^-4 to 2^4.
fn moderate_scale(code: &Code, draw: [u32; 4]) -> u64 {
    code.number(false, step(9, draw[0]) - 4, code.random(draw[1], 0))
}
