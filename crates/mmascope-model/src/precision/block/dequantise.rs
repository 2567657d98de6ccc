//! Converts codes and scales back to f32.

use super::BlockFormat;
use super::single::multiply;
use crate::error::{Error, Result};
use crate::format::{Class, Exact, F32, Format, Overflow, Rounding, Unpacked};

/// A code as an f32 word; every format of blocks fits.
pub(super) fn word(format: &Format, code: u64) -> u32 {
    value(&format.decode(code), 0)
}

/// A decoded number times two to that, as an f32 word.
fn value(number: &Unpacked, exponent: i32) -> u32 {
    match number.exact() {
        Some(exact) => {
            let exact = Exact {
                exponent: exact.exponent + exponent,
                ..exact
            };
            F32.round(&exact, Rounding::Rne, Overflow::Ieee) as u32
        }
        None if number.class == Class::Infinite => {
            F32.infinity(number.negative, Overflow::Ieee) as u32
        }
        None => super::NAN,
    }
}

impl BlockFormat {
    /// The f32 word of an element: element · scale, rounded to f32, then times the tensor's scale (1
    /// where there is none), rounded. A NaN scale makes everything NaN.
    ///
    /// ```
    /// use mmascope_model::precision::block::BlockFormat;
    /// let format = BlockFormat::named("mxfp4")?;
    /// let one = 1_f32.to_bits();
    /// assert_eq!(format.dequantise(0x7, 128, one), 12_f32.to_bits()); // 6 · 2^1
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    #[must_use]
    pub fn dequantise(&self, code: u8, scale: u8, tensor_scale: u32) -> u32 {
        let scale = self.scale.decode(scale.into());
        let number = self.element.decode(code.into());
        let product = match scale.exact() {
            None => super::NAN,
            Some(_) if number.class == Class::Finite => {
                let product = Unpacked {
                    significand: number.significand * scale.significand,
                    ..number
                };
                value(&product, scale.exponent - scale.fraction_bits as i32)
            }
            Some(_) => value(&number, 0),
        };
        if self.has_tensor_scale {
            multiply(product, tensor_scale)
        } else {
            product
        }
    }
}

/// Checks a tensor's scale, an f32 word.
///
/// # Errors
/// [`Error::Argument`] when it is NaN, infinite or negative.
pub fn check_tensor_scale(word: u32) -> Result<()> {
    let value = F32.decode(word.into());
    let what = match value.class {
        Class::Nan => "NaN",
        Class::Infinite => "infinite",
        Class::Finite if value.negative => "negative",
        Class::Finite | Class::Zero => return Ok(()),
    };
    let number = crate::explain::TracedValue::of(&value).decimal_of(9);
    Err(Error::Argument(format!(
        "tensor_scale = {number} is {what}; a finite f32 of at least 0 is allowed"
    )))
}

/// Checks the code of a block's scale: an unsigned e4m3 has no sign bit.
///
/// # Errors
/// [`Error::Argument`] when it has one.
pub fn check_scale(format: &BlockFormat, code: u8, place: usize) -> Result<()> {
    // A ue8m0 NaN makes a block of NaN, as OCP MX has it; an NVFP4 scale is a number.
    let nan = format.scale.nan().filter(|_| format.has_tensor_scale);
    if nan == Some(u64::from(code)) {
        return Err(Error::Argument(format!(
            "scale: element {place} = {code:#04x} is NaN; a {} of at most {:#04x} is allowed",
            format.scale,
            code - 1
        )));
    }
    if u64::from(code) <= format.scale.mask() {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "scale: element {place} = {code:#04x} is negative; a {} of at most {:#04x} is allowed",
        format.scale,
        format.scale.mask()
    )))
}
