//! Runs the stages of a plan over packed operands.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::fused::{self, At, INFINITY, SIGN, Tile};
use super::rounding::{added, converted};
use super::{exact, half, native};
use crate::cpu::enter::{Ahead, Packed};
use crate::cpu::lanes::{Lanes, VECTORS, apart};
use crate::cpu::pack::{Marks, Shape};
use crate::cpu::packed_operand::How;
use crate::cpu::plan::{From, MAX_STAGES, Stage};
use crate::cpu::program::Sums;
use crate::cpu::sum::Sum;

impl Sums {
    /// The largest power of two of which all products of a row, a panel and a chunk are whole numbers, when
    /// sums of `l` of them stay below 2^52 of it.
    #[inline(always)]
    fn grain(&self, row: usize, panel: usize, chunk: usize, l: usize) -> Option<i32> {
        let chunks = self.shape.chunks();
        let a = self.spans[0][chunk * self.shape.m + row]?;
        let b = self.spans[1][panel * chunks + chunk]?;
        let places = self.plan.a.fraction_bits() + self.plan.b.fraction_bits();
        let grain = a.0 + b.0 - places as i32;
        // Each product lies below 2^(its exponent + 2).
        let above = a.1 + b.1 + 2 + l.next_power_of_two().trailing_zeros() as i32;
        let fits = above <= grain + 52 && (-126..=126).contains(&-grain);
        fits.then_some(grain)
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize, panel: usize, step: usize) -> At {
        let (a, b) = (self.shape.a_at(row, step), self.shape.b_at(panel, step));
        assert!(row < self.shape.m && self.shape.has_panel(panel) && step < self.shape.steps);
        let scaled = !self.scales.a.is_empty();
        let steps = self.shape.steps;
        let scale_a = if scaled { row * steps + step } else { 0 };
        let scale_b = if scaled {
            (panel * steps + step) * self.shape.columns
        } else {
            0
        };
        debug_assert!(!matches!(self.how, How::Wide(_)));
        At {
            a: self.a.values[a..].as_ptr(),
            a_exponents: self.a.exponents[a..].as_ptr(),
            b: self.b.values[b..].as_ptr(),
            b_exponents: self.b.exponents[b..].as_ptr(),
            a_scales: self.scales.a[scale_a..].as_ptr(),
            b_scales: self.scales.b[scale_b..].as_ptr(),
        }
    }

