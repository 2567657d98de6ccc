//! Writes exact numbers as hexadecimal floats, decimals and JSON.

use std::fmt;

use num_bigint::BigInt;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Dyadic;

/// Longest exact decimal, without its sign, that [`Dyadic`] is shown as; others are hex floats.
const SHORT: usize = 12;
/// Significant digits of an approximate decimal.
const DIGITS: usize = 6;

impl Dyadic {
    /// As a hexadecimal float, exact: `-0x1.8p-3`.
    #[must_use]
    pub fn hex(&self) -> String {
        let Some(top) = self.top() else {
            return "0x0p0".to_owned();
        };
        let sign = if self.is_negative() { "-" } else { "" };
        let fraction_bits = self.significand().bits() - 1;
        let padding = fraction_bits.wrapping_neg() % 4;
        if fraction_bits == 0 {
            return format!("{sign}0x1p{top}");
        }
        let mut fraction = self.significand().magnitude().clone();
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
        if self.exponent() < -far || self.top().is_some_and(|top| top > far) {
            return None;
        }
        let sign = if self.is_negative() { "-" } else { "" };
        let magnitude = BigInt::from(self.significand().magnitude().clone());
        let text = if self.exponent() >= 0 {
            (magnitude << self.exponent()).to_string()
        } else {
            let places = -self.exponent() as usize;
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
        let mut over = BigInt::from(self.significand().magnitude().clone());
        let mut under = BigInt::from(1);
        let power = ten.pow(shift.unsigned_abs() as u32);
        if shift >= 0 {
            over *= power;
        } else {
            under *= power;
        }
        if self.exponent() >= 0 {
            over <<= self.exponent();
        } else {
            under <<= -self.exponent();
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
        map.serialize_entry("significand", &self.significand().to_string())?;
        map.serialize_entry("exponent", &self.exponent())?;
        map.serialize_entry("hex", &self.hex())?;
        map.serialize_entry("decimal", &self.decimal())?;
        map.end()
    }
}
