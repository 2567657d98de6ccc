//! Converts elements to register words of an operand: rounds numbers, checks codes.
#![deny(clippy::float_arithmetic)]

use super::{Array, Element, Words};
use crate::error::{Error, Result};
use crate::format::{
    Class, Conversion, E4M3FN, Exact, F32, F64, Float, Format, Kind, Overflow, Rounding, Specials,
    UE4M3, Unpacked,
};

/// How numbers become operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Casting {
    /// How numbers are rounded. `None` is RNE, except that f32 numbers pass as they are to
    /// operands that are the upper part of an f32 word (tf32): the unit ignores the low bits.
    pub rounding: Option<Rounding>,
    /// Numbers out of range become the largest finite number (∞ only where the operand has no
    /// ∞) instead of an error.
    pub saturate: bool,
}

impl Casting {
    /// With the rounding of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn with_rounding(self, name: &str) -> Result<Self> {
        Ok(Self {
            rounding: Some(Rounding::named(name)?),
            ..self
        })
    }
}

impl Array {
    /// The register words of an operand of that format, row-major.
    ///
    /// Numbers of the operand's own format keep their bits. A NaN becomes the operand's default
    /// NaN, and is an error where it has none.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the element that is out of the operand's range, or saying that
    /// the element type does not fit the operand.
    ///
    /// ```
    /// use mmascope_gemm::array::{Array, Casting, Element};
    /// use mmascope_model::format::{E4M3FN, F32};
    ///
    /// let bytes = 1000_f32.to_le_bytes().to_vec();
    /// let array = Array::new("x", &[1, 1], Element::Number(F32), bytes)?;
    /// assert!(array.words(&E4M3FN, &Casting::default()).is_err()); // the largest e4m3fn is 448
    /// let saturating = Casting { saturate: true, ..Casting::default() };
    /// assert_eq!(array.words(&E4M3FN, &saturating)?, [0x7e]);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn words(&self, operand: &Format, casting: &Casting) -> Result<Words> {
        match self.element {
            Element::Number(from) => self.numbers(&from, operand, casting),
            _ => self.codes(operand),
        }
    }

    /// The conversion of numbers of that format.
    pub(super) fn way(from: &Format, operand: &Format, casting: &Casting) -> Way {
        let is_raw_word = operand.container() == F32 && *from == F32 && casting.rounding.is_none();
        match (from == operand, is_raw_word) {
            (true, _) => Way::Same,
            (false, true) => Way::Word,
            (false, false) => Way::Rounded(casting.rounding.unwrap_or(Rounding::Rne)),
        }
    }

    /// The register words of block scales of that format: codes (u8, or bytes as `np.save` makes them
    /// of `ml_dtypes`), or numbers of 8 bits that are codes of it (safetensors' F8_E8M0 for ue8m0,
    /// non-negative F8_E4M3 for ue4m3). Other integers are refused: they may be exponents as well.
    ///
    /// # Errors
    /// [`Error::Argument`] as [`Array::words`].
    pub fn scale_words(&self, scale: &Format) -> Result<Words> {
        let wrong_type = || {
            Error::Argument(format!(
                "{} has elements of {}: block scales are codes of {scale}, one byte each (u8)",
                self.name, self.element
            ))
        };
        match self.element {
            Element::Number(from) if from == *scale => {
                self.numbers(&from, scale, &Casting::default())
            }
            Element::Number(E4M3FN) if *scale == UE4M3 => {
                let is_negative = |&index: &usize| self.bits(index) > scale.mask();
                match (0..self.count()).find(is_negative) {
                    Some(index) => Err(self.misfit(index, "is negative; block scales are not")),
                    None => self.collect(scale, |index| Ok(self.bits(index))),
                }
            }
            Element::Unsigned(1) | Element::Opaque(1) => self.codes(scale),
            _ => Err(wrong_type()),
        }
    }

    fn numbers(&self, from: &Format, operand: &Format, casting: &Casting) -> Result<Words> {
        if !operand.signed || operand.float().is_none() {
            if from == operand {
                return self.collect(operand, |index| Ok(self.bits(index)));
            }
            let wanted = if operand.float().is_none() {
                format!("integers are needed ({operand}, or its codes)")
            } else {
                format!("codes of {operand} are needed (integers or bytes)")
            };
            return Err(Error::Argument(format!(
                "{} has numbers in {from}; {wanted}",
                self.name
            )));
        }
        let rounding = match Self::way(from, operand, casting) {
            Way::Same | Way::Word => return self.collect(operand, |index| Ok(self.bits(index))),
            Way::Rounded(rounding) => rounding,
        };
        let mut known = Known::new(self, from);
        self.collect(operand, |index| {
            let bits = self.bits(index);
            let fitted = || fit(&from.decode(bits), operand, rounding);
            let code = match known.get(bits, fitted) {
                Fit::Code(code) => code,
                Fit::NoNan => {
                    return Err(self.misfit(index, &format!("does not fit: {operand} has no NaN")));
                }
                Fit::Beyond if casting.saturate => operand.max_finite(from.decode(bits).negative),
                Fit::Beyond => return Err(self.beyond(index, operand)),
            };
            Ok(operand.to_register(code))
        })
    }

    /// Whether every element is a number of the operand's format, or a code of it: rounding down and
    /// up are the same.
    pub fn is_exact_in(&self, operand: &Format) -> bool {
        let Element::Number(from) = self.element else {
            // Where every code of that width is one of the operand's, none has to be looked at.
            let bits = self.element.bits();
            let is_any = operand.register.bits.max(8) as usize == bits
                && code_limit(operand) >= u64::MAX >> (64 - bits);
            return is_any || self.codes(operand).is_ok();
        };
        if from == *operand {
            return true;
        }
        let has_specials = operand.nan().is_some() && has_infinity(operand);
        if has_specials && operand.has_all_values_of(&from) {
            return true;
        }
        if !operand.signed || operand.float().is_none() {
            return false;
        }
        let mut known = Known::new(self, &from);
        (0..self.count()).all(|index| {
            let bits = self.bits(index);
            known.get(bits, || {
                let value = from.decode(bits);
                let fit = |rounding| fit(&value, operand, rounding);
                match (fit(Rounding::Rz), fit(Rounding::Ra)) {
                    (Fit::Code(down), Fit::Code(up)) => down == up,
                    _ => false,
                }
            })
        })
    }

    fn codes(&self, operand: &Format) -> Result<Words> {
        let limit = code_limit(operand);
        let width = operand.register.bits.max(8) as usize;
        let element_bits = self.element.bits();
        if matches!(self.element, Element::Opaque(_)) && element_bits != width {
            return Err(Error::Argument(format!(
                "{} has {}: a code of {operand} takes {} bytes",
                self.name,
                self.element,
                width / 8
            )));
        }
        let signed = matches!(self.element, Element::Signed(_)) && element_bits != width;
        self.collect(operand, |index| {
            let code = self.bits(index);
            if signed && code >> (element_bits - 1) == 1 {
                let what =
                    format!("is negative: only an int{width} may stand for the bits of {operand}");
                return Err(self.misfit(index, &what));
            }
            if code > limit {
                let what = format!("is no code of {operand}; the largest is {limit:#x}");
                return Err(self.misfit(index, &what));
            }
            Ok(code)
        })
    }

    fn collect(
        &self,
        operand: &Format,
        mut word: impl FnMut(usize) -> Result<u64>,
    ) -> Result<Words> {
        let count = self.count();
        let mut words = Words::with_capacity(operand.register.bits, count)
            .map_err(|error| Error::Argument(format!("{}: {error}", self.name)))?;
        for index in 0..count {
            words.push(word(index)?);
        }
        Ok(words)
    }

    fn beyond(&self, index: usize, operand: &Format) -> Error {
        let largest = number_text(operand, operand.max_finite(false));
        let what =
            format!("is beyond the largest {operand}, {largest}; saturate to clamp such numbers");
        self.misfit(index, &what)
    }

    fn misfit(&self, index: usize, what: &str) -> Error {
        let bits = self.bits(index);
        let value = match self.element {
            Element::Number(format) => number_text(&format, bits),
            _ => format!("{bits:#x}"),
        };
        let place = self.place(index);
        Error::Argument(format!("{}: element {place} = {value} {what}", self.name))
    }
}

