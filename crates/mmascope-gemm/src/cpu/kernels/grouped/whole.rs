//! The kernel for blocks of grouped sums in which no alignment can cut anything: everything is added as it is.
//!
//! A group's term is a whole number of 2^(its exponent + last place), so that one at most F + last place
//! below the block's exponent E is not cut; neither is a c whose last bit is none of those dropped. The
//! scales of a row's and a panel's chunk tell the least and the greatest exponent that a group can have;
//! what they leave for c is looked at for all steps of a chunk together, when the last is done.
//!
//! c lies in f64 meanwhile. Terms of as many groups as fit 24 bits together are added in f32.

use std::ops::Range;

use super::{BELOW_F32, C_HIGH, FLOOR, Groups, SIGN};
use crate::cpu::kernels::fused::Tile;
use crate::cpu::lanes::{Lanes, VECTORS, four};

/// What may be done with a row's and a panel's chunk.
pub(super) struct Whole {
    /// Groups whose terms' sums are exact in f32.
    together: usize,
    /// Magnitudes that c may have besides 0, as the upper halves of f64: from the first, below the second.
    low: u32,
    high: u32,
}

impl Groups {
    /// What may be done in some steps of a chunk, if no group's term can be cut there.
    pub(super) fn whole(&self, row: usize, panel: usize, steps: &Range<usize>) -> Option<Whole> {
        let (plan, shape) = (&self.plan, &self.shape);
        let chunk = steps.start / shape.chunk;
        if !plan.narrow || steps.is_empty() || steps.end > (chunk + 1) * shape.chunk {
            return None;
        }
        let a = self.a_ranges[row * self.chunks + chunk];
        let b = self.b_ranges[panel * self.chunks + chunk];
        if a.low > a.high || b.low > b.high {
            return None;
        }
        let f = plan.f as i32;
        // E is at most the greater of `high` and c's exponent.
        let high = (a.high + b.high).max(FLOOR);
        let top = a.low + b.low + plan.last_place + f;
        if top < high {
            return None;
        }
        let spread = a.high + b.high - a.low - b.low;
        let fits = |groups: usize| {
            let most = (1 << 24) / (plan.term * groups as i64);
            plan.groups.is_multiple_of(groups) && spread < 24 && most >> spread > 0
        };
        let field = |exponent: i32| ((exponent + 1023) as u32) << 20;
        Some(Whole {
            together: [plan.groups, 2].into_iter().find(|n| fits(*n)).unwrap_or(1),
            low: field(high + 23 - f),
            high: field((top + 1).min(C_HIGH)),
        })
    }

