//! Decoding by the definition of a format: codes as operands, operands as terms of a sum.

use mmascope::format::{Float, Format, Specials};

use super::exact::Dyadic;

/// What a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Finite,
    Infinite,
    Nan,
}

/// A decoded code: `significand · 2^unit` if it is finite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) class: Class,
    /// The sign, also of zero and ∞.
    pub(crate) negative: bool,
    /// e(x) of §1: the field's exponent, not that of the normalised value.
    pub(crate) exponent: i32,
    significand: u64,
    unit: i32,
}

/// A term of a sum: a product or an accumulator.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) class: Class,
    pub(crate) negative: bool,
    /// e(x) of an operand; for a product the sum of both.
    pub(crate) exponent: i32,
    /// The value of a finite term.
    pub(crate) value: Dyadic,
}

impl Operand {
    fn special(class: Class, negative: bool) -> Self {
        Self {
            class,
            negative,
            exponent: 0,
            significand: 0,
            unit: 0,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.class == Class::Finite && self.significand == 0
    }

    /// Whether the exponent field is 0: zero and the numbers without a hidden bit.
    pub(crate) fn has_zero_field(&self) -> bool {
        self.class == Class::Finite && self.significand < 1 << (self.exponent - self.unit)
    }

    pub(crate) fn zero(negative: bool) -> Self {
        Self::special(Class::Finite, negative)
    }

    pub(crate) fn negated(self) -> Self {
        Self {
            negative: !self.negative,
            ..self
        }
    }

    /// Multiplies by 2^n, exactly: no format limits the exponent.
    pub(crate) fn scale(&mut self, n: i32) {
        self.exponent += n;
        self.unit += n;
    }

    /// The same number in a format that has it: its exponent there is that of its leading bit,
    /// unless that lies below the format's normal numbers.
    pub(crate) fn widened(self, format: &Format) -> Self {
        if self.class != Class::Finite || self.significand == 0 {
            return self;
        }
        let leading = self.unit + self.significand.ilog2() as i32;
        let smallest_normal = field_exponent(&float(format), 1);
        Self {
            exponent: leading.max(smallest_normal),
            ..self
        }
    }

    pub(crate) fn term(&self) -> Term {
        let magnitude = i128::from(self.significand);
        let mantissa = if self.negative { -magnitude } else { magnitude };
        Term {
            class: self.class,
            negative: self.negative,
            exponent: self.exponent,
            value: Dyadic::new(mantissa, self.unit),
        }
    }

    /// The exact product.
    pub(crate) fn times(&self, other: &Self) -> Term {
        if self.is_zero() && other.class == Class::Finite
            || other.is_zero() && self.class == Class::Finite
        {
            return Term::zero(self.negative != other.negative);
        }
        self.term().times(&other.term())
    }
}

impl Term {
    pub(crate) fn special(class: Class, negative: bool) -> Self {
        Self {
            class,
            negative,
            exponent: 0,
            value: Dyadic::zero(),
        }
    }

    pub(crate) fn zero(negative: bool) -> Self {
        Self::special(Class::Finite, negative)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.class == Class::Finite && self.value.is_zero()
    }

    /// The exact product; its exponent is the sum of the fields' (§1).
    pub(crate) fn times(&self, other: &Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Nan, _) | (_, Class::Nan) => Self::special(Class::Nan, false),
            (Class::Infinite, _) | (_, Class::Infinite) => {
                let times_zero = self.is_zero() || other.is_zero();
                Self::special(
                    if times_zero {
                        Class::Nan
                    } else {
                        Class::Infinite
                    },
                    negative,
                )
            }
            (Class::Finite, Class::Finite) => Self {
                class: Class::Finite,
                negative,
                exponent: self.exponent + other.exponent,
                value: self.value.multiply(&other.value),
            },
        }
    }
}

pub(crate) fn float(format: &Format) -> Float {
    format.float().expect("the oracle knows floats only")
}

/// Exponent of the codes whose exponent field is `field`.
pub(crate) fn field_exponent(float: &Float, field: u64) -> i32 {
    let effective = if float.subnormals {
        field.max(1)
    } else {
        field
    };
    effective as i32 - float.bias
}

/// The value that the formula of the format gives a code without its sign, even where the format
/// has a special code instead or the field is one too large: a significand and its unit.
pub(crate) fn formula(float: &Float, code: u64) -> (u64, i32) {
    let field = code >> float.fraction_bits;
    let fraction = code & ((1 << float.fraction_bits) - 1);
    let hidden = u64::from(field != 0 || !float.subnormals) << float.fraction_bits;
    let exponent = field_exponent(float, field) - float.fraction_bits as i32;
    (hidden + fraction, exponent)
}

/// The largest code without its sign that is a finite number.
pub(crate) fn largest_finite(float: &Float) -> u64 {
    let codes = 1_u64 << (float.exponent_bits + float.fraction_bits);
    match float.specials {
        Specials::Ieee => codes - (1 << float.fraction_bits) - 1,
        Specials::AllOnesNan => codes - 2,
        Specials::NegativeZeroNan | Specials::None => codes - 1,
    }
}

/// The meaning of a format's register words.
pub(crate) struct Decoder {
    float: Float,
    format: Format,
    largest: u64,
}

impl Decoder {
    pub(crate) fn new(format: &Format) -> Self {
        let float = float(format);
        Self {
            float,
            format: *format,
            largest: largest_finite(&float),
        }
    }

    pub(crate) fn decode(&self, word: u64) -> Operand {
        let Self {
            float,
            format,
            largest,
        } = self;
        let code = (word >> format.register.shift) & (u64::MAX >> (64 - format.bits));
        let without_sign = code & ((1 << (float.exponent_bits + float.fraction_bits)) - 1);
        let negative = code != without_sign;
        if negative && without_sign == 0 && float.specials == Specials::NegativeZeroNan {
            return Operand::special(Class::Nan, false);
        }
        if without_sign > *largest {
            let infinite = float.specials == Specials::Ieee && without_sign == largest + 1;
            let class = if infinite {
                Class::Infinite
            } else {
                Class::Nan
            };
            return Operand::special(class, negative);
        }
        let (significand, unit) = formula(float, without_sign);
        let exponent = field_exponent(float, without_sign >> float.fraction_bits);
        Operand {
            class: Class::Finite,
            negative,
            exponent,
            significand,
            unit,
        }
    }
}

/// What one register word means.
pub(crate) fn decode(format: &Format, word: u64) -> Operand {
    Decoder::new(format).decode(word)
}
