//! Makes of an exact sum the word that an instruction writes: §2.2 step 6 and 7, and their variants.

use mmascope::dpa::{Nan, Output, ZeroSign};
use mmascope::format::{Format, Rounding, Specials};

use super::exact::Dyadic;
use super::operand::{Class, Term, decode, float, largest_finite};
use super::rounding::{Rounded, round};

/// The result of a step: a word of the output's register format, or a NaN of unknown payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Word(u64),
    AnyNan,
}

/// The format in which a result is read again: that of the register, where low bits are kept.
pub(crate) fn container(format: &Format) -> Format {
    if format.register.shift == 0 {
        *format
    } else {
        mmascope::format::F32
    }
}

impl Outcome {
    /// The result as the next step's operand.
    pub(crate) fn term(self, output: &Output) -> Term {
        match self {
            Self::Word(word) => decode(&container(&output.format), word).term(),
            Self::AnyNan => Term::special(Class::Nan, false),
        }
    }
}

/// A special sum, decided before any finite arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Nan,
    Infinite { negative: bool },
}

/// §2.2 step 1: a NaN gives NaN, ∞ of both signs gives NaN, ∞ of one sign that ∞.
pub(crate) fn special<'a>(terms: impl Iterator<Item = &'a Term>) -> Option<Special> {
    let (mut nan, mut plus, mut minus) = (false, false, false);
    for term in terms {
        match term.class {
            Class::Finite => {}
            Class::Nan => nan = true,
            Class::Infinite if term.negative => minus = true,
            Class::Infinite => plus = true,
        }
    }
    if nan || plus && minus {
        Some(Special::Nan)
    } else if plus || minus {
        Some(Special::Infinite { negative: minus })
    } else {
        None
    }
}

pub(crate) fn special_outcome(special: Special, output: &Output) -> Outcome {
    match special {
        Special::Nan => nan_outcome(output),
        Special::Infinite { negative } => infinite_outcome(negative, output),
    }
}

/// A format that has no NaN has its largest number instead (PTX conversions to fp6 and fp4).
fn nan_outcome(output: &Output) -> Outcome {
    let float = float(&output.format);
    match output.nan {
        Nan::Any if float.specials == Specials::None => {
            with_sign(largest_finite(&float), false, output)
        }
        Nan::Word(word) => Outcome::Word(word),
        Nan::Any => Outcome::AnyNan,
        // Which operand's NaN it is has oracles of its own: the words of `show`, and the instruction.
        Nan::Operand(_) => Outcome::AnyNan,
        Nan::Own => panic!("a unit with NaN rules of its own has an oracle of its own"),
    }
}

/// An ∞; formats without one have the result of an overflow instead.
fn infinite_outcome(negative: bool, output: &Output) -> Outcome {
    match float(&output.format).specials {
        Specials::Ieee => with_sign(largest_finite(&float(&output.format)) + 1, negative, output),
        Specials::AllOnesNan | Specials::NegativeZeroNan => Outcome::AnyNan,
        Specials::None => with_sign(largest_finite(&float(&output.format)), negative, output),
    }
}

fn with_sign(code: u64, negative: bool, output: &Output) -> Outcome {
    let format = &output.format;
    let sign = u64::from(negative) << (format.bits - 1);
    Outcome::Word((code | sign) << format.register.shift)
}

/// Converts an exact finite sum of `terms` once.
pub(crate) fn finite_outcome<'a>(
    sum: &Dyadic,
    terms: impl Iterator<Item = &'a Term> + Clone,
    output: &Output,
) -> Outcome {
    let negative = match round(&output.format, sum, output.rounding, output.overflow) {
        Rounded::Nan => return Outcome::AnyNan,
        Rounded::Infinite => return infinite_outcome(sum.is_negative(), output),
        Rounded::Finite(0) => match output.zero {
            _ if float(&output.format).specials == Specials::NegativeZeroNan => false,
            ZeroSign::Plus => false,
            ZeroSign::Minus => true,
            ZeroSign::Exact => sum.is_negative(),
            _ if !sum.is_zero() => sum.is_negative(),
            ZeroSign::ExactMinus => true,
            // IEEE 754 §6.3: zeros of one sign keep it; else +0, or −0 toward −∞.
            ZeroSign::Ieee | ZeroSign::Common | ZeroSign::CommonMinus => {
                let of_sign = |sign| {
                    terms
                        .clone()
                        .all(|term| term.is_zero() && term.negative == sign)
                };
                let (all_minus, all_plus) = (of_sign(true), of_sign(false));
                let mixed_minus = match output.zero {
                    ZeroSign::Ieee => output.rounding == Rounding::Rd,
                    other => other == ZeroSign::CommonMinus,
                };
                all_minus || !all_plus && mixed_minus
            }
        },
        Rounded::Finite(code) => return with_sign(code, sum.is_negative(), output),
    };
    with_sign(0, negative, output)
}