    /// Adds some groups to c, block by block; says whether the sums can be used.
    ///
    /// # Safety
    /// The instruction set of `V`; row, panel and groups within the shape.
    #[inline(always)]
    pub(super) unsafe fn add_whole<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        groups: Range<usize>,
        whole: &Whole,
        c: &mut Tile<V>,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            // The numbers that the catalogue has, for the compiler to write out.
            match (self.plan.group / 4, self.plan.groups, whole.together) {
                (4, 4, 4) => self.add_blocks(row, panel, groups, whole, c, (4, 1, 4)),
                (4, 4, 1) => self.add_blocks(row, panel, groups, whole, c, (4, 4, 1)),
                (quads, blocks, together) => {
                    let sizes = (quads, blocks / together, together);
                    self.add_blocks(row, panel, groups, whole, c, sizes)
                }
            }
        }
    }

    /// The same; a block is so many times so many groups together, of so many quads each.
    ///
    /// # Safety
    /// Instructions, room: the head of `kernels.rs` says what they are.
    #[inline(always)]
    unsafe fn add_blocks<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        groups: Range<usize>,
        whole: &Whole,
        c: &mut Tile<V>,
        (quads, times, together): (usize, usize, usize),
    ) -> bool {
        let columns = VECTORS * V::WIDTH;
        let all = self.shape.steps * self.shape.k / self.plan.group;
        // SAFETY: as the caller promises.
        unsafe {
            let zero = V::splat(0);
            let below = V::splat(!SIGN);
            let kept = V::d_splat(f64::from_bits(!BELOW_F32));
            let upper = V::d_splat(f64::from_bits(u64::from(!SIGN) << 32));
            // Moved by `below`, an upper half of 0 is the greatest.
            let (mut largest, mut smallest) = (zero, below);
            let (mut low, mut high) = ([zero; VECTORS], [zero; VECTORS]);
            four!(|v| {
                // Terms are zeros of either sign; a sum that begins with +0 stays +0.
                let c = c[v].and(below).i_equal(zero).not_and(c[v]);
                low[v] = c.f_low_to_d();
                high[v] = c.f_high_to_d();
            });
            let mut a = self.a.as_ptr().add((row * all + groups.start) * quads);
            let mut a_unit = self.a_scales.units.as_ptr().add(row * all + groups.start);
            let first = panel * all + groups.start;
            let mut b = self.b.as_ptr().add(first * quads * columns);
            let mut b_units = self.b_scales.units.as_ptr().add(first * columns);
            let mut excess = self.excess.as_ptr().add(first * columns);
            for _ in 0..groups.len() / (times * together) {
                four!(|v| {
                    let (x, y) = (low[v].and(upper), high[v].and(upper));
                    largest = largest.i_max(x.i_max(y));
                    smallest = smallest.i_min(x.i_add(below).i_min(y.i_add(below)));
                });
                for _ in 0..times {
                    let mut terms = [zero; VECTORS];
                    for group in 0..together {
                        let mut sums = [zero; VECTORS];
                        if V::DOTS {
                            four!(|v| sums[v] = V::load(excess.add(v * V::WIDTH)));
                            for quad in 0..quads {
                                let by = V::splat(*a.add(quad));
                                let b = b.add(quad * columns);
                                four!(|v| {
                                    sums[v] = by.b_dot4_add(V::load(b.add(v * V::WIDTH)), sums[v]);
                                });
                            }
                        } else {
                            let by = V::splat(*a);
                            four!(|v| sums[v] = by.b_dot2(V::load(b.add(v * V::WIDTH))));
                            for quad in 1..quads {
                                let by = V::splat(*a.add(quad));
                                let b = b.add(quad * columns);
                                four!(|v| {
                                    sums[v] =
                                        sums[v].w_add(by.b_dot2(V::load(b.add(v * V::WIDTH))));
                                });
                            }
                            four!(|v| {
                                let excess = V::load(excess.add(v * V::WIDTH));
                                sums[v] = sums[v].w_pairs().i_add(excess);
                            });
                        }
                        let by = V::splat((*a_unit).to_bits());
                        four!(|v| {
                            let sum = sums[v].i_to_f();
                            let unit = V::load(b_units.add(v * V::WIDTH).cast()).f_mul(by);
                            terms[v] = match group {
                                0 => sum.f_mul(unit),
                                _ => sum.f_fma(unit, terms[v]),
                            };
                        });
                        a = a.add(quads);
                        a_unit = a_unit.add(1);
                        b = b.add(quads * columns);
                        b_units = b_units.add(columns);
                        excess = excess.add(columns);
                    }
                    four!(|v| {
                        low[v] = low[v].d_add(terms[v].f_low_to_d());
                        high[v] = high[v].d_add(terms[v].f_high_to_d());
                    });
                }
                four!(|v| {
                    low[v] = low[v].and(kept);
                    high[v] = high[v].and(kept);
                });
            }
            four!(|v| c[v] = low[v].d_to_f(high[v]));
            let outside = largest.i_greater(V::splat(whole.high - 1));
            let least = V::splat(whole.low.wrapping_add(!SIGN));
            least.i_greater(smallest).or(outside).top_bits() == 0
        }
    }
}
