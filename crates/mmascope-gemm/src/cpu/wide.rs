//! The kernel for fused sums of many products in 64-bit lanes, two rows at a time: its conditions, its packing, its groups.
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
use super::fused::{FIELD, Finish, Kind, Offsets, SIGN, Sum, Tile, VECTORS, fields, four};
use super::lanes::{Lanes, WideSlots, two};

/// The upper half of what stands for a zero.
const TINY: u64 = (1023 - 300) << 52;
/// What A's values are multiplied by.
const ABOVE: f64 = 1.0 + 1.0 / (1_u64 << 30) as f64;
/// Slots from which on a sum is faster so: eight of them take as long either way, on a processor with two vector
/// pipes of this width.
const SLOTS: usize = 12;
/// The same with four pipes: 16 of them are a tenth slower so, 32 a twentieth faster.
const SLOTS_OF_FOUR: usize = 17;
/// Slots that a word of signs has: four in each byte.
const WORD: usize = 16;
/// The most slots, which have two words of signs.
const MOST: usize = 2 * WORD;

/// Whether a sum of such products can be done so, and is faster.
pub(super) fn fits(sum: &Sum, a: &Decoder, b: &Decoder, four_pipes: bool) -> bool {
    let least = if four_pipes { SLOTS_OF_FOUR } else { SLOTS };
    let kind = matches!(sum.kind, Kind::Fused | Kind::Scaled) && !sum.nearest;
    let narrow = a.fraction_bits() + b.fraction_bits() + 2 <= 24 && sum.f <= 28;
    kind && narrow && is_plain(sum) && (least..=MOST).contains(&sum.slots)
}

/// Whether results are truncated and have f32's exponents, and so has c.
fn is_plain(sum: &Sum) -> bool {
    let wide = !sum.sticky && sum.c_smallest == 0 && sum.smallest == 0;
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

/// Where two rows and a panel lie.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) slots: WideSlots,
    /// Each row's signs: words of four bits a byte.
    pub(super) a_signs: [*const u32; 2],
    /// The same of the panel: word by word, four registers each.
    pub(super) b_signs: *const u32,
    /// Exponents of block scales, shifted by 23: each row's, and the panel's.
    pub(super) a_scales: [*const u32; 2],
    pub(super) b_scales: *const u32,
    /// Exponents whose byte sums are looked for during the last group.
    pub(super) next: [*const u32; 2],
    pub(super) next_columns: *const u8,
    /// At least one.
    pub(super) groups: usize,
}

/// The largest byte sums of the first group of each row.
///
/// # Safety
/// The instruction set of `V`; the group is readable.
#[inline(always)]
pub(super) unsafe fn first<V: Lanes>(rows: &Rows, slots: usize, start: u8) -> [V; 2] {
    // SAFETY: as the caller promises.
    unsafe {
        let mut found = [V::b_splat(start); 2];
        for k in 0..slots {
            let columns = V::load(rows.slots.b_exponents.add(k * VECTORS * V::WIDTH).cast());
            two!(|r| {
                let row = V::splat(*rows.slots.a_exponents[r].add(k));
                found[r] = found[r].b_max(columns.b_add(row));
            });
        }
        found
    }
}

/// The groups, one after the other, each result being the next c. `found`: the first group's largest byte sums
/// going in, those of what is next coming out. Gives a mask of the lanes whose result is not to be used.
///
/// # Safety
/// The instruction set of `V`, which has [`Lanes::WIDE`]; the groups and what is next are readable.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes>(
    sum: &Sum,
    offsets: &Offsets,
    rows: &Rows,
    found: &mut [V; 2],
    c: &mut [Tile<V>; 2],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        match (sum.kind == Kind::Scaled, sum.slots > WORD) {
            (false, false) => groups::<V, false, 1>(sum, offsets, rows, found, c),
            (false, true) => groups::<V, false, 2>(sum, offsets, rows, found, c),
            (true, false) => groups::<V, true, 1>(sum, offsets, rows, found, c),
            (true, true) => groups::<V, true, 2>(sum, offsets, rows, found, c),
        }
    }
}

