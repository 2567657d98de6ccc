//! Exact numbers of any size.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, BigUint, Sign};

use super::{Exact, Rounding};

/// `significand · 2^exponent`, of any size; the significand is odd, or the number is 0 with exponent 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dyadic {
    significand: BigInt,
    exponent: i64,
}

/// How many discarded bits a rounding decision looks at one by one; the rest is sticky.
const WINDOW: u64 = 120;
/// Bits of a magnitude in fixed width.
const WIDTH: u64 = u128::BITS as u64;
/// Bits that a quotient has at least.
const QUOTIENT: u64 = 120;

impl Dyadic {
    /// `significand · 2^exponent`, in lowest terms.
    #[must_use]
    pub fn new(significand: BigInt, exponent: i64) -> Self {
        match significand.trailing_zeros() {
            None => Self::default(),
            Some(zeros) => Self {
                significand: significand >> zeros,
                exponent: exponent + zeros as i64,
            },
        }
    }

    /// `2^exponent`.
    #[must_use]
    pub fn power_of_two(exponent: i64) -> Self {
        Self::new(BigInt::from(1), exponent)
    }

    /// A number of fixed width, which has nothing below its last place.
    #[must_use]
    pub fn of(exact: &Exact) -> Self {
        debug_assert!(!exact.sticky, "a part of the number is not known");
        let magnitude = BigInt::from(exact.magnitude);
        let significand = if exact.negative {
            -magnitude
        } else {
            magnitude
        };
        Self::new(significand, exact.exponent.into())
    }

    /// `±Σ digits[i]·2^(64i) · 2^exponent`.
    pub(super) fn of_digits(negative: bool, digits: &[u64], exponent: i64) -> Self {
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        let words = digits
            .iter()
            .flat_map(|digit| [*digit as u32, (digit >> 32) as u32]);
        let magnitude = BigUint::new(words.collect());
        Self::new(BigInt::from_biguint(sign, magnitude), exponent)
    }

    /// The odd integer part (0 for 0).
    #[must_use]
    pub fn significand(&self) -> &BigInt {
        &self.significand
    }

    /// Place of the lowest set bit.
    #[must_use]
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Whether the number is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.significand.sign() == Sign::NoSign
    }

    /// Whether the number is below 0.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.significand.sign() == Sign::Minus
    }

    /// Place of the highest set bit of the magnitude; `None` for 0.
    #[must_use]
    pub fn top(&self) -> Option<i64> {
        (!self.is_zero()).then(|| self.exponent + self.significand.bits() as i64 - 1)
    }

    /// The bit of the magnitude at a place.
    #[must_use]
    pub fn bit(&self, place: i64) -> bool {
        let index = u64::try_from(place - self.exponent);
        index.is_ok_and(|index| self.significand.magnitude().bit(index))
    }

    /// The bits of the magnitude from place `high` down to place `low`; empty when `high < low`.
    #[must_use]
    pub fn bits(&self, high: i64, low: i64) -> String {
        let digit = |place| if self.bit(place) { '1' } else { '0' };
        (low..=high).rev().map(digit).collect()
    }

    /// The number times `2^power`.
    #[must_use]
    pub fn scaled(&self, power: i64) -> Self {
        Self::new(self.significand.clone(), self.exponent + power)
    }

    /// The number rounded to a multiple of `2^place`: the multiple.
    ///
    /// The decision is that of [`Rounding::shift_right`] on the last kept bit and what is below it.
    #[must_use]
    pub fn rounded(&self, place: i64, rounding: Rounding) -> BigInt {
        let Ok(width) = u64::try_from(place - self.exponent) else {
            return &self.significand << (self.exponent - place);
        };
        let magnitude = self.significand.magnitude();
        let kept = magnitude >> width;
        let window = width.min(WINDOW);
        let below = width - window;
        let mask = (BigUint::from(1_u8) << (window + 1)) - 1_u8;
        let seen = u128::try_from((magnitude >> below) & mask).unwrap_or(0);
        let last = seen >> window;
        let sticky = magnitude
            .trailing_zeros()
            .is_some_and(|zeros| zeros < below);
        let negative = self.is_negative();
        let rounded = rounding.shift_right(negative, seen, sticky, window as u32);
        let magnitude = BigInt::from(kept) + (rounded - last);
        if negative { -magnitude } else { magnitude }
    }

    /// The magnitude.
    #[must_use]
    pub fn magnitude(&self) -> Self {
        if self.is_negative() {
            -self
        } else {
            self.clone()
        }
    }

    /// In fixed width: the highest 128 bits, and whether anything lies below them. An exponent
    /// that no `i32` holds becomes the nearest one.
    #[must_use]
    pub fn to_exact(&self) -> Exact {
        let magnitude = self.significand.magnitude();
        in_fixed_width(self.is_negative(), magnitude, self.exponent, false)
    }

    /// `self / other` in fixed width: at least 120 bits of it, and whether anything lies below
    /// them. `None` for a division by 0.
    #[must_use]
    pub fn quotient(&self, other: &Self) -> Option<Exact> {
        if other.is_zero() {
            return None;
        }
        let (over, under) = (self.significand.magnitude(), other.significand.magnitude());
        let width = (under.bits() + QUOTIENT).saturating_sub(over.bits());
        let over = over << width;
        let whole = &over / under;
        let remains = &whole * under != over;
        let negative = self.is_negative() != other.is_negative();
        let exponent = self.exponent - other.exponent - width as i64;
        Some(in_fixed_width(negative, &whole, exponent, remains))
    }
}

/// The highest 128 bits; `remains` says whether anything lies below the magnitude.
fn in_fixed_width(negative: bool, magnitude: &BigUint, exponent: i64, remains: bool) -> Exact {
    let excess = magnitude.bits().saturating_sub(WIDTH);
    let lost = magnitude
        .trailing_zeros()
        .is_some_and(|zeros| zeros < excess);
    let exponent = exponent + excess as i64;
    Exact {
        negative,
        magnitude: u128::try_from(magnitude >> excess).unwrap_or(u128::MAX),
        exponent: exponent.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        sticky: lost || remains,
    }
}

/// By value.
impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.significand.sign().cmp(&other.significand.sign());
        if signs.is_ne() || self.is_zero() {
            return signs;
        }
        // The leading bits first, so that numbers far apart are not written out.
        let magnitudes = self.top().cmp(&other.top()).then_with(|| {
            let low = self.exponent.min(other.exponent);
            let on_grid = |x: &Self| x.significand.magnitude() << (x.exponent - low);
            on_grid(self).cmp(&on_grid(other))
        });
        if self.is_negative() {
            magnitudes.reverse()
        } else {
            magnitudes
        }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;

    fn add(self, other: Self) -> Dyadic {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self }.clone();
        }
        let low = self.exponent.min(other.exponent);
        let on_grid = |x: &Dyadic| &x.significand << (x.exponent - low);
        Dyadic::new(on_grid(self) + on_grid(other), low)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic {
            significand: -&self.significand,
            exponent: self.exponent,
        }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;

    fn sub(self, other: Self) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    fn mul(self, other: Self) -> Dyadic {
        Dyadic::new(
            &self.significand * &other.significand,
            self.exponent + other.exponent,
        )
    }
}

impl<'a> std::iter::Sum<&'a Dyadic> for Dyadic {
    fn sum<I: Iterator<Item = &'a Dyadic>>(numbers: I) -> Self {
        numbers.fold(Self::default(), |sum, number| &sum + number)
    }
}
