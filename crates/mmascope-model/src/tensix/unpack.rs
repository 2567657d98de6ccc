//! Unpackers: from the formats of memory to source data (§3).

use super::block::{Block, TensixBlockFormat};
use super::machine::Machine;
use super::source::{SIGN, SourceFormat};
use crate::error::{Error, Result};

/// A datum of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// An f32 word. A tf32 word is read as one.
    F32(u32),
    /// An f16 word.
    F16(u16),
    /// A bf16 word.
    Bf16(u16),
    /// FP8 with five exponent bits.
    E5m2(u8),
    /// FP8 with four exponent bits, where the machine has the mode.
    E4m3(u8),
    /// A signed byte: sign and magnitude.
    Int8(u8),
    /// An unsigned byte.
    Uint8(u8),
}

/// A datum of memory as a source datum of a type.
///
/// # Errors
/// [`Error::Argument`] for a conversion that the unpackers do not have.
pub fn unpack(machine: &Machine, datum: Memory, to: SourceFormat) -> Result<u32> {
    Ok(match (datum, to) {
        (Memory::F32(word), SourceFormat::Tf32) => SourceFormat::of_f32(word),
        (Memory::F32(word), SourceFormat::Bf16) => SourceFormat::of_bf16(f32_to_bf16(word)),
        (Memory::F32(word), SourceFormat::F16) => SourceFormat::of_f16(super::f32_to_f16(word)),
        (Memory::F16(word), SourceFormat::F16) => SourceFormat::of_f16(word),
        (Memory::Bf16(word), SourceFormat::Bf16 | SourceFormat::Tf32) => {
            SourceFormat::of_bf16(word)
        }
        (Memory::E5m2(code), SourceFormat::F16) => SourceFormat::of_f16(e5m2_to_f16(machine, code)),
        (Memory::E4m3(code), SourceFormat::F16) => {
            SourceFormat::of_f16(e4m3_to_f16(machine, code)?)
        }
        (Memory::Int8(byte), SourceFormat::Int8) => int8_to_source(byte, false),
        (Memory::Uint8(byte), SourceFormat::Int8) => int8_to_source(byte, true),
        _ => {
            return Err(Error::Argument(format!(
                "unpackers do not turn {datum:?} into {to:?}"
            )));
        }
    })
}

/// f32 to bf16: subnormal numbers become signed zeros, everything else is truncated. A NaN whose payload
/// lies only in the lower bits becomes an infinity.
#[must_use]
pub fn f32_to_bf16(word: u32) -> u16 {
    let is_small = word >> 23 & 0xff == 0;
    let kept = if is_small { word & 1 << 31 } else { word };
    (kept >> 16) as u16
}

/// FP8 with five exponent bits as f16. Machines with the feature `fp8-e5m2-overflow` read the largest code
/// as the overflow pattern.
#[must_use]
pub fn e5m2_to_f16(machine: &Machine, code: u8) -> u16 {
    let is_largest = code & 0x7f == 0x7f && machine.has("fp8-e5m2-overflow");
    u16::from(code) << 8 | if is_largest { 0xff } else { 0 }
}

/// FP8 with four exponent bits as f16: exponent fields of 0 stay 0, the largest code becomes the overflow
/// pattern's upper part.
///
/// # Errors
/// [`Error::Argument`] when the machine has no such mode.
pub fn e4m3_to_f16(machine: &Machine, code: u8) -> Result<u16> {
    machine.needs("fp8-e4m3", "FP8 with four exponent bits")?;
    let code = u16::from(code);
    let (exponent, fraction) = (code >> 3 & 15, code & 7);
    let rebiased = if exponent == 0 { 0 } else { exponent + 8 };
    let ones = if code & 0x7f == 0x7f { 0x7f } else { 0 };
    Ok(code >> 7 << 15 | rebiased << 10 | fraction << 7 | ones)
}

/// A byte as a source datum: the magnitude in the fraction, the exponent field 16, or 0 for zero.
#[must_use]
pub fn int8_to_source(byte: u8, unsigned: bool) -> u32 {
    let (negative, magnitude) = match unsigned {
        true => (false, byte),
        false => (byte >> 7 == 1, byte & 0x7f),
    };
    let exponent = if magnitude == 0 { 0 } else { 16 << 10 };
    (if negative { SIGN } else { 0 }) | exponent | u32::from(magnitude)
}

/// A datum of a block as the source word it is unpacked to: bf16, or f16 for the `a` formats. The magnitude
/// is normalised, and the exponent wraps; a magnitude of 0 with a sign is −∞'s pattern.
#[must_use]
pub fn bfp_to_source(format: TensixBlockFormat, exponent: u8, datum: u8) -> u16 {
    let byte = datum << (8 - format.bits);
    let sign = u16::from(byte >> 7) << 15;
    let magnitude = byte << 1;
    let is_f16 = format.exponent_bits == 5;
    if magnitude == 0 {
        let infinity = if is_f16 { 0xfc00 } else { 0xff80 };
        return if sign == 0 { 0 } else { infinity };
    }
    let zeros = magnitude.leading_zeros();
    let fraction = u16::from(magnitude << zeros & 0x7e);
    let exponent = u16::from(exponent.wrapping_sub(zeros as u8));
    match is_f16 {
        true => sign | (exponent & 31) << 10 | fraction << 3,
        false => sign | exponent << 7 | fraction,
    }
}

impl Block {
    /// The block's data as source data.
    #[must_use]
    pub fn unpack(&self) -> [u32; TensixBlockFormat::SIZE] {
        self.data.map(|datum| {
            let word = bfp_to_source(self.format, self.exponent, datum);
            match self.format.source() {
                SourceFormat::F16 => SourceFormat::of_f16(word),
                _ => SourceFormat::of_bf16(word),
            }
        })
    }
}
