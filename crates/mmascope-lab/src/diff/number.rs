//! Numbers of words: what words mean, carried from one format to another.

use crate::exact::{Dyadic, Exact, Rounding};
use crate::format::{Class, Format, Overflow, Unpacked};

/// The number of a finite code, in lowest terms: equal numbers of equal sign are equal.
pub(super) fn number(value: &Unpacked) -> Option<Exact> {
    value.exact().map(|exact| exact.in_lowest_terms())
}

/// The word of exactly this number, if the format has it.
pub(super) fn word(number: &Exact, format: &Format) -> Option<u64> {
    format.code_of(number).map(|code| format.to_register(code))
}

/// The word nearest to a number, ties to even; `None` beyond the format's largest.
pub(super) fn nearest(number: &Dyadic, format: &Format) -> Option<u64> {
    let code = format.round(&number.to_exact(), Rounding::Rne, Overflow::Infinity);
    format.decode(code).exact()?;
    // A format without ∞ and NaN rounds everything beyond its largest number to that one.
    let largest = format
        .decode(format.max_finite(number.is_negative()))
        .exact()?;
    let fits = format.nan().is_some() || number.magnitude() <= Dyadic::of(&largest).magnitude();
    fits.then(|| format.to_register(code))
}

/// Decodes a register word.
pub(super) fn decode(word: u64, format: &Format) -> Unpacked {
    format.decode(format.from_register(word))
}

/// The register word of the same value in another format; `None` when that has no such value. A NaN
/// becomes the default NaN.
///
/// ```
/// use mmascope_lab::diff::translate;
/// use mmascope_model::format::{BF16, F16, F32};
///
/// assert_eq!(translate(0x3c00, &F16, &F32), Some(0x3f80_0000));
/// assert_eq!(translate(0x3c01, &F16, &BF16), None); // too long
/// ```
#[must_use]
pub fn translate(word: u64, from: &Format, to: &Format) -> Option<u64> {
    if from == to {
        return Some(word);
    }
    let value = decode(word, from);
    match value.class {
        Class::Nan => Some(to.to_register(to.nan()?)),
        Class::Infinite => {
            let code = to.infinity(value.negative, Overflow::Infinity);
            (to.decode(code).class == Class::Infinite).then(|| to.to_register(code))
        }
        Class::Zero | Class::Finite => {
            let code = to.code_of(&value.exact()?)?;
            Some(to.to_register(code))
        }
    }
}
