//! Reads operands as people give them: hexadecimal strings of vector lines or lists of values.

use super::number::{converted, register_word, word};
use super::value::TracedValue;
use crate::dpa::{OperandWords, Operands, Scale, Signature};
use crate::error::{Error, Result};
use crate::exact::{Dyadic, Exact, Rounding};
use crate::format::{Format, Overflow};

/// The operands of one dot product as text. Each is either the hexadecimal string of a vector line
/// or a list of values with commas, which may be short: the elements left out are +0, scales 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest<'a> {
    /// A's row.
    pub a: &'a str,
    /// B's column.
    pub b: &'a str,
    /// The accumulator input; +0 when it is left out.
    pub c: Option<&'a str>,
    /// Scales of A's blocks; 1 when they are left out.
    pub scale_a: Option<&'a str>,
    /// Scales of B's blocks.
    pub scale_b: Option<&'a str>,
    /// Whether values that a format does not have are rounded to nearest even.
    pub round: bool,
}

/// Operands as register words, and what was done to get them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedInput {
    /// The words of whole instructions.
    pub words: OperandWords,
    /// How many elements were given; the others are padding.
    pub given: usize,
    /// What was padded, taken as a word, converted.
    pub notes: Vec<String>,
}

impl TracedInput {
    /// Reads the operands of one instruction.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the element: no number, not representable, too many of them.
    ///
    /// ```
    /// use mmascope_model::{explain::{TracedInput, TraceRequest}, isa::Catalogue};
    /// let unit = Catalogue::built_in().find("V100", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
    /// let request = TraceRequest { a: "-2^13, 0.5", b: "2^10, 0x3c00", ..TraceRequest::default() };
    /// let input = TracedInput::read(unit.signature(), &request)?;
    /// assert_eq!(input.words.a, [0xf000, 0x3800, 0, 0]);
    /// assert_eq!(input.words.b, [0x6400, 0x3c00, 0, 0]);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn read(signature: &Signature, request: &TraceRequest<'_>) -> Result<Self> {
        let mut notes = Vec::new();
        let Signature { a, b, c, k, .. } = *signature;
        let mut list = |name: &str, text: &str, format: &Format, count: usize, fill: &str| {
            let words = elements(name, text, format, count, request.round, &mut notes)?;
            let given = words.len();
            if given == 0 {
                notes.push(format!("{name} is not given; it is {fill}"));
            } else if given < count {
                notes.push(format!(
                    "{name} has {given} of {count} elements; the others are {fill}"
                ));
            }
            Ok::<_, Error>(words)
        };
        let mut a = list("a", request.a, &a, k, "+0")?;
        let mut b = list("b", request.b, &b, k, "+0")?;
        let c = list("c", request.c.unwrap_or(""), &c, 1, "+0")?;
        let given = a.len().max(b.len()).max(1);
        a.resize(k, 0);
        b.resize(k, 0);
        let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
        let scales = [
            ("sa", request.scale_a, &mut scale_a),
            ("sb", request.scale_b, &mut scale_b),
        ];
        for (name, text, scales) in scales {
            match (signature.scale, text) {
                (None, None) => {}
                (None, Some(_)) => {
                    let message = format!("{name}: the instruction has no block scales");
                    return Err(Error::Argument(message));
                }
                (Some(Scale { format, .. }), text) => {
                    *scales = list(name, text.unwrap_or(""), &format, signature.scales(), "1")?;
                    scales.resize(signature.scales(), one(&format));
                }
            }
        }
        Ok(Self {
            words: OperandWords {
                a,
                b,
                c: c.first().copied().unwrap_or(0),
                scale_a,
                scale_b,
            },
            given,
            notes,
        })
    }

    /// Operands that are words already.
    #[must_use]
    pub fn of_words(operands: &Operands<'_>) -> Self {
        Self {
            words: operands.to_words(),
            given: operands.a.len(),
            notes: Vec::new(),
        }
    }

    /// The operands, for [`super::Trace::of`].
    #[must_use]
    pub fn operands(&self) -> Operands<'_> {
        self.words.operands()
    }

    /// The same values as operands of another unit: a unit with a smaller K takes them in several
    /// chained instructions, one with a larger K with zeros behind them.
    ///
    /// # Errors
    /// [`Error::Argument`] when a value does not exist in the other unit's format (unless `round`
    /// is set), or its blocks of scales do not fit.
    pub fn transfer(&self, from: &Signature, to: &Signature, round: bool) -> Result<Self> {
        let mut notes = Vec::new();
        let count = self.given.div_ceil(to.k).max(1);
        let length = count * to.k;
        if count > 1 {
            notes.push(format!(
                "{count} chained instructions: each d is the next one's c"
            ));
        }
        if length > self.given {
            notes.push(format!(
                "{} products are given; the others are +0",
                self.given
            ));
        }
        let mut carry = |name: &str, words: &[u64], from: &Format, to: &Format| {
            if from != to {
                notes.push(format!("{name} is converted from {from} to {to}"));
            }
            let one = |(index, word): (usize, &u64)| {
                if from == to {
                    return Ok(*word);
                }
                let value = TracedValue::of(&from.decode(from.from_register(*word)));
                converted(&format!("{name}[{index}]"), &value, to, round)
            };
            words
                .iter()
                .enumerate()
                .map(one)
                .collect::<Result<Vec<u64>>>()
        };
        let own = &self.words;
        let mut a = carry("a", &own.a[..self.given], &from.a, &to.a)?;
        let mut b = carry("b", &own.b[..self.given], &from.b, &to.b)?;
        let c = carry("c", &[own.c], &from.c, &to.c)?[0];
        a.resize(length, 0);
        b.resize(length, 0);
        let scales = |name: &str, words: &[u64]| self.transfer_scales(name, words, from, to, count);
        Ok(Self {
            words: OperandWords {
                a,
                b,
                c,
                scale_a: scales("sa", &own.scale_a)?,
                scale_b: scales("sb", &own.scale_b)?,
            },
            given: self.given,
            notes,
        })
    }

    fn transfer_scales(
        &self,
        name: &str,
        words: &[u64],
        from: &Signature,
        to: &Signature,
        count: usize,
    ) -> Result<Vec<u64>> {
        let value = |k: usize| {
            let Scale { format, block } = from.scale?;
            Some(TracedValue::of(
                &format.decode(format.from_register(words[k / block])),
            ))
        };
        let one_value = TracedValue::Finite(Dyadic::power_of_two(0));
        let fail = |why: String| Err(Error::Argument(format!("{name}: {why}")));
        let Some(Scale { format, block }) = to.scale else {
            let other = (0..self.given)
                .filter_map(value)
                .find(|scale| *scale != one_value);
            return match other {
                Some(scale) => fail(format!("a scale is {scale}; the other unit has none")),
                None => Ok(Vec::new()),
            };
        };
        let mut scales = Vec::new();
        for number in 0..count * to.scales() {
            let ks = number * block..((number + 1) * block).min(self.given);
            let values: Vec<TracedValue> = ks.filter_map(value).collect();
            let first = values.first().unwrap_or(&one_value);
            if let Some(other) = values.iter().find(|value| *value != first) {
                return fail(format!(
                    "the other unit has one scale for {block} products, where {first} and {other} \
                     are given"
                ));
            }
            scales.push(converted(
                &format!("{name}[{number}]"),
                first,
                &format,
                false,
            )?);
        }
        Ok(scales)
    }
}

