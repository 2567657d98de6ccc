//! GDFS / GST-FDPA, §2.4: exactly summed groups, scaled, then a truncated fused sum.

use super::output::Output;
use super::pair::{Pair, Scales, Term};
use super::special_value;
use super::t_fdpa::common_zero;
use crate::exact::{Exact, Rounding};
use crate::format::{Class, Unpacked};

/// One block of groups of `g` products each.
pub(super) fn block(
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
    if let Some(special) = super::special_sum(specials) {
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
