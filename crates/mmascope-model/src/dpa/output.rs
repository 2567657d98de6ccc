//! The final conversion of a sum: format, rounding, overflow, NaN and the sign of zero.

mod rows;

use super::events::Events;
use super::{FlushSign, Special};
use crate::exact::{Exact, Rounding};
use crate::format::{Class, Format, Overflow, Specials, Unpacked};

/// The conversion ρ of an exact result: everything after `->` in the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Result format. The result travels in the format's register word.
    pub format: Format,
    /// How the exact result is rounded.
    pub rounding: Rounding,
    /// What results out of range become.
    pub overflow: Overflow,
    /// Which NaN a NaN result is.
    pub nan: Nan,
    /// The sign of a zero result.
    pub zero: ZeroSign,
    /// Subnormal results become zeros of this sign; no shipped unit's own sum does that.
    pub flush: Option<FlushSign>,
    /// Which results a flush takes to be subnormal.
    pub tininess: Tininess,
}

/// When a result is looked at for whether it is below the smallest normal number (IEEE 754 §7.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tininess {
    /// The rounded result: what rounds up to the smallest normal number stays.
    #[default]
    After,
    /// The exact one: what would round up, or to zero, is flushed as well.
    Before,
    /// The result rounded as if exponents had no limit: what rounds up to the smallest normal number
    /// with all its fraction bits stays (IEEE 754's own reading of "after rounding").
    Unbounded,
}

/// The register word of +0, in every format of results.
pub(super) const PLUS_ZERO: u64 = 0;

/// Which NaN a NaN result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// Not known or not fixed: any NaN is right. The library gives the default quiet NaN.
    Any,
    /// This register word, always.
    Word(u64),
    /// What the algorithm says: it makes none, or one of its own.
    Own,
    /// The NaN operand that the last operation met, made quiet; this register word where no operand is NaN (x86).
    Operand(u64),
}

/// What an output is where the notation does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) nan: Nan,
    pub(super) flush: Option<FlushSign>,
    pub(super) tininess: Tininess,
}

impl Ends {
    /// Of almost every step.
    pub(super) const USUAL: Self = Self {
        nan: Nan::Any,
        flush: None,
        tininess: Tininess::After,
    };
}

/// The sign of a zero result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroSign {
    /// Every zero is +0.
    Plus,
    /// Every zero is −0; no known unit does that.
    Minus,
    /// An exactly zero sum is +0; a negative sum that rounds to zero is −0.
    Exact,
    /// IEEE 754 §6.3: as `Exact`, but zeros of one sign keep it, and other exact zeros
    /// are −0 under RD.
    Ieee,
    /// An exactly zero sum is −0; others that round to zero keep their sign. No known unit does that.
    ExactMinus,
    /// As `Ieee`, but other exact zeros are +0 under every rounding. No known unit does that.
    Common,
    /// As `Common`, but other exact zeros are −0. No known unit does that.
    CommonMinus,
}

impl Output {
    /// What a register word of this output means.
    #[inline]
    pub(super) fn unpack(&self, word: u64) -> Unpacked {
        let container = self.format.container_ref();
        container.decode(container.from_register(word))
    }

    /// What a register word of this output means to a step that takes every code for a number.
    pub(super) fn number(&self, word: u64) -> Unpacked {
        let container = self.format.container_ref();
        let code = container.from_register(word);
        container.without_specials().decode(code)
    }

    /// The register word of a zero.
    pub(super) fn zero(&self, negative: bool) -> u64 {
        self.format.to_register(self.format.zero(negative))
    }

    /// The register word of a zero, for the writers of source code.
    pub(crate) fn zero_word(&self, negative: bool) -> u64 {
        self.zero(negative)
    }

    /// The register word of a NaN result.
    pub(crate) fn nan_word(&self) -> u64 {
        self.special(Special::Nan)
    }

    /// The register word of an infinite result.
    pub(crate) fn infinity_word(&self, negative: bool) -> u64 {
        self.special(Special::Infinite { negative })
    }

    /// The register word of a number that is not zero.
    pub(crate) fn finite_word(&self, exact: &Exact) -> u64 {
        self.finite(exact, None)
    }

    /// The result of a special sum.
    pub(super) fn special(&self, special: Special) -> u64 {
        match special {
            Special::Infinite { negative } => {
                self.perhaps_nan(self.format.infinity(negative, self.overflow))
            }
            Special::Nan => match self.nan {
                Nan::Word(word) | Nan::Operand(word) => word,
                Nan::Any | Nan::Own => self.format.to_register(self.format.nan_or_substitute()),
            },
        }
    }

