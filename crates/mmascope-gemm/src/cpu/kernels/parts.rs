//! Fused sums whose products together do not fit 32 bits: parts of them are summed in 32-bit lanes, and the parts in f64.

use super::fused::{At, C_LIMIT, FIELD, INFINITY, SIGN, Tile, fields, largest};
use super::outside::without_products;
use super::rounding::{added_each, finish_wide};
use crate::cpu::lanes::{Lanes, VECTORS, four};
use crate::cpu::sum::{Offsets, Sum};
use crate::shape::SumKind;

/// Where c is no whole i32 any more: 2^31 as f32.
const FAR: u32 = (31 + 127) << 23;
/// Where a sum in f64 may lose bits: 2^51 as f32.
const INEXACT: u32 = (51 + 127) << 23;

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
                    let mut own = tile[v].and(V::splat(FIELD));
                    if smallest != 0 {
                        // A subnormal of a narrow format has the exponent of its field.
                        let none = tile[v].and(V::splat(!SIGN)).i_equal(zero);
                        own = none.not_and(own.i_max(V::splat(smallest)));
                    }
                    e[v] = e[v].i_max(own);
                });
            }
            let mut units = [zero; VECTORS];
            four!(|v| units[v] = top.i_sub(e[v]));
            // c on the grid: in i32, or where it has left them, where all its bits lie on the grid, in f64. (A loop here and at the
            // end, not written out: it is little beside the products, and there are many copies of this function.)
            let mut totals = [[zero; 2]; VECTORS];
            for v in 0..VECTORS {
                let late = tile[v].f_mul(units[v]);
                let near = late.converted::<TERMS>();
                totals[v] = [near.i_low_to_d(), near.i_high_to_d()];
                if outside {
                    let magnitude = late.and(V::splat(!SIGN));
                    let far = magnitude.i_greater(V::splat(FAR - 1));
                    let (near, late) = (far.not_and(near), far.and(late));
                    totals[v] = [
                        late.f_low_to_d().d_add(near.i_low_to_d()),
                        late.f_high_to_d().d_add(near.i_high_to_d()),
                    ];
                    let finite = V::splat(INFINITY).i_greater(tile[v].and(V::splat(!SIGN)));
                    let inexact = magnitude.i_greater(V::splat(INEXACT - 1));
                    bad = bad.or(inexact.and(finite));
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
