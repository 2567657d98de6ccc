//! The kernel for fused sums (T-FDPA, ST-FDPA) whose results are truncated, finite and of f32's exponents, as most are.
//!
//! Between groups c is kept as a magnitude and as the sum that it came of, which has its sign: the
//! sign is then one operation on integers, and the exponent needs no mask of its own. Where an instruction
//! converts integers toward zero ([`Lanes::ROUNDS`]), c is kept as it is.

use super::chained::{chained, left};
use super::fused::{At, FIELD, SIGN, Tile, add_products, largest};
use super::rounding::{added_each, toward_zero};
use crate::cpu::lanes::{Lanes, VECTORS, four, overflow, rows, terms};
use crate::cpu::sum::{Finish, Offsets, Sum};

/// The exponents of a group's block scales, of the v-th register of columns, shifted by 23.
///
/// # Safety
/// Instructions, room: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn shift_of<V: Lanes>(at: &At, v: usize) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe { V::splat(*at.a_scales).i_add(V::load(at.b_scales.add(v * V::WIDTH))) }
}

/// `groups` groups of each row, as [`super::fused::chain`]. `MASKED`: results have fewer bits than f32.
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn chain<
    V: Lanes,
    const ROWS: usize,
    const SCALED: bool,
    const OVERFLOW: u8,
    const MASKED: bool,
>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: [At; ROWS],
    groups: usize,
    c: &mut [Tile<V>; ROWS],
) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0);
        let start = V::b_splat(offsets.start);
        let offset = V::splat(offsets.offset);
        let top = V::splat((sum.f + 254) << 23);
        let mask = match sum.finish {
            Finish::TowardZero { mask } => V::splat(mask),
            _ => V::splat(u32::MAX),
        };
        let half = if OVERFLOW == overflow::HALVES {
            sum.slots / 2
        } else {
            sum.slots
        };
        if !MASKED && sum.after.is_none() {
            let found = chained::<V, ROWS, SCALED, OVERFLOW, false>(sum, offsets, &at, groups, c);
            if let Some(bad) = found {
                return bad;
            }
        }
        let mut bad = zero;
        let mut bytes = [start; ROWS];
        let mut signed = *c;
        let mut magnitude = [[zero; VECTORS]; ROWS];
        rows!(ROWS, |r| {
            bytes[r] = largest::<V>(at[r], 0..sum.slots, start);
            four!(|v| magnitude[r][v] = if V::ROUNDS {
                c[r][v]
            } else {
                c[r][v].and(V::splat(!SIGN))
            });
        });
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut outside = *c;
        let mut more = 0;
        for _ in 0..groups {
            if let Some(after) = &sum.after {
                if more == 0 {
                    (magnitude, signed) = ([[zero; VECTORS]; ROWS], [[zero; VECTORS]; ROWS]);
                    more = after.groups;
                }
                more -= 1;
            }
            let mut scales = [[zero; VECTORS]; ROWS];
            let mut sums = [[zero; VECTORS]; ROWS];
            rows!(ROWS, |r| {
                let even = bytes[r].and(V::splat(0x00ff_00ff));
                let odd = bytes[r].and(V::splat(0xff00_ff00));
                // Bytes at the exponent's place, with other bits below it, of which the maximum takes no notice.
                let fields = [
                    even.shl::<23>().i_add(offset),
                    odd.shl::<15>().i_add(offset),
                    even.shl::<7>().i_add(offset),
                    odd.shr::<1>().i_add(offset),
                ];
                four!(|v| {
                    let mut e = fields[v];
                    let mut shift = zero;
                    if SCALED {
                        shift = shift_of(&at[r], v);
                        let e_field = e.and(V::splat(FIELD));
                        let none = e_field.i_equal(V::splat(offsets.lowest()));
                        e = V::select(none, V::splat(offsets.empty), e_field.i_add(shift));
                    }
                    let own = if V::ROUNDS {
                        magnitude[r][v].and(V::splat(!SIGN))
                    } else {
                        magnitude[r][v]
                    };
                    let e = e.i_max(own).and(V::splat(FIELD));
                    let unit = top.i_sub(e);
                    scales[r][v] = if SCALED { unit.i_add(shift) } else { unit };
                    sums[r][v] = magnitude[r][v].f_mul(unit).f_to_i();
                    if !V::ROUNDS {
                        sums[r][v] = sums[r][v].i_signed(signed[r][v]);
                    }
                });
            });
            bytes = [start; ROWS];
            add_products::<V, ROWS, { terms::ZERO }>(
                &at,
                0..half,
                sum.slots,
                &scales,
                &mut sums,
                &mut bytes,
            );
            if OVERFLOW == overflow::HALVES {
                let first = sums;
                sums = [[zero; VECTORS]; ROWS];
                add_products::<V, ROWS, { terms::ZERO }>(
                    &at,
                    half..sum.slots,
                    sum.slots,
                    &scales,
                    &mut sums,
                    &mut bytes,
                );
                rows!(ROWS, |r| four!(|v| {
                    let (first, second) = (first[r][v], sums[r][v]);
                    let both = first.i_add(second);
                    bad = bad.or(first.xor(both).and(second.xor(both)));
                    sums[r][v] = both;
                }));
            }
            rows!(ROWS, |r| {
                four!(|v| {
                    // (Units beside scales would take registers from the products.)
                    let unit = if SCALED {
                        scales[r][v].i_sub(shift_of(&at[r], v))
                    } else {
                        scales[r][v]
                    };
                    // 2^(E − F), when the unit is 2^(F − E).
                    let back = V::splat(254 << 23).i_sub(unit);
                    let whole = sums[r][v].i_abs();
                    match OVERFLOW {
                        overflow::TOLD => bad = bad.b_max(whole),
                        // −2^31 does not wrap and has no magnitude.
                        overflow::HALVES => bad = bad.or(whole),
                        _ => {}
                    }
                    signed[r][v] = sums[r][v];
                    let result = if V::ROUNDS {
                        sums[r][v].i_to_f_toward_zero().f_mul(back)
                    } else {
                        toward_zero(whole).f_mul(back)
                    };
                    magnitude[r][v] = if MASKED { result.and(mask) } else { result };
                });
                at[r] = at[r].on::<V>(sum.slots, 1, SCALED);
            });
            if let (Some(after), 0) = (&sum.after, more) {
                rows!(ROWS, |r| {
                    let mut results = magnitude[r];
                    if !V::ROUNDS {
                        four!(|v| results[v] = results[v].or(signed[r][v].and(V::splat(SIGN))));
                    }
                    added_each(&after.round, &mut outside[r], &results);
                });
            }
        }
        rows!(ROWS, |r| four!(|v| c[r][v] = if V::ROUNDS {
            magnitude[r][v]
        } else {
            magnitude[r][v].or(signed[r][v].and(V::splat(SIGN)))
        }));
        if sum.after.is_some() {
            *c = outside;
        }
        left::<V, OVERFLOW>(sum, bad)
    }
}
