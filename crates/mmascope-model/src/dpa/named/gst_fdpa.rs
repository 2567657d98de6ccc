//! GDFS / GST-FDPA, §2.4: exactly summed groups, scaled, then a truncated fused sum.

use super::{Step, common_zero};
use crate::dpa::general::{Fused, General, GroupExponent, Groups, divides, groups_fit};
use crate::dpa::output::Output;
use crate::dpa::pair::{Pair, Scales, Term};
use crate::dpa::schema::{Row, Value, row};
use crate::dpa::{Select, Signature, ZeroSign, special_sum, special_value};
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
    let specials = pairs.iter().map(Pair::special).chain([special_value(c)]);
    if let Some(special) = special_sum(specials) {
        return output.special(special);
    }
    let terms = || {
        pairs
            .chunks(g)
            .filter_map(scaled_group)
            .chain(Term::of_value(c))
    };
    // Groups that are zero only by cancellation still raise E with their scales.
    let groups = pairs.chunks(g).filter_map(group_exponent);
    let largest = groups
        .chain(Term::of_value(c).map(|term| term.exponent))
        .fold(e0, i32::max);
    let grid = largest - f as i32;
    let sum: i128 = terms().map(|term| term.align(grid, align)).sum();
    output.fixed(sum, grid, common_zero(pairs, c))
}

/// The exponent with which a group takes part in alignment: that of its scales only. `None` when
/// all its products are zero or a scale is zero.
fn group_exponent(group: &[Pair]) -> Option<i32> {
    let Scales { a, b } = group[0].scales;
    let scaled = a.class == Class::Finite && b.class == Class::Finite;
    let any_product = group.iter().any(|pair| pair.product().is_some());
    (scaled && any_product).then_some(a.exponent + b.exponent)
}

/// The exact group sum times both scales, as a term at the scales' exponent; `None` when zero.
fn scaled_group(group: &[Pair]) -> Option<Term> {
    let exponent = group_exponent(group)?;
    let Scales { a, b } = group[0].scales;
    // Products on the finest grid that any of them needs.
    let places = group.iter().filter_map(Pair::product);
    let finest = places.map(|term| term.value.exponent).min()?;
    let sum: i128 = group
        .iter()
        .filter_map(Pair::product)
        .map(|term| term.align(finest, Rounding::Rz))
        .sum();
    let scales = u128::from(a.significand) * u128::from(b.significand);
    let scale_fraction_bits = (a.fraction_bits + b.fraction_bits) as i32;
    (sum != 0).then(|| Term {
        value: Exact::new(
            sum < 0,
            sum.unsigned_abs() * scales,
            exponent + finest - scale_fraction_bits,
        ),
        exponent,
    })
}
