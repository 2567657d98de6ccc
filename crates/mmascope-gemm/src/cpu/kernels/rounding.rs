//! Rounds sums and f32 numbers in lanes to the format of a result.

use super::fused::{FIELD, INFINITY, SIGN, Tile};
use crate::cpu::lanes::{Lanes, VECTORS, four, terms};
use crate::cpu::sum::{Direction, Finish, Narrow, Round};

/// Bits of an f64 that f32 has no place for.
const LOST: u32 = 52 - 23;

/// `total · 2^−unit`, rounded; `units` as the bits of the f32 that are those powers.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn finished<V: Lanes>(
    how: &Finish,
    totals: &Tile<V>,
    units: &Tile<V>,
) -> Tile<V> {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let mut results = *totals;
        if let Finish::At(narrow) = how
            && !narrow.half
        {
            // (Not written out, since it is long and there are many copies of it.)
            for v in 0..VECTORS {
                results[v] = finish(how, totals[v], V::splat(254 << 23).i_sub(units[v]));
            }
        } else {
            four!(|v| results[v] = finish(how, totals[v], V::splat(254 << 23).i_sub(units[v])));
        }
        results
    }
}

/// `total · 2^unit`, rounded; `unit` as the bits of the f32 that is that power.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn finish<V: Lanes>(finish: &Finish, total: V, unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
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
            Finish::At(narrow) => {
                // To odd at 24 bits, so that the second rounding sees what was lost.
                round_at(&narrow, total.i_to_f_odd().f_mul(unit))
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

/// A finite number rounded to a narrower format.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn round_at<V: Lanes>(narrow: &Narrow, x: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let zero = V::splat(0);
        if narrow.half {
            // −0 + 0 is +0, and −0 + −0 is −0.
            let signed = V::splat(if narrow.signed_zero { SIGN } else { 0 });
            return x.f_to_half().f_add(signed);
        }
        let (sign, magnitude) = (x.and(V::splat(SIGN)), x.and(V::splat(!SIGN)));
        // All ones where what lies between two numbers moves away from zero.
        let negative = sign.sar_by(V::splat(31));
        let away = match narrow.direction {
            Direction::Down => negative,
            Direction::Up => negative.not_and(V::splat(u32::MAX)),
            Direction::Nearest | Direction::TowardZero => zero,
        };
        let nearest = narrow.direction == Direction::Nearest;
        let rounded = if narrow.wide {
            // Words of one sign lie as their values do, subnormals and ∞ too: half a last place, less
            // one unless the last bit kept is set, carries where it has to.
            let drop = 23 - narrow.bits;
            let more = if nearest {
                let last = magnitude.sar_by(V::splat(drop)).and(V::splat(1));
                V::splat((1 << drop >> 1) - 1).i_add(last)
            } else {
                away.and(V::splat((1 << drop) - 1))
            };
            magnitude.i_add(more).and(V::splat(u32::MAX << drop))
        } else {
            let field = magnitude
                .and(V::splat(FIELD))
                .i_max(V::splat(narrow.smallest));
            // 1.5 · 2^(e + 23 − bits): the sum's last place is that of the result.
            let shift = V::splat((23 - narrow.bits) << 23 | 1 << 22);
            let anchor = field.i_add(shift);
            let mut rounded = magnitude.f_add(anchor).f_sub(anchor);
            let mut beyond = V::splat(INFINITY);
            if !nearest {
                let place = field.i_sub(V::splat(narrow.bits << 23));
                let under = magnitude.i_greater(rounded).and(away).and(place);
                let over = away.not_and(rounded.i_greater(magnitude)).and(place);
                // (One of the two is zero, which is +0 as a float.)
                rounded = rounded.f_add(under).f_sub(over);
                if narrow.stays_finite {
                    beyond = V::select(away, beyond, V::splat(narrow.largest));
                }
            }
            let over = rounded.i_greater(V::splat(narrow.largest));
            V::select(over, beyond, rounded)
        };
        if narrow.signed_zero {
            return rounded.or(sign);
        }
        rounded.or(rounded.i_equal(zero).not_and(sign))
    }
}

/// An f32 of any class rounded (§3: `convert`), by the rules of IEEE 754; a NaN stays one.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn converted<V: Lanes>(to: &Round, x: V) -> V {
    let Round::Narrow { to: narrow, .. } = to else {
        return x;
    };
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sign = x.and(V::splat(SIGN));
        let magnitude = x.and(V::splat(!SIGN));
        let special = magnitude.i_greater(V::splat(INFINITY - 1));
        // Twice the largest number overflows like any larger one, and leaves room for the anchor.
        let number = if narrow.wide {
            x
        } else {
            magnitude
                .i_min(V::splat(narrow.largest + (1 << 23)))
                .or(sign)
        };
        V::select(special, x, round_at(narrow, number))
    }
}

