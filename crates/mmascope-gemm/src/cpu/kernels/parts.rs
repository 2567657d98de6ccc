//! Fused sums whose products together do not fit 32 bits: parts of them are summed in 32-bit lanes, and the parts in f64.

use super::fused::{At, C_LIMIT, INFINITY, SIGN, Tile, fields, largest, own_field};
use super::outside::{c_in_f64, without_products};
use super::rounding::{added_each, finish_wide};
use crate::cpu::lanes::{Lanes, VECTORS, four};
use crate::cpu::sum::{Offsets, Sum};
use crate::shape::SumKind;

/// `groups` groups, as [`super::fused::chain`].
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn parts<V: Lanes, const TERMS: u8>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let outside = sum.kind == SumKind::Outside;
        let grows = sum.grows();
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let mut smallest = sum.c_smallest;
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        let mut bad = zero;
        let mut tile = *c;
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut apart = *c;
        let mut more = 0;
        for _ in 0..groups {
            if let Some(after) = &sum.after {
                if more == 0 {
                    (tile, smallest, more) = ([zero; VECTORS], 0, after.groups);
                }
                more -= 1;
            }
            let mut e = fields(bytes, offset);
            if outside {
                without_products(sum, offsets, bytes, &tile, &mut e);
            } else {
                four!(|v| {
                    e[v] = e[v].i_max(own_field(tile[v], smallest));
                });
            }
            let mut units = [zero; VECTORS];
            four!(|v| units[v] = top.i_sub(e[v]));
            // c on the grid. (A loop here and at the end, not written out: it is little beside the products, and there are many copies
            // of this function.)
            let mut totals = [[zero; 2]; VECTORS];
            for v in 0..VECTORS {
                if outside {
                    let inexact;
                    (totals[v], inexact) = c_in_f64::<V, TERMS>(tile[v], units[v]);
                    bad = bad.or(inexact);
                } else {
                    let near = tile[v].f_mul(units[v]).converted::<TERMS>();
                    totals[v] = [near.i_low_to_d(), near.i_high_to_d()];
                }
            }
            let mut found = start;
            for from in (0..sum.slots).step_by(sum.part) {
                let mut sums = [zero; VECTORS];
                let to = (from + sum.part).min(sum.slots);
                let slots = at.slots::<V>(from..to, sum.slots);
                V::add_products::<TERMS>(&slots, &units, &mut sums, &mut found);
                four!(|v| {
                    let [low, high] = totals[v];
                    totals[v] = [
                        low.d_add(sums[v].i_low_to_d()),
                        high.d_add(sums[v].i_high_to_d()),
                    ];
                });
            }
            bytes = found;
            at = at.on::<V>(sum.slots, 0, false);
            smallest = sum.smallest;
            for v in 0..VECTORS {
                // 2^(E − F), when the unit is 2^(F − E).
                let back = V::splat(254 << 23).i_sub(units[v]);
                let mut result = finish_wide(&sum.finish, totals[v], back);
                if sum.sticky {
                    let infinite = tile[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                    result = V::select(infinite, tile[v], result);
                }
                tile[v] = result;
                // A result may leave the domain of the next group's c.
                if !sum.sticky && grows {
                    let magnitude = tile[v].and(V::splat(!SIGN));
                    bad = bad.or(magnitude.i_greater(V::splat(C_LIMIT - 1)));
                }
            }
            if let (Some(after), 0) = (&sum.after, more) {
                added_each(&after.round, &mut apart, &tile);
            }
        }
        *c = match sum.after {
            Some(_) => apart,
            None => tile,
        };
        bad
    }
}
