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
            Kind::Float(float) => FloatCodes::of(self, float).decode(code),
            Kind::Fixed { scale } => self.decode_fixed(scale, code),
        }
    }

    /// What decodes register words of a float format; `None` for another kind.
    #[inline(always)]
    pub(crate) fn float_codes(&self) -> Option<FloatCodes> {
        let codes = FloatCodes::of(self, self.float()?);
        Some(FloatCodes {
            shift: self.register.shift,
            ..codes
        })
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

/// The parts of a float format's codes, as masks: what decoding needs to know of the format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatCodes {
    float: Float,
    /// Low bits of a word below the code.
    shift: u32,
    /// The sign bit; 0 where there is none.
    sign: u64,
    /// The bits below the sign.
    magnitude: u64,
    /// The bits of the fraction.
    fraction: u64,
    /// The bit above the fraction: the hidden bit of a significand, and the smallest normal number's code.
    hidden: u64,
    /// The largest exponent field, with fraction 0.
    top_field: u64,
    /// How many codes from `hidden` on are looked at first: normal numbers.
    normals: u64,
}

impl FloatCodes {
    #[inline(always)]
    fn of(format: &Format, float: Float) -> Self {
        let hidden = 1_u64 << float.fraction_bits;
        let sign = hidden << float.exponent_bits;
        let top_field = sign - hidden;
        // Normal numbers are almost every code of most data, but not where there are so few exponents that other codes are as
        // frequent: no processor foresees which it is.
        let are_mostly_normal = float.exponent_bits > 3;
        Self {
            float,
            shift: 0,
            sign: if format.signed { sign } else { 0 },
            magnitude: sign - 1,
            fraction: hidden - 1,
            hidden,
            top_field,
            normals: if are_mostly_normal {
                top_field - hidden
            } else {
                0
            },
        }
    }

    /// Bits of the word beside the code are ignored.
    #[inline(always)]
    pub(crate) fn decode(&self, word: u64) -> Unpacked {
        let code = word >> self.shift;
        let Float {
            fraction_bits,
            bias,
            subnormals,
            ..
        } = self.float;
        let (negative, magnitude) = (code & self.sign != 0, code & self.magnitude);
        let exponent = (magnitude >> fraction_bits) as i32 - bias;
        if magnitude.wrapping_sub(self.hidden) < self.normals {
            return Unpacked {
                negative,
                class: Class::Finite,
                exponent,
                significand: (magnitude & self.fraction) | self.hidden,
                fraction_bits,
            };
        }
        if let Some(special) = self.special(negative, magnitude) {
            return special;
        }
        let is_subnormal = subnormals & (magnitude < self.hidden);
        let hidden = if is_subnormal { 0 } else { self.hidden };
        let significand = (magnitude & self.fraction) | hidden;
        Unpacked {
            negative,
            class: match significand {
                0 => Class::Zero,
                _ => Class::Finite,
            },
            exponent: exponent + i32::from(is_subnormal),
            significand,
            fraction_bits,
        }
    }

    /// ∞ or NaN, if a code is one.
    #[inline(always)]
    fn special(&self, negative: bool, magnitude: u64) -> Option<Unpacked> {
        let fraction = magnitude & self.fraction;
        let is_top = magnitude >= self.top_field;
        let class = match self.float.specials {
            Specials::Ieee if is_top && fraction == 0 => Class::Infinite,
            Specials::Ieee if is_top => Class::Nan,
            Specials::AllOnesNan if magnitude == self.magnitude => Class::Nan,
            Specials::NegativeZeroNan if negative && magnitude == 0 => Class::Nan,
            _ => return None,
        };
        Some(Unpacked {
            // A NaN code that is the sign of zero elsewhere has no sign.
            negative: negative && self.float.specials != Specials::NegativeZeroNan,
            class,
            exponent: 0,
            significand: 0,
            fraction_bits: self.float.fraction_bits,
        })
    }
}
