//! Packers: from Dst to the formats of memory (§6).
//!
//! A packer converts early, by rounding, to an intermediate format; then comes ReLU; then it converts late,
//! by truncating, to the format of memory.

use super::block::{Block, TensixBlockFormat};
use super::machine::Machine;
use crate::error::Result;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const INFINITY_BF16: u16 = 0x7f80;
const SIGN_16: u16 = 0x8000;
/// Largest magnitude of f16, which stands for overflow.
const OVERFLOW_F16: u16 = 0x7fff;

/// Early conversions, rounding half up in magnitude. Zeros and subnormal results become +0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Early {
    /// f32 to bf16.
    F32ToBf16,
    /// f32 to eight exponent and six fraction bits, on the way to a block format.
    F32ToE8m6,
    /// f32 to f16, where the machine has it: by way of ten fraction bits.
    F32ToF16,
    /// bf16 to bf16.
    Bf16,
    /// bf16 to eight exponent and six fraction bits.
    Bf16ToE8m6,
    /// f16 to f16.
    F16,
    /// f16 to five exponent and six fraction bits.
    F16ToE5m6,
}

/// A NaN becomes the infinity of its sign.
fn without_nan(word: u32) -> u32 {
    match word & !SIGN > INFINITY {
        true => word & SIGN | INFINITY,
        false => word,
    }
}

/// +0 where the exponent field of a 16-bit word is 0.
fn flushed(word: u16, exponents: u16) -> u16 {
    if word & exponents == 0 { 0 } else { word }
}

impl Early {
    /// Converts a datum of Dst: an f32 word, or a 16-bit word in the low half. Gives the 16-bit word of the
    /// intermediate format.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] when the machine lacks the conversion.
    pub fn convert(self, machine: &Machine, datum: u32) -> Result<u16> {
        const BF16_EXPONENTS: u16 = 0x7f80;
        const F16_EXPONENTS: u16 = 0x7c00;
        Ok(match self {
            Self::F32ToBf16 => {
                let rounded = (without_nan(datum) + 0x8000) >> 16;
                flushed(rounded as u16, BF16_EXPONENTS)
            }
            Self::F32ToE8m6 => {
                let rounded = ((without_nan(datum) >> 16) + 1) & !1;
                flushed(rounded as u16, BF16_EXPONENTS)
            }
            Self::F32ToF16 => {
                machine.needs("pack-f32-to-f16", "an early conversion of f32 to f16")?;
                let rounded = (without_nan(datum) + 0x1000) & !0x1fff;
                match rounded & INFINITY {
                    0 => 0,
                    _ => f32_to_f16(rounded),
                }
            }
            Self::Bf16 | Self::Bf16ToE8m6 => {
                let word = (without_nan(datum << 16) >> 16) as u16;
                let word = flushed(word, BF16_EXPONENTS);
                match self {
                    Self::Bf16 => word,
                    _ => (word + 1) & !1,
                }
            }
            Self::F16 => flushed(datum as u16, F16_EXPONENTS),
            Self::F16ToE5m6 => {
                let word = datum as u16;
                let limited = match word & !SIGN_16 > 0x7ff7 {
                    true => word & SIGN_16 | 0x7ff0,
                    false => word,
                };
                flushed((limited + 8) & !15, F16_EXPONENTS)
            }
        })
    }
}

/// int32 as a signed byte: the magnitude limited to 127.
#[must_use]
pub fn int32_to_int8(word: u32) -> u8 {
    (word >> 31 << 7) as u8 | (word & !SIGN).min(127) as u8
}

/// int32 as an unsigned byte: negative numbers become 0.
#[must_use]
pub fn int32_to_uint8(word: u32) -> u8 {
    match word & SIGN {
        0 => word.min(255) as u8,
        _ => 0,
    }
}

/// The 16-bit integer that a packer reads from a Dst of 32 bits: the upper half as it is stored, which is the
/// sign, then seven fraction bits, then the exponent field. The vendor's simulator does so; the vendor's
/// documents do not list the mode.
#[must_use]
pub fn dst_32_to_int16(word: u32) -> u16 {
    let upper = (word >> 16) as u16;
    upper & SIGN_16 | (upper & 0x7f) << 8 | upper >> 7 & 0xff
}

/// What a packer does to intermediate data. Thresholds are 16-bit words without a sign; for f32 data
/// they are the upper half of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relu {
    /// Nothing.
    Off,
    /// Negative data become 0.
    Zero,
    /// Data up to the threshold become 0 as well.
    Minimum(u16),
    /// Data above the threshold become the threshold.
    Maximum(u16),
}

