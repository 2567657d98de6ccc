//! What is to be said of a number format: fields, range, special values.

use super::value::Value;
use crate::format::{Class, Format, Kind};

/// The range and the special values of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The fields with their bits, `s1 e4 f3`; of an integer whether it has a sign, and its scale.
    pub fields: String,
    /// The bias of the exponent field, of a float.
    pub bias: Option<i32>,
    /// The largest finite number.
    pub largest: Value,
    /// The smallest positive normal number, of a float.
    pub smallest_normal: Option<Value>,
    /// The smallest positive number; of a signed integer of one bit, -1.
    pub smallest: Value,
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
        let value = |code: u64| Value::of(&format.decode(code));
        let has = |found: &dyn Fn(Class, bool) -> bool, code: u64| {
            let it = format.decode(code);
            found(it.class, it.negative)
        };
        let sign = if format.signed {
            1 << (format.bits - 1)
        } else {
            0
        };
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
        let infinity_code = format.mask() & !sign & !((1 << float.fraction_bits) - 1);
        let top = infinity_code..=(format.mask() & !sign);
        // NaNs stand in the highest exponent field alone, or at the code of -0.
        let nans = match float.fraction_bits {
            bits if bits > 16 => 2 * ((1 << bits) - 1),
            _ => {
                let all = top.flat_map(|code| [code, code | sign]).chain([sign]);
                let mut codes: Vec<u64> = all.collect();
                codes.sort_unstable();
                codes.dedup();
                codes.retain(|&code| has(&|class, _| class == Class::Nan, code));
                codes.len() as u64
            }
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
            infinity: has(&|class, _| class == Class::Infinite, infinity_code),
            nans,
            negative_zero: format.signed
                && has(&|class, negative| class == Class::Zero && negative, sign),
        }
    }

    /// What every code means, in order. (Ask narrow formats: one of 32 bits has as many codes.)
    pub fn codes(format: &Format) -> impl Iterator<Item = Value> + '_ {
        (0..=format.mask()).map(|code| Value::of(&format.decode(code)))
    }
}
