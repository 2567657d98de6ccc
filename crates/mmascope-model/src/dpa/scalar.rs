//! IEEE arithmetic on single words of one format: what kernels compute outside the matrix unit.

use super::output::{self, Nan, Output, Tininess, ZeroSign};
use super::{ieee, single};
use crate::error::{Error, Result};
use crate::format::{Class, F32, FORMATS, Format, Overflow, Rounding, Unpacked};

/// Addition, multiplication and fused multiply-add of one format and rounding, IEEE 754 in
/// everything: subnormals, signs of zeros, overflow by the rounding's direction. Every NaN result
/// is the format's default quiet NaN.
///
/// ```
/// use mmascope_model::{dpa::Scalar, format::{F32, Rounding}};
/// let f32_rz = Scalar::new(F32, Rounding::Rz)?;
/// let [one, tiny] = [1.0_f32, -1e-30].map(|x| u64::from(x.to_bits()));
/// assert_eq!(f32_rz.add(one, tiny), 0x3f7f_ffff);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    output: Output,
    /// f32 to nearest even, which has a fast addition.
    is_single: bool,
}

impl Scalar {
    /// Arithmetic in a signed floating-point format. Operands and results are register words of
    /// its container.
    ///
    /// # Errors
    /// [`Error::Argument`] when the format is no signed float.
    pub fn new(format: Format, rounding: Rounding) -> Result<Self> {
        if format.float().is_none() || !format.signed {
            return Err(Error::Argument(format!(
                "{format} is no signed floating-point format; these are: {}",
                Self::formats()
            )));
        }
        Ok(Self {
            output: Output {
                format,
                rounding,
                overflow: Overflow::Ieee,
                nan: Nan::Any,
                zero: ZeroSign::Ieee,
                flush: None,
                tininess: Tininess::After,
            },
            is_single: format == F32 && rounding == Rounding::Rne,
        })
    }

    /// The names of the formats that [`Scalar::new`] takes, for messages.
    pub fn formats() -> String {
        let fit = |format: &&Format| format.float().is_some() && format.signed;
        let names: Vec<&str> = FORMATS.iter().filter(fit).map(|it| it.name).collect();
        names.join(" ")
    }

    /// The same with another policy for results out of range.
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.output.overflow = overflow;
        self.is_single &= overflow == Overflow::Ieee;
        self
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.output.format
    }

    /// How results are rounded.
    #[must_use]
    pub fn rounding(&self) -> Rounding {
        self.output.rounding
    }

    /// What results out of range become.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.output.overflow
    }

    /// `x + y`.
    #[must_use]
    pub fn add(&self, x: u64, y: u64) -> u64 {
        if self.is_single
            && let Some(sum) = single::add(x as u32, y as u32)
        {
            return sum.into();
        }
        ieee::add(&self.decode(x), &self.decode(y), &self.output)
    }

    /// `x · y`.
    #[must_use]
    pub fn multiply(&self, x: u64, y: u64) -> u64 {
        ieee::multiply(&self.decode(x), &self.decode(y), &self.output)
    }

    /// `x · y + z`, rounded once.
    #[must_use]
    pub fn fused_multiply_add(&self, x: u64, y: u64, z: u64) -> u64 {
        let [x, y, z] = [x, y, z].map(|word| self.decode(word));
        ieee::fused_multiply_add(&x, &y, &z, &self.output)
    }

    /// A register word of another format as one of this format; the same word where both are one.
    #[must_use]
    pub fn convert(&self, from: &Format, word: u64) -> u64 {
        match *from == self.output.format {
            true => word,
            false => self.write(from, word),
        }
    }

    /// The word as a result of this format. One that is in the format already is changed where it is an ∞ that
    /// overflow takes elsewhere, or a NaN.
    #[must_use]
    pub fn write(&self, from: &Format, word: u64) -> u64 {
        let value = from.decode(from.from_register(word));
        output::convert(&value, &self.output)
    }

    /// Whether a word is a zero of either sign.
    #[must_use]
    pub fn is_zero(&self, word: u64) -> bool {
        self.decode(word).class == Class::Zero
    }

    fn decode(&self, word: u64) -> Unpacked {
        let format = self.output.format;
        format.decode(format.from_register(word))
    }
}