    /// The result of a finite sum. `zeros` is the sign that all its terms share if all are
    /// zeros.
    #[inline(always)]
    pub(super) fn finite(&self, exact: &Exact, zeros: Option<bool>) -> u64 {
        if self.tininess != Tininess::After
            && let Some(zero) = self.flushed_before(exact)
        {
            return zero;
        }
        let code = self.format.round(exact, self.rounding, self.overflow);
        // Almost every result: bits beside the sign, so no zero.
        if code & (self.format.mask() >> 1) != 0 {
            return match self.overflow {
                Overflow::Nan | Overflow::NanFinite => self.perhaps_nan(code),
                _ => self.format.to_register(code),
            };
        }
        let is_zero = exact.is_zero();
        // (In some formats the code with only the sign set is no zero but NaN.)
        let sign = code >> (self.format.bits - 1) == 1;
        let rounds_to_zero = code == self.format.zero(sign);
        if !rounds_to_zero {
            return self.format.to_register(code);
        }
        let negative = match self.zero {
            ZeroSign::Plus => false,
            ZeroSign::Minus => true,
            _ if !is_zero => exact.negative,
            ZeroSign::Exact => false,
            ZeroSign::ExactMinus => true,
            ZeroSign::Ieee => zeros.unwrap_or(self.rounding == Rounding::Rd),
            ZeroSign::Common => zeros.unwrap_or(false),
            ZeroSign::CommonMinus => zeros.unwrap_or(true),
        };
        self.zero(negative)
    }

    /// The register word of a code that an overflow may have made NaN: the one NaN that there is.
    #[cold]
    fn perhaps_nan(&self, code: u64) -> u64 {
        match self.nan {
            Nan::Word(word) | Nan::Operand(word)
                if self.format.decode(code).class == Class::Nan =>
            {
                word
            }
            _ => self.format.to_register(code),
        }
    }

    /// The zero that a flush before the rounding makes of a sum.
    #[cold]
    fn flushed_before(&self, exact: &Exact) -> Option<u64> {
        let (sign, float) = (self.flush?, self.format.float()?);
        let is_tiny = match self.top(exact) {
            None => exact.sticky,
            Some(top) => top < float.emin(),
        };
        is_tiny.then(|| self.zero(exact.negative && sign == FlushSign::Kept))
    }

    /// The exponent by which [`Tininess`] judges a sum; `None` for zero.
    fn top(&self, exact: &Exact) -> Option<i32> {
        let top = exact.top()?;
        let fraction_bits = self.format.float().map_or(0, |float| float.fraction_bits);
        if self.tininess != Tininess::Unbounded || top - exact.exponent <= fraction_bits as i32 {
            return Some(top);
        }
        let rounded = exact.align(top - fraction_bits as i32, self.rounding);
        Some(top + i32::from(rounded.unsigned_abs() >> (fraction_bits + 1) != 0))
    }

    /// Whether a sum is too large or too small for the format, once it is rounded.
    pub(super) fn events(&self, exact: &Exact) -> Events {
        let (Some(float), Some(top)) = (self.format.float(), self.top(exact)) else {
            return Events::default();
        };
        let ones = (1 << float.exponent_bits) - 1 - float.bias;
        let largest = ones - i32::from(float.specials == Specials::Ieee);
        Events {
            overflow: top > largest,
            underflow: self.flush.is_some() && top < float.emin(),
            ..Events::default()
        }
    }

    /// A value that the format holds as a normal number, decoded: rounding would not change it.
    #[inline]
    pub(super) fn holds(&self, exact: &Exact) -> Option<Unpacked> {
        let float = self.format.float()?;
        let fraction_bits = float.fraction_bits;
        let magnitude = u64::try_from(exact.magnitude).ok()?;
        let top = magnitude.checked_ilog2()?;
        let (exponent, emin) = (exact.exponent + top as i32, float.emin());
        let is_normal = (emin..emin + (1 << float.exponent_bits) - 2).contains(&exponent);
        (top <= fraction_bits && is_normal && !exact.sticky).then(|| Unpacked {
            negative: exact.negative,
            class: Class::Finite,
            exponent,
            significand: magnitude << (fraction_bits - top),
            fraction_bits,
        })
    }

    /// A signed fixed-point sum, `sum · 2^exponent`.
    pub(super) fn fixed(&self, sum: i128, exponent: i32, zeros: Option<bool>) -> u64 {
        let exact = Exact::of_multiple(sum, exponent);
        self.finite(&exact, zeros)
    }

    /// Whether a register word is a NaN of the result format.
    #[must_use]
    pub fn is_nan(&self, bits: u64) -> bool {
        self.unpack(bits).class == Class::Nan
    }
}

/// Rounds a value to the output's format.
pub(super) fn convert(value: &Unpacked, output: &Output) -> u64 {
    match (super::special_value(value), value.exact()) {
        (None, Some(exact)) => {
            output.finite(&exact, (exact.magnitude == 0).then_some(exact.negative))
        }
        (special, _) => output.special(special.unwrap_or(Special::Nan)),
    }
}
