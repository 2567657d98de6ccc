//! Accumulation in memory: what a packer adds to a datum that is there (§6).

use crate::dpa::Scalar;
use crate::error::Result;
use crate::format::{F32, F64, Format, Rounding};

const INFINITY_BF16: u16 = 0x7f80;
const OVERFLOW_F16: u16 = 0x7fff;

/// Flushes a subnormal f32 word, keeping its sign.
fn flushed(word: u32) -> u32 {
    match word >> 23 & 0xff {
        0 => word & 1 << 31,
        _ => word,
    }
}

fn nearest(format: Format) -> Result<Scalar> {
    Scalar::new(format, Rounding::Rne)
}

/// f32: subnormal operands and results become zeros of their sign, one IEEE addition to nearest even, every
/// NaN is 7fc00000.
///
/// # Errors
/// None: f32 is a format of [`Scalar`].
pub fn accumulate_f32(memory: u32, packed: u32) -> Result<u32> {
    let sum = nearest(F32)?.add(flushed(memory).into(), flushed(packed).into());
    Ok(flushed(sum as u32))
}

/// bf16: ∞ − ∞ is 7fc0; otherwise one addition in double precision, then rounded to bf16. A NaN in memory is
/// the largest double of its sign, a NaN from the packer a number of one binade more than bf16 has.
///
/// # Errors
/// None: f64 is a format of [`Scalar`].
pub fn accumulate_bf16(memory: u16, packed: u16) -> Result<u16> {
    let is_infinite = |word: u16| word & 0x7fff == INFINITY_BF16;
    if is_infinite(memory) && is_infinite(packed) && memory != packed {
        return Ok(0x7fc0);
    }
    let double = |word: u16, nan: u64| {
        let (sign, magnitude) = (u64::from(word >> 15) << 63, u64::from(word & 0x7fff));
        sign | match word & 0x7fff {
            0..=0x7f => 0,
            INFINITY_BF16 => 0x7ff << 52,
            0x7f81.. => nan,
            _ => (magnitude << 45) + ((1023 - 127) << 52),
        }
    };
    let beyond = (u64::from(packed & 0x7fff) << 45) + ((1023 - 127) << 52);
    let largest = (0x7ff << 52) - 1;
    let sum = nearest(F64)?.add(double(memory, largest), double(packed, beyond));
    let sign = ((sum >> 63) << 15) as u16;
    let exponent = (sum >> 52 & 0x7ff) as i64 - 1023 + 127;
    Ok(match exponent {
        ..=0 => sign,
        255.. => sign | INFINITY_BF16,
        _ => {
            let fraction = sum & ((1 << 52) - 1);
            let kept = Rounding::Rne.shift_right(false, fraction.into(), false, 45) as i64;
            sign | ((exponent << 7) + kept) as u16
        }
    })
}

/// f16: exponent fields of 0 are zeros, those of 31 numbers; one addition in f32, then rounded to ten
/// fraction bits. Two oddities of the simulator: a sum too small for an exponent field of 0 becomes the
/// overflow pattern, and so does an exact zero when memory has an exponent field of 30 or 31.
///
/// # Errors
/// None: f32 is a format of [`Scalar`].
pub fn accumulate_f16(memory: u16, packed: u16) -> Result<u16> {
    let single = |word: u16| {
        let sign = u64::from(word >> 15) << 31;
        match word & 0x7fff {
            0..=0x3ff => sign,
            magnitude => sign | ((u64::from(magnitude) << 13) + (112 << 23)),
        }
    };
    let sum = nearest(F32)?.add(single(memory), single(packed)) as u32;
    let sign = (sum >> 31 << 15) as u16;
    if sum & 0x7fff_ffff == 0 {
        let overflows = memory >> 10 & 31 >= 30;
        return Ok(sign | if overflows { OVERFLOW_F16 } else { 0 });
    }
    let exponent = (sum >> 23 & 0xff) as i32 - 112;
    Ok(sign
        | match exponent {
            ..0 => OVERFLOW_F16,
            0 => 0,
            _ => {
                let fraction = u128::from(sum & 0x7f_ffff);
                let kept = Rounding::Rne.shift_right(false, fraction, false, 13) as i32;
                ((exponent << 10) + kept).min(OVERFLOW_F16.into()) as u16
            }
        })
}
