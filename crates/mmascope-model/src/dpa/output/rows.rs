//! The parameters of a result as rows: the notation behind a result's rounding and format, and its sentences.

use super::{Ends, Nan, Output, Tininess, ZeroSign};
use crate::dpa::FlushSign;
use crate::dpa::describe::{rounded, stand_ins};
use crate::dpa::notation::Flaw;
use crate::dpa::program::Operation;
use crate::dpa::schema::parameters as p;
use crate::dpa::schema::{
    Given, Parameter, RegisterWord, Row, Rows, Typed, Value, row, typed_words,
};
use crate::dpa::token::Token;
use crate::format::{Class, Format, Formats, Overflow, Rounding};

typed_words!(ZeroSign:
    Self::Plus => "plus",
    Self::Minus => "minus",
    Self::Exact => "exact",
    Self::Ieee => "ieee",
    Self::ExactMinus => "exact-minus",
    Self::Common => "common",
    Self::CommonMinus => "common-minus",
);

typed_words!(Tininess:
    Self::After => "after",
    Self::Before => "before",
    Self::Unbounded => "unbounded",
);

/// What stands before the word of a NaN that an operand's NaN comes before.
const OPERAND: &str = "operand:";

/// An output beside the one that its operation has when the notation says nothing.
#[derive(Clone, Copy)]
pub(in crate::dpa) struct Ending {
    output: Output,
    usual: Output,
}

/// A row of a field that is what it usually is when nobody says it.
macro_rules! usual_row {
    ($parameter:ident, $field:ident) => {
        row!($parameter, output.$field).or(|own| own.usual.$field.value(&p::$parameter))
    };
}

impl Ending {
    const ROWS: &'static [Row<Self>] = &[
        Row::new(
            &p::EXPONENTS,
            |own: &Self| own.output.format.is_numbers_only().value(&p::EXPONENTS),
            |own, value| {
                let format = own.output.format.with_specials();
                own.output.format = match Typed::of(value, &p::EXPONENTS) {
                    Some(true) => format.without_specials(),
                    Some(false) => format,
                    None => return false,
                };
                true
            },
        )
        .or(|_| Value::Word("special"))
        .says(20, |own, _| match own.output.format {
            format if format.is_numbers_only() => format!(
                "The exponent field of ones of {format} is one more binade of numbers; the largest stands for infinity."
            ),
            _ => String::new(),
        }),
        Row::new(
            &p::NAN,
            |own: &Self| own.output.nan_value(),
            |own, value| {
                own.output.nan = match value {
                    Value::Word("any") => Nan::Any,
                    Value::Word("own") => Nan::Own,
                    Value::Register(RegisterWord { prefix: OPERAND, bits, .. }) => Nan::Operand(bits),
                    Value::Register(register) => Nan::Word(register.bits),
                    _ => return false,
                };
                true
            },
        )
        .or(|own| own.usual.nan_value())
        .unless(|own, value| match value {
            Value::Register(register) => {
                let container = own.output.format.with_specials().container();
                if register.digits != container.digits() {
                    return Some(format!("a word of {container} has {} digits", container.digits()));
                }
                let is_nan = container.decode(register.bits).class == Class::Nan;
                (!is_nan).then(|| format!("that word is not a NaN of {container}"))
            }
            _ => None,
        })
        .says(40, |own, _| {
            let word = own.output.nan_value();
            match own.output.nan {
                Nan::Any if own.output.format.nan().is_none() => String::new(),
                Nan::Any => "Which NaN a NaN result is, is not known.".to_owned(),
                Nan::Own => "No result is NaN but where it is said above.".to_owned(),
                Nan::Word(_) => format!("A NaN result is always {word}."),
                Nan::Operand(bits) => format!(
                    "A NaN result is the first NaN among a and b of the last product summed, a and b of the one before it and so on, and c, made quiet: its sign and its fraction stay, the fraction's first bit is set; without a NaN operand it is {}.",
                    own.output.register("", bits)
                ),
            }
        }),
        usual_row!(ZERO, zero).says(50, |own, _| zero_words(&own.output).to_owned()),
        usual_row!(OVERFLOW, overflow).says(30, |own, _| {
            match own.output.overflow {
                Overflow::Infinity => {
                    "A result beyond the largest number is infinity, however it is rounded."
                }
                Overflow::Ieee => {
                    "A result beyond the largest number is what IEEE 754 says: infinity, or the largest number where rounding goes toward it."
                }
                Overflow::Nan => {
                    "A result beyond the largest number is NaN, and so is infinity."
                }
                Overflow::NanFinite => {
                    "A result beyond the largest number is NaN; infinity stays infinity."
                }
                Overflow::Saturate => {
                    "A result beyond the largest number is the largest number, and so is infinity."
                }
                Overflow::SaturateFinite => {
                    "A result beyond the largest number is the largest number; infinity stays infinity."
                }
            }
            .to_owned()
        }),
        usual_row!(FLUSH_RESULT, flush).says(10, |own, _| flush_words(&own.output)),
        usual_row!(TININESS, tininess).if_any(|own| match own.output.flush {
            Some(_) => Ok(()),
            None => Err("says which results are flushed: it needs flush=plus, for example"),
        }),
    ];

    /// An output of an operation.
    fn of(operation: &Operation, output: Output) -> Self {
        let usual = Output::usual(operation, output.rounding, output.format);
        Self { output, usual }
    }
}

