//! Grouped sums over packed bytes and scales.

mod aligned;
mod whole;

use std::ops::Range;

use super::fused::{FIELD, INFINITY, SIGN, Tile};
use crate::cpu::enter::Packed;
use crate::cpu::grouped::{BELOW_F32, C_HIGH, FLOOR, Groups};
use crate::cpu::lanes::Lanes;
use crate::cpu::pack::{Marks, Shape};

impl Packed for Groups {
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
            // A c of this size is a multiple of 2^(floor − F), and so is what comes of it; smaller
            // ones are when they are whole numbers of it.
            let f = self.plan.f as i32;
            let from = FLOOR.min(FLOOR - f + 23);
            let field = |exponent: i32| ((exponent + 127) as u32) << 23;
            let large = magnitude.i_greater(V::splat(field(from) - 1));
            let small = V::splat(field(C_HIGH)).i_greater(magnitude);
            let grains = magnitude.f_mul(V::splat(field(f - FLOOR)));
            let whole = grains.f_to_i().i_to_f().i_equal(grains);
            let inside = large.and(small).or(large.not_and(whole)).or(special);
            (inside.not_and(V::splat(u32::MAX)), special)
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
        let shape = &self.shape;
        assert!(row < shape.m && shape.has_panel(panel) && steps.end <= shape.steps);
        let in_step = shape.k / self.plan.group;
        let mut first = steps.start * in_step;
        // SAFETY: instructions: the caller's. Room: the assertion above; `a`, `b`, scales and `excess` have an entry for every group of every
        // row and panel of the shape (`Groups::pack`), and groups run from the first of the steps to the last.
        unsafe {
            if let Some(whole) = self.whole(row, panel, &steps) {
                let mut sums = *c;
                if self.add_whole(row, panel, first..steps.end * in_step, &whole, &mut sums) {
                    *c = sums;
                    return V::splat(0);
                }
            }
            while first < steps.end * in_step {
                for (v, c) in c.iter_mut().enumerate() {
                    *c = self.block(row, panel, first, v, *c);
                }
                first += self.plan.groups;
            }
            V::splat(0)
        }
    }

    const DOTS: bool = true;

    fn settles(&self) -> bool {
        true
    }

    fn keeps(&self) -> bool {
        false
    }
}
