//! Exact sums of products, and their ratios: the yardstick of the statistics.
#![deny(clippy::float_arithmetic)]

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint, Sign};

use crate::format::{Exact, F64, Format, Overflow, Rounding};

/// A sum of dyadic numbers under way: one counter per power of two.
///
/// Counters never overflow: every summand is below 2^64 times its counter's power, so an i128
/// holds 2^63 of them.
#[derive(Default)]
pub(super) struct Sum(BTreeMap<i32, i128>);

impl Sum {
    /// Adds `±magnitude · 2^exponent`.
    pub(super) fn add(&mut self, negative: bool, magnitude: u128, exponent: i32) {
        for (part, exponent) in [
            (magnitude as u64, exponent),
            ((magnitude >> 64) as u64, exponent + 64),
        ] {
            if part != 0 {
                let part = i128::from(part);
                *self.0.entry(exponent).or_default() += if negative { -part } else { part };
            }
        }
    }

    /// The sum.
    pub(super) fn total(&self) -> Dyadic {
        let mut sum = BigInt::ZERO;
        let mut place = 0;
        for (&exponent, &counter) in self.0.iter().rev() {
            sum <<= (place - exponent).max(0); // the first time the sum is 0
            sum += counter;
            place = exponent;
        }
        Dyadic {
            significand: sum,
            exponent: place,
        }
    }
}

/// `significand · 2^exponent`, of any size.
#[derive(Clone, Debug)]
pub(super) struct Dyadic {
    significand: BigInt,
    exponent: i32,
}

impl Dyadic {
    pub(super) fn of(exact: &Exact) -> Self {
        let sign = if exact.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        Self {
            significand: BigInt::from_biguint(sign, BigUint::from(exact.magnitude)),
            exponent: exact.exponent,
        }
    }

    pub(super) fn zero() -> Self {
        Self {
            significand: BigInt::ZERO,
            exponent: 0,
        }
    }

    pub(crate) fn power_of_two(exponent: i32) -> Self {
        Self {
            significand: BigInt::from(1),
            exponent,
        }
    }

    /// The product.
    pub(super) fn times(&self, other: &Self) -> Self {
        Self {
            significand: &self.significand * &other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.significand << (x.exponent - exponent);
        Self {
            significand: at(self) + at(other),
            exponent,
        }
    }

    /// The magnitude.
    pub(super) fn magnitude(&self) -> Self {
        Self {
            significand: BigInt::from(self.significand.magnitude().clone()),
            exponent: self.exponent,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.significand.sign() == Sign::NoSign
    }

    /// `|self − other|`.
    pub(super) fn distance(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.significand << (x.exponent - exponent);
        let difference = at(self) - at(other);
        Self {
            significand: BigInt::from(difference.magnitude().clone()),
            exponent,
        }
    }

    /// Whether it is less than another.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| &x.significand << (x.exponent - exponent);
        at(self) < at(other)
    }

    /// Exponent of the highest bit; `None` for 0.
    fn binade(&self) -> Option<i64> {
        let bits = i64::try_from(self.significand.bits()).ok()?;
        (bits > 0).then(|| bits - 1 + i64::from(self.exponent))
    }

    /// The unit in the last place of a float format at this value: that of the subnormals below
    /// its range, that of the largest binade above it.
    pub(super) fn unit_in_last_place(&self, format: &Format) -> Self {
        let Some(float) = format.float() else {
            return Self::power_of_two(0);
        };
        let emin = i64::from(float.emin());
        let largest = format.decode(format.max_finite(false));
        let emax = i64::from(largest.exponent);
        let binade = self.binade().unwrap_or(emin).clamp(emin, emax.max(emin));
        Self::power_of_two(binade as i32 - float.fraction_bits as i32)
    }

    /// `|self| / |other|` as the nearest f64; ∞ beyond its range, NaN for a division by 0.
    pub(super) fn ratio(&self, other: &Self) -> f64 {
        let (above, below) = (self.significand.magnitude(), other.significand.magnitude());
        if other.is_zero() {
            return f64::NAN;
        }
        // A quotient of at least 66 bits and a sticky bit round like the exact quotient.
        let width = (below.bits() + 66).saturating_sub(above.bits());
        let above = above << width;
        let quotient = &above / below;
        let remains = (&quotient * below).cmp(&above) != Ordering::Equal;
        // The quotient may be long where |self| is far larger: its lower bits become sticky too.
        let excess = quotient.bits().saturating_sub(100);
        let kept = &quotient >> excess;
        let dropped = (&kept << excess).cmp(&quotient) != Ordering::Equal;
        let magnitude = kept
            .iter_u64_digits()
            .rev()
            .fold(0_u128, |sum, digit| sum << 64 | u128::from(digit));
        let exponent =
            i64::from(self.exponent) - i64::from(other.exponent) + excess as i64 - width as i64;
        let exact = Exact {
            negative: false,
            magnitude,
            exponent: exponent as i32,
            sticky: remains || dropped,
        };
        f64::from_bits(F64.round(&exact, Rounding::Rne, Overflow::Ieee))
    }
}
