//! Converts between formats: decodes, then rounds; ∞ and NaN are carried over.

use super::{Class, Format, Overflow, Rounding};
use crate::exact::Exact;

/// A rounding mode and an overflow policy: everything a conversion needs beside the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// How inexact values are rounded.
    pub rounding: Rounding,
    /// What values out of range become.
    pub overflow: Overflow,
}

impl Format {
    /// The code of exactly this number, its sign included; `None` when the format has none.
    ///
    /// ```
    /// use mmascope_model::exact::Exact;
    /// use mmascope_model::format::F16;
    /// assert_eq!(F16.code_of(&Exact::ONE), Some(0x3c00));
    /// assert_eq!(F16.code_of(&Exact::power_of_two(false, 16)), None);
    /// ```
    #[must_use]
    pub fn code_of(&self, number: &Exact) -> Option<u64> {
        let code = self.round(number, Rounding::Rz, Overflow::Saturate);
        let back = self.decode(code).exact()?;
        (back.in_lowest_terms() == number.in_lowest_terms()).then_some(code)
    }

    /// Converts a code of this format to a code of `to`. A NaN becomes the default quiet NaN of
    /// `to` (its payload is not carried), or what stands for it in a format without NaN.
    ///
    /// ```
    /// use mmascope_model::format::{BF16, Conversion, F32, Overflow, Rounding};
    /// let rne = Conversion { rounding: Rounding::Rne, overflow: Overflow::Ieee };
    /// assert_eq!(F32.convert(0x3f80_8000, &BF16, rne), 0x3f80); // a tie goes to even
    /// ```
    #[must_use]
    pub fn convert(&self, code: u64, to: &Self, conversion: Conversion) -> u64 {
        let value = self.decode(code);
        match value.class {
            Class::Nan => to.nan_or_substitute(),
            Class::Infinite => to.infinity(value.negative, conversion.overflow),
            Class::Zero | Class::Finite => {
                to.round(&value.finite(), conversion.rounding, conversion.overflow)
            }
        }
    }
}
