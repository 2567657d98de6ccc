//! The kernel for fused sums (T-FDPA, ST-FDPA) whose results are truncated, finite and of f32's exponents, as most are.
//!
//! Between groups c is kept as a magnitude and as the sum that it came of, which has its sign: the
//! sign is then one operation on integers, and the exponent needs no mask of its own. Where an instruction
//! converts integers toward zero ([`Lanes::ROUNDS`]), c is kept as it is.

use super::fused::{At, FIELD, SIGN, Tile, largest};
use super::rounding::{added_each, toward_zero};
use crate::cpu::lanes::{Lanes, VECTORS, four, terms};
use crate::cpu::sum::{Finish, Offsets, Sum};

/// The sign by which a sum that leaves i32 shows.
pub(super) mod overflow {
    /// None does.
    pub(in super::super) const NEVER: u8 = 0;
    /// Their magnitude tells.
    pub(in super::super) const TOLD: u8 = 1;
    /// The signs of the halves' sums tell.
    pub(in super::super) const HALVES: u8 = 2;
}

/// `groups` groups, as [`super::fused::chain`]. `MASKED`: results have fewer bits than f32.
///
/// # Safety
/// As for [`super::fused::chain`].
#[inline(always)]
pub(super) unsafe fn chain<V: Lanes, const SCALED: bool, const OVERFLOW: u8, const MASKED: bool>(
    sum: &Sum,
    offsets: &Offsets,
    mut at: At,
    groups: usize,
    c: &mut Tile<V>,
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
        let mut bad = zero;
        let mut bytes = largest::<V>(at, 0..sum.slots, start);
        let mut signed = *c;
        let mut magnitude = [zero; VECTORS];
        four!(|v| magnitude[v] = if V::ROUNDS {
            c[v]
        } else {
            c[v].and(V::splat(!SIGN))
        });
        // Where c is no term, it lies here, and a sum has so many more groups.
        let mut outside = *c;
        let mut more = 0;
        for _ in 0..groups {
            if let Some(after) = &sum.after {
                if more == 0 {
                    (magnitude, signed, more) = ([zero; VECTORS], [zero; VECTORS], after.groups);
                }
                more -= 1;
            }
            let mut units = [zero; VECTORS];
            let mut scales = [zero; VECTORS];
            let mut sums = [zero; VECTORS];
            let even = bytes.and(V::splat(0x00ff_00ff));
            let odd = bytes.and(V::splat(0xff00_ff00));
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
                    shift = V::splat(*at.a_scales).i_add(V::load(at.b_scales.add(v * V::WIDTH)));
                    let e_field = e.and(V::splat(FIELD));
                    let none = e_field.i_equal(V::splat(offsets.lowest()));
                    e = V::select(none, V::splat(offsets.empty), e_field.i_add(shift));
                }
                let own = if V::ROUNDS {
                    magnitude[v].and(V::splat(!SIGN))
                } else {
                    magnitude[v]
                };
                let e = e.i_max(own).and(V::splat(FIELD));
                units[v] = top.i_sub(e);
                scales[v] = if SCALED {
                    units[v].i_add(shift)
                } else {
                    units[v]
                };
                sums[v] = magnitude[v].f_mul(units[v]).f_to_i();
                if !V::ROUNDS {
                    sums[v] = sums[v].i_signed(signed[v]);
                }
            });
            let mut found = start;
            let slots = at.slots::<V>(0..half, sum.slots);
            V::add_products::<{ terms::ZERO }>(&slots, &scales, &mut sums, &mut found);
            if OVERFLOW == overflow::HALVES {
                let first = sums;
                sums = [zero; VECTORS];
                let slots = at.slots::<V>(half..sum.slots, sum.slots);
                V::add_products::<{ terms::ZERO }>(&slots, &scales, &mut sums, &mut found);
                four!(|v| {
                    let second = sums[v];
                    sums[v] = first[v].i_add(second);
                    bad = bad.or(first[v].xor(sums[v]).and(second.xor(sums[v])));
                });
            }
            bytes = found;
            at = at.on::<V>(sum.slots, 1, SCALED);
            four!(|v| {
                // 2^(E − F), when the unit is 2^(F − E).
                let back = V::splat(254 << 23).i_sub(units[v]);
                let whole = sums[v].i_abs();
                match OVERFLOW {
                    overflow::TOLD => bad = bad.b_max(whole),
                    // −2^31 does not wrap and has no magnitude.
                    overflow::HALVES => bad = bad.or(whole),
                    _ => {}
                }
                signed[v] = sums[v];
                let result = if V::ROUNDS {
                    sums[v].i_to_f_toward_zero().f_mul(back)
                } else {
                    toward_zero(whole).f_mul(back)
                };
                magnitude[v] = if MASKED { result.and(mask) } else { result };
            });
            if let (Some(after), 0) = (&sum.after, more) {
                let mut results = magnitude;
                if !V::ROUNDS {
                    four!(|v| results[v] = magnitude[v].or(signed[v].and(V::splat(SIGN))));
                }
                added_each(&after.round, &mut outside, &results);
            }
        }
        four!(|v| c[v] = if V::ROUNDS {
            magnitude[v]
        } else {
            magnitude[v].or(signed[v].and(V::splat(SIGN)))
        });
        if sum.after.is_some() {
            *c = outside;
        }
        match OVERFLOW {
            overflow::TOLD => bad.shr::<24>().i_greater(V::splat(sum.suspicious - 1)),
            _ => bad,
        }
    }
}
