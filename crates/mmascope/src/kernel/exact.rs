//! Exact sums rounded once (E-FDPA, §2.6), in f64 lanes with a proof for each result.
//!
//! The products are exact in f64; their sum with c is off by less than 2^(E − 40), E being the
//! largest exponent among them. Where the sum moved by that much either way rounds to the same f32,
//! the exact sum rounds to it too (Ziv's test); elsewhere the lane is not to be used.

use super::fused::{self, At, Offsets, Tile, VECTORS};
use super::lanes::Lanes;
use super::plan::DOUBT;

const FIELD: u32 = 0xff << 23;

/// `groups` groups of `l` products; gives the lanes in doubt.
///
/// # Safety
/// The instruction set of `V`; `at` has the groups.
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes>(
    l: usize,
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
        for _ in 0..groups {
            let mut bytes = start;
            for k in 0..l {
                let b = V::load(at.b_exponents.add(k * VECTORS * V::WIDTH).cast());
                bytes = bytes.b_max(V::b_splat(*at.a_exponents.add(k)).b_add(b));
            }
            let e = fused::fields(bytes, offset);
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
                let sure = none.or(above.i_equal(below));
                bad = bad.or(sure.not_and(V::splat(u32::MAX)));
                c[v] = V::select(none, c[v].f_add(V::splat(0)), above);
            }
            at = at.on::<V>(l, 0, false);
        }
        bad
    }
}
