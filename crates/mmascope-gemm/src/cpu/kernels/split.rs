//! Fused sums of which hardly one term, or none, fits 32 bits. They are summed in two registers, whose sum f64 holds exactly.
//!
//! Terms that fit are summed modulo 2^32, and once more in f32. The second sum is off by far less than 2^31, so that it tells which
//! multiple of 2^32 is to be added to the first one.
//!
//! Terms that do not fit are split, and higher and lower numbers are summed apart. The higher number is the term in units of 2^s
//! grid places, cut to a whole number; the lower one is what is left, rounded to the grid. Both are exact in f32, as the term is.
//! Rounding what is left rounds the term: the higher number is a whole, even number of grid places, and what is left has the
//! term's sign.

use super::fused::{At, C_LIMIT, INFINITY, SIGN, Tile, fields, largest, own_field};
use super::outside::{c_in_f64, without_products};
use super::rounding::{added_each, finish_wide};
use crate::cpu::lanes::{Lanes, VECTORS, four, rows};
use crate::cpu::sum::{Offsets, Sum, low_bits};
use crate::shape::SumKind;

/// The largest F whose terms fit i32: they stay below 2^(F + 2) units of the grid.
const MOST_F: u32 = 29;

/// `groups` groups of each row, as [`super::fused::chain`].
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn split<V: Lanes, const ROWS: usize, const TERMS: u8>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let none = [[zero; VECTORS]; ROWS];
        let outside = sum.kind == SumKind::Outside;
        let grows = sum.grows();
        let (offset, start) = (V::splat(offsets.offset), V::b_splat(offsets.start));
        let top = V::splat((sum.f + 254) << 23);
        let places = low_bits(sum.slots);
        let down = V::splat((127 - places) << 23);
        let back = V::splat((127 + places) << 23 | SIGN);
        let is_split = sum.f > MOST_F;
        // What the first register's numbers are multiples of: 2^32 is what a sum in 32 bits lacks.
        let (unit, wrapped) = match is_split {
            true => (V::d_splat(f64::from(1_u32 << places)), zero),
            false => (V::d_splat(2_f64.powi(32)), V::splat((127 - 32) << 23)),
        };
        let mut smallest = sum.c_smallest;
        let mut bytes = [zero; ROWS];
        rows!(ROWS, |r| bytes[r] =
            largest::<V>(at[r], 0..sum.slots, start));
        let mut bad = zero;
        let mut tiles = *c;
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut apart = *c;
        let mut more = 0;
        for _ in 0..groups {
            if let Some(after) = &sum.after {
                if more == 0 {
                    (tiles, smallest, more) = (none, 0, after.groups);
                }
                more -= 1;
            }
            let (mut units, mut sums, mut rests) = (none, none, none);
            rows!(ROWS, |r| {
                let mut e = fields(bytes[r], offset);
                if outside {
                    without_products(sum, offsets, bytes[r], &tiles[r], &mut e);
                } else {
                    four!(|v| {
                        e[v] = e[v].i_max(own_field(tiles[r][v], smallest));
                    });
                }
                four!(|v| units[r][v] = top.i_sub(e[v]));
                if !outside {
                    four!(|v| {
                        let term = tiles[r][v].f_mul(units[r][v]);
                        if is_split {
                            sums[r][v] = term.f_mul(down).f_to_i();
                            let rest = sums[r][v].i_to_f().f_fma(back, term);
                            rests[r][v] = rest.converted::<TERMS>();
                        } else {
                            sums[r][v] = term;
                            rests[r][v] = term.converted::<TERMS>();
                        }
                    });
                }
                bytes[r] = start;
            });
            macro_rules! products {
                (|$r:ident, $v:ident, $term:ident| $body:block) => {
                    for k in 0..sum.slots {
                        let from = k * VECTORS * V::WIDTH;
                        let ahead = sum.slots + k;
                        let next = V::load_bytes(at[0].b_exponents.add(ahead * VECTORS * V::WIDTH));
                        let mut a = [zero; ROWS];
                        rows!(ROWS, |r| {
                            let own = V::b_splat(*at[r].a_exponents.add(ahead));
                            bytes[r] = bytes[r].b_max(next.b_add(own));
                            a[r] = V::splat((*at[r].a.add(k)).to_bits());
                        });
                        four!(|v| {
                            let b = V::load(at[0].b.add(from + v * V::WIDTH).cast());
                            rows!(ROWS, |r| {
                                let ($r, $v, $term) = (r, v, a[r].f_mul(b).f_mul(units[r][v]));
                                $body
                            });
                        });
                    }
                };
            }
            if is_split {
                products!(|r, v, term| {
                    let high = term.f_mul(down).f_to_i();
                    let rest = high.i_to_f().f_fma(back, term);
                    sums[r][v] = sums[r][v].i_add(high);
                    rests[r][v] = rests[r][v].i_add(rest.converted::<TERMS>());
                });
            } else {
                products!(|r, v, term| {
                    sums[r][v] = sums[r][v].f_add(term);
                    rests[r][v] = rests[r][v].i_add(term.converted::<TERMS>());
                });
                rows!(ROWS, |r| four!(|v| {
                    let lacking = sums[r][v].f_sub(rests[r][v].i_to_f()).f_mul(wrapped);
                    sums[r][v] = lacking.f_to_i_nearest();
                }));
            }
            smallest = sum.smallest;
            rows!(ROWS, |r| {
                at[r] = at[r].on::<V>(sum.slots, 0, false);
                four!(|v| {
                    let (mut low, mut high) = (rests[r][v].i_low_to_d(), rests[r][v].i_high_to_d());
                    if outside {
                        let ([own_low, own_high], inexact) =
                            c_in_f64::<V, TERMS>(tiles[r][v], units[r][v]);
                        (low, high) = (low.d_add(own_low), high.d_add(own_high));
                        bad = bad.or(inexact);
                    }
                    let total = [
                        sums[r][v].i_low_to_d().d_fma(unit, low),
                        sums[r][v].i_high_to_d().d_fma(unit, high),
                    ];
                    // 2^(E − F), when the unit is 2^(F − E).
                    let back = V::splat(254 << 23).i_sub(units[r][v]);
                    let mut result = finish_wide(&sum.finish, total, back);
                    let old = tiles[r][v].and(V::splat(!SIGN));
                    if sum.sticky {
                        let infinite = old.i_equal(V::splat(INFINITY));
                        result = V::select(infinite, tiles[r][v], result);
                    }
                    tiles[r][v] = result;
                    // A result may leave the domain of the next group's c.
                    if !sum.sticky && grows {
                        let magnitude = result.and(V::splat(!SIGN));
                        bad = bad.or(magnitude.i_greater(V::splat(C_LIMIT - 1)));
                    }
                });
                if let (Some(after), 0) = (&sum.after, more) {
                    added_each(&after.round, &mut apart[r], &tiles[r]);
                }
            });
        }
        *c = match sum.after {
            Some(_) => apart,
            None => tiles,
        };
        bad
    }
}
