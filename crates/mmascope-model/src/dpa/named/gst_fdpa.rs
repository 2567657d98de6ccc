//! GDFS / GST-FDPA, §2.4: exactly summed groups, scaled, then a truncated fused sum.

use super::Step;
use crate::dpa::general::{Fused, General, GroupExponent, Groups, divides, groups_fit};
use crate::dpa::output::Output;
use crate::dpa::pair::{Pair, Scales, Term, special_terms};
use crate::dpa::product::{common_zero, zero_of};
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::{Select, Signature, ZeroSign};
use crate::exact::{Exact, Rounding};
use crate::format::{Class, Format, Overflow, Unpacked};

/// GST-FDPA of the MMA-Sim paper (arXiv 2511.10909v2): groups summed exactly, scaled, then a truncated fused sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GstFdpa {
    /// Products per block.
    pub l: u32,
    /// Products per exactly summed group.
    pub g: u32,
    /// Fraction bits kept in alignment.
    pub f: u32,
    /// Floor of the alignment exponent.
    pub e0: i32,
    /// Rounding of each group to the alignment grid.
    pub align: Rounding,
}

impl Step for GstFdpa {
    const NAME: &'static str = "gst-fdpa";
    const TITLE: &'static str = "GST-FDPA";
    const ROWS: &'static [Row<Self>] = &[
        row!(L, l),
        row!(G, g),
        row!(F, f),
        row!(E0, e0),
        row!(ALIGN, align).or(|_| Value::Rounding(Rounding::Rz)),
    ];
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Plus);
    const SCALED: bool = true;

    fn new() -> Self {
        Self {
            l: 1,
            g: 1,
            f: 1,
            e0: 0,
            align: Rounding::Rz,
        }
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        let groups = Groups {
            exponent: GroupExponent::Scales,
            ..Groups::exact(self.g)
        };
        General::Fused(Fused {
            groups: Some(groups),
            e0: Some(self.e0),
            align: self.align,
            align_c: self.align,
            ..Fused::plain(self.l, Some(self.f))
        })
    }

    fn check(&self) -> Result<(), String> {
        divides(self.g, self.l)
    }

    fn fits(&self, signature: &Signature, over: &Select, _: &Format) -> Result<bool, String> {
        groups_fit(Self::NAME, self.g, signature, over)
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        let Self {
            g, f, e0, align, ..
        } = *self;
        block(pairs, c, g as usize, f, e0, align, output)
    }
}

/// One block of groups of `g` products each.
fn block(
    pairs: &[Pair],
    c: &Unpacked,
    g: usize,
    f: u32,
    e0: i32,
    align: Rounding,
    output: &Output,
) -> u64 {
    // Any NaN scale or NaN c gives NaN; an infinite c is the result. (The narrow operands of the
    // known units have neither; wider ones of a user's row follow the same rules.)
    if let Some(special) = special_terms(pairs, c) {
        return output.special(special);
    }
    // Groups that are zero only by cancellation still raise E with their scales.
    let groups = pairs.chunks(g).filter_map(scaled_group);
    let terms: Vec<Term> = groups.chain(Term::of_value(c)).collect();
    let largest = terms.iter().map(|term| term.exponent).fold(e0, i32::max);
    let grid = largest - f as i32;
    let sum: i128 = terms.iter().map(|term| term.align(grid, align)).sum();
    let zeros = common_zero(pairs.iter().map(Pair::zero).chain([zero_of(c)]));
    output.fixed(sum, grid, zeros)
}

/// The exact group sum times both scales, with the exponent with which the group takes part in alignment: that of its
/// scales only. `None` when all its products are zero or a scale is zero.
fn scaled_group(group: &[Pair]) -> Option<Term> {
    let Scales { a, b } = group[0].scales;
    if a.class != Class::Finite || b.class != Class::Finite {
        return None;
    }
    // Operands have at most 8 bits: products are short, and on the finest grid that any of them needs so is their sum.
    let products = || group.iter().filter(|pair| !pair.is_zero());
    let finest = products().map(Pair::place).min()?;
    let multiple = |pair: &Pair| {
        let magnitude =
            i128::from(pair.a.significand * pair.b.significand) << (pair.place() - finest);
        if pair.negative() {
            -magnitude
        } else {
            magnitude
        }
    };
    let sum: i128 = products().map(multiple).sum();
    let exponent = a.exponent + b.exponent;
    let scales = u128::from(a.significand) * u128::from(b.significand);
    let scale_fraction_bits = (a.fraction_bits + b.fraction_bits) as i32;
    Some(Term {
        value: Exact::new(
            sum < 0,
            sum.unsigned_abs() * scales,
            exponent + finest - scale_fraction_bits,
        ),
        exponent,
    })
}
