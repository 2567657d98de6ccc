//! Exact numbers m·2^e, and their rounding to a grid 2^n.

use std::cmp::Ordering;

use mmascope::format::Rounding;

use super::integer::{Fraction, Integer};

/// `mantissa · 2^exponent`. Not normalised; zero has any exponent.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    mantissa: Integer,
    exponent: i32,
}

impl Dyadic {
    pub(crate) fn new(mantissa: i128, exponent: i32) -> Self {
        Self {
            mantissa: Integer::Small(mantissa),
            exponent,
        }
    }

    pub(crate) fn zero() -> Self {
        Self {
            mantissa: Integer::zero(),
            exponent: 0,
        }
    }

    pub(crate) fn sign(&self) -> Ordering {
        self.mantissa.sign()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.sign() == Ordering::Equal
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.sign() == Ordering::Less
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        Self {
            mantissa: self.mantissa.multiply(&other.mantissa),
            exponent: self.exponent + other.exponent,
        }
    }

    pub(crate) fn negate(&self) -> Self {
        Self {
            mantissa: self.mantissa.negate(),
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

    pub(crate) fn add(&self, other: &Self) -> Self {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        let at = |term: &Self| term.mantissa.double((term.exponent - exponent) as u32);
        Self {
            mantissa: at(self).add(&at(other)),
            exponent,
        }
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        self.add(&other.negate())
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        self.subtract(other).sign()
    }

    /// The exponent n of the normalised value: 2^n ≤ |x| < 2^(n+1). Not for zero.
    pub(crate) fn logarithm(&self) -> i32 {
        self.mantissa.length() as i32 - 1 + self.exponent
    }

    /// The largest multiple of 2^grid not above the value, in units of 2^grid, and what is left.
    pub(crate) fn floor_in(&self, grid: i32) -> (Integer, Fraction) {
        if self.exponent >= grid {
            (
                self.mantissa.double((self.exponent - grid) as u32),
                Fraction::Zero,
            )
        } else {
            self.mantissa.halve((grid - self.exponent) as u32)
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
        let mantissa = if up {
            floor.add(&Integer::Small(1))
        } else {
            floor
        };
        Self {
            mantissa,
            exponent: grid,
        }
    }
}
