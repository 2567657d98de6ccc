//! Makes inputs that test overflow, ∞ and NaN, and zeros.

use super::middle::core;
use super::{Focus, between, places};
use crate::dpa::OperandWords;
use crate::exact::Exact;
use crate::infer::maker::{Maker, drawn, fraction, word};
use crate::reveal::Random;

/// Terms near the top of the result's format.
pub(super) fn huge(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let (_, high) = maker.products();
    let mut top = maker.d.top.min(high);
    if let Some(range) = maker.scale {
        let sum = between(0, 2 * range.top, random).min(maker.d.top - high + 2);
        for block in 0..case.scale_a.len() {
            maker.set_scales(&mut case, block, sum.max(0));
        }
        top = maker.d.top;
    }
    let at_limit = !focus.limits.is_empty() && random.below(2) == 0;
    let anchor = match random.below(3) {
        _ if at_limit => focus.limits[random.below(focus.limits.len())] + between(-2, 1, random),
        0 => top + between(-1, 1, random),
        1 => high + between(-2, 0, random),
        _ => top + between(-maker.bits - 3, 2, random),
    };
    let count = [1, 1, 2, 2, 3, usize::MAX][random.below(6)];
    let places = places(maker, focus, count, random);
    let (sign, mixed) = (random.below(2) == 0, random.below(3) == 0 || at_limit);
    for &k in &places {
        let number = drawn(
            if mixed { random.below(2) == 0 } else { sign },
            anchor - between(0, 2, random),
            fraction(random),
        );
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
    }
    if random.below(3) != 0 {
        let number = drawn(
            if random.below(4) == 0 { !sign } else { sign },
            maker.c.top - between(0, 2, random),
            if random.below(2) == 0 {
                (1 << 60) - 1
            } else {
                fraction(random)
            },
        );
        maker.set_c(&mut case, number);
    }
    case
}

/// ∞ and NaN among ordinary operands.
pub(super) fn special(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = match random.below(3) {
        0 => maker.blank(),
        1 => huge(maker, focus, random),
        _ => core(maker, focus, true, random),
    };
    let crate::dpa::Signature { a, b, c, k, .. } = maker.signature;
    let pick = |format: &crate::format::Format, random: &mut Random| {
        let negative = random.below(2) == 0;
        let nan = Maker::nan(format).map(|nan| {
            // Another payload, where there is one.
            let word = nan | (random.bits() & 1) << format.register.shift;
            let code = format.from_register(word);
            let other = format.decode(code).class == crate::format::Class::Nan;
            if other { word } else { nan }
        });
        match random.below(3) {
            0 => nan,
            _ => Maker::infinity(format, negative).or(nan),
        }
    };
    for _ in 0..1 + random.below(2) {
        let at = random.below(k);
        match random.below(4) {
            0 => case.c = pick(&c, random).unwrap_or(case.c),
            1 | 2 => {
                case.a[at] = pick(&a, random).unwrap_or(case.a[at]);
                if random.below(2) == 0 {
                    case.b[at] = word(Exact::power_of_two(random.below(2) == 0, 0), &b);
                }
            }
            _ => case.b[at] = pick(&b, random).unwrap_or(case.b[at]),
        }
    }
    if let Some(scale) = maker.signature.scale
        && let Some(nan) = Maker::nan(&scale.format)
        && random.below(4) == 0
    {
        let block = random.below(case.scale_a.len());
        case.scale_a[block] = nan;
    }
    case
}

/// Sums that are zero, exactly or after rounding, with every sign.
pub(super) fn zeros(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let crate::dpa::Signature { a, b, c, k, .. } = maker.signature;
    let zero =
        |format: &crate::format::Format, negative: bool| format.to_register(format.zero(negative));
    let signs = random.below(3);
    let pick = |random: &mut Random| match signs {
        0 => true,
        1 => random.below(2) == 0,
        _ => random.below(4) == 0,
    };
    for at in 0..k {
        let negative = pick(random);
        case.a[at] = zero(&a, negative);
        case.b[at] = match random.below(4) {
            0 => word(Exact::power_of_two(false, 0), &b),
            // A zero times any number: does its exponent take part?
            1 => {
                let exponent = between(maker.b.lowest, maker.b.top, random);
                word(
                    Exact::power_of_two(signs == 1 && random.below(2) == 0, exponent),
                    &b,
                )
            }
            _ => zero(&b, signs == 1 && random.below(2) == 0),
        };
    }
    if random.below(4) == 0 && a == b {
        std::mem::swap(&mut case.a, &mut case.b);
    }
    case.c = zero(
        &c,
        if signs == 0 {
            random.below(4) != 0
        } else {
            random.below(2) == 0
        },
    );
    let (low, high) = maker.products();
    match random.below(7) {
        0 | 1 => {}
        // A c, or a product, by itself: subnormal, or small beside what the zeros are times of.
        4 => {
            let exponent = between(maker.c.lowest, [maker.c.normal, 0][random.below(2)], random);
            let number = match random.below(6) {
                // Where bits of it are cut, rounding may make this one normal: it tells flushes of c from those of results.
                0 => drawn(random.below(2) == 0, maker.c.normal - 1, u64::MAX >> 4),
                _ => drawn(random.below(2) == 0, exponent, fraction(random)),
            };
            maker.set_c(&mut case, number);
        }
        5 => {
            let exponent = between(low, high.min(0).max(low), random);
            let at = random.below(k);
            maker.power(&mut case, at, random.below(2) == 0, exponent);
        }
        // Exact cancellation.
        2 if k > 1 => {
            let exponent = between(low.max(-20), high.min(10), random);
            let places = places(maker, focus, 2, random);
            if let [x, y] = places[..] {
                maker.power(&mut case, x, false, exponent);
                maker.power(&mut case, y, true, exponent);
            }
        }
        3 => {
            let exponent = between(
                low.max(-10).max(maker.c.normal),
                high.min(maker.c.top),
                random,
            );
            maker.power(&mut case, random.below(k), true, exponent);
            maker.set_c(&mut case, Exact::power_of_two(false, exponent));
        }
        // Far below the smallest result.
        _ => {
            let lowest = maker.a.lowest + maker.b.lowest;
            let exponent = between(lowest, (maker.d.lowest - 1).max(lowest), random);
            let at = random.below(k);
            let kind = random.below(3);
            // All of them negative: where sums of part of the products are added, each is then -0.
            let places = if kind == 2 { 0..k } else { at..at + 1 };
            for at in places {
                // Zeros among them, or what a flush makes zeros: an exact zero after one that rounding made.
                if kind == 2 && exponent % 2 == 0 && (at as i32 + exponent) % 3 == 0 {
                    let smallest = Exact::power_of_two(true, maker.a.lowest);
                    case.a[at] = match exponent % 4 {
                        0 => zero(&a, true),
                        _ => word(smallest, &a),
                    };
                    case.b[at] = word(Exact::power_of_two(false, 0), &b);
                } else {
                    maker.power(&mut case, at, kind != 0, exponent);
                }
            }
        }
    }
    case
}
