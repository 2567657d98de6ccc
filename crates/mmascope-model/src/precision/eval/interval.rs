//! Intervals of exact binary numbers: what a function's value is known to lie in.

use num_bigint::{BigInt, Sign};

use crate::format::{Exact, Format, Overflow, Rounding};

/// `[low, high] · 2^scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) low: BigInt,
    pub(super) high: BigInt,
    pub(super) scale: i64,
}

impl Interval {
    /// One exact number.
    pub(super) fn point(value: &Exact) -> Self {
        let magnitude = BigInt::from(value.magnitude);
        let number = if value.negative {
            -magnitude
        } else {
            magnitude
        };
        Self {
            low: number.clone(),
            high: number,
            scale: value.exponent.into(),
        }
    }

    /// An integer times a power of two.
    pub(super) fn of(number: BigInt, scale: i64) -> Self {
        Self {
            low: number.clone(),
            high: number,
            scale,
        }
    }

    /// The same numbers at a smaller scale, or the numbers rounded outward at a larger one.
    pub(super) fn at(&self, scale: i64) -> Self {
        let shift = self.scale - scale;
        let (low, high) = if shift >= 0 {
            (&self.low << shift as u64, &self.high << shift as u64)
        } else {
            let down = shift.unsigned_abs();
            (&self.low >> down, -((-&self.high) >> down))
        };
        Self { low, high, scale }
    }

    /// The numbers between the multiples of `2^place` that enclose these.
    pub(super) fn to_grid(&self, place: i64) -> Self {
        match self.scale < place {
            true => self.at(place),
            false => self.clone(),
        }
    }

    pub(super) fn negated(&self) -> Self {
        Self {
            low: -&self.high,
            high: -&self.low,
            scale: self.scale,
        }
    }

    /// Widened on both sides by an interval's upper end.
    pub(super) fn widened(&self, by: &Self) -> Self {
        let scale = self.scale.min(by.scale);
        let (value, by) = (self.at(scale), by.at(scale));
        Self {
            low: value.low - &by.high,
            high: value.high + by.high,
            scale,
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let scale = self.scale.min(other.scale);
        let (x, y) = (self.at(scale), other.at(scale));
        Self {
            low: x.low + y.low,
            high: x.high + y.high,
            scale,
        }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let products = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let scale = self.scale + other.scale;
        let low = products.iter().min().cloned().unwrap_or_default();
        let high = products.iter().max().cloned().unwrap_or_default();
        Self { low, high, scale }
    }

    /// The quotient at a scale, for a divisor that does not hold 0.
    pub(super) fn over(&self, divisor: &Self, scale: i64) -> Self {
        let quotient = |x: &BigInt, y: &BigInt, up: bool| -> BigInt {
            let shift = self.scale - divisor.scale - scale;
            let (x, y) = if shift >= 0 {
                (x << shift as u64, y.clone())
            } else {
                (x.clone(), y << shift.unsigned_abs())
            };
            let (whole, rest) = (&x / &y, &x % &y);
            if rest.sign() == Sign::NoSign {
                return whole;
            }
            let positive = (x.sign() == Sign::Minus) == (y.sign() == Sign::Minus);
            match (positive, up) {
                (true, true) => whole + 1,
                (false, false) => whole - 1,
                _ => whole,
            }
        };
        let pairs = [
            (&self.low, &divisor.low),
            (&self.low, &divisor.high),
            (&self.high, &divisor.low),
            (&self.high, &divisor.high),
        ];
        let low = pairs
            .iter()
            .map(|(x, y)| quotient(x, y, false))
            .min()
            .unwrap_or_default();
        let high = pairs
            .iter()
            .map(|(x, y)| quotient(x, y, true))
            .max()
            .unwrap_or_default();
        Self { low, high, scale }
    }

    /// The smallest and the largest code of a format that the interval holds; the nearest codes outward where it
    /// holds none.
    pub(super) fn codes(&self, format: &Format) -> (u64, u64) {
        let low = code(&self.low, self.scale, format, Rounding::Ru);
        let high = code(&self.high, self.scale, format, Rounding::Rd);
        (low, high)
    }
}

/// The code of an integer times a power of two.
pub(super) fn code(number: &BigInt, scale: i64, format: &Format, rounding: Rounding) -> u64 {
    let cut = number.bits().saturating_sub(120);
    let magnitude = number.magnitude() >> cut;
    let sticky = (&magnitude << cut) != *number.magnitude();
    let exact = Exact {
        negative: number.sign() == Sign::Minus,
        magnitude: u128::try_from(magnitude).unwrap_or(0),
        exponent: (scale + cut as i64).clamp(-1_000_000, 1_000_000) as i32,
        sticky,
    };
    format.round(&exact, rounding, Overflow::Ieee)
}
