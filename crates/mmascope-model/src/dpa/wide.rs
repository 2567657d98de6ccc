//! A fixed-point accumulator wide enough for any exact sum of products of 32-bit floats.

use crate::format::Exact;

/// Weight of bit 0. The smallest product of two f32 subnormals is 2^-298.
const LOWEST: i32 = -300;
/// 640 bits reach 2^339 with the sign; 256 products below 2^256 need 2^265.
const LIMBS: usize = 10;

/// A two's complement integer times 2^LOWEST.
#[derive(Clone, Copy, Default)]
pub(super) struct Wide([u64; LIMBS]);

impl Wide {
    /// Adds `±significand · 2^exponent`; the significand has at most 64 bits, the exponent is at
    /// least that of the smallest product.
    pub(super) fn add(&mut self, negative: bool, significand: u128, exponent: i32) {
        let place = (exponent - LOWEST) as usize;
        let (limb, shift) = (place / 64, place % 64);
        let shifted = significand << shift;
        let mut carry = false;
        for (i, digit) in self.0.iter_mut().enumerate().skip(limb) {
            let part = match i - limb {
                0 => shifted as u64,
                1 => (shifted >> 64) as u64,
                _ if carry => 0,
                _ => break,
            };
            let (digit_sum, first) = overflowing(*digit, part, negative);
            let (digit_sum, second) = overflowing(digit_sum, u64::from(carry), negative);
            *digit = digit_sum;
            carry = first | second;
        }
    }

    /// The sum: its highest 128 bits, and whether anything lies below them.
    pub(super) fn exact(&self) -> Exact {
        let negative = self.0[LIMBS - 1] >> 63 == 1;
        let mut magnitude = self.0;
        if negative {
            let mut carry = true;
            for digit in &mut magnitude {
                (*digit, carry) = (!*digit).overflowing_add(u64::from(carry));
            }
        }
        let Some(top) = magnitude.iter().rposition(|&digit| digit != 0) else {
            return Exact {
                negative: false,
                magnitude: 0,
                exponent: 0,
                sticky: false,
            };
        };
        let low = top.saturating_sub(1);
        Exact {
            negative,
            magnitude: u128::from(magnitude[low])
                | if top > low {
                    u128::from(magnitude[top]) << 64
                } else {
                    0
                },
            exponent: LOWEST + 64 * low as i32,
            sticky: magnitude[..low].iter().any(|&digit| digit != 0),
        }
    }
}

fn overflowing(digit: u64, part: u64, subtract: bool) -> (u64, bool) {
    if subtract {
        digit.overflowing_sub(part)
    } else {
        digit.overflowing_add(part)
    }
}
