//! Integer mode: exact sums of products of signed magnitudes (§4.6).

use super::machine::Phase;
use super::source::{FRACTION, SIGN};

/// A sum of integers in Dst: sign and magnitude of 31 bits, and whether it was limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// `sign(31) magnitude(30..0)`.
    pub word: u32,
    /// Whether the sum went beyond ±(2^31 − 1).
    pub saturated: bool,
}

/// The magnitude and sign of a source datum; 0 where the exponent field is 0.
fn value(datum: u32, keep: u32) -> i64 {
    if datum & (0xff << 10) == 0 {
        return 0;
    }
    let magnitude = i64::from(datum & FRACTION & keep);
    if datum & SIGN == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn of_word(word: u32) -> i64 {
    let magnitude = i64::from(word & 0x7fff_ffff);
    if word >> 31 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn to_word(sum: i64) -> Integer {
    const MOST: i64 = 0x7fff_ffff;
    let limited = sum.clamp(-MOST, MOST);
    Integer {
        word: u32::from(limited < 0) << 31 | limited.unsigned_abs() as u32,
        saturated: limited != sum,
    }
}

/// MVMUL of int8 data, one phase: bits 7..5 or 4..0 of SrcA's magnitudes times bits 9..4 or 3..0 of SrcB's,
/// in place.
#[must_use]
pub fn integer_mvmul(phase: Phase, a: &[u32; 16], b: &[u32; 16], dst: u32) -> Integer {
    let keep_a = if phase.number() & 1 == 1 { 0x1f } else { 0xe0 };
    let keep_b = if phase.number() & 2 == 2 { 0x0f } else { 0x3f0 };
    let products = a
        .iter()
        .zip(b)
        .map(|(a, b)| value(*a, keep_a) * value(*b, keep_b));
    to_word(of_word(dst) + products.sum::<i64>())
}

/// ELWADD of int8 data: all ten bits of both magnitudes.
#[must_use]
pub fn integer_add(a: u32, b: u32, dst: u32) -> Integer {
    to_word(of_word(dst) + value(a, FRACTION) + value(b, FRACTION))
}