    /// Steps of some rows of a sum with f16 results.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn halves<V: Lanes, const ROWS: usize>(
        &self,
        sum: &Sum,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let at = rows.map(|row| self.at(row, panel, steps.start));
        let groups = self.shape.slots / sum.slots * steps.len();
        // SAFETY: instructions: the caller's. Room: `at` has asserted row, panel and first step, and the caller that the steps
        // are there; `groups` are those of the steps.
        unsafe { apart!(V, half::chain(sum, &self.ranges.offsets, at, groups, c)) }
    }

    /// One step, or for a program whose only stage is one sum or chain `repeat` steps.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn stages<V: Lanes>(&self, at: At, repeat: usize, c: &mut Tile<V>) -> V {
        // SAFETY: instructions: the caller's. Room: `at` comes from `Sums::at`, and the stages together take the slots of a step,
        // each from its own on. A value is read only when its stage has written it: the assertion in `read`; without it
        // a plan with stages out of order would read memory that nobody has written.
        unsafe {
            let zero = V::splat(0);
            // (Zeros that nobody reads would be written for every row and chunk.)
            let mut values = [const { MaybeUninit::<Tile<V>>::uninit() }; MAX_STAGES];
            let mut bad = zero;
            for (index, stage) in self.plan.stages.iter().enumerate() {
                let read = |from: &From| match from {
                    From::C => *c,
                    From::Zero => [zero; VECTORS],
                    From::Stage(at) => {
                        assert!(*at < index, "a stage takes values of stages before it");
                        values[*at].assume_init()
                    }
                };
                let value = match stage {
                    Stage::Sum {
                        sum,
                        slot,
                        groups,
                        from,
                    } => {
                        let mut value = read(from);
                        let at = at.on::<V>(*slot, 0, false);
                        let groups = groups * repeat;
                        let offsets = &self.ranges.offsets;
                        let mut one = [value];
                        bad = bad.or(fused::chain(sum, offsets, [at], groups, &mut one));
                        [value] = one;
                        value
                    }
                    Stage::Chain { slot, slots, from } => {
                        let start = from.as_ref().map(&read);
                        let at = at.on::<V>(*slot, 0, false);
                        apart!(V, native::chain(at, slots * repeat, start))
                    }
                    Stage::Pairwise {
                        slot,
                        slots,
                        p,
                        from,
                        plus,
                    } => {
                        let mut value = read(from);
                        let how = native::Pairwise {
                            p: *p,
                            plus: *plus,
                            flush: self.ranges.flush,
                            slots: *slots,
                        };
                        let at = at.on::<V>(*slot, 0, false);
                        apart!(V, native::pairwise(&how, at, repeat, &mut value));
                        value
                    }
                    Stage::Exact {
                        slot,
                        slots,
                        l,
                        from,
                    } => {
                        let mut value = read(from);
                        let at = at.on::<V>(*slot, 0, false);
                        let groups = slots / l * repeat;
                        let offsets = &self.ranges.offsets;
                        let places = self.plan.a.fraction_bits() + self.plan.b.fraction_bits();
                        let l = (*l, places);
                        let chain = apart!(V, exact::chain(l, offsets, at, groups, &mut value));
                        bad = bad.or(chain);
                        value
                    }
                    Stage::Add(left, right, to) => {
                        let (mut left, right) = (read(left), read(right));
                        for (left, right) in left.iter_mut().zip(right) {
                            *left = apart!(V, added(to, *left, right));
                        }
                        left
                    }
                    Stage::Convert(from, to) => {
                        let mut value = read(from);
                        for value in &mut value {
                            *value = apart!(V, converted(to, *value));
                        }
                        value
                    }
                };
                if index + 1 == self.plan.stages.len() {
                    // The last one's is the result.
                    *c = value;
                    break;
                }
                values[index].write(value);
            }
            bad.or(self.infinite(c))
        }
    }

    /// Results of several statements that are ∞ or NaN: what an ∞ becomes on the way is the reference's business. (Of
    /// several steps it, or a NaN, is there in the end.)
    ///
    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn infinite<V: Lanes>(&self, c: &Tile<V>) -> V {
        // SAFETY: the caller has the instruction set.
        unsafe {
            let mut found = V::splat(0);
            if !self.plan.single {
                for c in c {
                    let magnitude = c.and(V::splat(!SIGN));
                    found = found.or(magnitude.i_greater(V::splat(INFINITY - 1)));
                }
            }
            found
        }
    }

    /// Steps of some rows of a program that is one chain of sums.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn both<V: Lanes, const ROWS: usize>(
        &self,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let [
            Stage::Sum {
                sum, slot, groups, ..
            },
        ] = &self.plan.stages[..]
        else {
            unreachable!("`Sums::pack` says so");
        };
        let mut at = rows.map(|row| self.at(row, panel, steps.start));
        let groups = groups * steps.len();
        // SAFETY: instructions: the caller's. Room: `at` has asserted rows, panel and first step, and the caller that the steps are
        // there; the sum takes the slots of a step from its own on, and `groups` are those of the steps.
        unsafe {
            for at in &mut at {
                *at = at.on::<V>(*slot, 0, false);
            }
            let mut bad = fused::chain(sum, &self.ranges.offsets, at, groups, c);
            for c in c {
                bad = bad.or(self.infinite(c));
            }
            bad
        }
    }
}

impl Sums {
    /// Steps of some rows of exact sums of `l` of `slots` products, where f64 holds all of them; `None`, and c as it was, where it
    /// does not.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn whole<V: Lanes, const ROWS: usize>(
        &self,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        (slots, l): (usize, usize),
        c: &mut [Tile<V>; ROWS],
    ) -> Option<V> {
        let chunk = steps.start / self.shape.chunk;
        if steps.end > (chunk + 1) * self.shape.chunk {
            return None;
        }
        let mut grains = [0; ROWS];
        for (grain, row) in grains.iter_mut().zip(rows) {
            *grain = self.grain(row, panel, chunk, l)?;
        }
        let at = rows.map(|row| self.at(row, panel, steps.start));
        let groups = slots / l * steps.len();
        let mut tiles = *c;
        // SAFETY: instructions: the caller's. Room: `at` has asserted rows, panel and first step, and the caller that the steps
        // are there; `groups` are theirs.
        unsafe {
            let bad = apart!(V, exact::whole(l, grains, at, groups, &mut tiles));
            (bad.top_bits() == 0).then(|| {
                *c = tiles;
                bad
            })
        }
    }

    /// Steps of some rows of exact sums, together where f64 holds all of them, else row by row.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn exact<V: Lanes, const ROWS: usize>(
        &self,
        rows: [usize; ROWS],
        panel: usize,
        steps: &Range<usize>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let [Stage::Exact { slots, l, .. }] = self.plan.stages[..] else {
            unreachable!("`Sums::pack` says so");
        };
        // SAFETY: as the caller promises for all rows; room as in `whole`.
        unsafe {
            if let Some(bad) = self.whole(rows, panel, steps, (slots, l), c) {
                return bad;
            }
            let mut bad = V::splat(0);
            let groups = slots / l * steps.len();
            let places = self.plan.a.fraction_bits() + self.plan.b.fraction_bits();
            for (row, c) in rows.into_iter().zip(c) {
                let mut one = [*c];
                if let Some(found) = self.whole([row], panel, steps, (slots, l), &mut one) {
                    bad = bad.or(found);
                    [*c] = one;
                    continue;
                }
                let (at, offsets) = (self.at(row, panel, steps.start), &self.ranges.offsets);
                let chain = apart!(V, exact::chain((l, places), offsets, at, groups, c));
                bad = bad.or(chain);
            }
            bad
        }
    }
}

