//! Exact sums of many terms.

use super::{Dyadic, Exact};

/// Weight of the window's bit 0. The smallest product of two f32 subnormals is 2^-298.
const LOWEST: i32 = -300;
/// 640 bits reach 2^339 with the sign.
const LIMBS: usize = 10;
/// A part of 64 bits from here up could fill the window after 2^40 terms. Products of two f32 end
/// at 2^256, and their last places at 2^208.
const HIGHEST: i32 = LOWEST + 64 * LIMBS as i32 - 1 - 40 - 64;

/// A sum of exact numbers under way: nothing is lost, whatever the sizes of its terms.
///
/// Terms of the sizes that products of 32-bit formats have are added in a window of fixed width,
/// without allocation; others, those of f64 far from 1, as numbers of any size. A sum takes 2^40
/// terms.
#[derive(Clone, Default)]
pub struct Sum {
    /// A two's complement integer times 2^LOWEST.
    window: [u64; LIMBS],
    /// What lies outside the window.
    beyond: Option<Box<Dyadic>>,
}

impl Sum {
    /// Adds a number. What its `sticky` stands for has no known size and is not added.
    #[inline]
    pub fn add(&mut self, number: &Exact) {
        let Exact {
            negative,
            magnitude,
            exponent,
            ..
        } = *number;
        self.add_part(negative, magnitude as u64, exponent);
        let high = (magnitude >> 64) as u64;
        if high != 0 {
            self.add_high(negative, high, exponent + 64);
        }
    }

    #[inline(always)]
    fn add_part(&mut self, negative: bool, magnitude: u64, exponent: i32) {
        if (LOWEST..=HIGHEST).contains(&exponent) {
            self.add_in_window(negative, magnitude, (exponent - LOWEST) as usize);
        } else if magnitude != 0 {
            self.add_outside(negative, magnitude, exponent);
        }
    }

    /// Adds to the window: `magnitude · 2^place` of its units.
    #[inline(always)]
    fn add_in_window(&mut self, negative: bool, magnitude: u64, place: usize) {
        let shifted = u128::from(magnitude) << (place % 64);
        let (low, high) = (shifted as u64, (shifted >> 64) as u64);
        let [first, second, rest @ ..] = &mut self.window[place / 64..] else {
            return; // HIGHEST leaves room for two digits.
        };
        let carry;
        (*first, carry) = overflowing(*first, low, negative);
        let (sum, above) = overflowing(*second, high, negative);
        let (sum, too) = overflowing(sum, u64::from(carry), negative);
        *second = sum;
        let mut carry = above | too;
        for digit in rest {
            if !carry {
                break;
            }
            (*digit, carry) = overflowing(*digit, 1, negative);
        }
    }

    #[cold]
    fn add_high(&mut self, negative: bool, magnitude: u64, exponent: i32) {
        self.add_part(negative, magnitude, exponent);
    }

    #[cold]
    fn add_outside(&mut self, negative: bool, magnitude: u64, exponent: i32) {
        // Trailing zeros may be all that lies below the window.
        let zeros = magnitude.trailing_zeros();
        let (magnitude, exponent) = (magnitude >> zeros, exponent + zeros as i32);
        if (LOWEST..=HIGHEST).contains(&exponent) {
            return self.add_in_window(negative, magnitude, (exponent - LOWEST) as usize);
        }
        let term = Dyadic::of(&Exact::new(negative, magnitude.into(), exponent));
        let beyond = self.beyond.get_or_insert_default();
        **beyond = &**beyond + &term;
    }

    /// The sum: its highest 65 to 128 bits, and whether anything lies below them.
    #[must_use]
    pub fn exact(&self) -> Exact {
        if self.beyond.is_some() {
            return self.total().to_exact();
        }
        let (negative, magnitude) = self.magnitude();
        let Some(top) = magnitude.iter().rposition(|&digit| digit != 0) else {
            return Exact::new(false, 0, 0);
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

    /// The sum, all of it.
    #[must_use]
    pub fn total(&self) -> Dyadic {
        let (negative, magnitude) = self.magnitude();
        let inside = Dyadic::of_digits(negative, &magnitude, LOWEST.into());
        match &self.beyond {
            None => inside,
            Some(beyond) => &inside + beyond,
        }
    }

    /// Sign and magnitude of the window's integer.
    #[inline(always)]
    fn magnitude(&self) -> (bool, [u64; LIMBS]) {
        let negative = self.window[LIMBS - 1] >> 63 == 1;
        let mut magnitude = self.window;
        if negative {
            let mut carry = true;
            for digit in &mut magnitude {
                (*digit, carry) = (!*digit).overflowing_add(u64::from(carry));
            }
        }
        (negative, magnitude)
    }
}

#[inline(always)]
fn overflowing(digit: u64, part: u64, subtract: bool) -> (u64, bool) {
    if subtract {
        digit.overflowing_sub(part)
    } else {
        digit.overflowing_add(part)
    }
}
