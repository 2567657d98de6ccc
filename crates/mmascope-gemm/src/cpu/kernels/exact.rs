//! The kernel for exact sums that are rounded once (E-FDPA, §2.6), in f64 lanes with a proof for each result.
//!
//! [`whole`] is right where all operands of a chunk are so near each other that f64 holds every sum of them.
//! [`chain`] proves each result by itself:
//!
//! The products are exact in f64; their sum with c is off by less than 2^(E − 40), E being the
//! largest exponent among them. Where the sum moved by that much either way rounds to the same f32,
//! the exact sum rounds to it too (Ziv's test). Elsewhere it has to be exact: all terms are multiples of
//! the last place of the smallest, and that lies at most 53 bits below their sum's first. A lane where
//! neither is shown is not to be used. (Ties are frequent, so that the first test alone would not do.)

use super::fused::{self, At, Tile};
use crate::cpu::lanes::{Lanes, VECTORS, four, rows};
use crate::cpu::plan::DOUBT;
use crate::cpu::sum::Offsets;

const FIELD: u32 = 0xff << 23;

/// `groups` groups of `l` products, each with `places` bits after its binary point; gives the lanes in
/// doubt.
///
/// # Safety
/// The instruction set of `V`; `at` has the groups.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes>(
    (l, places): (usize, u32),
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let lowest = V::splat(offsets.lowest());
        let minus = V::d_splat(-1.0);
        let mut bad = V::splat(0);
        let ones = V::splat(u32::MAX);
        // The sum of up to 17 terms below 2^(E+2) lies below 2^(E+7).
        let span = V::splat((46 - places) << 23);
        let c_span = V::splat(23 << 23);
        for _ in 0..groups {
            // (Maxima of complements are minima; a zero counts as very small, which is safe.)
            let mut bytes = start;
            let mut least = V::splat(0);
            for k in 0..l {
                let b = V::load_bytes(at.b_exponents.add(k * VECTORS * V::WIDTH));
                let sum = V::b_splat(*at.a_exponents.add(k)).b_add(b);
                bytes = bytes.b_max(sum);
                least = least.b_max(sum.not_and(ones));
            }
            let e = fused::fields(bytes, offset);
            let smallest = fused::fields(least.not_and(ones), offset);
            for v in 0..VECTORS {
                let (mut low, mut high) = (c[v].f_low_to_d(), c[v].f_high_to_d());
                for k in 0..l {
                    let a = V::d_splat(f64::from(*at.a.add(k)));
                    let b = V::load(at.b.add((k * VECTORS + v) * V::WIDTH).cast());
                    low = a.d_fma(b.f_low_to_d(), low);
                    high = a.d_fma(b.f_high_to_d(), high);
                }
                let largest = e[v].i_max(c[v].and(V::splat(FIELD)));
                let doubt = largest.i_sub(V::splat(DOUBT << 23));
                let (doubt_low, doubt_high) = (doubt.f_low_to_d(), doubt.f_high_to_d());
                let above = low.d_add(doubt_low).d_to_f(high.d_add(doubt_high));
                let below = minus
                    .d_fma(doubt_low, low)
                    .d_to_f(minus.d_fma(doubt_high, high));
                // Without a non-zero product the sum is c, and −0 is +0.
                let none = e[v].i_equal(lowest);
                let own = c[v].and(V::splat(FIELD));
                let near = largest.i_greater(smallest[v].i_add(span));
                let c_near = largest.i_greater(own.i_add(c_span));
                let c_zero = own.i_equal(V::splat(0));
                let inexact = near.or(c_zero.not_and(c_near));
                let exact = inexact.not_and(ones);
                let sure = none.or(above.i_equal(below)).or(exact);
                let result = V::select(exact, low.d_to_f(high), above);
                bad = bad.or(sure.not_and(ones));
                c[v] = V::select(none, c[v].f_add(V::splat(0)), result);
            }
            at = at.on::<V>(l, 0, false);
        }
        bad
    }
}

/// The same of some rows by the same columns, where all terms of a row are whole numbers of 2^`grains`: as long as they stay
/// below 2^53 of it, the sum in f64 is exact on the way too, and one conversion rounds it. That each group's products are, and
/// together stay below 2^52 of it, is the caller's promise; gives the lanes in which a row's c does not, or is no
/// whole number at the start.
///
/// # Safety
/// As [`chain`], for all rows.
#[inline(always)]
pub(super) unsafe fn whole<V: Lanes, const ROWS: usize>(
    l: usize,
    grains: [i32; ROWS],
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let power = |exponent: i32| V::splat(((exponent + 127) as u32) << 23);
        let magnitude = V::splat(u32::MAX >> 1);
        let zero = V::splat(0);
        let mut bad = V::splat(0);
        let mut largest = [zero; ROWS];
        for r in 0..ROWS {
            for c in &c[r] {
                let grains = c.f_mul(power(-grains[r]));
                let is_whole = grains.f_floor().f_sub(grains).i_equal(zero);
                bad = bad.or(is_whole.not_and(V::splat(u32::MAX)));
                largest[r] = largest[r].i_max(c.and(magnitude));
            }
        }
        let mut tiles = *c;
        for _ in 0..groups {
            let mut low = [[zero; VECTORS]; ROWS];
            let mut high = [[zero; VECTORS]; ROWS];
            rows!(ROWS, |r| {
                four!(|v| {
                    low[r][v] = tiles[r][v].f_low_to_d();
                    high[r][v] = tiles[r][v].f_high_to_d();
                });
            });
            for k in 0..l {
                let b = at[0].b.add(k * VECTORS * V::WIDTH).cast::<u32>();
                let mut a = [zero; ROWS];
                rows!(ROWS, |r| a[r] = V::d_splat(f64::from(*at[r].a.add(k))));
                four!(|v| {
                    // (Each row takes the same columns, which become f64 once.)
                    let b = V::load(b.add(v * V::WIDTH));
                    let (b_low, b_high) = (b.f_low_to_d(), b.f_high_to_d());
                    rows!(ROWS, |r| {
                        low[r][v] = a[r].d_fma(b_low, low[r][v]);
                        high[r][v] = a[r].d_fma(b_high, high[r][v]);
                    });
                });
            }
            rows!(ROWS, |r| {
                four!(|v| {
                    // (−0 is +0.)
                    tiles[r][v] = low[r][v].d_to_f(high[r][v]).f_add(zero);
                    largest[r] = largest[r].i_max(tiles[r][v].and(magnitude));
                });
                at[r] = at[r].on::<V>(l, 0, false);
            });
        }
        *c = tiles;
        for r in 0..ROWS {
            let limit = (grains[r] + 52).min(100);
            bad = bad.or(largest[r].i_greater(power(limit).i_sub(V::splat(1))));
        }
        bad
    }
}
