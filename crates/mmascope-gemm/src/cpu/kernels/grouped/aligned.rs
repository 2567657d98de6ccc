//! The kernel for blocks of grouped sums in which every term is aligned.

use super::{BELOW_F32, FIELD, FLOOR, Groups};
use crate::cpu::lanes::{Lanes, VECTORS};

impl Groups {
    /// The exact sum of a group in one register of columns, added to `sum`.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn sum<V: Lanes>(&self, a: *const u32, b: *const u32, v: usize, mut sum: V) -> V {
        // SAFETY: as the caller promises: row, panel and the block's groups are there.
        unsafe {
            let columns = VECTORS * V::WIDTH;
            for quad in 0..self.plan.group / 4 {
                let b = V::load(b.add(quad * columns + v * V::WIDTH));
                sum = V::splat(*a.add(quad)).b_dot4_add(b, sum);
            }
            sum
        }
    }

    /// One block in one register of columns.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    pub(super) unsafe fn block<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        first: usize,
        v: usize,
        c: V,
    ) -> V {
        // SAFETY: as the caller promises: row, panel and the block's groups are there.
        unsafe {
            let plan = &self.plan;
            let columns = VECTORS * V::WIDTH;
            let groups = self.shape.steps * self.shape.k / plan.group;
            let quads = plan.group / 4;
            let a_at = row * groups + first;
            let b_at = (panel * groups + first) * columns + v * V::WIDTH;
            let mut largest = c
                .and(V::splat(FIELD))
                .i_max(V::splat(((FLOOR + 127) as u32) << 23));
            let exponent = |g: usize| {
                let b = V::load(self.b_scales.exponents.as_ptr().add(b_at + g * columns));
                V::splat(*self.a_scales.exponents.as_ptr().add(a_at + g)).i_add(b)
            };
            for g in 0..plan.groups {
                let a = V::splat(*self.a_scales.present.as_ptr().add(a_at + g));
                let b = V::load(self.b_scales.present.as_ptr().add(b_at + g * columns));
                let none = a.and(b).i_equal(V::splat(0));
                let field = exponent(g).i_add(V::splat(127 << 23));
                largest = largest.i_max(none.not_and(field));
            }
            // 2^(F − E)
            let align = V::splat((plan.f + 254) << 23).i_sub(largest);
            let (align_low, align_high) = (align.f_low_to_d(), align.f_high_to_d());
            let mut low = c.f_low_to_d().d_mul(align_low).d_trunc();
            let mut high = c.f_high_to_d().d_mul(align_high).d_trunc();
            let zero = V::splat(0);
            (low, high) = (low.d_add(zero), high.d_add(zero));
            for g in 0..plan.groups {
                let a = self.a.as_ptr().add((a_at + g) * quads);
                let b = self
                    .b
                    .as_ptr()
                    .add((panel * groups + first + g) * quads * columns);
                let excess = V::load(self.excess.as_ptr().add(b_at + g * columns));
                let sum = self.sum::<V>(a, b, v, excess);
                let unit_a = *self.a_scales.units.as_ptr().add(a_at + g);
                let unit_b = self.b_scales.units.as_ptr().add(b_at + g * columns);
                let scaled = (sum.i_to_f())
                    .f_mul(V::splat(unit_a.to_bits()))
                    .f_mul(V::load(unit_b.cast()));
                low = low.d_add(scaled.f_low_to_d().d_mul(align_low).d_trunc());
                high = high.d_add(scaled.f_high_to_d().d_mul(align_high).d_trunc());
            }
            let unit = largest.i_sub(V::splat(plan.f << 23));
            let kept = V::d_splat(f64::from_bits(!BELOW_F32));
            let low = low.and(kept).d_mul(unit.f_low_to_d());
            low.d_to_f(high.and(kept).d_mul(unit.f_high_to_d()))
        }
    }
}
