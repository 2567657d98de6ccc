//! The kernel for fused sums (T-FDPA) with f16 results, two rows at a time. From one group's sums to the next's there is
//! a long chain of operations; the other row's run beside it.

use super::chained::{chained, left};
use super::fused::{At, FIELD, INFINITY, SIGN, Tile, add_products, largest};
use crate::cpu::lanes::{Lanes, VECTORS, four, overflow, rows, terms};
use crate::cpu::sum::{Offsets, Sum};

/// `groups` groups of every row, as [`super::fused::chain`].
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes, const ROWS: usize>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let found =
            chained::<V, ROWS, false, { overflow::TOLD }, true>(sum, offsets, &at, groups, c);
        if let Some(bad) = found {
            return bad;
        }
        let start = V::b_splat(offsets.start);
        let constants = Constants {
            offset: V::splat(offsets.offset),
            top: V::splat((sum.f + 254) << 23),
            zero: V::splat(sum.zero_result()),
        };
        let mut bad = V::splat(0);
        // (Not `map`: what it is given is not inlined, and calls instructions as functions.)
        let mut bytes = [start; ROWS];
        for (bytes, at) in bytes.iter_mut().zip(at) {
            *bytes = largest::<V>(at, 0..sum.slots, start);
        }
        let mut tiles = *c;
        let mut smallest = V::splat(sum.c_smallest);
        for _ in 0..groups {
            let mut units = [[V::splat(0); VECTORS]; ROWS];
            let mut sums = units;
            rows!(ROWS, |r| {
                (units[r], sums[r]) = begun(&constants, smallest, bytes[r], &tiles[r]);
            });
            bytes = [start; ROWS];
            let slots = sum.slots;
            add_products::<V, ROWS, { terms::ZERO }>(
                &at,
                0..slots,
                slots,
                &units,
                &mut sums,
                &mut bytes,
            );
            rows!(ROWS, |r| {
                ended(&constants, &units[r], &sums[r], &mut tiles[r], &mut bad);
                at[r] = at[r].on::<V>(slots, 1, false);
            });
            smallest = V::splat(sum.smallest);
        }
        *c = tiles;
        left::<V, { overflow::TOLD }>(sum, bad)
    }
}

/// What is the same in all groups.
struct Constants<V> {
    offset: V,
    top: V,
    /// Added to a result, it gives a zero its sign.
    zero: V,
}

/// One row's units and sums, which are c, before a group with these largest byte sums.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn begun<V: Lanes>(
    constants: &Constants<V>,
    smallest: V,
    bytes: V,
    tile: &Tile<V>,
) -> (Tile<V>, Tile<V>) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        let offset = constants.offset;
        let even = bytes.and(V::splat(0x00ff_00ff));
        let odd = bytes.and(V::splat(0xff00_ff00));
        // Bytes at the exponent's place, with other bits below it, of which the maximum takes no notice.
        let fields = [
            even.shl::<23>().i_add(offset),
            odd.shl::<15>().i_add(offset),
            even.shl::<7>().i_add(offset),
            odd.shr::<1>().i_add(offset),
        ];
        let mut units = [zero; VECTORS];
        let mut sums = [zero; VECTORS];
        four!(|v| {
            let magnitude = tile[v].and(V::splat(!SIGN));
            // A subnormal has the exponent of its field, and a zero none.
            let none = magnitude.i_equal(zero);
            let own = none.not_and(magnitude.i_max(smallest));
            let e = fields[v].i_max(own).and(V::splat(FIELD));
            units[v] = constants.top.i_sub(e);
            sums[v] = tile[v].f_mul(units[v]).f_to_i();
        });
        (units, sums)
    }
}

/// One row's results, the next group's c, of its sums.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn ended<V: Lanes>(
    constants: &Constants<V>,
    units: &Tile<V>,
    sums: &Tile<V>,
    tile: &mut Tile<V>,
    bad: &mut V,
) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        four!(|v| {
            // 2^(E − F), when the unit is 2^(F − E).
            let back = V::splat(254 << 23).i_sub(units[v]);
            *bad = bad.b_max(sums[v].i_abs());
            // To odd at 24 bits, so that the second rounding sees what was lost.
            let result = sums[v].i_to_f_odd().f_mul(back).f_to_half();
            let result = result.f_add(constants.zero);
            let infinite = tile[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
            tile[v] = V::select(infinite, tile[v], result);
        });
    }
}
