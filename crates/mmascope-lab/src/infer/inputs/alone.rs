//! Makes sums of one term: c alone, or one product, of any exponent. Without block scales most are near a floor or a smallest number.
//!
//! Other terms would hide what a floor, a flush or the first step of a chain does to one.

use super::{Focus, between, one_of};
use crate::dpa::OperandWords;
use crate::infer::maker::{Maker, drawn, fraction};
use crate::reveal::Random;

/// Such a sum.
pub(crate) fn alone(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let mut scale = 0;
    if let Some(range) = maker.scale {
        scale = between(2 * range.normal, 2 * range.top, random);
        for block in 0..case.scale_a.len() {
            scale = maker.set_scales(&mut case, block, scale);
        }
    }
    let of_c = random.below(2) == 0;
    let (low, high) = match of_c {
        true => (maker.c.lowest, maker.c.top),
        false => (
            maker.a.lowest + maker.b.lowest + scale,
            maker.a.top + maker.b.top + scale,
        ),
    };
    let floor = one_of(&focus.floors, random).unwrap_or(maker.d.normal);
    let bits = one_of(&focus.bits, random).unwrap_or(maker.bits);
    let exponent = match random.below(4) {
        0 => between(low, high, random),
        1 => floor - between(-3, bits + 4, random),
        2 => maker.d.normal - between(-3, maker.bits + 4, random),
        _ => low + between(0, maker.bits, random),
    };
    let exponent = exponent.clamp(low, high);
    let negative = random.below(2) == 0;
    let number = drawn(negative, exponent, fraction(random));
    if of_c {
        maker.set_c(&mut case, number);
    } else {
        let at = random.below(maker.signature.k);
        let other = fraction(random);
        maker.product(&mut case, at, number, other, random);
    }
    case
}
