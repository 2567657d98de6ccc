//! Makes tall sums: many equal products of one sign, whose sum is as far above the largest exponent as it can be, and one
//! term that ends where the alignment does.
//!
//! They show what counts from the exponent of the sum. A second floor (F2) that is longer than the alignment reaches
//! above it only there, and only in the last bits that the alignment keeps.
//!
//! Where no floor holds the alignment, sums below the smallest normal result do the same: F2 counts from that result's
//! exponent there.

use super::{Focus, between, kept};
use crate::dpa::OperandWords;
use crate::format::Format;
use crate::infer::maker::{FRACTION, Maker, drawn};
use crate::reveal::Random;

/// The fraction of 1.5.
const HALF: u64 = 1 << (FRACTION - 1);
/// Every bit of a fraction.
const ONES: u64 = (1 << FRACTION) - 1;

/// A tall sum, or one far below the normal results.
pub(crate) fn tall(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    if maker.signature.k > 1 && random.below(5) == 0 {
        return sunken(maker, focus, random);
    }
    let mut case = maker.blank();
    let signature = &maker.signature;
    let k = signature.k;
    let places = block(k, random);
    let rise = 3 + places.len().ilog2() as i32;
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - rise).min(24);
    let low = low.max(maker.d.normal + 2).max(-40).min(high);
    let largest = between((high - 30).max(low), high, random);
    let bits = aligned(maker, focus, random);
    let negative = random.below(2) == 0;
    let (first, second) = match random.below(6) {
        0..=2 => (ONES, ONES),
        3 => (ONES, 0),
        4 => (HALF, HALF),
        _ => (random.bits() >> 4 | HALF, random.bits() >> 4 | HALF),
    };
    for &place in &places {
        let number = drawn(negative, largest, first);
        maker.product(&mut case, place, number, second, random);
    }
    // The last bit that the alignment keeps, and where the sum begins, about.
    let last = largest - bits;
    let top = top(maker, &case, places[0], places.len(), largest) + between(0, 1, random);
    // So many bits lie between it and the last place of the result.
    let lost = (top - maker.bits - last).max(1) as u32;
    let end = places[places.len() - 1];
    let of_c = random.below(4) != 0 || places.len() == 1;
    let length = match of_c {
        true => kept(&signature.c),
        false => kept(&signature.a),
    };
    let exponent = (last + length).min(largest);
    let number = drawn(
        negative ^ (random.below(8) == 0),
        exponent,
        ending(length, lost, random),
    );
    // Where that term is short, another one fills what lies above it.
    let filler = (random.below(2) == 0).then(|| exponent + 1);
    if of_c {
        maker.set_c(&mut case, number);
        let above = filler.map(|above| above + kept(&signature.a));
        if let Some(above) = above.filter(|above| places.len() > 1 && *above <= largest) {
            let number = drawn(negative, above, ones_or(random));
            maker.product(&mut case, end, number, 0, random);
        }
    } else {
        let second = [0, 0, 0, random.bits() >> 4][random.below(4)];
        maker.product(&mut case, end, number, second, random);
        let above = match filler {
            Some(above) => (above + kept(&signature.c)).min(largest),
            None => largest,
        };
        // A c of few bits leaves the last ones alone.
        let fraction = match random.below(2) {
            0 => [0, HALF][random.below(2)],
            _ => ones_or(random),
        };
        maker.set_c(&mut case, drawn(negative, above, fraction));
    }
    case
}

/// So many bits as an alignment keeps, or one more or fewer.
fn aligned(maker: &Maker, focus: &Focus, random: &mut Random) -> i32 {
    match focus.bits.len() {
        0 => between(maker.bits, 60, random),
        count => focus.bits[random.below(count)] + [0, 0, 0, 0, 1, -1][random.below(6)],
    }
}

/// A product near the smallest result, and one of another sign, or of its sign, that is the last bit of its alignment.
fn sunken(maker: &Maker, focus: &Focus, random: &mut Random) -> OperandWords {
    let mut case = maker.blank();
    let k = maker.signature.k;
    let exponent = maker.d.lowest + between(-1, 2, random);
    let negative = random.below(2) == 0;
    let first = random.below(k);
    let second = (first + 1 + random.below(k - 1)) % k;
    let large = drawn(negative, exponent, [0, HALF][random.below(2)]);
    maker.product(&mut case, first, large, 0, random);
    let last = exponent - aligned(maker, focus, random);
    maker.power(&mut case, second, negative ^ (random.below(3) != 0), last);
    case
}

/// The places of a block: all, or a power of two of them, neighbouring or strided.
fn block(k: usize, random: &mut Random) -> Vec<usize> {
    let mut count = k;
    while count > 2 && count.is_multiple_of(2) && random.below(2) == 0 {
        count /= 2;
    }
    let blocks = (k / count).max(1);
    let which = random.below(blocks);
    match random.below(4) {
        0 => (0..count).map(|place| place * blocks + which).collect(),
        _ => (0..count).map(|place| which * count + place).collect(),
    }
}

/// The exponent of the sum of so many equal products, of which the case has one at `place`.
fn top(maker: &Maker, case: &OperandWords, place: usize, count: usize, largest: i32) -> i32 {
    let decoded = |word: u64, format: &Format| format.decode(format.from_register(word));
    let a = decoded(case.a[place], &maker.signature.a);
    let b = decoded(case.b[place], &maker.signature.b);
    let sum = u128::from(a.significand) * u128::from(b.significand) * count as u128;
    let fraction_bits = (a.fraction_bits + b.fraction_bits) as i32;
    largest - fraction_bits + sum.checked_ilog2().unwrap_or(0) as i32
}

/// A fraction of so many bits, of which the last ones, so many, decide: all ones, a one alone at the end, or both with half
/// a place before them.
fn ending(length: i32, lost: u32, random: &mut Random) -> u64 {
    let length = length as u32;
    let lost = (lost + random.below(2) as u32).min(length);
    let upper = match random.below(3) {
        0 => u64::MAX,
        _ => random.bits(),
    };
    let mask = (1 << lost) - 1;
    let lower = match random.below(4) {
        0 | 1 => mask,
        2 => mask >> 1,
        _ => 1 | (1 << lost >> 1),
    };
    let fraction = (upper & !mask | lower) & ((1 << length) - 1);
    fraction << (FRACTION - length)
}

/// All ones, or any fraction.
fn ones_or(random: &mut Random) -> u64 {
    match random.below(2) {
        0 => ONES,
        _ => random.bits() >> 4,
    }
}
