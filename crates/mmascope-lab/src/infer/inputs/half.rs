//! Makes sums that lie half between two results but for a bit far below: the alignment may drop it, and then the rounding
//! sees a tie. Units of one product a step hardly show their bits and their floor elsewhere. Where half of the smallest result, or
//! nothing, is left beside terms near the grid, other units show their floor.

use super::{Focus, between, kept, one_of, places};
use crate::dpa::OperandWords;
use crate::exact::Exact;
use crate::infer::maker::{FRACTION, Maker, drawn, fraction};
use crate::reveal::Random;

/// Attempts at a product that is little more than a power of two.
const TRIES: usize = 16;

/// A term of the sum.
#[derive(Clone, Copy)]
enum Term {
    Product(usize),
    C,
}

impl Term {
    /// Two of them, the larger one first.
    fn two(maker: &Maker, focus: &Focus, random: &mut Random) -> [Self; 2] {
        let places = places(maker, focus, 2, random);
        let first = places[0];
        match random.below(3) {
            0 => [Self::C, Self::Product(first)],
            1 if places.len() == 2 => [Self::Product(first), Self::Product(places[1])],
            _ => [Self::Product(first), Self::C],
        }
    }

    fn is_c(self) -> bool {
        matches!(self, Self::C)
    }

    fn write(self, maker: &Maker, case: &mut OperandWords, number: Exact, random: &mut Random) {
        match self {
            Self::Product(k) => maker.product(case, k, number, 0, random),
            Self::C => maker.set_c(case, number),
        }
    }
}

/// A number whose fraction has one digit, at this place.
fn one_digit(negative: bool, exponent: i32, place: i32) -> Exact {
    let place = place.clamp(1, FRACTION as i32);
    drawn(negative, exponent, 1 << (FRACTION as i32 - place))
}

/// A sum that a bit far below decides; of small terms, at the grid of a floor, if asked for.
pub(crate) fn half(
    maker: &Maker,
    focus: &Focus,
    at_floor: bool,
    random: &mut Random,
) -> OperandWords {
    let mut case = maker.blank();
    if at_floor && random.below(3) == 0 {
        around_floor(maker, focus, &mut case, random);
        return case;
    }
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4);
    let (place, distance) = match at_floor {
        true => (random.below(6), 1),
        false => (random.below(6), random.below(3)),
    };
    let anchor = match place {
        // Below all results.
        0 | 1 if low < maker.d.lowest => maker.d.lowest - 1,
        // Where results are subnormal, or nearly so.
        2 | 3 if low <= maker.d.normal => {
            between(maker.d.lowest.max(low), maker.d.normal + 1, random)
        }
        _ if at_floor && !focus.floors.is_empty() => {
            // Right below it a result may be normal yet.
            let below = [2, 12][random.below(2)];
            focus.floors[random.below(focus.floors.len())] - between(0, below, random)
        }
        _ => between(-20, 20, random).clamp(maker.d.normal, high.max(maker.d.normal)),
    };
    let anchor = anchor.max(low);
    let last = (anchor - maker.bits).max(maker.d.lowest);
    let half = last - 1;
    let far = match distance {
        0 if !focus.bits.is_empty() => {
            anchor - focus.bits[random.below(focus.bits.len())] - between(-2, 3, random)
        }
        1 if !focus.floors.is_empty() => {
            let bits = one_of(&focus.bits, random).unwrap_or(maker.bits);
            focus.floors[random.below(focus.floors.len())] - bits - between(-2, 3, random)
        }
        _ => half - between(1, 40, random),
    };
    let far = far.min(half - 1);
    if anchor > maker.d.normal && random.below(4) == 0 {
        below_power(maker, focus, &mut case, anchor, random);
        return case;
    }
    let [negative, other] = [random.below(2) == 0, random.below(2) == 0];
    if anchor < maker.d.lowest {
        // The grid at a floor is what such inputs show.
        let far = match (&focus.floors[..], &focus.bits[..]) {
            (&[_, ..], &[_, ..]) if random.below(4) > 0 => {
                let floor = focus.floors[random.below(focus.floors.len())];
                let bits = focus.bits[random.below(focus.bits.len())];
                (floor - bits - between(-1, 2, random)).min(half - 1)
            }
            _ => far,
        };
        match random.below(2) {
            0 => half_of_smallest(maker, &mut case, [half, far], random),
            _ => nothing_left(maker, &mut case, far, random),
        }
        return case;
    }
    let terms = Term::two(maker, focus, random);
    if random.below(2) == 0 && ends_in_half(maker, &mut case, terms[0], [anchor, half], random) {
        terms[1].write(maker, &mut case, Exact::power_of_two(other, far), random);
        return case;
    }
    // Few digits, or as many as the result has.
    let digits = (1 << FRACTION) - (1 << (FRACTION as i32 - (anchor - last)).max(0));
    let number = drawn(negative, anchor, fraction(random) & digits);
    terms[0].write(maker, &mut case, number, random);
    // Halves of the last place, an odd number of them: the small term alone may lie between two results.
    let halves = [1, 1, 3, 5][random.below(4)];
    let product = match terms[1] {
        Term::Product(k) if half - far > kept(&maker.signature.a) => {
            let factors = little_more(maker, halves, far - half, random);
            factors.map(|factors| (k, factors))
        }
        _ => None,
    };
    match product {
        Some((k, [a, b])) => {
            let exponent = half - 1 + halves.ilog2() as i32;
            maker.product(&mut case, k, drawn(other, exponent, a), b, random);
        }
        None => {
            // (Beyond the digits that the term has it is the last of them, where it has any.)
            let format = match terms[1] {
                Term::C => &maker.signature.c,
                Term::Product(_) => &maker.signature.a,
            };
            let small = one_digit(other, half, (half - far).min(kept(format)));
            terms[1].write(maker, &mut case, small, random);
        }
    }
    case
}

