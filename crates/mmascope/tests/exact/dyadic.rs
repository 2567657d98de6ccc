//! Exact numbers m·2^e for oracles, and their rounding to a grid 2^n: written apart from the library's.
#![allow(dead_code)] // each test takes its own part of it

use std::cmp::Ordering;

use mmascope::format::Rounding;
use num_bigint::BigInt;

use super::integer::{Fraction, Integer};

/// `significand · 2^exponent`. Not normalised; zero has any exponent.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    significand: Integer,
    exponent: i64,
}

impl Dyadic {
    pub(crate) fn new(significand: impl Into<Integer>, exponent: impl Into<i64>) -> Self {
        Self {
            significand: significand.into(),
            exponent: exponent.into(),
        }
    }

    /// 2^n.
    pub(crate) fn power(n: impl Into<i64>) -> Self {
        Self::new(1_i128, n)
    }

    pub(crate) fn zero() -> Self {
        Self {
            significand: Integer::zero(),
            exponent: 0,
        }
    }

    pub(crate) fn sign(&self) -> Ordering {
        self.significand.sign()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.sign() == Ordering::Equal
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.sign() == Ordering::Less
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        Self {
            significand: self.significand.multiply(&other.significand),
            exponent: self.exponent + other.exponent,
        }
    }

    pub(crate) fn negate(&self) -> Self {
        Self {
            significand: self.significand.negate(),
            exponent: self.exponent,
        }
    }

    pub(crate) fn magnitude(&self) -> Self {
        if self.is_negative() {
            self.negate()
        } else {
            self.clone()
        }
    }

    /// The integers n and m with `self = n·2^e`, `other = m·2^e` for one e, which is returned too.
    fn on_one_grid(&self, other: &Self) -> (Integer, Integer, i64) {
        let exponent = self.exponent.min(other.exponent);
        let at = |x: &Self| x.significand.double(distance(x.exponent, exponent));
        (at(self), at(other), exponent)
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let (n, m, exponent) = self.on_one_grid(other);
        Self::new(n.add(&m), exponent)
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        self.add(&other.negate())
    }

    pub(crate) fn times_power_of_two(&self, n: impl Into<i64>) -> Self {
        Self {
            significand: self.significand.clone(),
            exponent: self.exponent + n.into(),
        }
    }

    /// The integer `self / unit` for a unit that is not 0.
    ///
    /// # Panics
    /// When it is none.
    pub(crate) fn divided_by(&self, unit: &Self) -> Integer {
        let (n, unit, _) = self.on_one_grid(unit);
        let (n, unit) = (n.big(), unit.big());
        let quotient = &n / &unit;
        assert_eq!(&quotient * unit, n, "not a multiple");
        quotient.into()
    }

    /// The number as n·2^e with n odd; 0·2^0 for zero.
    pub(crate) fn odd_part(&self) -> (BigInt, i64) {
        let n = self.significand.big();
        let zeros = n.trailing_zeros();
        zeros.map_or((BigInt::ZERO, 0), |zeros| {
            (n >> zeros, self.exponent + zeros as i64)
        })
    }

    /// The same number in as few bits as it takes.
    pub(crate) fn reduced(&self) -> Self {
        let (n, exponent) = self.odd_part();
        Self::new(n, exponent)
    }

    /// The exponent of the leading bit; `None` for zero.
    fn leading(&self) -> Option<i64> {
        (!self.is_zero()).then(|| i64::from(self.significand.length()) - 1 + self.exponent)
    }

    /// The exponent n of the normalised value: 2^n ≤ |x| < 2^(n+1).
    ///
    /// # Panics
    /// For zero.
    pub(crate) fn logarithm(&self) -> i32 {
        let leading = self.leading().expect("zero has no leading bit");
        i32::try_from(leading).expect("an exponent of a format")
    }

    /// The largest multiple of 2^grid not above the value, in units of 2^grid, and what is left.
    pub(crate) fn floor_in(&self, grid: i32) -> (Integer, Fraction) {
        let grid = i64::from(grid);
        if self.exponent >= grid {
            (
                self.significand.double(distance(self.exponent, grid)),
                Fraction::Zero,
            )
        } else {
            self.significand.halve(distance(grid, self.exponent))
        }
    }

    /// Rounds to a multiple of 2^grid: the floor or the multiple above it, as the mode says.
    pub(crate) fn to_grid(&self, grid: i32, rounding: Rounding) -> Self {
        let (floor, fraction) = self.floor_in(grid);
        let negative = self.is_negative();
        let odd_floor = floor.is_odd();
        let up = fraction != Fraction::Zero
            && match rounding {
                Rounding::Rd => false,
                Rounding::Ru => true,
                Rounding::Rz => negative,
                Rounding::Ra => !negative,
                Rounding::Odd => !odd_floor,
                nearest => match fraction {
                    Fraction::BelowHalf | Fraction::Zero => false,
                    Fraction::AboveHalf => true,
                    Fraction::Half => match nearest {
                        Rounding::Rne => odd_floor,
                        Rounding::Rno => !odd_floor,
                        Rounding::Rna => !negative,
                        Rounding::Rnz => negative,
                        Rounding::Rnu => true,
                        Rounding::Rnd => false,
                        other => panic!("no tie rule for {other:?}"),
                    },
                },
            };
        let significand = if up {
            floor.add(&Integer::Small(1))
        } else {
            floor
        };
        Self::new(significand, grid)
    }
}

/// How far one exponent is above another.
fn distance(high: i64, low: i64) -> u32 {
    u32::try_from(high - low).expect("a number that can be written out")
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        // Comparing signs and leading bits first keeps 2^(2^31) from being written out.
        let signs = self.sign().cmp(&other.sign());
        let tops = match self.sign() {
            Ordering::Less => other.leading().cmp(&self.leading()),
            _ => self.leading().cmp(&other.leading()),
        };
        let order = signs.then(tops);
        if order.is_ne() || self.is_zero() {
            return order;
        }
        self.subtract(other).sign()
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Dyadic {}
