//! Makes sums of one term: c alone, or one product, of any exponent, most of them near a floor or a smallest number.
//!
//! What a floor, a flush or the first step of a chain does to one term is else hidden by the others.

use super::{Focus, between, one_of, scale};
use crate::dpa::OperandWords;
use crate::infer::maker::{Maker, drawn, fraction};
use crate::reveal::Random;

/// Such a sum.
pub(crate) fn alone(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    scale(maker, &mut case, true, random);
    let of_c = random.below(2) == 0;
    let (low, high) = match of_c {
        true => (maker.c.lowest, maker.c.top),
        false => maker.products(),
    };
    let floor = one_of(&focus.floors, random).unwrap_or(maker.d.normal);
    let bits = one_of(&focus.bits, random).unwrap_or(maker.bits);
    let exponent = match random.below(4) {
        0 => between(low, high, random),
        1 => floor - between(-3, bits + 4, random),
        2 => maker.d.normal - between(-3, maker.bits + 4, random),
        _ => low + between(0, maker.bits, random),
    };
    let exponent = exponent.clamp(low, high.max(low));
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
