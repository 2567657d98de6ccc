//! From a code to what it means: sign, class, field exponent and significand.

use super::{Exact, Float, Format, Kind, Specials};

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
            Class::Zero | Class::Finite => Some(Exact {
                negative: self.negative,
                magnitude: u128::from(self.significand),
                exponent: self.exponent - self.fraction_bits as i32,
                sticky: false,
            }),
        }
    }
}

impl Format {
    /// Decodes a code (right-aligned; bits above the format's width are ignored).
    ///
    /// ```
    /// use mmascope::format::{Class, F16};
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

    /// Decodes register words, one after the other: what the format says is read once.
    #[inline(always)]
    pub(crate) fn decode_each(&self, words: &[u64], mut put: impl FnMut(usize, Unpacked)) {
        let codes = words.iter().map(|word| self.from_register(*word));
        match self.kind {
            Kind::Float(float) => {
                for (k, code) in codes.enumerate() {
                    put(k, self.decode_float(float, code));
                }
            }
            Kind::Fixed { scale } => {
                for (k, code) in codes.enumerate() {
                    put(k, self.decode_fixed(scale, code));
                }
            }
        }
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
        let fraction_mask = (1 << fraction_bits) - 1;
        let top_field = (1 << exponent_bits) - 1;
        let (fraction, field) = (code & fraction_mask, (code >> fraction_bits) & top_field);
        let negative = self.signed && code >> (exponent_bits + fraction_bits) == 1;
        // Almost every code: a normal number whatever the format's specials are.
        if field != 0 && field != top_field {
            return Unpacked {
                negative,
                class: Class::Finite,
                exponent: field as i32 - bias,
                significand: fraction | 1 << fraction_bits,
                fraction_bits,
            };
        }
        let class = match specials {
            Specials::Ieee if field == top_field && fraction == 0 => Class::Infinite,
            Specials::Ieee if field == top_field => Class::Nan,
            Specials::AllOnesNan if field == top_field && fraction == fraction_mask => Class::Nan,
            Specials::NegativeZeroNan if negative && field == 0 && fraction == 0 => Class::Nan,
            _ if subnormals && field == 0 && fraction == 0 => Class::Zero,
            _ => Class::Finite,
        };
        if matches!(class, Class::Infinite | Class::Nan) {
            // A NaN code that is the sign of zero elsewhere has no sign.
            let negative = negative && specials != Specials::NegativeZeroNan;
            return Unpacked {
                negative,
                class,
                exponent: 0,
                significand: 0,
                fraction_bits,
            };
        }
        let is_subnormal = subnormals && field == 0;
        Unpacked {
            negative,
            class,
            exponent: if is_subnormal {
                float.emin()
            } else {
                field as i32 - bias
            },
            significand: if is_subnormal {
                fraction
            } else {
                fraction | 1 << fraction_bits
            },
            fraction_bits,
        }
    }

    #[inline]
    fn decode_fixed(&self, scale: i32, code: u64) -> Unpacked {
        let negative = self.signed && code >> (self.bits - 1) == 1;
        let significand = if negative {
            (1 << self.bits) - code
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