impl Rows for Ending {
    const ALL: &'static [Row<Self>] = Self::ROWS;
    const KIND: &'static str = "output parameter";
}

fn flush_words(output: &Output) -> String {
    let format = output.format;
    let becomes = match output.flush {
        None => return String::new(),
        Some(FlushSign::Plus) => "becomes +0",
        Some(FlushSign::Kept) => "becomes a zero of its sign",
    };
    match output.tininess {
        Tininess::Before => format!(
            "A result below the smallest normal number of {format} before it is rounded {becomes}."
        ),
        Tininess::Unbounded => format!(
            "A result that is below the smallest normal number of {format} when it is rounded to as many significant bits as a normal number has, {becomes}."
        ),
        Tininess::After => format!("A subnormal result {becomes}."),
    }
}

fn zero_words(output: &Output) -> &'static str {
    match (output.zero, output.rounding) {
        (ZeroSign::Plus, _) => "A zero result is +0.",
        (ZeroSign::Minus, _) => "A zero result is -0.",
        (ZeroSign::Exact, _) => {
            "A sum of exactly 0 is +0; one that is rounded to zero keeps its sign."
        }
        (ZeroSign::ExactMinus, _) => {
            "A sum of exactly 0 is -0; one that is rounded to zero keeps its sign."
        }
        (ZeroSign::Ieee, Rounding::Rd) | (ZeroSign::CommonMinus, _) => {
            "A sum of zeros of one sign is that zero; another sum of exactly 0 is -0; one that is rounded to zero keeps its sign."
        }
        (ZeroSign::Ieee | ZeroSign::Common, _) => {
            "A sum of zeros of one sign is that zero; another sum of exactly 0 is +0; one that is rounded to zero keeps its sign."
        }
    }
}

impl Output {
    /// The output of an operation whose notation says a rounding and a format alone.
    pub(in crate::dpa) fn usual(operation: &Operation, rounding: Rounding, format: Format) -> Self {
        let ((overflow, zero), ends) = match operation {
            // Additions and conversions follow IEEE 754; steps say what theirs are.
            Operation::Add(..) | Operation::Convert(_) | Operation::Negate(_) => {
                ((Overflow::Ieee, ZeroSign::Ieee), Ends::USUAL)
            }
            Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
                (algorithm.result(), algorithm.ends())
            }
        };
        let Ends {
            nan,
            flush,
            tininess,
        } = ends;
        Self {
            format,
            rounding,
            overflow,
            nan,
            zero,
            flush,
            tininess,
        }
    }

    /// Every parameter with its value, in the order of the notation, where it has a meaning.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static Parameter, Value)> {
        self.alone().parameters()
    }

    /// The value of a parameter; `None` when a result has none of that symbol.
    #[must_use]
    pub fn get(&self, symbol: &str) -> Option<Value> {
        self.alone().get(symbol)
    }

    /// Changes a parameter; false where a result cannot have this value.
    pub fn set(&mut self, symbol: &str, value: Value) -> bool {
        let mut ending = self.alone();
        let is_set = ending.set(symbol, value);
        *self = ending.output;
        is_set
    }

    /// The parameters that are not what they usually are for this operation, with their values.
    pub(in crate::dpa) fn said(&self, of: &Operation) -> Vec<(&'static Parameter, Value)> {
        Ending::of(of, *self).said()
    }

    /// Takes the values of `NAME=value` words behind the format, which is the word `head`.
    pub(in crate::dpa) fn read(
        &mut self,
        head: Token<'_>,
        given: &[Given<'_>],
        formats: &Formats,
    ) -> Result<(), Flaw> {
        let mut ending = self.alone();
        ending.read(head, given, formats)?;
        *self = ending.output;
        Ok(())
    }

    /// Says which parameter is out of its range.
    pub(in crate::dpa) fn check_limits(&self) -> Result<(), String> {
        self.alone().check_ranges()
    }

    /// The result in words, sentence by sentence.
    pub(in crate::dpa) fn words(&self) -> Vec<String> {
        let Self {
            format, rounding, ..
        } = self;
        if format.float().is_none() {
            return vec![format!("The result is a number of {format}.")];
        }
        let rounded = rounded(*rounding);
        let mut said = vec![format!("The result is rounded to {format}, {rounded}.")];
        said.extend(self.alone().words(self));
        // Where infinity becomes the largest number, none needs a NaN.
        let is_settled = self.overflow == Overflow::Saturate && format.nan().is_some();
        said.extend(
            stand_ins(format)
                .filter(|_| !is_settled)
                .map(|words| words + "."),
        );
        said
    }

    /// An output that is taken for the usual one.
    fn alone(&self) -> Ending {
        Ending {
            output: *self,
            usual: *self,
        }
    }

    fn nan_value(&self) -> Value {
        match self.nan {
            Nan::Any => Value::Word("any"),
            Nan::Own => Value::Word("own"),
            Nan::Word(bits) => self.register("", bits),
            Nan::Operand(bits) => self.register(OPERAND, bits),
        }
    }

    fn register(&self, prefix: &'static str, bits: u64) -> Value {
        let digits = self.format.container_ref().digits();
        Value::Register(RegisterWord {
            prefix,
            bits,
            digits,
        })
    }
}
