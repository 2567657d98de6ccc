//! Rounds an exact value to a code, and decides what happens out of range.

use super::{Float, Format, Kind, Specials};
use crate::error::{Error, Result};
use crate::exact::{Exact, Rounding};

/// What a value beyond the largest finite number becomes.
///
/// Formats without ∞ use NaN for it, and formats with neither saturate, whatever the policy. The
/// NaN keeps the sign where it can (CUDA's e4m3 without saturation, ml_dtypes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// ∞ for every rounding mode, also the truncating ones (the matrix units).
    Infinity,
    /// IEEE 754 §7.4: ∞ or the largest finite number, as the rounding direction says.
    Ieee,
    /// NaN.
    Nan,
    /// The largest finite number, ∞ included: what PTX calls `.satfinite`. The text form is `sat`.
    Saturate,
    /// The largest finite number for finite values; ∞ stays ∞ or becomes NaN (OFP8 §5). The text form is
    /// `satfinite`; PTX's `.satfinite` is [`Overflow::Saturate`].
    SaturateFinite,
    /// NaN for finite values; ∞ stays ∞ or becomes NaN. No known unit does that.
    NanFinite,
}

/// The likely ones first.
const OVERFLOW_NAMES: [(&str, Overflow); 6] = [
    ("inf", Overflow::Infinity),
    ("ieee", Overflow::Ieee),
    ("sat", Overflow::Saturate),
    ("satfinite", Overflow::SaturateFinite),
    ("nan", Overflow::Nan),
    ("nanfinite", Overflow::NanFinite),
];

impl Overflow {
    /// The names of all policies.
    pub(crate) const NAMES: [&str; OVERFLOW_NAMES.len()] = {
        let mut names = [""; OVERFLOW_NAMES.len()];
        let mut place = 0;
        while place < names.len() {
            names[place] = OVERFLOW_NAMES[place].0;
            place += 1;
        }
        names
    };

    /// The name of this policy.
    pub(crate) fn name(self) -> &'static str {
        let known = OVERFLOW_NAMES
            .iter()
            .find(|(_, overflow)| *overflow == self);
        known.map_or("", |(name, _)| name)
    }

    /// The policy of that name: `inf ieee sat satfinite nan nanfinite`.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        OVERFLOW_NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, overflow)| *overflow)
            .ok_or_else(|| {
                Error::unknown(
                    "overflow",
                    name,
                    OVERFLOW_NAMES.iter().map(|(known, _)| *known),
                )
            })
    }
}

impl std::fmt::Display for Overflow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl Format {
    /// Rounds an exact value to a code.
    ///
    /// Formats without a sign discard it (PTX `cvt` to ue8m0), integers without a sign clamp
    /// negative values to 0, the fixed-point formats saturate, ue8m0 (no zero) clamps to 2^-127.
    /// A zero keeps its sign where the format has −0.
    ///
    /// ```
    /// use mmascope_model::format::{Exact, F16, Overflow, Rounding};
    /// let third = Exact { negative: false, magnitude: 0x5555, exponent: -16, sticky: true };
    /// assert_eq!(F16.round(&third, Rounding::Rne, Overflow::Ieee), 0x3555);
    /// ```
    #[must_use]
    #[inline]
    pub fn round(&self, value: &Exact, rounding: Rounding, overflow: Overflow) -> u64 {
        match self.kind {
            Kind::Float(float) => self.round_float(float, value, rounding, overflow),
            Kind::Fixed { scale } => self.round_fixed(scale, value, rounding),
        }
    }

    #[inline(always)]
    fn round_float(
        &self,
        float: Float,
        value: &Exact,
        rounding: Rounding,
        overflow: Overflow,
    ) -> u64 {
        let negative = value.negative && self.signed;
        let (magnitude, exponent, sticky) = value.narrowed();
        if magnitude == 0 && !sticky {
            return self.zero(negative);
        }
        let (emin, fraction_bits) = (float.emin(), float.fraction_bits);
        let top = magnitude
            .checked_ilog2()
            .map_or(i64::MIN, |log| i64::from(log) + exponent);
        let beyond = i64::from(emin) + (1 << float.exponent_bits) + 1;
        if top > beyond {
            return self.overflowed(negative, rounding, overflow);
        }
        // From here on the binade is known to be near the format's range, so i32 suffices.
        let binade = top.max(i64::from(emin)) as i32;
        if !float.subnormals && top < i64::from(emin) {
            return 0;
        }
        let last_place = i64::from(binade) - i64::from(fraction_bits);
        let kept = match (rounding, last_place - exponent) {
            (Rounding::Stochastic { .. }, _) => {
                value.multiple_of(last_place, rounding, negative) as u64
            }
            (_, width @ 1..) => rounding.shift_right_narrow(negative, magnitude, sticky, width),
            (_, width) => rounding.shift_right_narrow(negative, magnitude << -width, sticky, 0),
        };
        // Exponent field and fraction are one integer: a carry out of the fraction moves into the
        // exponent by itself, from subnormal to normal as well.
        let hidden = u64::from(!float.subnormals);
        let magnitude_code = (((binade - emin) as u64) << fraction_bits) + kept - hidden;
        let field = magnitude_code >> fraction_bits;
        if field == 0 || field >= (1 << float.exponent_bits) - 1 {
            if magnitude_code > self.max_finite_magnitude(float) {
                return self.overflowed(negative, rounding, overflow);
            }
            if magnitude_code == 0 && float.subnormals {
                return self.zero(negative);
            }
        }
        self.with_sign(negative, magnitude_code)
    }