/// A product right below a floor, which may be normal all the same where both its factors are near 2, and others with bits on both
/// sides of the floor's grid: one of them is in the same step.
fn around_floor(maker: &Maker, focus: &Focus, case: &mut OperandWords, random: &mut Random) {
    let floor = one_of(&focus.floors, random).unwrap_or(maker.d.normal);
    let grid = floor - one_of(&focus.bits, random).unwrap_or(maker.bits);
    let near_two = 1 << (FRACTION - 1);
    let large = random.below(maker.signature.k);
    for k in 0..maker.signature.k {
        let (exponent, least) = match k == large {
            true => (floor - between(0, 2, random), near_two),
            false => (grid + between(-3, 12, random), 0),
        };
        let number = drawn(random.below(2) == 0, exponent, fraction(random) | least);
        let other = fraction(random) | least;
        maker.product(case, k, number, other, random);
    }
}

/// A power of two less an odd number of halves of the last place that a result below it has, and a bit far below: units that count bits
/// from the sum's own exponent count them from one place lower than the terms'.
fn below_power(
    maker: &Maker,
    focus: &Focus,
    case: &mut OperandWords,
    anchor: i32,
    random: &mut Random,
) {
    let k = maker.signature.k;
    let negative = random.below(2) == 0;
    let first = random.below(k);
    let power = match random.below(3) {
        0 if k > 1 => Term::Product((first + 1 + random.below(k - 1)) % k),
        _ => Term::C,
    };
    power.write(maker, case, Exact::power_of_two(negative, anchor), random);
    let half = anchor - maker.bits - 2;
    let bits = one_of(&focus.bits, random).unwrap_or(maker.bits);
    let far = (anchor - bits - between(0, 2, random)).min(half - 1);
    let last = (first + 1) % k;
    // In a product of its own, of either sign, or as the last digit of the one that is taken away.
    let alone = last != first && power.is_c() && random.below(2) == 0;
    let number = match alone {
        true => Exact::power_of_two(!negative, half),
        false => one_digit(!negative, half, half - far),
    };
    maker.product(case, first, number, 0, random);
    if alone {
        let tiny = Exact::power_of_two(random.below(2) == 0, far);
        maker.product(case, last, tiny, 0, random);
    }
}

