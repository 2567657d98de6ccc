//! Terms: products requested by exponent, turned into the operand words that come nearest.

use super::Layout;
use super::code::split;
use super::draw::{Draws, Role, bit, step};
use crate::dpa::OperandWords;

/// A product that a recipe wants.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub(super) negative: bool,
    /// The product's exponent, scales included.
    pub(super) exponent: i32,
    pub(super) style: Style,
}

/// The fractions of a term's operands.
#[derive(Clone, Copy)]
pub(super) enum Style {
    /// Zero: the product is a power of two.
    Power,
    /// All ones, or all ones but the last.
    Ones,
    /// Random.
    Random,
}

/// The result of a recipe: terms by k, and the code of c.
pub(super) struct Plan {
    pub(super) terms: Vec<Option<Term>>,
    pub(super) c: u64,
    /// Choose every block's scales for this exponent, with the first block's draw.
    pub(super) one_scale: Option<i32>,
}

impl Plan {
    /// Codes for the terms; a k without a term is +0·+0.
    pub(super) fn realise(&self, layout: &Layout, draws: &Draws<'_>, case: &mut OperandWords) {
        let (a_code, b_code) = (&layout.a, &layout.b);
        layout.clear(case);
        case.c = self.c;
        let mut lowered = Vec::with_capacity(layout.blocks());
        if let Some((code, block)) = layout.scale {
            for (index, terms) in self.terms.chunks(block).enumerate() {
                let (position, target) = match self.one_scale {
                    Some(target) => (0, Some(target)),
                    None => (
                        index,
                        terms.iter().flatten().map(|term| term.exponent).max(),
                    ),
                };
                let draw = draws.at(Role::ScaleA, position);
                let sum = target.map_or(0, |target| {
                    target - (a_code.e_max + b_code.e_max - step(4, draw[0]))
                });
                let (e_a, e_b) = split(&code, &code, sum, draw[1]);
                let (scale_a, scale_b) = (code.number(false, e_a, 0), code.number(false, e_b, 0));
                lowered.push(code.exponent(scale_a) + code.exponent(scale_b));
                case.scale_a.push(scale_a);
                case.scale_b.push(scale_b);
            }
        }
        for (k, term) in self.terms.iter().enumerate() {
            let Some(term) = term else { continue };
            let by = layout.scale.map_or(0, |(_, block)| lowered[k / block]);
            let (draw_a, draw_b) = (draws.at(Role::A, k), draws.at(Role::B, k));
            let (e_a, e_b) = split(a_code, b_code, term.exponent - by, draw_a[1]);
            let fractions = match term.style {
                Style::Power => (0, 0),
                Style::Ones => (
                    a_code.ones().saturating_sub(u64::from(draw_a[0] & 1)),
                    b_code.ones().saturating_sub(u64::from(draw_b[0] & 1)),
                ),
                Style::Random => (
                    a_code.random(draw_a[3], draw_a[1]),
                    b_code.random(draw_b[3], draw_b[1]),
                ),
            };
            let swapped = bit(draw_b[2], 1);
            case.a[k] = a_code.number(term.negative ^ swapped, e_a, fractions.0);
            case.b[k] = b_code.number(swapped, e_b, fractions.1);
        }
    }
}
