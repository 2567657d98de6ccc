//! Fused sums whose products alone choose the grid (`grid=products`), in 32-bit lanes: c may lie far above it.

use super::fused::{At, C_LIMIT, FIELD, INFINITY, SIGN, Tile, fields, largest};
use super::rounding::{finished, is_long};
use crate::cpu::lanes::{Lanes, VECTORS, four};
use crate::cpu::sum::{Finish, Offsets, Sum};

/// `groups` groups, as [`super::fused::chain`].
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn outside<V: Lanes, const TERMS: u8>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let reach = V::splat(sum.reach << 23);
        let grows = sum.grows();
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        let (mut bad, mut most) = (zero, zero);
        let mut tile = *c;
        for _ in 0..groups {
            let mut e = fields(bytes, offset);
            without_products(sum, offsets, bytes, &tile, &mut e);
            let mut units = [zero; VECTORS];
            let mut sums = [zero; VECTORS];
            four!(|v| units[v] = top.i_sub(e[v]));
            let mut found = start;
            let slots = at.slots::<V>(0..sum.slots, sum.slots);
            V::add_products::<TERMS>(&slots, &units, &mut sums, &mut found);
            bytes = found;
            at = at.on::<V>(sum.slots, 0, false);
            let before = tile;
            four!(|v| {
                // Where c lies so far above the grid that it leaves i32, both are counted in larger units, of which c is an even
                // number. Whether the products lose bits shows in the last bit. It lies below all that results keep, unless c and the
                // products cancel.
                let above = before[v].and(V::splat(FIELD)).i_sub(e[v]);
                let shift = above.i_max(reach).i_sub(reach);
                units[v] = units[v].i_sub(shift);
                let late = before[v].f_mul(units[v]).converted::<TERMS>();
                sums[v] = sums[v].sar_odd(shift.shr::<23>()).i_add(late);
                if sum.may_cancel {
                    let small = V::splat(1 << 25).i_greater(sums[v].i_abs());
                    let finite = V::splat(INFINITY).i_greater(before[v].and(V::splat(!SIGN)));
                    bad = bad.or(shift.i_greater(zero).and(small).and(finite));
                }
            });
            // (A unit is 2^(F − E); a sum times 2^(E − F) is the result.)
            tile = finished(&sum.finish, &sums, &units);
            if sum.sticky {
                four!(|v| {
                    let infinite = before[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                    tile[v] = V::select(infinite, before[v], tile[v]);
                });
            }
            // A result may leave the domain of the next group's c.
            if !sum.sticky && grows {
                four!(|v| most = most.i_max(tile[v].and(V::splat(!SIGN))));
            }
        }
        *c = tile;
        bad.or(most.i_greater(V::splat(C_LIMIT - 1)))
    }
}

/// Where c is no whole i32 any more: 2^31 as f32.
const FAR: u32 = (31 + 127) << 23;
/// Where a sum in f64 may lose bits: 2^51 as f32.
const INEXACT: u32 = (51 + 127) << 23;
/// Where a sum with products in 64-bit integers may leave them: 2^62 as f32.
const BEYOND: u32 = (62 + 127) << 23;

/// c on the products' grid, as f64: in i32, or where it has left them, where all its bits lie on the grid, as it is. The second value
/// has the lanes in which a sum with it may lose bits.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn c_in_f64<V: Lanes, const TERMS: u8>(c: V, unit: V) -> ([V; 2], V) {
    // SAFETY: the caller has the instruction set.
    unsafe {
        let late = c.f_mul(unit);
        let near = late.converted::<TERMS>();
        let magnitude = late.and(V::splat(!SIGN));
        let far = magnitude.i_greater(V::splat(FAR - 1));
        let (near, late) = (far.not_and(near), far.and(late));
        let both = [
            late.f_low_to_d().d_add(near.i_low_to_d()),
            late.f_high_to_d().d_add(near.i_high_to_d()),
        ];
        let finite = V::splat(INFINITY).i_greater(c.and(V::splat(!SIGN)));
        let inexact = magnitude.i_greater(V::splat(INEXACT - 1));
        (both, inexact.and(finite))
    }
}

/// The same as 64-bit integers, with the lanes in which a sum with it, or what becomes of that in `finish`, may lose bits.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are. There is `LONG`.
#[inline(always)]
pub(super) unsafe fn c_in_i64<V: Lanes, const TERMS: u8>(
    finish: &Finish,
    c: V,
    unit: V,
) -> ([V; 2], V) {
    // SAFETY: the caller has the instruction set.
    unsafe {
        let late = c.f_mul(unit);
        let both = [late.f_low_to_l::<TERMS>(), late.f_high_to_l::<TERMS>()];
        let finite = V::splat(INFINITY).i_greater(c.and(V::splat(!SIGN)));
        let most = if is_long(finish) { BEYOND } else { INEXACT };
        let inexact = (late.and(V::splat(!SIGN))).i_greater(V::splat(most - 1));
        (both, inexact.and(finite))
    }
}

/// Without a product that is not zero, the sum is c: on a grid that has all its bits. Such lanes' `e` become that grid's.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn without_products<V: Lanes>(
    sum: &Sum,
    offsets: &Offsets,
    bytes: V,
    c: &Tile<V>,
    e: &mut Tile<V>,
) {
    // SAFETY: the caller has the instruction set.
    unsafe {
        if bytes.b_any_equal(V::b_splat(offsets.start)) {
            let whole = V::splat(23_u32.saturating_sub(sum.f) << 23);
            let lowest = V::splat(offsets.lowest());
            four!(|v| {
                let own = c[v].and(V::splat(FIELD));
                let grid = e[v].i_max(own).i_sub(whole);
                e[v] = V::select(e[v].i_equal(lowest), grid, e[v]);
            });
        }
    }
}
