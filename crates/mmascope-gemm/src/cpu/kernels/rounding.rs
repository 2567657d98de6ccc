//! Rounds sums and f32 numbers in lanes to the format of a result.

use super::fused::{FIELD, INFINITY, SIGN};
use crate::cpu::lanes::Lanes;
use crate::cpu::sum::{Finish, Narrow};

/// `total · 2^unit`, rounded; `unit` as the bits of the f32 that is that power.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn finish<V: Lanes>(finish: &Finish, total: V, unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = total.and(V::splat(SIGN));
        match *finish {
            Finish::Nearest => total.i_to_f().f_mul(unit),
            Finish::TowardZero { mask } => {
                let result = total.i_to_f_toward_zero().f_mul(unit);
                if mask == u32::MAX {
                    return result;
                }
                // What is left of a negative number may be a zero, which is +0: it is not, since
                // the sum's first bit is kept.
                result.and(V::splat(mask))
            }
            Finish::Directed { up, mask } => {
                let kept = total.i_to_f_toward_zero().and(V::splat(mask));
                let exact = kept.f_to_i().i_equal(total);
                // All ones where a result moves away from zero. (Sums of i32 are positive, negative, or exact.)
                let negative = total.sar_by(V::splat(31));
                let away = match up {
                    false => exact.not_and(negative),
                    true => exact.or(negative).not_and(V::splat(u32::MAX)),
                };
                let step = away.and(V::splat(mask & mask.wrapping_neg()));
                kept.i_add(step).f_mul(unit)
            }
            Finish::NearestAt(narrow) => {
                // To odd at 24 bits, so that the second rounding sees what was lost.
                let magnitude = total.i_abs();
                let kept = toward_zero(magnitude);
                let exact = kept.f_to_i().i_equal(magnitude);
                let odd = kept.or(exact.not_and(V::splat(1)));
                round_at(&narrow, odd.f_mul(unit), sign)
            }
        }
    }
}

/// A non-negative i32 as f32, toward zero. Clearing bits of x>>24 clears the first bit that is
/// discarded and none that is kept, so that rounding to nearest goes down.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn toward_zero<V: Lanes>(magnitude: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe { magnitude.shr::<24>().not_and(magnitude).i_to_f() }
}

/// A magnitude rounded to nearest even at a narrower format, with a sign if it is not zero.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn round_at<V: Lanes>(narrow: &Narrow, magnitude: V, sign: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        if narrow.wide {
            // Words of one sign lie as their values do, subnormals and ∞ too: half a last place, less
            // one unless the last bit kept is set, carries where it has to.
            let drop = 23 - narrow.bits;
            let last = magnitude.sar_by(V::splat(drop)).and(V::splat(1));
            let half = V::splat((1 << drop >> 1) - 1).i_add(last);
            let rounded = magnitude.i_add(half).and(V::splat(u32::MAX << drop));
            let zero = rounded.i_equal(V::splat(0));
            return rounded.or(zero.not_and(sign));
        }
        let field = magnitude
            .and(V::splat(FIELD))
            .i_max(V::splat(narrow.smallest));
        // 1.5 · 2^(e + 23 − bits): the sum's last place is that of the result.
        let shift = V::splat((23 - narrow.bits) << 23 | 1 << 22);
        let anchor = field.i_add(shift);
        let rounded = magnitude.f_add(anchor).f_sub(anchor);
        let over = rounded.i_greater(V::splat(narrow.largest));
        let rounded = V::select(over, V::splat(INFINITY), rounded);
        let zero = rounded.i_equal(V::splat(0));
        rounded.or(zero.not_and(sign))
    }
}

/// An f32 of any class rounded to nearest even at a narrower format (§3: `convert`, `add`), by the
/// rules of IEEE 754; a NaN stays one.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn narrowed<V: Lanes>(narrow: &Narrow, x: V, signed_zero: bool) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = x.and(V::splat(SIGN));
        let magnitude = x.and(V::splat(!SIGN));
        let special = magnitude.i_greater(V::splat(INFINITY - 1));
        // Twice the largest number overflows like any larger one, and leaves room for the anchor.
        let rounded = if narrow.wide {
            magnitude
        } else {
            magnitude.i_min(V::splat(narrow.largest + (1 << 23)))
        };
        let rounded = round_at(narrow, rounded, sign);
        let rounded = if signed_zero {
            rounded.or(sign)
        } else {
            rounded
        };
        V::select(special, x, rounded)
    }
}
