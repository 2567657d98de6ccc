//! The groups of fused sums in 64-bit lanes, two rows at a time.

use super::fused::{FIELD, SIGN, Tile, fields};
use crate::cpu::lanes::{Lanes, VECTORS, WideSlots, four, two};
use crate::cpu::sum::{Finish, Offsets, Sum};
use crate::cpu::wide::WORD;
use crate::shape::SumKind;

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
            let columns = V::load_bytes(rows.slots.b_exponents.add(k * VECTORS * V::WIDTH));
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
        match (sum.kind == SumKind::Scaled, sum.slots > WORD) {
            (false, false) => groups::<V, false, 1>(sum, offsets, rows, found, c),
            (false, true) => groups::<V, false, 2>(sum, offsets, rows, found, c),
            (true, false) => groups::<V, true, 1>(sum, offsets, rows, found, c),
            (true, true) => groups::<V, true, 2>(sum, offsets, rows, found, c),
        }
    }
}

/// `WORDS`: of signs, a group.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
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
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
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
