//! The running sum of groups on rounded grids: c, to which groups are added.
#![allow(clippy::needless_range_loop)] // lanes of several registers, side by side

use super::{BITS, GROUP_BITS, Halves, Kind, Lanes, Plan, WIDTH};

// Shifts and sums that wrap: every number is in range, and vector instructions check nothing.

#[inline(always)]
pub(super) fn right(x: i32, by: i32) -> i32 {
    x.wrapping_shr(by as u32)
}

#[inline(always)]
pub(super) fn left(x: i32, by: i32) -> i32 {
    x.wrapping_shl(by as u32)
}

/// A half of the unit 2^by; 0 where nothing is moved.
#[inline(always)]
fn half(by: i32) -> i32 {
    right(left(1, by), 1)
}

/// c, as a significand of 24 bits with a sign and an exponent; 0 and the floor for zero.
pub(super) struct State {
    significand: Lanes,
    exponent: Lanes,
}

impl State {
    #[inline(always)]
    pub(super) fn of(plan: &Plan, words: &[u32; WIDTH]) -> Self {
        let (bits, bias) = (plan.result.fraction_bits(), plan.result.bias());
        let mut state = Self {
            significand: [0; WIDTH],
            exponent: [plan.floor; WIDTH],
        };
        let (sign_at, fields) = match plan.result {
            Kind::Single => (31, 255),
            Kind::Brain => (15, 255),
            Kind::Half => (15, 31),
        };
        for lane in 0..WIDTH {
            let word = words[lane];
            let field = (word >> bits & fields) as i32;
            let fraction = word & ((1 << bits) - 1) | 1 << bits;
            let magnitude = (fraction << (BITS - bits)) as i32;
            let signed = if word >> sign_at & 1 == 1 {
                -magnitude
            } else {
                magnitude
            };
            state.significand[lane] = if field == 0 { 0 } else { signed };
            state.exponent[lane] = if field == 0 { plan.floor } else { field - bias };
        }
        state
    }

    /// Adds two groups, and rounds.
    #[inline(always)]
    pub(super) fn add(&mut self, plan: &Plan, sums: &[Halves; 2], exponents: &[Lanes; 2]) {
        let bits = plan.result.fraction_bits() as i32;
        let is_half = plan.result == Kind::Half;
        // Of f16 the exponent field of ones is one more binade.
        let most = plan.result.bias() + i32::from(is_half);
        let fault = plan.fault.unwrap_or(0) as i32;
        let limit = if is_half { 0xff_e000 } else { 1 << BITS };
        let beyond = most + i32::from(!is_half);
        let coarse = plan.coarse;
        let on_coarse = |x: i32| match coarse {
            true => left(right(x.wrapping_add(4096), 13), 13),
            false => x,
        };
        for lane in 0..WIDTH {
            let own = self.exponent[lane];
            let largest = exponents[0][lane].max(exponents[1][lane]).max(own);
            let mut sum = 0_i32;
            for group in 0..2 {
                let by = largest.wrapping_sub(exponents[group][lane]).min(30);
                // A tie goes up.
                let term = left(sums[group][lane].into(), (BITS - GROUP_BITS) as i32);
                let term = right(term.wrapping_add(half(by)), by);
                sum = sum.wrapping_add(on_coarse(term));
            }
            let by = largest.wrapping_sub(own).min(30);
            let signed = self.significand[lane];
            let sign = signed >> 31;
            let c = (signed ^ sign).wrapping_sub(sign);
            let c = on_coarse(right(c.wrapping_add(half(by)), by));
            sum = sum.wrapping_add((c ^ sign).wrapping_sub(sign));
            sum = if sum == -1 { left(-1, fault) } else { sum };

            let sign = sum >> 31;
            let magnitude = (sum ^ sign).wrapping_sub(sign);
            // The place of the leading bit, from a number that rounds to no other binade.
            let alone = magnitude & !(magnitude >> 1);
            let top = right((alone as f32).to_bits() as i32, 23)
                .wrapping_sub(127)
                .max(0);
            let down = top.wrapping_sub(bits).max(0);
            let up = bits.wrapping_sub(top).max(0);
            let rounded = left(right(magnitude.wrapping_add(half(down)), down), up);
            let carry = right(rounded, bits.wrapping_add(1));
            let exponent = largest
                .wrapping_sub(BITS as i32)
                .wrapping_add(top)
                .wrapping_add(carry);
            let kept = left(right(rounded, carry), (BITS as i32).wrapping_sub(bits));
            let is_zero = (magnitude == 0) | (exponent <= plan.floor) | (largest <= plan.floor);
            let is_large = exponent > most;
            let kept = if is_large { limit } else { kept };
            let exponent = if is_large { beyond } else { exponent };
            let kept = if is_zero { 0 } else { kept };
            self.significand[lane] = (kept ^ sign).wrapping_sub(sign);
            self.exponent[lane] = if is_zero { plan.floor } else { exponent };
        }
    }

    #[inline(always)]
    pub(super) fn words(&self, plan: &Plan) -> [u32; WIDTH] {
        let (bits, bias) = (plan.result.fraction_bits(), plan.result.bias());
        let sign_at = if plan.result == Kind::Single { 31 } else { 15 };
        let mut words = [0; WIDTH];
        for lane in 0..WIDTH {
            let signed = self.significand[lane];
            let fraction = (signed.unsigned_abs() >> (BITS - bits)) & ((1 << bits) - 1);
            let field = ((self.exponent[lane] + bias) as u32) << bits;
            let word = u32::from(signed < 0) << sign_at | field | fraction;
            words[lane] = if signed == 0 { 0 } else { word };
        }
        words
    }
}
