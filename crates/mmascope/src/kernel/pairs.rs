//! Sums that round toward −∞, two rows at a time: which of them a level has, and where their operands lie.

use std::ops::Range;

use super::block::Ahead;
use super::fused::{Finish, Sum, Tile};
use super::lanes::{Lanes, Pair, WideSlots};
use super::plan::Plan;
use super::program::Sums;
use super::side::How;
use super::wide;

/// Which ways of summing a level has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// Sums may round toward −∞ in 32-bit lanes.
    pub(super) down: bool,
    /// And in 64-bit lanes.
    pub(super) wide: bool,
}

impl Ways {
    pub(super) fn of(self, plan: &Plan) -> How {
        if let Some(sum) = plan.down().filter(|_| self.down) {
            return How::Down(sum.slots);
        }
        let wide = |sum: &Sum| self.wide && wide::fits(sum, &plan.a, &plan.b);
        match plan.only().filter(wide) {
            Some(sum) => How::Wide(sum.slots),
            None => How::Plain,
        }
    }
}

impl Sums {
    /// Steps of two rows that round toward −∞: `rows` are neighbours, or twice the same.
    #[inline(always)]
    unsafe fn round_down<V: Lanes>(
        &self,
        sum: &Sum,
        rows: [usize; 2],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        let at = rows.map(|row| self.at(row, panel, steps.start));
        let [first, second] = rows.map(|row| self.shape.a_at(row, steps.start));
        let Finish::TowardZero { mask } = sum.finish else {
            unreachable!("`Plan::down` asks for it");
        };
        let group = self.shape.b_at(panel, steps.start) / sum.slots;
        let pair = Pair {
            a: at[0].a,
            b: at[0].b,
            a_exponents: at[0].a_exponents,
            b_exponents: at[0].b_exponents,
            a_signs: [first, second].map(|a| self.a.signs[a / sum.slots..].as_ptr()),
            b_signs: self.b.signs[group..].as_ptr(),
            apart: second - first,
            slots: sum.slots,
            groups: self.shape.slots / sum.slots * steps.len(),
            f: sum.f,
            mask,
            offset: self.ranges.offsets.offset,
            start: self.ranges.offsets.start,
            next: ahead
                .next
                .map(|row| [row, row + 1].map(|row| self.at(row, panel, steps.start).a_exponents)),
        };
        // SAFETY: as for `run`: `at` checks rows, panel and step; the second row lies behind the first.
        unsafe {
            V::sum_down(&pair, &mut ahead.found, c);
            V::splat(0)
        }
    }

    /// Steps of two rows in 64-bit lanes: `rows` are neighbours, or twice the same.
    #[inline(always)]
    unsafe fn in_wide_lanes<V: Lanes>(
        &self,
        sum: &Sum,
        rows: [usize; 2],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        let shape = &self.shape;
        let b = shape.b_at(panel, steps.start);
        assert!(panel < shape.panels() && steps.start < steps.end && steps.end <= shape.steps);
        assert!(steps.end <= (steps.start / shape.chunk + 1) * shape.chunk);
        assert!(rows.iter().all(|row| *row < shape.m));
        assert!(ahead.next.is_none_or(|row| row + 1 < shape.m));
        let exponents = |row: usize| self.a.words[shape.a_at(row, steps.start)..].as_ptr();
        let words = wide::sign_words(sum.slots);
        let signs = |row: usize| shape.a_at(row, steps.start) / sum.slots * words;
        let scaled = !self.scales.a.is_empty();
        let scale_a = |row: usize| {
            if scaled {
                row * shape.steps + steps.start
            } else {
                0
            }
        };
        let scale_b = if scaled {
            (panel * shape.steps + steps.start) * shape.columns
        } else {
            0
        };
        let next = ahead.next.map_or(rows, |row| [row, row + 1]);
        let b_exponents = self.b.exponents[b..].as_ptr();
        let rows = wide::Rows {
            slots: WideSlots {
                a: rows.map(|row| self.a.wide[shape.a_at(row, steps.start)..].as_ptr()),
                b: self.b.wide[b..].as_ptr(),
                a_exponents: rows.map(exponents),
                b_exponents,
                count: sum.slots,
            },
            a_signs: rows.map(|row| self.a.signs[signs(row)..].as_ptr()),
            b_signs: self.b.signs[b / sum.slots * words..].as_ptr(),
            a_scales: rows.map(|row| self.scales.a[scale_a(row)..].as_ptr()),
            b_scales: self.scales.b[scale_b..].as_ptr(),
            next: next.map(exponents),
            next_columns: b_exponents,
            groups: shape.slots / sum.slots * steps.len(),
        };
        let offsets = &self.ranges.offsets;
        // SAFETY: as for `run`: rows, panel and steps were looked at.
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

    /// Two rows of a sum that rounds toward −∞.
    #[inline(always)]
    pub(super) unsafe fn two<V: Lanes>(
        &self,
        sum: &Sum,
        rows: [usize; 2],
        panel: usize,
        steps: &Range<usize>,
        ahead: &mut Ahead<V>,
        c: &mut [Tile<V>; 2],
    ) -> V {
        // SAFETY: as for `run`.
        unsafe {
            match self.how {
                How::Wide(_) if V::WIDE => self.in_wide_lanes(sum, rows, panel, steps, ahead, c),
                _ => self.round_down(sum, rows, panel, steps, ahead, c),
            }
        }
    }
}
