//! The exponents of operands: those that occur, and those that packed operands may have.

use rayon::prelude::*;

use super::decoder::Decoder;
use super::fast::fast;
use crate::engine::Elements;

/// The exponents that packed operands may have, as f32 fields, and how bytes show them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Smaller ones count as zero, exactly so: no result can depend on them.
    pub(super) vanish: u32,
    pub(super) low: u32,
    pub(super) high: u32,
    /// The byte of `low`; a zero has byte 0.
    pub(super) first: u32,
}

/// Smallest and largest exponent that bytes show; `None` when all are zeros.
pub(super) fn span(bytes: &[u8], window: &Window) -> Option<(i32, i32)> {
    // (A zero's byte wraps to the largest.)
    let smallest = bytes
        .iter()
        .fold(u8::MAX, |least, byte| least.min(byte.wrapping_sub(1)));
    let largest = bytes.iter().fold(0, |most, byte| *byte.max(&most));
    let exponent = |byte: u8| i32::from(byte) - window.first as i32 + window.low as i32 - 127;
    (largest > 0).then(|| (exponent(smallest + 1), exponent(largest)))
}

/// Smallest and largest exponent of A's operands, zeros and specials left out; 0 and 0 when no others are there.
pub(super) fn extent_a(elements: &dyn Elements, decoder: &Decoder) -> (i32, i32) {
    let k = elements.k();
    extent(decoder, elements.m(), k, &|i, words| {
        elements.narrow_a_row(i, 0, words)
    })
}

/// The same for B.
pub(super) fn extent_b(elements: &dyn Elements, decoder: &Decoder) -> (i32, i32) {
    let (k, n) = (elements.k(), elements.n());
    extent(decoder, k, n, &|k, words| {
        elements.narrow_b_row(k, 0, words)
    })
}

fn extent(
    decoder: &Decoder,
    rows: usize,
    length: usize,
    read: &(dyn Fn(usize, &mut [u32]) + Sync),
) -> (i32, i32) {
    // Smallest field less 1, of which a zero's is the largest, and largest field.
    let nothing = || [u32::MAX, 0];
    let join = |x: [u32; 2], y: [u32; 2]| [x[0].min(y[0]), x[1].max(y[1])];
    let one = |words: &mut Vec<u32>, row| {
        words.resize(length, 0);
        read(row, words);
        fields(decoder, words)
    };
    let each = (0..rows).into_par_iter().map_init(Vec::new, one);
    let [low, high] = each.reduce(nothing, join);
    if high == 0 {
        return (0, 0);
    }
    (low as i32 + 1 - 127, high as i32 - 127)
}

fast!(fn fields(decoder: &Decoder, words: &[u32]) -> [u32; 2] = smallest_and_largest);

#[inline(always)]
fn smallest_and_largest(decoder: &Decoder, words: &[u32]) -> [u32; 2] {
    let mut found = [u32::MAX, 0];
    for word in words {
        let (bits, special) = decoder.masks(*word);
        let field = decoder.field(bits) & !special;
        found[0] = found[0].min(field.wrapping_sub(1));
        found[1] = found[1].max(field);
    }
    found
}

/// How often each exponent field stands in the operands, f32's, zeros and specials left out.
pub(super) fn histogram_a(elements: &dyn Elements, decoder: &Decoder) -> Vec<u64> {
    let k = elements.k();
    histogram(decoder, elements.m(), k, &|i, words| {
        elements.narrow_a_row(i, 0, words)
    })
}

/// The same for B.
pub(super) fn histogram_b(elements: &dyn Elements, decoder: &Decoder) -> Vec<u64> {
    let (k, n) = (elements.k(), elements.n());
    histogram(decoder, k, n, &|k, words| {
        elements.narrow_b_row(k, 0, words)
    })
}

fn histogram(
    decoder: &Decoder,
    rows: usize,
    length: usize,
    read: &(dyn Fn(usize, &mut [u32]) + Sync),
) -> Vec<u64> {
    let one = |row: usize| {
        let mut words = vec![0; length];
        read(row, &mut words);
        let mut counts = vec![0_u64; 256];
        for word in words {
            let (bits, special) = decoder.decode(word);
            let field = if special { 0 } else { decoder.field(bits) };
            counts[field as usize] += 1;
        }
        counts
    };
    let zero = || vec![0; 256];
    let join = |mut x: Vec<u64>, y: Vec<u64>| {
        for (x, y) in x.iter_mut().zip(y) {
            *x += y;
        }
        x
    };
    let mut counts = (0..rows).into_par_iter().map(one).reduce(zero, join);
    counts[0] = 0;
    counts
}

/// 2^exponent; ∞ above f64's numbers, 0 below its normal ones. (`powi` promises no precision: its bits depend on the host.)
pub(super) fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..=-1023 => 0.0,
        1024.. => f64::INFINITY,
        _ => f64::from_bits(((exponent + 1023) as u64) << 52),
    }
}