/// Half of the smallest result, and little more or less in any step.
fn half_of_smallest(
    maker: &Maker,
    case: &mut OperandWords,
    [half, far]: [i32; 2],
    random: &mut Random,
) {
    let first = random.below(maker.signature.k);
    for k in 0..maker.signature.k {
        let exponent = match k == first {
            true => half,
            false if random.below(2) == 0 => (far + random.below(3) as i32).min(half - 1),
            false => continue,
        };
        let number = Exact::power_of_two(random.below(2) == 0, exponent);
        maker.product(case, k, number, 0, random);
    }
}

/// Two terms that cancel each other but for a bit of the second, which is subnormal or far below all results: its sign may be that of
/// a zero.
fn nothing_left(maker: &Maker, case: &mut OperandWords, far: i32, random: &mut Random) {
    let digits = between(1, 2 * kept(&maker.signature.a), random);
    let exponent = match random.below(2) {
        0 => (far + digits).min(maker.d.normal),
        // What is left is subnormal.
        _ => maker.d.normal + between(0, 2, random),
    };
    let negative = random.below(2) == 0;
    let k = maker.signature.k;
    let second = random.below(k);
    let first = match random.below(3) {
        1 if k > 1 => Term::Product((second + 1) % k),
        2 if k > 1 => Term::Product((second + 1 + random.below(k - 1)) % k),
        _ => Term::C,
    };
    first.write(maker, case, Exact::power_of_two(negative, exponent), random);
    let number = one_digit(!negative, exponent, digits);
    maker.product(case, second, number, 0, random);
}

/// The fractions of two factors from 1 to 2 whose product is a little more than this number times the power of two that brings it to 2
/// or more. Of some attempts it is the one whose excess comes nearest to 2^`excess` for a number of 1.
fn little_more(maker: &Maker, number: u32, excess: i32, random: &mut Random) -> Option<[u64; 2]> {
    let digits = [&maker.signature.a, &maker.signature.b].map(|format| kept(format) as u32);
    let [one_a, one_b] = digits.map(|digits| 1_u64 << digits);
    let two = 2 * u128::from(one_a) * u128::from(one_b);
    let wanted = (two * u128::from(number)) >> number.ilog2();
    let place = |more: u128| more.ilog2() as i32 - two.ilog2() as i32 + number.ilog2() as i32;
    let attempts = (0..TRIES).filter_map(|_| {
        let a = one_a | random.bits() & (one_a - 1) | 1;
        let b = u64::try_from(wanted.div_ceil(u128::from(a))).ok()?;
        let more = u128::from(a) * u128::from(b) - wanted;
        let fits = more > 0 && (one_b..2 * one_b).contains(&b);
        fits.then(|| ((place(more) - excess).abs(), [a, b]))
    });
    let (_, factors) = attempts.min()?;
    let fraction = |at: usize| (factors[at] & ((1 << digits[at]) - 1)) << (FRACTION - digits[at]);
    Some([fraction(0), fraction(1)])
}

/// Writes a term with a last digit at half of the result's last place; false where its formats have no such number.
fn ends_in_half(
    maker: &Maker,
    case: &mut OperandWords,
    term: Term,
    [anchor, half]: [i32; 2],
    random: &mut Random,
) -> bool {
    let count = anchor - half;
    let (digits_a, digits_b) = (kept(&maker.signature.a), kept(&maker.signature.b));
    let most = match term {
        Term::C => kept(&maker.signature.c),
        Term::Product(_) => digits_a + digits_b,
    };
    if !(1..=most.min(FRACTION as i32)).contains(&count) {
        return false;
    }
    // Those of b that a has not.
    let more = match term {
        Term::C => 0,
        Term::Product(_) => (count - digits_a).max(0),
    };
    let unit = 1_u64 << (FRACTION as i32 - (count - more));
    // Two leading zeros leave room for b.
    let drawn_digits = fraction(random) >> 2;
    let number = drawn(
        random.below(2) == 0,
        anchor,
        drawn_digits / (2 * unit) * (2 * unit) + unit,
    );
    match term {
        Term::C => maker.set_c(case, number),
        Term::Product(k) => {
            let of_b = match more {
                0 => 0,
                more => 1 << (FRACTION as i32 - more),
            };
            maker.product(case, k, number, of_b, random);
        }
    }
    true
}
