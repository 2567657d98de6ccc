//! The meaning of operand codes that are usually ∞ and NaN.

use super::schema::typed_words;
use crate::format::{Class, Format, Unpacked};

/// What the codes of a and b mean that are ∞ or NaN in their formats. It concerns the whole program:
/// operands are read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codes {
    /// ∞ and NaN.
    #[default]
    Special,
    /// Numbers, as their exponent and fraction say.
    Numbers,
    /// ∞ is the largest number of its sign; NaN stays.
    Largest,
}

impl Codes {
    /// What an operand's code means.
    pub fn decode(self, format: &Format, code: u64) -> Unpacked {
        match (self, format.decode(code)) {
            (Self::Numbers, x) if matches!(x.class, Class::Infinite | Class::Nan) => {
                format.without_specials().decode(code)
            }
            (Self::Largest, x) if x.class == Class::Infinite => {
                format.decode(format.max_finite(x.negative))
            }
            (_, x) => x,
        }
    }
}

typed_words!(Codes: Self::Special => "special", Self::Numbers => "numbers", Self::Largest => "largest");
