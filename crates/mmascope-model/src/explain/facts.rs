//! The facts of a number format: fields, range, special values.

use super::value::TracedValue;
use crate::format::{Format, Kind, Specials};

/// The range and the special values of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The fields with their bits, `s1 e4 f3`; of an integer whether it has a sign, and its scale.
    pub fields: String,
    /// The bias of the exponent field, of a float.
    pub bias: Option<i32>,
    /// The largest finite number.
    pub largest: TracedValue,
    /// The smallest positive normal number, of a float.
    pub smallest_normal: Option<TracedValue>,
    /// The smallest positive number; of a signed integer of one bit, -1.
    pub smallest: TracedValue,
    /// Whether it has infinities.
    pub infinity: bool,
    /// How many codes are NaN.
    pub nans: u64,
    /// Whether -0 is a code of its own.
    pub negative_zero: bool,
}

impl Facts {
    /// The facts of a format.
    #[must_use]
    pub fn of(format: &Format) -> Self {
        let value = |code: u64| TracedValue::of(&format.decode(code));
        let largest = value(format.max_finite(false));
        let Some(float) = format.float() else {
            let scale = match format.kind {
                Kind::Fixed { scale } if scale != 0 => format!(", times 2^{scale}"),
                _ => String::new(),
            };
            let kind = if format.signed { "signed" } else { "unsigned" };
            return Self {
                fields: format!("{kind}{scale}"),
                bias: None,
                largest,
                smallest_normal: None,
                smallest: value(1),
                infinity: false,
                nans: 0,
                negative_zero: false,
            };
        };
        let signs = if format.signed { 2 } else { 1 };
        let nans = match float.specials {
            Specials::Ieee => signs * ((1 << float.fraction_bits) - 1),
            Specials::AllOnesNan => signs,
            Specials::NegativeZeroNan => 1,
            Specials::None => 0,
        };
        let normal = if float.subnormals {
            1 << float.fraction_bits
        } else {
            0
        };
        let smallest = if float.subnormals && float.fraction_bits > 0 {
            1
        } else {
            normal
        };
        Self {
            fields: format!(
                "{}e{} f{}",
                if format.signed { "s1 " } else { "" },
                float.exponent_bits,
                float.fraction_bits
            ),
            bias: Some(float.bias),
            largest,
            smallest_normal: Some(value(normal)),
            smallest: value(smallest),
            infinity: float.specials == Specials::Ieee,
            nans,
            negative_zero: format.signed && float.specials != Specials::NegativeZeroNan,
        }
    }

    /// What every code means, in order. (Ask narrow formats: one of 32 bits has as many codes.)
    pub fn codes(format: &Format) -> impl Iterator<Item = TracedValue> + '_ {
        (0..=format.mask()).map(|code| TracedValue::of(&format.decode(code)))
    }
}