/// The register word of 1.
fn one(format: &Format) -> u64 {
    format.to_register(format.round(&Exact::ONE, Rounding::Rne, Overflow::Infinity))
}

/// At most `count` elements: hexadecimal digits for all of them, or a list.
fn elements(
    name: &str,
    text: &str,
    format: &Format,
    count: usize,
    round: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<u64>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let digits = format.digits();
    let is_hex = text.len() == count * digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hex {
        if text.bytes().all(|b| b.is_ascii_digit()) && count == 1 {
            notes.push(format!(
                "{name} = {text} is read as a hexadecimal word; write {text}.0 for the number"
            ));
        }
        let part = |index: usize| &text[index * digits..(index + 1) * digits];
        let element = |index| register_word(&format!("{name}[{index}]"), part(index), format);
        return (0..count).map(element).collect();
    }
    let list: Vec<&str> = text.split(',').collect();
    if list.len() > count {
        return Err(Error::Argument(format!(
            "{name} has {} elements; at most {count} are taken",
            list.len()
        )));
    }
    let element = |(index, text): (usize, &&str)| {
        let name = if count == 1 {
            name.to_owned()
        } else {
            format!("{name}[{index}]")
        };
        word(&name, text, format, round)
    };
    list.iter().enumerate().map(element).collect()
}
