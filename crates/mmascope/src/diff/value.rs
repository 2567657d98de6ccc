//! Exact values: carried from one format to another, compared, and written for people.

use crate::format::{Class, Exact, Format, Overflow, Rounding, Unpacked};

/// ±significand·2^exponent with an odd significand, or 0·2^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) significand: u64,
    pub(super) exponent: i32,
}

impl Number {
    /// The number of a finite code.
    pub(super) fn of(value: &Unpacked) -> Option<Self> {
        let Exact {
            negative, exponent, ..
        } = value.exact()?;
        let zeros = value.significand.trailing_zeros();
        Some(if value.significand == 0 {
            Self {
                negative,
                significand: 0,
                exponent: 0,
            }
        } else {
            Self {
                negative,
                significand: value.significand >> zeros,
                exponent: exponent + zeros as i32,
            }
        })
    }

    /// 2^0.
    pub(super) const ONE: Self = Self {
        negative: false,
        significand: 1,
        exponent: 0,
    };

    /// The exponent of the leading bit.
    pub(super) fn top(&self) -> i32 {
        self.exponent + self.significand.checked_ilog2().unwrap_or(0) as i32
    }

    /// The word of exactly this number, if the format has it.
    pub(super) fn word(&self, format: &Format) -> Option<u64> {
        let exact = Exact {
            negative: self.negative,
            magnitude: u128::from(self.significand),
            exponent: self.exponent,
            sticky: false,
        };
        let code = format.round(&exact, Rounding::Rz, Overflow::Saturate);
        let back = Self::of(&format.decode(code))?;
        (back == *self).then(|| format.to_register(code))
    }
}

/// An exact value with room for products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide(Exact);

impl Number {
    pub(super) fn wide(self) -> Wide {
        Wide(Exact {
            negative: self.negative,
            magnitude: u128::from(self.significand),
            exponent: self.exponent,
            sticky: false,
        })
    }
}

impl Wide {
    /// The product; `None` beyond 128 bits.
    pub(super) fn times(self, other: Number) -> Option<Self> {
        let magnitude = self
            .0
            .magnitude
            .checked_mul(u128::from(other.significand))?;
        Some(Self(Exact {
            negative: self.0.negative != other.negative,
            magnitude,
            exponent: self.0.exponent + other.exponent,
            sticky: false,
        }))
    }

    /// The sum; `None` beyond 126 bits.
    pub(super) fn plus(self, other: Self) -> Option<Exact> {
        let exponent = self.0.exponent.min(other.0.exponent);
        let aligned = |value: Exact| {
            let shift = u32::try_from(value.exponent - exponent).ok()?;
            let fits =
                value.magnitude == 0 || value.magnitude.leading_zeros() > shift.checked_add(2)?;
            let magnitude = if value.magnitude == 0 {
                0
            } else {
                value.magnitude << shift.min(127)
            };
            let magnitude = i128::try_from(magnitude).ok()?;
            fits.then_some(if value.negative {
                -magnitude
            } else {
                magnitude
            })
        };
        let sum = aligned(self.0)? + aligned(other.0)?;
        Some(Exact {
            negative: sum < 0,
            magnitude: sum.unsigned_abs(),
            exponent,
            sticky: false,
        })
    }
}

/// Decodes a register word.
pub(super) fn decode(word: u64, format: &Format) -> Unpacked {
    format.decode(format.from_register(word))
}

/// The word of the same value in another format; `None` when that has no such value. A NaN becomes
/// the default NaN.
pub(super) fn translate(word: u64, from: &Format, to: &Format) -> Option<u64> {
    if from == to {
        return Some(word);
    }
    let value = decode(word, from);
    match value.class {
        Class::Nan => Some(to.to_register(to.nan()?)),
        Class::Infinite => {
            let code = to.infinity(value.negative, Overflow::Infinity);
            (to.decode(code).class == Class::Infinite).then(|| to.to_register(code))
        }
        Class::Zero | Class::Finite => Number::of(&value)?.word(to),
    }
}

/// How far a number can be written out in decimal digits.
const LONGEST_DECIMAL: usize = 12;

/// A value for people: exact; decimal where that is short, `0x1.8p-146` otherwise.
pub(super) fn text(word: u64, format: &Format) -> String {
    let value = decode(word, format);
    let sign = if value.negative { "-" } else { "" };
    let Some(number) = Number::of(&value) else {
        return match value.class {
            Class::Nan => "NaN".to_owned(),
            _ => format!("{sign}∞"),
        };
    };
    let magnitude = decimal(&number).unwrap_or_else(|| hexadecimal(&number));
    format!("{sign}{magnitude}")
}

fn decimal(number: &Number) -> Option<String> {
    let significand = u128::from(number.significand);
    if number.exponent >= 0 {
        let shift = u32::try_from(number.exponent).ok()?;
        let whole = (shift < 64).then(|| significand << shift)?.to_string();
        return (whole.len() <= LONGEST_DECIMAL).then_some(whole);
    }
    // s·2^-n = s·5^n / 10^n.
    let places = number.exponent.unsigned_abs();
    let scaled = significand.checked_mul(5_u128.checked_pow(places)?)?;
    let digits = format!("{scaled:0width$}", width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    (digits.len() <= LONGEST_DECIMAL).then(|| format!("{whole}.{fraction}"))
}

fn hexadecimal(number: &Number) -> String {
    if number.significand == 0 {
        return "0".to_owned();
    }
    let top = number.top();
    // The bits below the leading one, left-aligned in 64.
    let below = (u128::from(number.significand) << (64 - (top - number.exponent))) as u64;
    let digits = format!("{below:016x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x1{point}{digits}p{top:+}")
}

#[cfg(test)]
mod tests {
    use super::{text, translate};
    use crate::format::{BF16, E4M3FN, E4M3FNUZ, F16, F32, F64, TF32};

    #[test]
    fn values_are_written_exactly() {
        for (word, wanted) in [
            (0x0000_0000, "0"),
            (0x8000_0000, "-0"),
            (0xbf60_0000, "-0.875"),
            (0x4b00_0000, "8388608"),
            (0x7f80_0000, "∞"),
            (0xff80_0000, "-∞"),
            (0x7fff_ffff, "NaN"),
            (0x0000_0001, "0x1p-149"),
            (0x3f80_0001, "0x1.000002p+0"),
            (0xff7f_ffff, "-0x1.fffffep+127"),
            (0x3dcc_cccd, "0x1.99999ap-4"),
        ] {
            assert_eq!(text(word, &F32), wanted);
        }
        assert_eq!(text(0x7fef_ffff_ffff_ffff, &F64), "0x1.fffffffffffffp+1023");
    }

    #[test]
    fn words_travel_when_the_value_does() {
        assert_eq!(translate(0x3c00, &F16, &F32), Some(0x3f80_0000));
        assert_eq!(translate(0x0001, &F16, &BF16), Some(0x3380));
        assert_eq!(translate(0x0001, &BF16, &F16), None); // too small
        assert_eq!(translate(0x3c01, &F16, &BF16), None); // too long
        assert_eq!(translate(0x3f80_1fff, &TF32, &F32), Some(0x3f80_0000)); // ignored bits
        assert_eq!(translate(0x3f80_1000, &F32, &TF32), None);
        assert_eq!(translate(0x7c00, &F16, &E4M3FN), None); // no ∞ there
        assert_eq!(translate(0x7e00, &F16, &E4M3FN), Some(0x7f));
        assert_eq!(translate(0x8000, &F16, &E4M3FNUZ), None); // no −0 there
        assert_eq!(translate(0xfc00, &F16, &F32), Some(0xff80_0000));
    }
}
