//! Runs sums that round toward −∞ on two or four rows at a time, where the level has them, and locates their operands.

use std::ops::Range;

use super::fused::Tile;
use super::wide;
use crate::cpu::enter::Ahead;
use crate::cpu::lanes::{self, Lanes, WideSlots, two};
use crate::cpu::pack::Shape;
use crate::cpu::packed_operand::How;
use crate::cpu::program::Sums;
use crate::cpu::sum::{Finish, Sum};
use crate::cpu::wide::sign_words;

/// Where some steps of every row and of one panel begin. Divisions take as long as a tenth of a pair's sums, so
/// that this is found once for all pairs.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Begin {
    /// The slot of row 0 in A, and slots from row to row.
    a: usize,
    apart: usize,
    /// The same in groups.
    a_group: usize,
    groups_apart: usize,
    /// The panel's slot in B, times columns, and its group.
    b: usize,
    b_group: usize,
    /// Groups of all steps.
    groups: usize,
}

impl Begin {
    /// Groups have so many slots. The steps lie in one chunk.
    fn new(shape: &Shape, slots: usize, panel: usize, steps: &Range<usize>) -> Self {
        assert!(shape.has_panel(panel) && steps.start < steps.end && steps.end <= shape.steps);
        assert!(steps.end <= (steps.start / shape.chunk + 1) * shape.chunk);
        let (a, b) = (shape.a_at(0, steps.start), shape.b_at(panel, steps.start));
        let apart = shape.chunk * shape.slots;
        Self {
            a,
            apart,
            a_group: a / slots,
            groups_apart: apart / slots,
            b,
            b_group: b / slots,
            groups: shape.slots / slots * steps.len(),
        }
    }

    fn a(&self, row: usize) -> usize {
        self.a + row * self.apart
    }

    fn a_group(&self, row: usize) -> usize {
        self.a_group + row * self.groups_apart
    }
}

impl Sums {
    /// Steps of rows that round toward −∞: `rows` are neighbours, or twice the same.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn round_down<V: Lanes, const ROWS: usize>(
        &self,
        sum: &Sum,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V, ROWS>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let Finish::TowardZero { mask } = sum.finish else {
            unreachable!("`Plan::down` asks for it");
        };
        let begin = self.begin(sum, &rows, panel, steps, ahead);
        let exponents = |row: usize| self.a.exponents[begin.a(row)..].as_ptr();
        let signs = |row: usize| self.a.signs[begin.a_group(row)..].as_ptr();
        let given = lanes::Rows {
            a: self.a.values[begin.a(rows[0])..].as_ptr(),
            b: self.b.values[begin.b..].as_ptr(),
            a_exponents: exponents(rows[0]),
            b_exponents: self.b.exponents[begin.b..].as_ptr(),
            a_signs: rows.map(signs),
            b_signs: self.b.signs[begin.b_group..].as_ptr(),
            apart: (rows[1] - rows[0]) * begin.apart,
            slots: sum.slots,
            groups: begin.groups,
            f: sum.f,
            mask,
            offset: self.ranges.offsets.offset,
            start: self.ranges.offsets.start,
            next: (ahead.next).map(|row| std::array::from_fn(|r| exponents(row + r))),
        };
        // SAFETY: instructions: the caller's. Room: `begin` has asserted that the rows, those that are next, the panel and the steps are
        // there, that the steps lie in one chunk, and that row after row lies `apart`; every pointer is made of a slice of that operand,
        // and `groups` are those of the steps.
        unsafe {
            V::sum_down(&given, &mut ahead.found, c);
            V::splat(0)
        }
    }

    /// Steps of two rows in 64-bit lanes: `rows` are neighbours, or twice the same.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn in_wide_lanes<V: Lanes>(
        &self,
        sum: &Sum,
        rows: [usize; 2],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V, 2>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        let shape = &self.shape;
        let begin = self.begin(sum, &rows, panel, steps, ahead);
        let values = |row: usize| self.a.wide[begin.a(row)..].as_ptr();
        let exponents = |row: usize| self.a.words[begin.a(row)..].as_ptr();
        let words = sign_words(sum.slots);
        let signs = |row: usize| self.a.signs[begin.a_group(row) * words..].as_ptr();
        let scaled = !self.scales.a.is_empty();
        let scale_a = |row: usize| {
            let at = if scaled {
                row * shape.steps + steps.start
            } else {
                0
            };
            self.scales.a[at..].as_ptr()
        };
        let scale_b = if scaled {
            (panel * shape.steps + steps.start) * shape.columns
        } else {
            0
        };
        let [first, second] = rows;
        let next = ahead.next.map_or(rows, |row| [row, row + 1]);
        let b_exponents = self.b.exponents[begin.b..].as_ptr();
        let rows = wide::Rows {
            slots: WideSlots {
                a: [values(first), values(second)],
                b: self.b.wide[begin.b..].as_ptr(),
                a_exponents: [exponents(first), exponents(second)],
                b_exponents,
                count: sum.slots,
            },
            a_signs: [signs(first), signs(second)],
            b_signs: self.b.signs[begin.b_group * words..].as_ptr(),
            a_scales: [scale_a(first), scale_a(second)],
            b_scales: self.scales.b[scale_b..].as_ptr(),
            next: [exponents(next[0]), exponents(next[1])],
            next_columns: b_exponents,
            groups: begin.groups,
        };
        let offsets = &self.ranges.offsets;
        // SAFETY: as for `round_down`. `next` are rows that `begin` has checked, or these again.
        unsafe {
            let mut found = match ahead.found.take() {
                Some(found) => found,
                None => wide::first(&rows, sum.slots, offsets.start),
            };
            let bad = wide::chain(sum, offsets, &rows, &mut found, c);
            ahead.found = ahead.next.map(|_| found);
            bad
        }
    }

    /// Where rows and panel begin; the rows, and those that are next, are there.
    #[inline(always)]
    fn begin<V, const ROWS: usize>(
        &self,
        sum: &Sum,
        rows: &[usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V, ROWS>,
    ) -> Begin {
        let m = self.shape.m;
        let apart = rows[1] - rows[0];
        assert!(rows.windows(2).all(|two| two[0] + apart == two[1]) && rows[ROWS - 1] < m);
        assert!(ahead.next.is_none_or(|row| row + ROWS <= m));
        let new = || Begin::new(&self.shape, sum.slots, panel, steps);
        *ahead.begin.get_or_insert_with(new)
    }

    /// Two rows, or four, of a sum that rounds toward −∞.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    pub(super) unsafe fn down<V: Lanes, const ROWS: usize>(
        &self,
        sum: &Sum,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V, ROWS>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        // SAFETY: as the caller promises.
        unsafe {
            match self.how {
                How::Wide(_) if V::WIDE && ROWS == 2 => {
                    let found = ahead.found.as_ref().map(|found| [found[0], found[1]]);
                    let mut pair = Ahead {
                        begin: ahead.begin,
                        next: ahead.next,
                        found,
                    };
                    let mut tiles = [c[0], c[1]];
                    let two = [rows[0], rows[1]];
                    let bad = self.in_wide_lanes(sum, two, panel, steps, &mut pair, &mut tiles);
                    two!(|r| c[r] = tiles[r]);
                    ahead.begin = pair.begin;
                    ahead.found = pair.found.map(|found| {
                        let mut all = [found[0]; ROWS];
                        two!(|r| all[r] = found[r]);
                        all
                    });
                    bad
                }
                _ => self.round_down(sum, rows, panel, steps, ahead, c),
            }
        }
    }
}