/// `WORDS`: of signs, a group.
#[inline(always)]
unsafe fn groups<V: Lanes, const SCALED: bool, const WORDS: usize>(
    sum: &Sum,
    offsets: &Offsets,
    rows: &Rows,
    found: &mut [V; 2],
    c: &mut [Tile<V>; 2],
) -> V {
    let row = VECTORS * V::WIDTH;
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let field = V::splat(FIELD);
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let (lowest, empty) = (V::splat(offsets.lowest()), V::splat(offsets.empty));
        let top = V::splat((sum.f + 254) << 23);
        let ones = V::b_splat(1);
        let kept = match sum.finish {
            Finish::TowardZero { mask } => V::splat(mask | SIGN),
            _ => V::splat(u32::MAX),
        };
        let mut beyond = zero;
        let mut tile = *c;
        let mut at = *rows;
        for left in (0..rows.groups).rev() {
            let mut units = [[zero; VECTORS]; 2];
            let mut scales = [[zero; VECTORS]; 2];
            let mut sums = [[zero; VECTORS]; 2];
            two!(|r| {
                let fields = fields(found[r], offset);
                four!(|v| {
                    let mut e = fields[v];
                    let own = tile[r][v].and(field);
                    let mut shift = zero;
                    if SCALED {
                        let b_scales = V::load(at.b_scales.add(v * V::WIDTH));
                        shift = V::splat(*at.a_scales[r]).i_add(b_scales);
                        let none = e.i_equal(lowest);
                        e = V::select(none, empty, e.i_add(shift));
                    }
                    units[r][v] = top.i_sub(e.i_max(own));
                    scales[r][v] = if SCALED {
                        units[r][v].i_add(shift)
                    } else {
                        units[r][v]
                    };
                    let b = V::load(at.b_signs.add(v * V::WIDTH));
                    let mut negative = V::splat(*at.a_signs[r]).xor(b).b_ones();
                    if WORDS == 2 {
                        let b = V::load(at.b_signs.add(row + v * V::WIDTH));
                        let more = V::splat(*at.a_signs[r].add(1)).xor(b).b_ones();
                        negative = negative.b_add(more);
                    }
                    let negative = negative.b_dot4(ones);
                    sums[r][v] = tile[r][v].f_mul(units[r][v]).f_to_i().i_add(negative);
                });
            });
            let mut slots = at.slots;
            // The byte sums of the next group, or of what is next.
            (slots.a_exponents, slots.b_exponents) = if left == 0 {
                (rows.next, rows.next_columns)
            } else {
                let next = slots.a_exponents.map(|a| a.add(sum.slots));
                (next, slots.b_exponents.add(sum.slots * row))
            };
            *found = [start; 2];
            V::add_products_wide(&slots, &scales, &mut sums, found, &mut beyond);
            two!(|r| four!(|v| {
                // 2^(E − F), when the unit is 2^(F − E).
                let back = V::splat(254 << 23).i_sub(units[r][v]);
                tile[r][v] = sums[r][v].i_to_f_toward_zero().f_mul(back).and(kept);
            }));
            at = at.on::<V>(sum.slots, WORDS, SCALED);
        }
        *c = tile;
        beyond.i_equal(zero).not_and(V::splat(u32::MAX))
    }
}

impl Rows {
    /// One group on.
    #[inline(always)]
    unsafe fn on<V: Lanes>(mut self, slots: usize, words: usize, scaled: bool) -> Self {
        let row = VECTORS * V::WIDTH;
        // SAFETY: the caller stays within the packed operands, or right behind them.
        unsafe {
            two!(|r| {
                self.slots.a[r] = self.slots.a[r].add(slots);
                self.slots.a_exponents[r] = self.slots.a_exponents[r].add(slots);
                self.a_signs[r] = self.a_signs[r].add(words);
                self.a_scales[r] = self.a_scales[r].add(usize::from(scaled));
            });
            self.slots.b = self.slots.b.add(slots * row);
            self.slots.b_exponents = self.slots.b_exponents.add(slots * row);
            self.b_signs = self.b_signs.add(words * row);
            self.b_scales = self.b_scales.add(if scaled { row } else { 0 });
        }
        self
    }
}
