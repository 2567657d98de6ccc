//! Shows the number that a word stands for, as text and as plain numbers.

use crate::explain::TracedValue;
use crate::format::{Class, Conversion, F64, Format, Kind, Overflow, Rounding};

/// The value of a word in the form that keeps it whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// A finite float; every format's values fit.
    Float(f64),
    /// ∞ or NaN, in words.
    Special(String),
}

impl Shown {
    /// The value of a register word of a format.
    #[must_use]
    pub fn of(format: &Format, word: u64) -> Self {
        let code = format.from_register(word);
        let value = format.decode(code);
        if matches!(format.kind, Kind::Fixed { scale: 0 }) {
            return match value.negative {
                false => Self::Unsigned(value.significand),
                true => Self::Negative((value.significand as i64).wrapping_neg()),
            };
        }
        match value.class {
            Class::Zero | Class::Finite => {
                let exactly = Conversion {
                    rounding: Rounding::Rne,
                    overflow: Overflow::Ieee,
                };
                Self::Float(f64::from_bits(format.convert(code, &F64, exactly)))
            }
            Class::Infinite | Class::Nan => Self::Special(TracedValue::of(&value).to_string()),
        }
    }
}

/// The value of a register word as a decimal of at most 17 digits.
#[must_use]
pub fn decimal(format: &Format, word: u64) -> String {
    TracedValue::of(&format.decode(format.from_register(word))).decimal_of(17)
}
