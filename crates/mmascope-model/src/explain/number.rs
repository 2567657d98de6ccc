//! Reads numbers as people write them: `-8192`, `1.5*2^-3`, `0x1.8p-3`, `1e-3`, `inf`, `0x3c00`.

use num_bigint::BigUint;

use super::value::TracedValue;
use crate::error::{Error, Result};
use crate::exact::{Dyadic, Exact, Rounding};
use crate::format::{Class, Format, Overflow};

/// Largest power of two, and of ten, that may be written.
const MAX_EXPONENT: i64 = 5000;

/// A number as written: `(−1)^negative · over / under`.
struct Number {
    negative: bool,
    over: BigUint,
    under: BigUint,
}

/// Reads one element of a format: a register word `0x3c00` or a value, which must be exactly
/// representable unless `round` allows rounding to nearest even. `name` is for messages.
pub(crate) fn word(name: &str, text: &str, format: &Format, round: bool) -> Result<u64> {
    let lower = text.trim().to_lowercase();
    let wrong = |why: &str| {
        Error::Argument(format!(
            "{name} = '{text}': {why}; expected a decimal (-0.5, 1e-3), a power of two (-2^13, \
             1.5*2^-3), a hexadecimal float (0x1.8p-3), inf, nan or a word (0x3c00)"
        ))
    };
    if let Some(digits) = lower.strip_prefix("0x")
        && !lower.contains(['p', '.'])
    {
        return register_word(name, digits, format);
    }
    let (negative, magnitude) = match lower.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    let code = match magnitude {
        "nan" => format.nan().map(|code| {
            let other = code | 1 << (format.bits - 1);
            match negative && format.signed && format.decode(other).class == Class::Nan {
                true => other,
                false => code,
            }
        }),
        "inf" | "infinity" => {
            let code = format.infinity(negative, Overflow::Infinity);
            let is_infinite = matches!(
                TracedValue::of(&format.decode(code)),
                TracedValue::Infinite { .. }
            );
            is_infinite.then_some(code)
        }
        _ => {
            let number = number(negative, magnitude).map_err(|why| wrong(&why))?;
            return rounded(name, text, &number, format, round);
        }
    };
    let code =
        code.ok_or_else(|| Error::Argument(format!("{name} = {text}: {format} has none")))?;
    Ok(format.to_register(code))
}

/// A word of hexadecimal digits as registers hold it.
pub(super) fn register_word(name: &str, digits: &str, format: &Format) -> Result<u64> {
    let fits = (1..=format.digits()).contains(&digits.len());
    let word = u64::from_str_radix(digits, 16).ok().filter(|_| fits);
    let Some(word) = word else {
        return Err(Error::Argument(format!(
            "{name} = 0x{digits}: a word of {format} has at most {} hexadecimal digits",
            format.digits()
        )));
    };
    if format.register.shift == 0 && format.signed && word > format.mask() {
        return Err(Error::Argument(format!(
            "{name} = 0x{digits} does not fit the {} bits of {format}",
            format.bits
        )));
    }
    Ok(word)
}

/// A value carried to another format, exactly or rounded to nearest even.
pub(super) fn converted(
    name: &str,
    value: &TracedValue,
    format: &Format,
    round: bool,
) -> Result<u64> {
    let number = match value {
        TracedValue::Finite(number) => number,
        TracedValue::Zero { negative } => return Ok(format.to_register(format.zero(*negative))),
        special => return word(name, &special.to_string(), format, round),
    };
    let magnitude = number.significand().magnitude().clone();
    let shift = number.exponent();
    let number = Number {
        negative: number.is_negative(),
        over: magnitude << shift.max(0),
        under: BigUint::from(1_u8) << (-shift).max(0),
    };
    rounded(name, &value.to_string(), &number, format, round)
}

/// `1.5*2^-3`: factors, each a decimal, a hexadecimal float or a power of two.
fn number(negative: bool, text: &str) -> std::result::Result<Number, String> {
    let mut product = Number {
        negative,
        over: BigUint::from(1_u8),
        under: BigUint::from(1_u8),
    };
    let none = |factor: &str| format!("'{factor}' is no number");
    for factor in text.split('*') {
        let factor = factor.trim();
        if let Some(exponent) = factor.strip_prefix("2^") {
            product.raise(2, exponent)?;
        } else if let Some(hex) = factor.strip_prefix("0x") {
            let (digits, exponent) = hex.split_once('p').unwrap_or((hex, "0"));
            let places = product.digits(digits, 16).ok_or_else(|| none(factor))?;
            product.raise(2, exponent)?;
            product.under <<= 4 * places;
        } else {
            let (digits, exponent) = factor.split_once('e').unwrap_or((factor, "0"));
            let places = product.digits(digits, 10).ok_or_else(|| none(factor))?;
            product.raise(10, exponent)?;
            product.under *= BigUint::from(10_u8).pow(places as u32);
        }
    }
    Ok(product)
}

impl Number {
    /// Multiplies by digits as if they had no point; gives the number of digits behind the point,
    /// `None` when the text is no number.
    fn digits(&mut self, text: &str, radix: u32) -> Option<usize> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        let is_number = !digits.is_empty()
            && digits.len() <= MAX_EXPONENT as usize
            && digits.chars().all(|digit| digit.is_digit(radix));
        let number = BigUint::parse_bytes(digits.as_bytes(), radix).filter(|_| is_number)?;
        self.over *= number;
        Some(fraction.len())
    }

    fn raise(&mut self, base: u8, exponent: &str) -> std::result::Result<(), String> {
        let power = match exponent.parse::<i64>() {
            Ok(power) if power.abs() <= MAX_EXPONENT => power,
            _ => {
                return Err(format!(
                    "the exponent '{exponent}' is no whole number of this size"
                ));
            }
        };
        let factor = BigUint::from(base).pow(power.unsigned_abs() as u32);
        if power >= 0 {
            self.over *= factor;
        } else {
            self.under *= factor;
        }
        Ok(())
    }
}

/// The register word of the nearest number of the format; an error when that is another number
/// and `round` is not set, or when the number is too large.
fn rounded(name: &str, text: &str, number: &Number, format: &Format, round: bool) -> Result<u64> {
    let whole = |number: &BigUint| Dyadic::new(number.clone().into(), 0);
    let quotient = whole(&number.over).quotient(&whole(&number.under));
    let exact = Exact {
        negative: number.negative,
        ..quotient.unwrap_or(Exact::new(false, 0, 0))
    };
    let code = format.round(&exact, Rounding::Rne, Overflow::Infinity);
    let nearest = TracedValue::of(&format.decode(code));
    let written = Dyadic::of(&Exact {
        sticky: false,
        ..exact
    });
    let is_exact = !exact.sticky && nearest.number().is_some_and(|nearest| nearest == written);
    let largest = TracedValue::of(&format.decode(format.max_finite(number.negative)));
    // A format without ∞ and NaN rounds everything beyond its largest number to that one.
    let saturates = format.nan().is_none() && nearest == largest && {
        let over = largest.number().map(|largest| &written - &largest);
        let over =
            over.is_some_and(|over| !over.is_zero() && over.is_negative() == number.negative);
        over || exact.sticky && nearest.number().is_some_and(|nearest| nearest == written)
    };
    if nearest.is_special() || saturates {
        return Err(Error::Argument(format!(
            "{name} = {text} is beyond the largest {format}, {largest}"
        )));
    }
    if is_exact || round {
        return Ok(format.to_register(code));
    }
    Err(Error::Argument(format!(
        "{name} = {text} is no {format}: the nearest is {nearest}; rounding takes that"
    )))
}