/// The conversion of numbers to an operand.
pub(super) enum Way {
    /// They are of its format.
    Same,
    /// They are f32 words of which the unit takes the upper part.
    Word,
    /// They are rounded.
    Rounded(Rounding),
}

/// A number in decimal digits, for messages.
fn number_text(format: &Format, code: u64) -> String {
    let rne = Conversion {
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
    };
    format!("{:e}", f64::from_bits(format.convert(code, &F64, rne)))
}

/// The largest code of an operand.
///
/// As in vector lines: the unit ignores the bits below an upper part and above an unsigned format of scales, so they
/// may be anything. An integer that is too large is a mistake.
fn code_limit(operand: &Format) -> u64 {
    let register = operand.register;
    let is_integer = matches!(operand.kind, Kind::Fixed { .. });
    if register.shift == 0 && (operand.signed || is_integer) {
        operand.mask()
    } else {
        u64::MAX >> (64 - register.bits)
    }
}

/// What is known of numbers met before, where an array has more of them than there are different ones.
struct Known<T>(Vec<Option<T>>);

impl<T: Copy> Known<T> {
    fn new(array: &Array, from: &Format) -> Self {
        let is_worth_it = from.bits <= 16 && array.count() >> from.bits > 0;
        Self(match is_worth_it {
            true => vec![None; 1 << from.bits],
            false => Vec::new(),
        })
    }

