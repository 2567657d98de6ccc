//! Integers of any size: a machine word while it fits, a big integer otherwise.
//!
//! Every operation on the machine word is a checked one, so the value is always exact; the big
//! integer is what makes the oracle right, the machine word only what makes it fast.
#![allow(dead_code)] // each test takes its own part of it

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

#[derive(Clone, Debug)]
pub(crate) enum Integer {
    Small(i128),
    Big(Box<BigInt>),
}

impl From<i128> for Integer {
    fn from(value: i128) -> Self {
        Small(value)
    }
}

impl From<u128> for Integer {
    fn from(value: u128) -> Self {
        Self::shrink(value.into())
    }
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Self {
        Self::shrink(value)
    }
}

/// Where a number lies between its floor and the next integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fraction {
    Zero,
    BelowHalf,
    Half,
    AboveHalf,
}

use Integer::{Big, Small};

impl Integer {
    pub(crate) fn zero() -> Self {
        Small(0)
    }

    pub(crate) fn big(&self) -> BigInt {
        match self {
            Small(value) => BigInt::from(*value),
            Big(value) => (**value).clone(),
        }
    }

    /// Back to the machine word where it fits, so that sums of cancelling terms get fast again.
    fn shrink(value: BigInt) -> Self {
        i128::try_from(&value).map_or_else(|_| Big(Box::new(value.clone())), Small)
    }

    pub(crate) fn sign(&self) -> Ordering {
        match self {
            Small(value) => value.cmp(&0),
            Big(value) => (**value).cmp(&BigInt::ZERO),
        }
    }

    pub(crate) fn is_odd(&self) -> bool {
        match self {
            Small(value) => value % 2 != 0,
            Big(value) => value.bit(0),
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        if let (Small(left), Small(right)) = (self, other)
            && let Some(sum) = left.checked_add(*right)
        {
            return Small(sum);
        }
        Self::shrink(self.big() + other.big())
    }

    pub(crate) fn multiply(&self, other: &Self) -> Self {
        if let (Small(left), Small(right)) = (self, other)
            && let Some(product) = left.checked_mul(*right)
        {
            return Small(product);
        }
        Self::shrink(self.big() * other.big())
    }

    pub(crate) fn negate(&self) -> Self {
        Small(-1).multiply(self)
    }

    /// Multiplies by 2^n.
    pub(crate) fn double(&self, n: u32) -> Self {
        if let Small(value) = self
            && (n < 126 || *value == 0)
            && let Some(product) = value.checked_mul(1_i128.checked_shl(n).unwrap_or(1))
        {
            return Small(product);
        }
        Self::shrink(self.big() << n)
    }

    /// Bits of the magnitude; 0 for zero.
    pub(crate) fn length(&self) -> u32 {
        match self {
            Small(value) => 128 - value.unsigned_abs().leading_zeros(),
            Big(value) => value.bits() as u32,
        }
    }

    /// Divides by 2^n: the floor, and where the exact quotient lies above it.
    pub(crate) fn halve(&self, n: u32) -> (Self, Fraction) {
        if let Small(value) = self
            && n < 126
        {
            let divisor = 1_i128 << n;
            let remainder = value.rem_euclid(divisor);
            let place = place(remainder.cmp(&0), remainder.cmp(&(divisor - remainder)));
            return (Small(value.div_euclid(divisor)), place);
        }
        if let Small(value) = self
            && n > 128
        {
            // Less than half the divisor away from zero.
            return match value.cmp(&0) {
                Ordering::Less => (Small(-1), Fraction::AboveHalf),
                Ordering::Equal => (Small(0), Fraction::Zero),
                Ordering::Greater => (Small(0), Fraction::BelowHalf),
            };
        }
        let value = self.big();
        let divisor = BigInt::from(1) << n;
        let (mut quotient, mut remainder) = (&value / &divisor, &value % &divisor);
        if remainder.sign() == Sign::Minus {
            quotient -= 1;
            remainder += &divisor;
        }
        let place = place(
            remainder.cmp(&BigInt::ZERO),
            remainder.cmp(&(divisor - &remainder)),
        );
        (Self::shrink(quotient), place)
    }
}

/// From the remainder against zero, and against its distance to the divisor.
fn place(against_zero: Ordering, against_rest: Ordering) -> Fraction {
    match (against_zero, against_rest) {
        (Ordering::Equal, _) => Fraction::Zero,
        (_, Ordering::Less) => Fraction::BelowHalf,
        (_, Ordering::Equal) => Fraction::Half,
        (_, Ordering::Greater) => Fraction::AboveHalf,
    }
}
