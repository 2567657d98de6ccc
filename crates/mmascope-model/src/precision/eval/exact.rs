//! Arithmetic that PTX defines exactly: IEEE operations with their roundings, flushes, saturation and NaN words.

use num_bigint::BigUint;

use crate::dpa::Scalar;
use crate::error::Result;
use crate::format::{Class, Exact, F16, F32, Format, Overflow, Rounding, Unpacked};

/// Bits of a quotient or root: more than twice the 53 of the widest significand, so that no rounding can err.
const KEPT: u64 = 120;

/// `x / y` with enough bits for every rounding. `y` is not 0.
pub(crate) fn quotient(x: &Exact, y: &Exact) -> Exact {
    let negative = x.negative != y.negative;
    if x.magnitude == 0 || y.magnitude == 0 {
        return Exact {
            negative,
            magnitude: 0,
            exponent: 0,
            sticky: false,
        };
    }
    let (over, under) = (BigUint::from(x.magnitude), BigUint::from(y.magnitude));
    let shift = (KEPT + under.bits()).saturating_sub(over.bits());
    let wide = over << shift;
    let whole = &wide / &under;
    let sticky = &whole * &under != wide;
    let exponent = i64::from(x.exponent) - i64::from(y.exponent) - shift as i64;
    exact(negative, &whole, exponent, sticky)
}

/// `√x` with enough bits for every rounding.
pub(crate) fn root(x: &Exact) -> Exact {
    if x.magnitude == 0 {
        return *x;
    }
    let value = BigUint::from(x.magnitude);
    let mut shift = (2 * KEPT).saturating_sub(value.bits()) as i64;
    // The exponent under the root is even.
    if (i64::from(x.exponent) - shift) % 2 != 0 {
        shift += 1;
    }
    let wide = value << shift as u64;
    let whole = wide.sqrt();
    let sticky = &whole * &whole != wide;
    exact(false, &whole, (i64::from(x.exponent) - shift) / 2, sticky)
}

/// An integer times a power of two, with what does not fit into 120 bits as sticky.
fn exact(negative: bool, whole: &BigUint, exponent: i64, sticky: bool) -> Exact {
    let cut = whole.bits().saturating_sub(KEPT + 4);
    let kept = whole >> cut;
    let sticky = sticky || (&kept << cut) != *whole;
    Exact {
        negative,
        magnitude: u128::try_from(kept).unwrap_or(0),
        exponent: (exponent + cut as i64) as i32,
        sticky,
    }
}

/// A quotient of two words, rounded to nearest even.
pub(crate) fn divided(format: &Format, x: u64, y: u64) -> u64 {
    Style::plain(format).divide(x, y)
}

/// The root of a word, rounded to nearest even.
pub(crate) fn rooted(format: &Format, x: u64) -> u64 {
    Style::plain(format).square_root(x)
}

/// What an instruction's modifiers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) format: Format,
    pub(super) rounding: Rounding,
    pub(super) flush: bool,
    pub(super) saturate: bool,
    pub(super) relu: bool,
}

impl Style {
    /// To nearest even, and nothing else.
    fn plain(format: &Format) -> Self {
        Self {
            format: *format,
            rounding: Rounding::Rne,
            flush: false,
            saturate: false,
            relu: false,
        }
    }

    /// The NaN that PTX writes: all ones below the sign for f32 and the narrow types; f64 leaves it open, and the
    /// format's default stands for it.
    pub(super) fn nan(&self) -> u64 {
        nan(&self.format)
    }

    pub(super) fn decode(&self, word: u64) -> Unpacked {
        self.format.decode(self.format.from_register(word))
    }

    /// An operand as the instruction takes it.
    pub(super) fn operand(&self, word: u64) -> u64 {
        if self.flush {
            flushed(&self.format, word)
        } else {
            word
        }
    }

    /// A result as the instruction writes it.
    pub(super) fn result(&self, word: u64) -> u64 {
        let value = self.decode(word);
        if value.class == Class::Nan {
            return if self.saturate { 0 } else { self.nan() };
        }
        let word = if self.flush {
            flushed(&self.format, word)
        } else {
            word
        };
        if self.relu && value.negative {
            return 0;
        }
        if !self.saturate {
            return word;
        }
        let one = self.format.to_register(one(&self.format));
        match (value.negative, value.class) {
            (true, _) => 0,
            (false, Class::Infinite) => one,
            _ => word.min(one),
        }
    }