    fn get(&mut self, bits: u64, find: impl FnOnce() -> T) -> T {
        match self.0.get_mut(bits as usize) {
            Some(known) => *known.get_or_insert_with(find),
            None => find(),
        }
    }
}

/// What a number becomes in a format.
#[derive(Clone, Copy)]
enum Fit {
    Code(u64),
    /// Its magnitude is too large, even after rounding.
    Beyond,
    /// It is a NaN and the format has none.
    NoNan,
}

fn fit(value: &Unpacked, operand: &Format, rounding: Rounding) -> Fit {
    let overflow = Overflow::Ieee;
    let exact = match value.class {
        Class::Nan => return operand.nan().map_or(Fit::NoNan, Fit::Code),
        Class::Infinite if has_infinity(operand) => {
            return Fit::Code(operand.infinity(value.negative, overflow));
        }
        Class::Infinite => return Fit::Beyond,
        Class::Zero | Class::Finite => Exact::new(
            value.negative,
            value.significand.into(),
            value.exponent - value.fraction_bits as i32,
        ),
    };
    if let Some(wider) = with_one_more_exponent_bit(operand) {
        // Codes of both have the same meaning, so the wider one shows where rounding leads.
        let magnitude = wider.round(&exact, rounding, overflow) & (wider.mask() >> 1);
        if magnitude > operand.max_finite(false) {
            return Fit::Beyond;
        }
    }
    Fit::Code(operand.round(&exact, rounding, overflow))
}

fn has_infinity(format: &Format) -> bool {
    format
        .float()
        .is_some_and(|float| float.specials == Specials::Ieee)
}

/// The same format with a larger range; `None` for f64, which nothing exceeds.
fn with_one_more_exponent_bit(format: &Format) -> Option<Format> {
    let float = format.float().filter(|_| format.bits < 64)?;
    Some(Format {
        bits: format.bits + 1,
        kind: Kind::Float(Float {
            exponent_bits: float.exponent_bits + 1,
            specials: Specials::Ieee,
            ..float
        }),
        ..*format
    })
}
