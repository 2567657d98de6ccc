//! Builds codes of a format from exponent and fraction, as the recipes need them.

use super::draw::{below, between};
use super::normal;
use crate::error::{Error, Result};
use crate::format::{Exact, Float, Format, Overflow, Rounding, Specials};

/// A float format with what the recipes ask of it. Codes are right-aligned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    pub(super) format: Format,
    float: Float,
    /// Fraction bits.
    pub(super) m: u32,
    /// Exponent of the smallest normal number.
    pub(super) e_min: i32,
    /// Exponent of the largest finite number.
    pub(super) e_max: i32,
    /// Magnitude code of the largest finite number.
    pub(super) largest: u64,
}

impl Code {
    pub(super) fn of(format: &Format) -> Result<Self> {
        let Some(float) = format.float() else {
            return Err(Error::Argument(format!(
                "{format}: cases are generated for floating-point formats"
            )));
        };
        let largest = format.max_finite(false);
        Ok(Self {
            format: *format,
            float,
            m: float.fraction_bits,
            e_min: float.emin(),
            e_max: (largest >> float.fraction_bits) as i32 - float.bias,
            largest,
        })
    }

    /// What the format says of itself, as an initialiser of the device's `Code`.
    pub(super) fn initialiser(&self) -> String {
        let specials = match self.float.specials {
            Specials::Ieee => "IEEE",
            Specials::AllOnesNan => "ALL_ONES_NAN",
            Specials::NegativeZeroNan => "NEGATIVE_ZERO_NAN",
            Specials::None => "NO_SPECIALS",
        };
        format!(
            "{{{}, {}, {}, {}, {}, {}, {}, {specials}, {}, {}, {:#x}ull}}",
            self.format.bits,
            self.m,
            self.e_min,
            self.e_max,
            self.float.bias,
            u8::from(self.format.signed),
            u8::from(self.float.subnormals),
            self.format.register.shift,
            uniform_bits(&self.format),
            self.largest
        )
    }

    fn signed(&self, negative: bool, magnitude: u64) -> u64 {
        magnitude | u64::from(negative && self.format.signed) << (self.format.bits - 1)
    }

    fn sign_bit(&self) -> u64 {
        self.signed(true, 0)
    }

    /// All ones in the fraction.
    pub(super) fn ones(&self) -> u64 {
        (1 << self.m) - 1
    }

    /// A random fraction.
    pub(super) fn random(&self, low: u32, high: u32) -> u64 {
        (u64::from(low) | u64::from(high) << 32) & self.ones()
    }

    /// ±(1 + fraction·2^-M)·2^exponent, limited to the format's finite numbers; never zero.
    pub(super) fn number(&self, negative: bool, exponent: i32, fraction: u64) -> u64 {
        let exponent = exponent.min(self.e_max);
        let magnitude = if exponent >= self.e_min {
            ((exponent + self.float.bias) as u64) << self.m | fraction
        } else if self.float.subnormals {
            let shift = (self.e_min - exponent) as u32;
            let significand = 1 << self.m | fraction;
            significand.checked_shr(shift).unwrap_or(0).max(1)
        } else {
            0
        };
        self.signed(negative, magnitude.min(self.largest))
    }

    /// A subnormal with this fraction field, 1 instead of 0.
    pub(super) fn subnormal(&self, negative: bool, fraction: u64) -> u64 {
        if self.float.subnormals {
            self.signed(negative, fraction.max(1))
        } else {
            0
        }
    }

    /// The largest finite number minus some units of its last place.
    pub(super) fn near_largest(&self, negative: bool, less: u64) -> u64 {
        self.signed(negative, self.largest.saturating_sub(less))
    }

    /// ±magnitude·2^exponent to the nearest, ties to even, limited to the largest.
    pub(super) fn round(&self, negative: bool, magnitude: u128, exponent: i32) -> u64 {
        let exact = Exact::new(negative, magnitude, exponent);
        self.format
            .round(&exact, Rounding::Rne, Overflow::SaturateFinite)
    }

    /// A normal deviate times 2^larger, from the first three words of a draw.
    pub(super) fn deviate(&self, draw: [u32; 4], larger: i32) -> u64 {
        let magnitude = u128::from(normal::magnitude(draw[0], draw[1]));
        self.round(draw[2] & 1 == 1, magnitude, normal::PLACE + larger)
    }

    pub(super) fn zero(&self, negative: bool) -> u64 {
        self.format.zero(negative)
    }

    /// ±∞, or the largest number where there is none.
    pub(super) fn infinity(&self, negative: bool) -> u64 {
        match self.float.specials {
            Specials::Ieee => self.signed(negative, (self.top_field()) << self.m),
            _ => self.near_largest(negative, 0),
        }
    }

    /// A NaN with a payload from `word`, or the largest number where there is none.
    pub(super) fn nan(&self, word: u32) -> u64 {
        match self.float.specials {
            Specials::Ieee => self.top_field() << self.m | self.random(word, 0).max(1),
            Specials::AllOnesNan => self.top_field() << self.m | self.ones(),
            Specials::NegativeZeroNan => self.sign_bit(),
            Specials::None => self.largest,
        }
    }

    fn top_field(&self) -> u64 {
        (1 << self.float.exponent_bits) - 1
    }

    /// The same number with its magnitude moved by some codes, without becoming 0 or special.
    pub(super) fn moved(&self, code: u64, by: i64) -> u64 {
        let sign = code & self.sign_bit();
        let magnitude = (code ^ sign).saturating_add_signed(by);
        sign | magnitude.clamp(1, self.largest)
    }

    pub(super) fn negated(&self, code: u64) -> u64 {
        code ^ self.sign_bit()
    }

    /// The exponent of a code's field.
    pub(super) fn exponent(&self, code: u64) -> i32 {
        self.format.decode(code).exponent
    }
}

/// Exponents for a and b whose sum is `e`, as near as the formats come to it.
pub(super) fn split(a: &Code, b: &Code, e: i32, word: u32) -> (i32, i32) {
    let normal = e >= a.e_min + b.e_min;
    let low = |x: &Code| {
        if normal {
            x.e_min
        } else {
            x.e_min - x.m as i32
        }
    };
    let (low_a, low_b) = (low(a), low(b));
    let (from, to) = (low_a.max(e - b.e_max), a.e_max.min(e - low_b));
    if from <= to {
        let e_a = between(from, to, word);
        (e_a, e - e_a)
    } else if e > a.e_max + b.e_max {
        (a.e_max, b.e_max)
    } else {
        (low_a, low_b)
    }
}

/// How many bits [`uniform`] draws.
pub(super) fn uniform_bits(format: &Format) -> u32 {
    if format.register.shift > 0 || !format.signed {
        format.register.bits
    } else {
        format.bits
    }
}

/// Uniform bits of a word: of the code, or of the whole register word where bits of it are ignored.
pub(super) fn uniform(format: &Format, draw: [u32; 4]) -> u64 {
    let bits = uniform_bits(format);
    (u64::from(draw[0]) | u64::from(draw[1]) << 32) & (u64::MAX >> (64 - bits))
}

/// The moves of a follower in `close`.
pub(super) fn small_move(word: u32) -> i64 {
    const MOVES: [i64; 8] = [0, 0, 0, 0, -1, 1, -2, 2];
    MOVES[below(8, word) as usize]
}