impl Packed for Sums {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn marks(&self) -> &Marks {
        &self.marks
    }

    /// # Safety
    /// Instructions: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn outside<V: Lanes>(&self, c: V) -> (V, V) {
        // SAFETY: the caller has the instruction set.
        unsafe {
            let magnitude = c.and(V::splat(!SIGN));
            let special = magnitude.i_greater(V::splat(INFINITY - 1));
            // f32 arithmetic itself says what becomes of an ∞ or a NaN.
            let reported = if self.plan.native {
                V::splat(0)
            } else {
                special
            };
            if !self.plan.takes_c {
                return (V::splat(0), reported);
            }
            let domain = &self.ranges.domain;
            let large = magnitude.i_greater(V::splat(domain.from.wrapping_sub(1)));
            let small = V::splat(domain.below).i_greater(magnitude);
            let grains = magnitude.f_mul(V::splat(domain.grain.to_bits()));
            // (What underflows to nothing is no whole number of grains, unless it is zero.)
            let nothing = grains.i_equal(V::splat(0));
            let nothing = magnitude.i_equal(V::splat(0)).not_and(nothing);
            let whole = nothing.not_and(grains.f_to_i().i_to_f().i_equal(grains));
            let inside = large.and(small).or(large.not_and(whole));
            let finite = special.not_and(V::splat(u32::MAX));
            (inside.not_and(finite), reported)
        }
    }

    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn run<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &mut Tile<V>,
    ) -> V {
        // SAFETY: instructions: the caller's. Room: `at`, and `begin` in `two`, assert row, panel and step before a pointer is made.
        unsafe {
            if let (true, Some(sum)) = (V::DOWN, &self.down) {
                let mut twice = [*c; 2];
                let ahead = &mut Ahead::default();
                let bad = self.down(sum, [row; 2], panel, &steps, ahead, &mut twice);
                *c = twice[0];
                return bad;
            }
            if let Some(sum) = &self.half {
                let mut one = [*c];
                let bad = self.halves(sum, [row], panel, &steps, &mut one);
                [*c] = one;
                return bad;
            }
            if (self.plan.single || self.plan.one_sum().is_some()) && self.alone.is_none() {
                let at = self.at(row, panel, steps.start);
                if let Stage::Exact { slots, l, .. } = self.plan.stages[0] {
                    let mut one = [*c];
                    if let Some(bad) = self.whole([row], panel, &steps, (slots, l), &mut one) {
                        [*c] = one;
                        return bad;
                    }
                }
                return self.stages(at, steps.len(), c);
            }
            let mut bad = V::splat(0);
            let slots = self.alone.unwrap_or(self.shape.slots);
            let kept = match self.alone {
                Some(_) => self.plan.zero_sign,
                None => u32::MAX,
            };
            for step in steps {
                let mut at = self.at(row, panel, step);
                for _ in 0..self.shape.slots / slots {
                    bad = bad.or(self.stages(at, 1, c));
                    at = at.on::<V>(slots, 0, false);
                    for c in c.iter_mut() {
                        *c = c.and(V::splat(kept));
                    }
                }
            }
            bad
        }
    }

    #[inline(always)]
    fn rows_at_a_time<V: Lanes>(&self) -> usize {
        if V::FOUR && self.by_four {
            4
        } else if self.down.is_some()
            || self.half.is_some()
            || V::TWO && self.by_two[usize::from(V::LONG)]
        {
            2
        } else {
            1
        }
    }

    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn run_several<V: Lanes, const ROWS: usize>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        ahead: &mut Ahead<V, ROWS>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let rows = std::array::from_fn(|r| row + r);
        // SAFETY: as the caller promises for all rows.
        unsafe {
            match (&self.down, &self.half) {
                (Some(sum), _) => self.down(sum, rows, panel, &steps, ahead, c),
                _ if ROWS == 4 => unreachable!("`rows_at_a_time` says so"),
                (None, Some(sum)) => self.halves(sum, rows, panel, &steps, c),
                _ if matches!(self.plan.stages[..], [Stage::Exact { .. }]) => {
                    self.exact(rows, panel, &steps, c)
                }
                (None, None) => self.both(rows, panel, &steps, c),
            }
        }
    }

    fn settles(&self) -> bool {
        self.plan.single && !self.plan.native
    }

    fn keeps(&self) -> bool {
        let wide =
            |stage: &Stage| matches!(stage, Stage::Sum { sum, .. } if !sum.sticky && !sum.grows());
        self.plan.single && self.plan.stages.iter().all(wide)
    }
}
