//! Decides which fused sums can be rounded toward −∞ product by product, and packs operands for them.
//!
//! `lanes/down.rs` says how it works. It takes for granted:
//!
//! * a sum of all terms and their signs stays below 2^22 units, so that 1.5·2^23 units keep their exponent;
//! * a product with its 2^-20 lies below the next whole number of its own last places, and of the grid's:
//!   together fewer than 20 bits, and F + 2 < 20; A's values times 1 + 2^-20 are f32: 4 bits;
//! * c's last bit lies below the grid: F < 23 (c's exponent is at most E);
//! * a product with a zero (±2^-90) lies below the grid: `reaches` is asked once the exponents are known.

use super::decoder::{Decoder, mask};
use super::exponents::Window;
use super::fast::fast;
use super::sum::{Direction, Finish, Sum};
use crate::shape::SumKind;

/// What stands for a zero.
const TINY: u32 = (127 - 90) << 23;
/// What A's values are multiplied by.
const ABOVE: f32 = 1.0 + 1.0 / (1 << 20) as f32;
/// Slots that a word of signs has.
const WORD: usize = 32;

/// Whether a sum of such products can be done so.
pub(super) fn fits(sum: &Sum, a: &Decoder, b: &Decoder) -> bool {
    let (a, b) = (a.fraction_bits() + 1, b.fraction_bits() + 1);
    let plain = sum.kind == SumKind::Fused && sum.terms == Direction::TowardZero && !sum.sticky;
    let wide = sum.c_smallest == 0 && sum.smallest == 0;
    let finish = matches!(sum.finish, Finish::TowardZero { .. });
    let narrow = a <= 4 && a + b < 20 && sum.f < 18 && sum.slots <= WORD;
    let slots = sum.slots as u64;
    plain && wide && finish && narrow && ((4 * slots + 2) << sum.f) + slots + 1 < 1 << 22
}

/// Whether products with what stands for a zero are nothing on every grid: E ≥ `floor`, as a field.
pub(super) fn reaches(sum: &Sum, a: &Window, b: &Window, floor: u32) -> bool {
    // Fields have 127 more than exponents; a factor lies below twice its power of two.
    let largest = a.high.max(b.high) + 1;
    largest + 127 - 90 < (floor >> 23) + 127 - sum.f
}

fast!(
    /// Groups of A's values, `slots` each, as such sums take them; a word of signs a group.
    pub(super) fn prepare_a(values: &mut [f32], signs: &mut [u32], slots: usize) = rows
);
fast!(
    /// Groups of B's values, `slots` of `columns` each; a word of signs a group and column.
    pub(super) fn prepare_b(
        values: &mut [f32],
        signs: &mut [u32],
        slots: usize,
        columns: usize,
    ) = panel
);

#[inline(always)]
fn rows(values: &mut [f32], signs: &mut [u32], slots: usize) {
    for (group, word) in values.chunks_exact_mut(slots).zip(signs) {
        *word = 0;
        for (value, slot) in group.iter_mut().zip(0..) {
            let bits = value.to_bits();
            *value = f32::from_bits(stand_in((*value * ABOVE).to_bits()));
            *word |= bits >> 31 << slot;
        }
    }
}

#[inline(always)]
fn panel(values: &mut [f32], signs: &mut [u32], slots: usize, columns: usize) {
    let groups = values.chunks_exact_mut(slots * columns);
    for (group, words) in groups.zip(signs.chunks_exact_mut(columns)) {
        words.fill(0);
        for (row, slot) in group.chunks_exact_mut(columns).zip(0..) {
            for (value, word) in row.iter_mut().zip(words.iter_mut()) {
                let bits = value.to_bits();
                *value = f32::from_bits(stand_in(bits));
                *word |= bits >> 31 << slot;
            }
        }
    }
}

/// The number, or for a zero what stands for it. (As a choice between the two it becomes a masked store,
/// which takes Zen 3 four times as long.)
#[inline(always)]
fn stand_in(bits: u32) -> u32 {
    bits | TINY & mask(bits & !(1 << 31) == 0)
}