    /// Rounds an exact value that is not 0, or is 0 with its sign.
    pub(super) fn round(&self, value: &Exact) -> u64 {
        let code = self.format.round(value, self.rounding, Overflow::Ieee);
        self.result(self.format.to_register(code))
    }

    fn scalar(&self) -> Result<Scalar> {
        Scalar::new(self.format, self.rounding)
    }

    pub(super) fn add(&self, x: u64, y: u64) -> Result<u64> {
        Ok(self.result(self.scalar()?.add(self.operand(x), self.operand(y))))
    }

    pub(super) fn multiply(&self, x: u64, y: u64) -> Result<u64> {
        Ok(self.result(self.scalar()?.multiply(self.operand(x), self.operand(y))))
    }

    pub(super) fn fused(&self, x: u64, y: u64, z: u64) -> Result<u64> {
        let [x, y, z] = [x, y, z].map(|word| self.operand(word));
        Ok(self.result(self.scalar()?.fused_multiply_add(x, y, z)))
    }

    pub(super) fn divide(&self, x: u64, y: u64) -> u64 {
        let [x, y] = [x, y].map(|word| self.decode(self.operand(word)));
        let negative = x.negative != y.negative;
        let zero = self.format.to_register(self.format.zero(negative));
        let infinity = self
            .format
            .to_register(self.format.infinity(negative, Overflow::Ieee));
        match (x.class, y.class) {
            (Class::Nan, _) | (_, Class::Nan) => self.result(self.nan()),
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => {
                self.result(self.nan())
            }
            (Class::Infinite, _) | (_, Class::Zero) => self.result(infinity),
            (Class::Zero, _) | (_, Class::Infinite) => self.result(zero),
            _ => match (x.exact(), y.exact()) {
                (Some(x), Some(y)) => self.round(&quotient(&x, &y)),
                _ => self.result(self.nan()),
            },
        }
    }

    pub(super) fn square_root(&self, x: u64) -> u64 {
        let word = self.operand(x);
        let x = self.decode(word);
        match (x.class, x.negative, x.exact()) {
            (Class::Zero, _, _) | (Class::Infinite, false, _) => self.result(word),
            (_, false, Some(exact)) => self.round(&root(&exact)),
            _ => self.result(self.nan()),
        }
    }
}

/// PTX's NaN of a format.
pub(super) fn nan(format: &Format) -> u64 {
    match format.name {
        "f32" => 0x7fff_ffff,
        "f16" | "bf16" => 0x7fff,
        _ => format.to_register(format.nan_or_substitute()),
    }
}

/// 1 as a code.
fn one(format: &Format) -> u64 {
    let one = Exact {
        negative: false,
        magnitude: 1,
        exponent: 0,
        sticky: false,
    };
    format.round(&one, Rounding::Rne, Overflow::Ieee)
}

/// A word with a subnormal number replaced by the zero of its sign.
pub(super) fn flushed(format: &Format, word: u64) -> u64 {
    let value = format.decode(format.from_register(word));
    let subnormal = value.class == Class::Finite && value.significand >> value.fraction_bits == 0;
    if subnormal {
        format.to_register(format.zero(value.negative))
    } else {
        word
    }
}

/// A conversion between floats of 16 bits or more, where the wider holds what the narrower has.
pub(super) fn convert(from: &Format, style: &Style, word: u64) -> u64 {
    // .ftz is about f32, on whichever side it stands; f16 operands keep their subnormals.
    let word = if style.flush && *from == F32 {
        flushed(from, word)
    } else {
        word
    };
    let value = from.decode(from.from_register(word));
    let flushes = style.flush && style.format != F16;
    let style = Style {
        flush: flushes,
        ..*style
    };
    match (value.class, value.exact()) {
        (Class::Nan, _) => style.result(style.nan()),
        (Class::Infinite, _) => {
            let code = style.format.infinity(value.negative, Overflow::Ieee);
            style.result(style.format.to_register(code))
        }
        (_, Some(exact)) => style.round(&exact),
        _ => style.result(style.nan()),
    }
}
