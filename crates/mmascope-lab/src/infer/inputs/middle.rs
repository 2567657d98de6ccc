//! Makes inputs that test alignment and rounding, away from the ends of the formats.

use super::{Focus, along, between, places, scale};
use crate::dpa::OperandWords;
use crate::exact::Exact;
use crate::infer::maker::{FRACTION, Maker, drawn, fraction};
use crate::reveal::Random;

/// The fraction of 1.5.
const HALF: u64 = 1 << (FRACTION - 1);

/// Terms at chosen distances below an anchor.
pub(super) fn core(
    maker: &Maker,
    focus: &Focus,
    with_c: bool,
    random: &mut Random,
) -> OperandWords {
    let mut case = maker.blank();
    let spread = random.below(2) == 0;
    scale(maker, &mut case, spread, random);
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(24);
    let low = low.max(maker.d.normal - 24).max(-40).min(high);
    let anchor = between((high - 30).max(low), high, random);
    let distance = |random: &mut Random| match random.below(4) {
        0 => between(0, 3, random),
        1 => between(maker.bits - 3, maker.bits + 4, random),
        2 if !focus.bits.is_empty() => {
            focus.bits[random.below(focus.bits.len())] + between(-3, 3, random)
        }
        _ => between(0, 45, random),
    };
    let count = [1, 2, 2, 3, 3, 4, 5, 8, usize::MAX][random.below(9)];
    let places = places(maker, focus, count, random);
    let common = distance(random);
    let same = random.below(2) == 0;
    let (sign, signs) = (random.below(2) == 0, random.below(3));
    let style = random.below(3);
    let fraction = |random: &mut Random| match style {
        0 => 0,
        _ => fraction(random),
    };
    let cancel = random.below(3) != 0;
    let anchors = [0, 1, 1, 2][random.below(4)];
    let mut large = drawn(sign, anchor, fraction(random));
    for (index, &k) in places.iter().enumerate() {
        if index < anchors {
            maker.product(&mut case, k, large, 0, random);
            if cancel {
                large.negative = !large.negative;
            }
            continue;
        }
        let below = if same { common } else { distance(random) };
        let number = drawn(
            match signs {
                0 => sign,
                1 => !sign,
                _ => random.below(2) == 0,
            },
            anchor - below,
            fraction(random),
        );
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
    }
    if with_c && random.below(4) != 0 {
        let number = match random.below(3) {
            // c is an anchor, perhaps the one that cancels.
            0 => large,
            1 => drawn(
                large.negative,
                anchor + between(-2, 3, random),
                fraction(random),
            ),
            _ => drawn(
                random.below(2) == 0,
                anchor - distance(random),
                fraction(random),
            ),
        };
        maker.set_c(&mut case, number);
    }
    case
}

/// A number of the result's format, half of its last place, and something far below that decides.
pub(super) fn tie(maker: &Maker, focus: &Focus, case: &mut OperandWords, random: &mut Random) {
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(maker.c.top - 4).min(24);
    let low = low.max(maker.d.normal).max(-40).min(high);
    let anchor = between((high - 30).max(low), high, random);
    let sign = random.below(2) == 0;
    let large = drawn(
        sign,
        anchor,
        if random.below(2) == 0 {
            0
        } else {
            fraction(random)
        },
    );
    let places = places(maker, focus, 16, random);
    let mut rest = places.into_iter();
    if random.below(2) == 0 {
        maker.set_c(case, large);
    } else if let Some(k) = rest.next() {
        let power = Exact::power_of_two(large.negative, anchor);
        maker.product(case, k, power, 0, random);
    }
    // Half of the last place, or of that below a power of two.
    let half = maker.bits + 1 + between(-1, 1, random);
    let negative = sign ^ (random.below(4) != 0);
    if let Some(k) = rest.next() {
        maker.product(
            case,
            k,
            Exact::power_of_two(negative, anchor - half),
            0,
            random,
        );
    }
    let far = |random: &mut Random| match focus.bits.len() {
        count if count > 0 && random.below(3) != 0 => {
            focus.bits[random.below(count)] + between(-2, 3, random)
        }
        _ => between(maker.bits, 50, random),
    };
    if random.below(2) == 0 {
        // Every bit from somewhere below the half down to somewhere.
        let (mut from, to) = (half + between(1, 3, random), far(random));
        let most = maker
            .signature
            .a
            .float()
            .map_or(0, |float| float.fraction_bits) as i32;
        for k in rest {
            let more = most.min(to - from);
            if more < 0 {
                break;
            }
            let number = drawn(negative, anchor - from, ((1 << more) - 1) << (60 - more));
            maker.product(case, k, number, 0, random);
            from += more + 1;
        }
        return;
    }
    for k in rest.take(1 + random.below(2)) {
        let number = drawn(random.below(2) == 0, anchor - far(random), fraction(random));
        maker.product(case, k, number, 0, random);
    }
}

/// Two products that cancel, near each other or anywhere, and c or another product about as far below them as
/// the alignment reaches: what shows its bits where results have fewer.
pub(super) fn cancelled(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    scale(maker, &mut case, false, random);
    let k = maker.signature.k;
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(24);
    let low = low.max(maker.d.normal - 24).max(-40).min(high);
    // A product of two factors from 1.5 on has an exponent of its own, and the sum of theirs: where results have few
    // bits, only what is left beside such products shows which one counts.
    let (fraction_a, fraction_b) = match random.below(4) {
        0 => (fraction(random), 0),
        1 => (fraction(random) | HALF, fraction(random) | HALF),
        _ => (0, 0),
    };
    let (negative, exponent) = (random.below(2) == 0, between(low, high, random));
    let large = drawn(negative, exponent, fraction_a);
    let run = along(focus, 3, random).filter(|run| run.len() > 1);
    let (first, other) = match run.as_deref() {
        Some([first, other, ..]) => (*first, *other),
        _ => {
            let first = random.below(k);
            let distance = [1, 1, 2, 4, 1 + random.below(k)][random.below(5)];
            (first, (first + distance) % k)
        }
    };
    maker.product(&mut case, first, large, fraction_b, random);
    if other != first {
        let opposite = Exact {
            negative: !large.negative,
            ..large
        };
        maker.product(&mut case, other, opposite, fraction_b, random);
    }
    let below = match focus.bits.len() {
        count if count > 0 && random.below(3) != 0 => {
            focus.bits[random.below(count)] + between(-3, 3, random)
        }
        _ => between(0, 45, random),
    };
    let small = drawn(random.below(2) == 0, exponent - below, fraction(random));
    match random.below(2) {
        0 => maker.set_c(&mut case, small),
        _ => {
            let place = match run.as_deref() {
                Some([.., last]) => *last,
                _ => (other + 1 + random.below(3)) % k,
            };
            if place != first && place != other {
                let more = fraction(random);
                maker.product(&mut case, place, small, more, random);
            }
        }
    }
    case
}