    fn round_fixed(&self, scale: i32, value: &Exact, rounding: Rounding) -> u64 {
        let limit = if self.signed {
            (1_u128 << (self.bits - 1)) - u128::from(!value.negative)
        } else if value.negative {
            0
        } else {
            u128::from(self.mask())
        };
        let width = i64::from(scale) - i64::from(value.exponent);
        let magnitude = if width >= 0 {
            let width = u32::try_from(width).unwrap_or(u32::MAX);
            rounding.shift_right(value.negative, value.magnitude, value.sticky, width)
        } else if value.magnitude == 0 {
            0
        } else if value.magnitude.ilog2() as i64 - width > 64 {
            u128::MAX
        } else {
            value.magnitude << -width
        };
        let magnitude = magnitude.min(limit) as u64;
        (if value.negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        }) & self.mask()
    }

    /// Code of a zero; the formats without −0 (or without zero) give their nearest code.
    #[must_use]
    #[inline]
    pub fn zero(&self, negative: bool) -> u64 {
        match self.kind {
            Kind::Float(float) if float.specials != Specials::NegativeZeroNan => {
                self.with_sign(negative, 0)
            }
            _ => 0,
        }
    }

    /// Code of ∞, or what the format uses instead under this policy.
    #[must_use]
    pub fn infinity(&self, negative: bool, overflow: Overflow) -> u64 {
        match (overflow, self.infinity_magnitude()) {
            (Overflow::Saturate, _) => self.max_finite(negative),
            (Overflow::Nan, _) | (_, None) => match self.nan() {
                Some(nan) => self.with_sign(negative, nan),
                None => self.max_finite(negative),
            },
            (_, Some(magnitude)) => self.with_sign(negative, magnitude),
        }
    }

    /// Code of a quiet NaN with that sign and the fraction of another format's NaN: its first bits stay the first.
    /// Formats without such a NaN give their own.
    pub(crate) fn quiet(&self, negative: bool, of: &Self, code: u64) -> u64 {
        let (Some(to), Some(from)) = (self.float(), of.float()) else {
            return self.nan_or_substitute();
        };
        if to.specials != Specials::Ieee {
            return self.nan_or_substitute();
        }
        let fraction = code & ((1 << from.fraction_bits) - 1);
        let moved = match to.fraction_bits.checked_sub(from.fraction_bits) {
            Some(longer) => fraction << longer,
            None => fraction >> (from.fraction_bits - to.fraction_bits),
        };
        let default = self.nan_or_substitute();
        self.with_sign(negative, default | moved)
    }

    /// Code of the default quiet NaN, if the format has a NaN.
    #[must_use]
    pub fn nan(&self) -> Option<u64> {
        let float = self.float()?;
        let all_ones = (1 << (float.exponent_bits + float.fraction_bits)) - 1;
        match float.specials {
            Specials::Ieee => {
                let top_field = ((1 << float.exponent_bits) - 1) << float.fraction_bits;
                Some(top_field | 1 << (float.fraction_bits - 1))
            }
            Specials::AllOnesNan => Some(all_ones),
            Specials::NegativeZeroNan => Some(all_ones + 1),
            Specials::None => None,
        }
    }

    /// Code of the default quiet NaN; where the format has none, what stands for it: the largest
    /// number for floats and fixed point (PTX `.satfinite`), 0 for integers (PTX `cvt`).
    #[must_use]
    pub fn nan_or_substitute(&self) -> u64 {
        match self.kind {
            Kind::Fixed { scale: 0 } => 0,
            _ => self.nan().unwrap_or_else(|| self.max_finite(false)),
        }
    }

    /// Code of the largest finite number of that sign (unsigned floats ignore the sign, and the
    /// farthest that unsigned integers go below zero is 0).
    #[must_use]
    pub fn max_finite(&self, negative: bool) -> u64 {
        match self.kind {
            Kind::Float(float) => self.with_sign(negative, self.max_finite_magnitude(float)),
            Kind::Fixed { .. } if !self.signed && negative => 0,
            Kind::Fixed { .. } if !self.signed => self.mask(),
            Kind::Fixed { .. } => (self.mask() >> 1) + u64::from(negative),
        }
    }

    #[inline]
    fn max_finite_magnitude(&self, float: Float) -> u64 {
        let all_ones = (1 << (float.exponent_bits + float.fraction_bits)) - 1;
        match float.specials {
            Specials::Ieee => all_ones - (1 << float.fraction_bits),
            Specials::AllOnesNan => all_ones - 1,
            Specials::NegativeZeroNan | Specials::None => all_ones,
        }
    }

    fn infinity_magnitude(&self) -> Option<u64> {
        let float = self.float()?;
        (float.specials == Specials::Ieee)
            .then_some(((1 << float.exponent_bits) - 1) << float.fraction_bits)
    }

    fn overflowed(&self, negative: bool, rounding: Rounding, overflow: Overflow) -> u64 {
        let inward = match rounding {
            Rounding::Rz | Rounding::Odd => true,
            Rounding::Ru => negative,
            Rounding::Rd => !negative,
            _ => false,
        };
        match overflow {
            Overflow::Saturate | Overflow::SaturateFinite => self.max_finite(negative),
            Overflow::Ieee if inward => self.max_finite(negative),
            Overflow::NanFinite => self.infinity(negative, Overflow::Nan),
            _ => self.infinity(negative, overflow),
        }
    }

    #[inline]
    fn with_sign(&self, negative: bool, magnitude_code: u64) -> u64 {
        magnitude_code | u64::from(negative && self.signed) << (self.bits - 1)
    }
}
