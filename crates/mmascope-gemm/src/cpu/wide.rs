//! Fused sums of many products in 64-bit lanes, two rows at a time: their conditions and their packing. Their groups are
//! `kernels/wide.rs`.
//!
//! `lanes/wide.rs` sums the products. It assumes:
//!
//! * significands of together at most 24 bits and F ≤ 28, as all fused sums (`plan.rs`): a product's 2^-30 is then
//!   less than the grid, and than its own last place;
//! * what stands for a zero times any operand lies below the grid: 2^-300 · 2^128 < 2^(−126 − 28);
//! * sums below 2^51 units: 32 products of 2^30;
//! * terms truncated, c among them, and results too, with f32's exponents.

use super::decoder::{Decoder, mask};
use super::fast::fast;
use super::sum::{Direction, Finish, Sum};
use crate::shape::SumKind;

/// The upper half of what stands for a zero.
const TINY: u64 = (1023 - 300) << 52;
/// What A's values are multiplied by.
const ABOVE: f64 = 1.0 + 1.0 / (1_u64 << 30) as f64;
/// Slots from which on a sum is faster so, on a processor with two vector pipes of this width: eight of them take as
/// long either way.
const SLOTS: usize = 12;
/// Slots that a word of signs has: four in each byte.
pub(super) const WORD: usize = 16;
/// The most slots, which have two words of signs.
const MOST: usize = 2 * WORD;

/// Whether a sum of such products can be done so, and is faster. With four vector pipes none is: conversions and additions
/// have pipes of their own there (sums of 32 products on a Zen 5: 34·10⁹ products a second so, 40·10⁹ by conversion).
pub(super) fn fits(sum: &Sum, a: &Decoder, b: &Decoder, four_pipes: bool) -> bool {
    let kind =
        matches!(sum.kind, SumKind::Fused | SumKind::Scaled) && sum.terms == Direction::TowardZero;
    let narrow = a.fraction_bits() + b.fraction_bits() + 2 <= 24 && sum.f <= 28;
    !four_pipes && kind && narrow && is_plain(sum) && (SLOTS..=MOST).contains(&sum.slots)
}

/// Whether results are truncated and have f32's exponents, and so has c, and sums fit 32 bits as other kernels take them.
fn is_plain(sum: &Sum) -> bool {
    let wide = !sum.sticky && sum.c_smallest == 0 && sum.smallest == 0 && sum.part == sum.slots;
    matches!(sum.finish, Finish::TowardZero { .. }) && wide
}

/// Words of signs that a group has.
pub(super) const fn sign_words(slots: usize) -> usize {
    slots.div_ceil(WORD)
}

fast!(
    /// A row's values and exponent bytes, groups of `slots`, as such sums take them.
    pub(super) fn prepare_a(
        values: &[f32],
        bytes: &[u8],
        wide: &mut [f64],
        exponents: &mut [u32],
        signs: &mut [u32],
        slots: usize,
    ) = row
);
fast!(
    /// A panel's values, groups of `slots` of `columns` each.
    pub(super) fn prepare_b(
        values: &[f32],
        wide: &mut [f64],
        signs: &mut [u32],
        slots: usize,
        columns: usize,
    ) = panel
);

#[inline(always)]
fn row(
    values: &[f32],
    bytes: &[u8],
    wide: &mut [f64],
    exponents: &mut [u32],
    signs: &mut [u32],
    slots: usize,
) {
    for (wide, value) in wide.iter_mut().zip(values) {
        *wide = stand_in(f64::from(*value) * ABOVE);
    }
    for (exponents, byte) in exponents.iter_mut().zip(bytes) {
        *exponents = u32::from(*byte) * 0x0101_0101;
    }
    let words = signs.chunks_exact_mut(sign_words(slots));
    for (words, values) in words.zip(values.chunks_exact(slots)) {
        for (word, values) in words.iter_mut().zip(values.chunks(WORD)) {
            // (Of a whole word's number of values the compiler makes vectors.)
            *word = match values.first_chunk::<WORD>() {
                Some(values) => sign_word(values),
                None => sign_word(values),
            };
        }
    }
}

/// The signs of at most a word's values.
#[inline(always)]
fn sign_word(values: &[f32]) -> u32 {
    let signs = values.iter().enumerate();
    signs.fold(0, |word, (slot, value)| {
        word | (value.to_bits() >> 31) << place(slot)
    })
}

#[inline(always)]
fn panel(values: &[f32], wide: &mut [f64], signs: &mut [u32], slots: usize, columns: usize) {
    let (from, _) = values.as_chunks::<16>();
    let (to, _) = wide.as_chunks_mut::<16>();
    for (from, to) in from.iter().zip(to) {
        // Of each four columns the first two, then of each four the others.
        for i in 0..8 {
            to[i] = stand_in(f64::from(from[i / 2 * 4 + i % 2]));
            to[8 + i] = stand_in(f64::from(from[i / 2 * 4 + 2 + i % 2]));
        }
    }
    let words = signs.chunks_exact_mut(sign_words(slots) * columns);
    for (words, values) in words.zip(values.chunks_exact(slots * columns)) {
        words.fill(0);
        for (slot, values) in values.chunks_exact(columns).enumerate() {
            let words = &mut words[slot / WORD * columns..][..columns];
            for (word, value) in words.iter_mut().zip(values) {
                *word |= (value.to_bits() >> 31) << place(slot);
            }
        }
    }
}

/// A slot's bit in its word.
#[inline(always)]
const fn place(slot: usize) -> usize {
    slot % WORD / 4 * 8 + slot % 4
}

/// The number, or for a zero what stands for it.
#[inline(always)]
fn stand_in(value: f64) -> f64 {
    let bits = value.to_bits();
    let zero = mask(value == 0.0);
    f64::from_bits(bits | TINY & (u64::from(zero) << 32 | u64::from(zero)))
}
