//! Conversions of the vector unit (§7.2).

use crate::format::Rounding;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;

/// The float formats that SFPSTOCHRND rounds to; the result stays in an f32 word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Narrow {
    /// Seven fraction bits.
    Bf16,
    /// Ten fraction bits.
    F16,
}

/// SFPSTOCHRND to a float, not stochastic: half away from zero. Subnormal numbers become +0, infinities and
/// NaNs the infinity of their sign.
#[must_use]
pub fn round_to_narrow(to: Narrow, word: u32) -> u32 {
    let dropped = match to {
        Narrow::Bf16 => 16,
        Narrow::F16 => 13,
    };
    match word >> 23 & 0xff {
        0 => 0,
        255 => word & SIGN | INFINITY,
        _ => (word + (1 << (dropped - 1))) >> dropped << dropped,
    }
}

/// The integers that SFPSTOCHRND rounds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integers {
    /// Magnitudes to 127, with a sign.
    Int8,
    /// To 255, without.
    Uint8,
    /// To 32767, with a sign.
    Int16,
    /// To 65535, without.
    Uint16,
}

/// SFPSTOCHRND to an integer, not stochastic: half away from zero, limited. The result is sign and
/// magnitude; unsigned kinds take the magnitude of the operand.
#[must_use]
pub fn round_to_integer(to: Integers, word: u32) -> u32 {
    let (most, signed) = match to {
        Integers::Int8 => (127, true),
        Integers::Uint8 => (255, false),
        Integers::Int16 => (32_767, true),
        Integers::Uint16 => (65_535, false),
    };
    let exponent = (word >> 23 & 0xff) as i32 - 127;
    let magnitude = match exponent {
        ..-1 => 0,
        16.. => most,
        _ => {
            let significand = u64::from(word & 0x7f_ffff | 1 << 23);
            let width = (23 - exponent) as u32;
            (Rounding::Rna.shift_right(false, significand.into(), false, width) as u32).min(most)
        }
    };
    // (A zero has no sign.)
    let negative = signed && word & SIGN != 0 && magnitude != 0;
    if negative {
        SIGN | magnitude
    } else {
        magnitude
    }
}

/// SFPCAST: an integer of sign and magnitude as f32, to nearest even; −0 keeps its sign.
#[must_use]
pub fn cast_to_f32(word: u32) -> u32 {
    let magnitude = word & !SIGN;
    let Some(top) = magnitude.checked_ilog2() else {
        return word;
    };
    let significand = match top {
        ..=23 => magnitude << (23 - top),
        _ => Rounding::Rne.shift_right(false, magnitude.into(), false, top - 23) as u32,
    };
    // A carry out of the significand moves into the exponent.
    (word & SIGN) | (((top + 126) << 23) + significand)
}

/// SFPLUT: an 8-bit coefficient as f32; the code of all ones is 0.
#[must_use]
pub fn lut_coefficient(code: u8) -> u32 {
    if code == 0xff {
        return 0;
    }
    let code = u32::from(code);
    (code >> 7 << 31) | (127 - (code >> 4 & 7)) << 23 | (code & 15) << 19
}

/// SFPLUTFP32 with 16-bit coefficients: every exponent field is rebiased, but 31 means 0.
#[must_use]
pub fn lut16_coefficient(word: u16) -> u32 {
    let sign = u32::from(word >> 15) << 31;
    let magnitude = u32::from(word & 0x7fff) << 13;
    match word >> 10 & 31 {
        31 => sign | magnitude & 0x7f_ffff,
        _ => sign | (magnitude + (112 << 23)),
    }
}

/// SFPARECIP: an approximate reciprocal of seven fraction bits, with the sign of the operand. Below 2^−126 it
/// is an infinity, from 2^126 on a zero.
#[must_use]
pub fn absolute_reciprocal(word: u32) -> u32 {
    let (sign, exponent) = (word & SIGN, word >> 23 & 0xff);
    match exponent {
        0 => sign | INFINITY,
        253.. => sign,
        _ => {
            // round(32768 / (128.5 + i) − 128), half up.
            let divisor = 257 + 2 * (word >> 16 & 0x7f);
            let fraction = (131_072 - 255 * divisor) / (2 * divisor);
            sign | (253 - exponent) << 23 | fraction << 16
        }
    }
}
