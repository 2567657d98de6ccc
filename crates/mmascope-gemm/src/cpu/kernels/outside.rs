//! Fused sums whose products alone choose the grid (`grid=products`), in 32-bit lanes: c may lie far above it.

use super::fused::{At, C_LIMIT, FIELD, INFINITY, SIGN, Tile, fields, largest};
use super::rounding::{finish_wide, finished};
use crate::cpu::lanes::{Lanes, VECTORS, four, terms};
use crate::cpu::sum::{Finish, Offsets, Sum};

/// Bits of which a sum of whole numbers in f64 loses none.
const EXACT: u32 = 52;

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
        // What c stays below, in units of the grid, so that both fit 32 bits.
        let limit = V::splat(((sum.f + sum.reach + 1 + 127) << 23) - 1);
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        // How far c's exponent may lie above that of the grid where the sum in f64 is exact.
        let most = V::splat((EXACT - 1 - sum.f) << 23);
        let mut bad = zero;
        let mut tile = *c;
        for _ in 0..groups {
            let mut e = fields(bytes, offset);
            without_products(sum, offsets, &tile, &mut e);
            let mut units = [zero; VECTORS];
            let mut sums = [zero; VECTORS];
            four!(|v| units[v] = top.i_sub(e[v]));
            let mut found = start;
            let slots = at.slots::<V>(0..sum.slots, sum.slots);
            V::add_products::<TERMS>(&slots, &units, &mut sums, &mut found);
            bytes = found;
            at = at.on::<V>(sum.slots, 0, false);
            let before = tile;
            let mut far = [zero; VECTORS];
            let mut totals = sums;
            four!(|v| {
                let late = tile[v].f_mul(units[v]);
                far[v] = late.and(V::splat(!SIGN)).i_greater(limit);
                totals[v] = sums[v].i_add(late.converted::<TERMS>());
            });
            // (A unit is 2^(F − E); a sum times 2^(E − F) is the result.)
            tile = finished(&sum.finish, &totals, &units);
            if far[0].or(far[1]).or(far[2].or(far[3])).top_bits() != 0 {
                for v in 0..VECTORS {
                    // c lies below 2^(above + 1 + F) units of the grid, the products below 2^31.
                    let own = before[v].and(V::splat(FIELD));
                    let inexact = own.i_sub(e[v]).i_greater(most);
                    let infinite = own.i_equal(V::splat(INFINITY));
                    bad = bad.or(infinite.not_and(far[v].and(inexact)));
                    let beyond = beyond(&sum.finish, sums[v], before[v], units[v]);
                    tile[v] = V::select(far[v], beyond, tile[v]);
                }
            }
            if sum.sticky {
                four!(|v| {
                    let infinite = before[v].and(V::splat(!SIGN)).i_equal(V::splat(INFINITY));
                    tile[v] = V::select(infinite, before[v], tile[v]);
                });
            }
            // Every term may add a unit of the grid: a result may leave the domain of the next group's c.
            if !sum.sticky && matches!(TERMS, terms::DOWN | terms::UP) {
                four!(|v| {
                    let magnitude = tile[v].and(V::splat(!SIGN));
                    bad = bad.or(magnitude.i_greater(V::splat(C_LIMIT - 1)));
                });
            }
        }
        *c = tile;
        bad
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
    c: &Tile<V>,
    e: &mut Tile<V>,
) {
    // SAFETY: the caller has the instruction set.
    unsafe {
        let whole = V::splat(23_u32.saturating_sub(sum.f) << 23);
        let lowest = V::splat(offsets.lowest());
        let mut none = V::splat(0);
        four!(|v| none = none.or(e[v].i_equal(lowest)));
        if none.top_bits() != 0 {
            four!(|v| {
                let own = c[v].and(V::splat(FIELD));
                let grid = e[v].i_max(own).i_sub(whole);
                e[v] = V::select(e[v].i_equal(lowest), grid, e[v]);
            });
        }
    }
}

/// Products and a c far above their grid, in f64: both are whole numbers of its units there, c too, since its last bit
/// lies on the grid.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn beyond<V: Lanes>(finish: &Finish, products: V, c: V, unit: V) -> V {
    // SAFETY: the caller has the instruction set.
    unsafe {
        let back = V::splat(254 << 23).i_sub(unit);
        let sum = |c: V, unit: V, products: V| c.d_fma(unit, products);
        let low = sum(c.f_low_to_d(), unit.f_low_to_d(), products.i_low_to_d());
        let high = sum(c.f_high_to_d(), unit.f_high_to_d(), products.i_high_to_d());
        finish_wide(finish, [low, high], back)
    }
}