impl Relu {
    /// Of a 16-bit word.
    #[must_use]
    pub fn word_16(self, word: u16) -> u16 {
        let word = match self {
            Self::Off => return word,
            _ if word & SIGN_16 != 0 => 0,
            _ => word,
        };
        match self {
            Self::Minimum(threshold) if word <= threshold => 0,
            Self::Maximum(threshold) => word.min(threshold),
            _ => word,
        }
    }

    /// Of an f32 word. The maximum compares ten fraction bits.
    #[must_use]
    pub fn word_32(self, word: u32) -> u32 {
        let word = match self {
            Self::Off => return word,
            _ if word & SIGN != 0 => 0,
            _ => word,
        };
        let wide = |threshold: u16| u32::from(threshold) << 16;
        match self {
            Self::Minimum(threshold) if word <= wide(threshold) => 0,
            Self::Maximum(threshold) if word >> 13 > wide(threshold) >> 13 => wide(threshold),
            _ => word,
        }
    }
}

/// f16 to f32, late: exponent fields of 0 keep their fraction without a new bias.
#[must_use]
pub fn f16_to_f32(word: u16) -> u32 {
    let sign = u32::from(word & SIGN_16) << 16;
    let magnitude = u32::from(word & !SIGN_16) << 13;
    match word & 0x7c00 {
        0 => sign | magnitude,
        _ => sign | (magnitude + (112 << 23)),
    }
}

/// f16 to bf16, late: subnormal numbers become +0, the fraction is truncated.
#[must_use]
pub fn f16_to_bf16(word: u16) -> u16 {
    match word & 0x7c00 {
        0 => 0,
        _ => (word & SIGN_16) | (((word & !SIGN_16) >> 3) + (112 << 7)),
    }
}

/// f16 to FP8 with four exponent bits, late, where the machine has it.
///
/// # Errors
/// [`crate::Error::Argument`] when the machine has no such mode.
pub fn f16_to_e4m3(machine: &Machine, word: u16) -> Result<u8> {
    machine.needs("fp8-e4m3", "FP8 with four exponent bits")?;
    let sign = (word >> 15 << 7) as u8;
    Ok(match word >> 10 & 31 {
        0..=8 => sign,
        24.. => sign | 0x7f,
        exponent => sign | ((exponent - 8) << 3) as u8 | (word >> 7 & 7) as u8,
    })
}

/// f32 to f16, late in the packer and in the unpacker: truncated; too small is a signed zero, too large the
/// overflow pattern; an exponent field of 0 stays.
#[must_use]
pub fn f32_to_f16(word: u32) -> u16 {
    let sign = (word >> 31 << 15) as u16;
    match (word >> 23 & 0xff) as i32 - 112 {
        ..0 => sign,
        32.. => sign | OVERFLOW_F16,
        exponent => sign | (exponent << 10) as u16 | (word >> 13 & 0x3ff) as u16,
    }
}

/// A block on its way to memory: bf16 words that have been converted early (or, of f32, truncated).
pub type RoundedBlock = [u16; TensixBlockFormat::SIZE];

/// Packs sixteen bf16 words into a block: the largest exponent is shared, magnitudes are rounded half up to
/// seven bits and truncated to the format's.
#[must_use]
pub fn pack_block(format: TensixBlockFormat, words: &RoundedBlock) -> Block {
    let exponent = |word: u16| word >> 7 & 0xff;
    let shared = words.iter().map(|word| exponent(*word)).max().unwrap_or(0);
    let datum = |word: u16| {
        let significand = match exponent(word) {
            0 => 0,
            _ => u32::from(word & 0x7f) | 0x80,
        };
        let shift = u32::from(shared - exponent(word));
        let magnitude = match shift {
            8.. => 0,
            _ => (significand + (1 << shift)) >> (shift + 1),
        };
        let kept = (magnitude.min(127) >> (8 - format.bits)) as u8;
        // A sign without a magnitude would be an infinity.
        let sign = ((word >> 15) as u8) << (format.bits - 1);
        if kept == 0 { 0 } else { sign | kept }
    };
    Block {
        format,
        exponent: shared as u8,
        data: words.map(datum),
    }
}

/// An f32 word on its way to a block, late: truncated to bf16, subnormal numbers are +0.
#[must_use]
pub fn f32_to_rounded(word: u32) -> u16 {
    flushed((word >> 16) as u16, INFINITY_BF16)
}
