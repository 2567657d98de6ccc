//! Makes inputs that test floors, subnormals and flushes.

use super::{Focus, between, one_of, places};
use crate::dpa::OperandWords;
use crate::exact::Exact;
use crate::infer::maker::{Maker, drawn, fraction, word};
use crate::reveal::Random;

/// Terms near the bottom of the formats, or around a floor.
pub(super) fn tiny(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    if let Some(range) = maker.scale {
        let sum = between(2 * range.normal, 0, random);
        for block in 0..case.scale_a.len() {
            let own = if random.below(3) == 0 {
                sum + between(-3, 3, random)
            } else {
                sum
            };
            maker.set_scales(&mut case, block, own.max(2 * range.normal));
        }
    }
    let lowest = maker.a.lowest + maker.b.lowest;
    if maker.scale.is_none() && lowest < maker.d.lowest && random.below(12) == 0 {
        below_normal(maker, &mut case, random);
        return case;
    }
    let bottom = maker.d.lowest.min(maker.c.lowest);
    let reach = between(0, 50, random);
    let anchor = match random.below(5) {
        0 => maker.d.normal + between(-3, 3, random),
        1 => bottom + between(-4, 6, random),
        2 if !focus.floors.is_empty() => {
            let floor = focus.floors[random.below(focus.floors.len())];
            let bits = focus.bits.first().map_or(maker.bits, |&bits| bits);
            [
                floor + between(-2, 2, random),
                floor - bits + between(-3, 8, random),
            ][random.below(2)]
        }
        3 => lowest + reach,
        _ => between(bottom - 40, maker.d.normal + 4, random),
    };
    if maker.scale.is_none() && random.below(3) == 0 {
        borrow(maker, focus, &mut case, random);
        return case;
    }
    let anchor = if maker.scale.is_some() {
        anchor
    } else {
        anchor.max(lowest)
    };
    let count = [0, 1, 1, 2, 2, 3, 4, usize::MAX][random.below(8)];
    let places = places(maker, focus, count, random);
    let spread = [0, 2, 6, 26][random.below(4)];
    for &k in &places {
        let number = drawn(
            random.below(2) == 0,
            anchor - between(0, spread, random),
            fraction(random),
        );
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
        match random.below(8) {
            // A subnormal beside a number that lifts the product.
            0 => {
                case.a[k] = word(
                    number.with_top(between(maker.a.lowest, maker.a.normal - 1, random)),
                    &maker.signature.a,
                );
            }
            1 => {
                case.b[k] = word(
                    drawn(
                        false,
                        between(maker.b.lowest, maker.b.normal - 1, random),
                        other,
                    ),
                    &maker.signature.b,
                );
                case.a[k] = word(
                    number.with_top(between(0, maker.a.top, random)),
                    &maker.signature.a,
                );
            }
            _ => {}
        }
    }
    if places.is_empty() || random.below(2) == 0 {
        let exponent = match random.below(4) {
            // Anywhere down to the bottom: floors far above the format's.
            3 => between(maker.c.lowest, 0, random),
            0 => between(maker.c.lowest, maker.c.normal, random),
            1 => anchor + between(-2, spread.max(2), random),
            _ => maker.c.lowest,
        };
        let number = drawn(random.below(2) == 0, exponent, fraction(random));
        maker.set_c(&mut case, number);
    }
    case
}

/// The largest subnormal number as c, and a product below its last place: together less than the smallest
/// normal number, which they may round to.
fn below_normal(maker: &Maker, case: &mut OperandWords, random: &mut Random) {
    let negative = random.below(2) == 0;
    maker.set_c(case, drawn(negative, maker.d.normal - 1, u64::MAX >> 4));
    let number = drawn(
        negative ^ (random.below(4) == 0),
        maker.d.lowest - between(1, 2, random),
        fraction(random),
    );
    let at = random.below(maker.signature.k);
    maker.product(case, at, number, 0, random);
}

/// A small power of two, and far below it something that a floor may drop: of the other sign it takes
/// a whole unit from a truncated result.
fn borrow(maker: &Maker, focus: &Focus, case: &mut OperandWords, random: &mut Random) {
    let lowest = maker.a.lowest + maker.b.lowest;
    let bottom = maker.d.lowest.max(lowest);
    let anchor = match random.below(3) {
        0 => between(bottom, maker.d.normal + 2, random),
        1 => bottom + between(-1, 3, random),
        _ => between(bottom, bottom + 40, random),
    };
    let negative = random.below(2) == 0;
    let below = |random: &mut Random| {
        let floor = one_of(&focus.floors, random).unwrap_or(maker.d.normal);
        let bits = one_of(&focus.bits, random).unwrap_or(maker.bits);
        match random.below(3) {
            0 => anchor - between(1, 60, random),
            _ => floor - bits + between(-4, 3, random),
        }
    };
    let places = places(maker, focus, 3, random);
    let own_c = random.below(2) == 0;
    let mut rest = &places[..];
    if own_c {
        maker.set_c(case, Exact::power_of_two(negative, anchor));
    } else if let Some((first, others)) = rest.split_first() {
        maker.power(case, *first, negative, anchor);
        rest = others;
    }
    for &k in &rest[..rest.len().min(1 + random.below(2))] {
        let number = drawn(
            negative ^ (random.below(4) != 0),
            below(random).max(lowest),
            fraction(random),
        );
        maker.product(case, k, number, 0, random);
    }
    if !own_c && random.below(3) == 0 {
        let exponent = below(random).max(maker.c.lowest);
        maker.set_c(case, Exact::power_of_two(!negative, exponent));
    }
}
