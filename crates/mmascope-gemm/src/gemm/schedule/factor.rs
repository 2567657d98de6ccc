//! A factor outside the unit: the second scale of quantised operands, as the epilogue's α.

use super::{CEntry, MultiplyAdd, Schedule};
use crate::dpa::Scalar;
use crate::error::{Error, Result};
use crate::format::{F32, Rounding};

const ONE: u64 = 0x3f80_0000;

impl Schedule {
    /// The schedule whose result is multiplied by an f32 factor: the epilogue's α, which C (if there is
    /// one) is added after. An α that is there is multiplied, rounded to f32.
    ///
    /// # Errors
    /// [`Error::Argument`] when the schedule has an epilogue in another format than f32.
    pub fn scaled_by(mut self, factor: u64, has_c: bool) -> Result<Self> {
        if factor == ONE {
            return Ok(self);
        }
        let single = Scalar::new(F32, Rounding::Rne)?;
        self.c = match self.c {
            CEntry::First => CEntry::Epilogue {
                scalar: single,
                alpha: factor,
                beta: if has_c { ONE } else { 0 },
                by: MultiplyAdd::Fma,
            },
            CEntry::Epilogue {
                scalar,
                alpha,
                beta,
                by,
            } if scalar.format() == F32 => CEntry::Epilogue {
                scalar,
                alpha: single.multiply(alpha, factor),
                beta,
                by,
            },
            CEntry::Epilogue { scalar, .. } => {
                return Err(Error::Argument(format!(
                    "the operands' tensor scales are a factor of an epilogue in f32; the schedule's \
                     is in {}",
                    scalar.format()
                )));
            }
        };
        Ok(self)
    }
}
