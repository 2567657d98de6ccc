//! Policies of casts: whose rules decide about NaN, ∞, signs and values out of range.

use crate::error::{Error, Result};
use crate::format::{F16, F32, F64, Format, Overflow, UE8M0, Unpacked};

use super::{Cast, exact, is_integer};

/// Whose rules hold for NaN, ∞, signs and values out of range. Rounding is a matter of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastPolicy {
    /// IEEE 754: overflow as the rounding says (NaN where there is no ∞, the largest number where
    /// there is neither), a NaN becomes the default quiet NaN, integers clamp.
    Ieee,
    /// PTX `cvt`: `.satfinite` where the instruction has no other form; NaNs as
    /// [`PtxForm::nan_rule`](super::ptx::PtxForm::nan_rule) says.
    Ptx,
    /// `ml_dtypes` 0.6 and NumPy: ∞ or NaN beyond the range, NaN keeps its sign, everything but f16
    /// is rounded from f32.
    MlDtypes,
    /// OCP OFP8: formats of 8 bits and fewer clamp finite values; ∞ stays ∞ or becomes NaN.
    Ocp,
    /// CUDA's headers on the host: as PTX where the forms are the same; `ieee` and `nan` are their
    /// NOSAT.
    Host,
}

impl CastPolicy {
    const NAMES: [(&'static str, Self); 4] = [
        ("ptx", Self::Ptx),
        ("ml_dtypes", Self::MlDtypes),
        ("ocp", Self::Ocp),
        ("host", Self::Host),
    ];

    /// The policy of that name: `ptx ml_dtypes ocp host`.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, policy)| *policy)
            .ok_or_else(|| Error::unknown("policy", name, Self::NAMES.map(|(name, _)| name)))
    }

    /// The name; `ieee` for what has none on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, policy)| *policy == self);
        found.map_or("ieee", |(name, _)| name)
    }

    /// What values out of range become unless something else is asked for.
    pub(super) fn overflow(self, to: &Format) -> Overflow {
        let is_narrow = to.bits <= 8 && to.float().is_some();
        match self {
            Self::Ieee | Self::Ptx => Overflow::Ieee,
            Self::MlDtypes => Overflow::Infinity,
            Self::Ocp if is_narrow => Overflow::SaturateFinite,
            Self::Host if is_narrow => Overflow::Saturate,
            Self::Ocp | Self::Host => Overflow::Ieee,
        }
    }
}

impl std::fmt::Display for CastPolicy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl Cast {
    /// What `ml_dtypes` does otherwise than rounding once: it rounds to f32 first, and its e8m0 has
    /// no code for zero and negative numbers.
    pub(super) fn of_ml_dtypes(&self, value: &Unpacked) -> Option<u64> {
        let to = &self.to;
        let goes_through_f32 = to.float().is_some() && ![F64, F32, F16].contains(to);
        if !goes_through_f32 {
            return None;
        }
        let value = match exact(value) {
            Some(exact) if !fits_f32(&self.from) => {
                F32.decode(F32.round(&exact, self.rounding, Overflow::Ieee))
            }
            _ => *value,
        };
        if *to == UE8M0 {
            return Some(self.e8m0_of_ml_dtypes(&value));
        }
        let code = match exact(&value) {
            None => to.infinity(value.negative, self.overflow),
            Some(exact) => to.round(&exact, self.rounding, self.overflow),
        };
        Some(self.finished(code, value.negative))
    }

    fn e8m0_of_ml_dtypes(&self, value: &Unpacked) -> u64 {
        let nan = self.to.mask();
        let exact = match exact(value) {
            Some(exact) if exact.magnitude > 0 && !exact.negative => exact,
            _ => return nan,
        };
        // Measured with 0.6.0: everything above 2^-127 goes up to 2^-126, which is not the nearest.
        let top = i64::from(exact.magnitude.ilog2()) + i64::from(exact.exponent);
        let is_power = exact.magnitude.is_power_of_two();
        if top == -127 && !is_power && self.rounding == crate::format::Rounding::Rne {
            return 1;
        }
        self.to.round(&exact, self.rounding, self.overflow)
    }
}

/// Whether every value of the format is an f32.
fn fits_f32(format: &Format) -> bool {
    format.bits <= 24 || *format == F32 || !is_integer(format) && F32.has_all_values_of(format)
}
