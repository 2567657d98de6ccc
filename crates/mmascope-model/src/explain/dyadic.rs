//! Exact numbers: an integer of any size times a power of two.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, BigUint, Sign};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::format::{Exact, Format, Rounding};

/// `significand · 2^exponent`; the significand is odd, or the number is 0 with exponent 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dyadic {
    significand: BigInt,
    exponent: i64,
}

/// Longest exact decimal, without its sign, that [`Dyadic`] is shown as; others are hex floats.
const SHORT: usize = 12;
/// Significant digits of an approximate decimal.
const DIGITS: usize = 6;
/// How many discarded bits a rounding decision looks at one by one; the rest is sticky.
const WINDOW: u64 = 120;

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

    /// An exact value of the formats; its sticky part must be empty.
    #[must_use]
    pub fn of(exact: &Exact) -> Self {
        let magnitude = BigInt::from(exact.magnitude);
        let significand = if exact.negative {
            -magnitude
        } else {
            magnitude
        };
        Self::new(significand, exact.exponent.into())
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

    /// The register word of the nearest number of a format, ties to even; `None` beyond its largest.
    #[must_use]
    pub fn nearest(&self, format: &Format) -> Option<u64> {
        let value = super::Value::of_number(self);
        super::number::converted("", &value, format, true).ok()
    }

    /// As a hexadecimal float, exact: `-0x1.8p-3`.
    #[must_use]
    pub fn hex(&self) -> String {
        let Some(top) = self.top() else {
            return "0x0p0".to_owned();
        };
        let sign = if self.is_negative() { "-" } else { "" };
        let fraction_bits = self.significand.bits() - 1;
        let padding = fraction_bits.wrapping_neg() % 4;
        if fraction_bits == 0 {
            return format!("{sign}0x1p{top}");
        }
        let mut fraction = self.significand.magnitude().clone();
        fraction.set_bit(fraction_bits, false);
        let fraction = fraction << padding;
        let digits = ((fraction_bits + padding) / 4) as usize;
        let fraction = fraction.to_str_radix(16);
        format!("{sign}0x1.{fraction:0>digits$}p{top}")
    }

    /// As a decimal, exact, when that is short.
    #[must_use]
    pub fn short_decimal(&self) -> Option<String> {
        let far = 4 * SHORT as i64;
        if self.exponent < -far || self.top().is_some_and(|top| top > far) {
            return None;
        }
        let sign = if self.is_negative() { "-" } else { "" };
        let magnitude = BigInt::from(self.significand.magnitude().clone());
        let text = if self.exponent >= 0 {
            (magnitude << self.exponent).to_string()
        } else {
            let places = -self.exponent as usize;
            let digits = (magnitude * BigInt::from(5).pow(places as u32)).to_string();
            let digits = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            format!("{whole}.{fraction}")
        };
        (text.len() <= SHORT).then(|| format!("{sign}{text}"))
    }

    /// As a decimal of a few significant digits, rounded, for people: `-1.23457e-30`.
    #[must_use]
    pub fn decimal(&self) -> String {
        self.decimal_of(DIGITS)
    }

    /// As a decimal of at most this many significant digits, rounded, when the exact one is long.
    #[must_use]
    pub fn decimal_of(&self, digits: usize) -> String {
        if let Some(text) = self.short_decimal() {
            return text;
        }
        let (figures, exponent) = self.significant(digits);
        let figures = figures.trim_end_matches('0');
        let sign = if self.is_negative() { "-" } else { "" };
        let whole = usize::try_from(exponent + 1).unwrap_or(0);
        match exponent {
            -5..=-1 => {
                let zeros = "0".repeat((-1 - exponent) as usize);
                format!("{sign}0.{zeros}{figures}")
            }
            0.. if whole < figures.len() => {
                format!("{sign}{}.{}", &figures[..whole], &figures[whole..])
            }
            0.. if whole <= digits => format!("{sign}{figures:0<whole$}"),
            _ => {
                let (first, rest) = figures.split_at(1);
                let point = if rest.is_empty() { "" } else { "." };
                format!("{sign}{first}{point}{rest}e{exponent}")
            }
        }
    }

    /// So many significant decimal digits of the magnitude, rounded, and the power of ten of the
    /// first one.
    fn significant(&self, digits: usize) -> (String, i64) {
        // 2^top has about top·log10(2) digits before the point; one digit more is in reserve.
        let top = self.top().unwrap_or(0);
        let shift = digits as i64 + 1 - (top * 30_103).div_euclid(100_000);
        let ten = BigInt::from(10);
        let mut over = BigInt::from(self.significand.magnitude().clone());
        let mut under = BigInt::from(1);
        let power = ten.pow(shift.unsigned_abs() as u32);
        if shift >= 0 {
            over *= power;
        } else {
            under *= power;
        }
        if self.exponent >= 0 {
            over <<= self.exponent;
        } else {
            under <<= -self.exponent;
        }
        let whole = over / under;
        let drop = whole.to_string().len().saturating_sub(digits);
        let unit = ten.pow(drop as u32);
        let half: BigInt = &unit / 2;
        let rounded = ((whole + half) / unit).to_string();
        let exponent = (rounded.len() + drop) as i64 - 1 - shift;
        (rounded, exponent)
    }
}

/// The number exactly: a decimal when it is short, a hexadecimal float otherwise.
impl fmt::Display for Dyadic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.short_decimal().unwrap_or_else(|| self.hex()))
    }
}

impl Serialize for Dyadic {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("significand", &self.significand.to_string())?;
        map.serialize_entry("exponent", &self.exponent)?;
        map.serialize_entry("hex", &self.hex())?;
        map.serialize_entry("decimal", &self.decimal())?;
        map.end()
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