/// The sum of two f32 of any class, rounded once (§3: `add`), by the rules of IEEE 754; a NaN stays one.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn added<V: Lanes>(to: &Round, left: V, right: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let sum = left.f_add(right);
        let direction = match to {
            Round::Narrow { twice: true, .. } => return converted(to, sum),
            Round::Single {
                direction,
                stays_finite,
            } => match direction {
                Direction::Nearest => return sum,
                // (Where what leaves f32 always becomes ∞, that has to show as ∞.)
                Direction::TowardZero if V::ROUNDS && *stays_finite => {
                    return left.f_add_rounded::<{ terms::ZERO }>(right);
                }
                Direction::Down if V::ROUNDS && *stays_finite => {
                    return left.f_add_rounded::<{ terms::DOWN }>(right);
                }
                Direction::Up if V::ROUNDS && *stays_finite => {
                    return left.f_add_rounded::<{ terms::UP }>(right);
                }
                direction => *direction,
            },
            Round::Narrow { to, .. } => to.direction,
        };
        // What the sum lacks, exactly (T. Dekker's Fast2Sum: the larger number is taken off first, and nothing overflows).
        let (first, second) = (left.and(V::splat(!SIGN)), right.and(V::splat(!SIGN)));
        let swap = second.i_greater(first);
        let high = V::select(swap, right, left);
        let low = V::select(swap, left, right);
        let error = low.f_sub(sum.f_sub(high));
        let special = sum.and(V::splat(!SIGN)).i_greater(V::splat(INFINITY - 1));
        let exact = error.and(V::splat(!SIGN)).i_equal(V::splat(0)).or(special);
        // Toward zero: one place less where the sum lies beyond the exact one.
        let beyond = error.xor(sum).sar_by(V::splat(31));
        let cut = sum.i_add(exact.not_and(beyond));
        let mut result = if let Round::Narrow { .. } = to {
            // With the last bit set where something was lost, the second rounding sees it.
            converted(to, cut.or(exact.not_and(V::splat(1))))
        } else {
            let negative = sum.sar_by(V::splat(31));
            let away = match direction {
                Direction::Down => exact.not_and(negative),
                Direction::Up => exact.or(negative).not_and(V::splat(u32::MAX)),
                _ => V::splat(0),
            };
            cut.i_sub(away)
        };
        if direction == Direction::Down {
            // A zero of two numbers that differ in sign is −0.
            let zero = sum.and(V::splat(!SIGN)).i_equal(V::splat(0));
            result = result.or(zero.and(left.or(right)).and(V::splat(SIGN)));
        }
        result
    }
}

/// The same of the registers of a tile.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn added_each<V: Lanes>(to: &Round, left: &mut Tile<V>, right: &Tile<V>) {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        if let Round::Single {
            direction: Direction::Nearest,
            ..
        } = to
        {
            four!(|v| left[v] = left[v].f_add(right[v]));
        } else {
            // (Not written out, since it is long and there are many copies of it.)
            for v in 0..VECTORS {
                left[v] = added(to, left[v], right[v]);
            }
        }
    }
}

/// Two registers of f64 whole numbers, the lower half first, times `unit` as in [`finish`], rounded. Of the product nothing is lost.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
pub(super) unsafe fn finish_wide<V: Lanes>(finish: &Finish, total: [V; 2], unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let low = total[0].d_mul(unit.f_low_to_d());
        let high = total[1].d_mul(unit.f_high_to_d());
        match *finish {
            Finish::Nearest => low.d_to_f(high),
            Finish::TowardZero { mask } => cut(low, mask).d_to_f(cut(high, mask)),
            Finish::Directed { up, mask } => {
                let place = u64::from(mask & mask.wrapping_neg()) << LOST;
                let most = V::d_splat(f64::from_bits(place - 1));
                let all = if up { V::splat(u32::MAX) } else { V::splat(0) };
                // What carries into the bits that stay, where a result moves away from zero.
                let low = low.l_add(low.d_negative().xor(all).and(most));
                let high = high.l_add(high.d_negative().xor(all).and(most));
                cut(low, mask).d_to_f(cut(high, mask))
            }
            Finish::At(narrow) => {
                // To odd at 24 bits, so that the second rounding sees what was lost.
                round_at(&narrow, odd(low).d_to_f(odd(high)))
            }
        }
    }
}

/// Whether [`finish_long`] takes all 64 bits into account.
#[inline(always)]
pub(super) fn is_long(finish: &Finish) -> bool {
    match finish {
        Finish::Nearest | Finish::TowardZero { .. } => true,
        Finish::Directed { mask, .. } => *mask == u32::MAX,
        Finish::At(_) => false,
    }
}

/// Two registers of 64-bit integers, the lower half first, times `unit` as in [`finish`], rounded. Where [`is_long`] is false, they are
/// exact in f64.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are. There is `LONG`.
#[inline(always)]
pub(super) unsafe fn finish_long<V: Lanes>(finish: &Finish, [low, high]: [V; 2], unit: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        match *finish {
            Finish::Nearest => low.l_to_f::<{ terms::NEAREST }>(high).f_mul(unit),
            Finish::TowardZero { mask } => {
                let result = low.l_to_f::<{ terms::ZERO }>(high).f_mul(unit);
                result.and(V::splat(mask))
            }
            Finish::Directed { up, mask } if mask == u32::MAX => {
                let result = match up {
                    false => low.l_to_f::<{ terms::DOWN }>(high),
                    true => low.l_to_f::<{ terms::UP }>(high),
                };
                result.f_mul(unit)
            }
            _ => finish_wide(finish, [low.l_to_d(), high.l_to_d()], unit),
        }
    }
}

/// An f64 cut to the bits of `mask`, a mask of f32's.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn cut<V: Lanes>(x: V, mask: u32) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let kept = f64::from_bits(u64::from(mask) << LOST | 0xfff << 52);
        x.and(V::d_splat(kept))
    }
}

/// An f64 cut to f32's bits, with the last of them set where something was lost, so that a second rounding sees it.
///
/// # Safety
/// Instructions: the head of `kernels.rs` says what they are.
#[inline(always)]
unsafe fn odd<V: Lanes>(x: V) -> V {
    // SAFETY: as the caller of `chain` promises.
    unsafe {
        let below = V::d_splat(f64::from_bits((1 << LOST) - 1));
        // Any of the lost bits carries into the place above them.
        let carry = x.and(below).l_add(below);
        let last = V::d_splat(f64::from_bits(1 << LOST));
        below.not_and(x.or(carry.and(last)))
    }
}
