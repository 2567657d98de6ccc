//! Decodes a code: sign, class, field exponent and significand.

use super::{Float, Format, Kind, Specials};
use crate::exact::Exact;

/// What kind of value a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Zero of either sign.
    Zero,
    /// A non-zero finite number, subnormal or normal.
    Finite,
    /// An infinity.
    Infinite,
    /// Not a number.
    Nan,
}

/// A decoded code: `(−1)^negative · significand · 2^(exponent − fraction_bits)`.
///
/// The exponent is that of the *field* (emin for subnormals): subnormals are not normalised,
/// because the matrix units do not normalise them (`T-FDPA` aligns by the field exponent).
///
/// This is an operand, not an exact number: it may be ∞ or NaN, and one number has several forms
/// with different exponents, which units tell apart. [`Unpacked::exact`] is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unpacked {
    /// Whether the sign bit is set (the fixed formats: whether the number is negative).
    pub negative: bool,
    /// What the other fields mean; for ∞ and NaN they are 0.
    pub class: Class,
    /// Field exponent e(x).
    pub exponent: i32,
    /// Integer significand, the hidden bit included.
    pub significand: u64,
    /// Bits of the significand after the binary point.
    pub fraction_bits: u32,
}

impl Unpacked {
    /// Whether it is ∞ or NaN.
    #[inline]
    pub(crate) fn is_special(&self) -> bool {
        matches!(self.class, Class::Infinite | Class::Nan)
    }

    /// The exact value; `None` for ∞ and NaN.
    #[must_use]
    pub fn exact(&self) -> Option<Exact> {
        match self.class {
            Class::Infinite | Class::Nan => None,
            Class::Zero | Class::Finite => Some(self.finite()),
        }
    }
}

impl Unpacked {
    /// The exact value of what is no ∞ and no NaN.
    #[inline(always)]
    pub(super) fn finite(&self) -> Exact {
        Exact::new(
            self.negative,
            self.significand.into(),
            self.exponent - self.fraction_bits as i32,
        )
    }

    /// The exact product of two values of which none is ∞ or NaN.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Exact {
        Exact::new(
            self.negative != other.negative,
            u128::from(self.significand) * u128::from(other.significand),
            self.exponent + other.exponent - (self.fraction_bits + other.fraction_bits) as i32,
        )
    }
}

impl Format {
    /// Decodes a code (right-aligned; bits above the format's width are ignored).
    ///
    /// ```
    /// use mmascope_model::format::{Class, F16};
    /// let x = F16.decode(0x0001); // the smallest subnormal, 2^-24
    /// assert_eq!((x.class, x.exponent, x.significand), (Class::Finite, -14, 1));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn decode(&self, code: u64) -> Unpacked {
        let code = code & self.mask();
        match self.kind {
            Kind::Float(float) => self.decode_float(float, code),
            Kind::Fixed { scale } => self.decode_fixed(scale, code),
        }
    }

    /// Decodes register words of a float format: what the format says is read once for all of them.
    #[inline(always)]
    pub(crate) fn float_decoder(&self) -> Option<impl Fn(u64) -> Unpacked> {
        let float = self.float()?;
        Some(move |word| self.decode_float(float, self.from_register(word)))
    }

    #[inline(always)]
    fn decode_float(&self, float: Float, code: u64) -> Unpacked {
        let Float {
            exponent_bits,
            fraction_bits,
            bias,
            specials,
            subnormals,
        } = float;
        // Masks instead of shifts, and no branch that a processor cannot foresee. Normal numbers, almost every code of most
        // data, go by themselves, but not where there are so few exponents that other codes are as frequent.
        let are_mostly_normal = exponent_bits > 3;
        let hidden = 1_u64 << fraction_bits;
        let fraction_mask = hidden - 1;
        let top_field = (hidden << exponent_bits) - hidden;
        let sign = u64::from(self.signed) * (hidden << exponent_bits);
        let negative = code & sign != 0;
        let magnitude = code & (top_field | fraction_mask);
        if are_mostly_normal && magnitude.wrapping_sub(hidden) < top_field - hidden {
            return Unpacked {
                negative,
                class: Class::Finite,
                exponent: (magnitude >> fraction_bits) as i32 - bias,
                significand: (magnitude & fraction_mask) | hidden,
                fraction_bits,
            };
        }
        let has_nan_zero = specials == Specials::NegativeZeroNan;
        let has_specials = specials != Specials::None;
        if has_specials && magnitude >= top_field || (has_nan_zero && negative && magnitude == 0) {
            let fraction = magnitude & fraction_mask;
            let class = match specials {
                Specials::Ieee if fraction == 0 => Some(Class::Infinite),
                Specials::Ieee => Some(Class::Nan),
                Specials::AllOnesNan if fraction == fraction_mask => Some(Class::Nan),
                Specials::NegativeZeroNan if magnitude == 0 => Some(Class::Nan),
                _ => None,
            };
            if let Some(class) = class {
                return Unpacked {
                    // A NaN code that is the sign of zero elsewhere has no sign.
                    negative: negative && !has_nan_zero,
                    class,
                    exponent: 0,
                    significand: 0,
                    fraction_bits,
                };
            }
        }
        let is_subnormal = subnormals & (magnitude < hidden);
        let significand = (magnitude & fraction_mask) | if is_subnormal { 0 } else { hidden };
        Unpacked {
            negative,
            class: if significand == 0 {
                Class::Zero
            } else {
                Class::Finite
            },
            exponent: (magnitude >> fraction_bits) as i32 - bias + i32::from(is_subnormal),
            significand,
            fraction_bits,
        }
    }

    #[inline]
    fn decode_fixed(&self, scale: i32, code: u64) -> Unpacked {
        let negative = self.signed && code >> (self.bits - 1) == 1;
        let significand = if negative {
            code.wrapping_neg() & self.mask()
        } else {
            code
        };
        Unpacked {
            negative,
            class: if significand == 0 {
                Class::Zero
            } else {
                Class::Finite
            },
            exponent: scale,
            significand,
            fraction_bits: 0,
        }
    }
}
