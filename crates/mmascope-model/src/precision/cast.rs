//! Casts: from any format to any other, with rounding, overflow, clamps, and NaN, ∞ and signs by policy.
//!
//! ```
//! use mmascope_model::format::{E4M3FN, F32};
//! use mmascope_model::precision::cast::{Cast, CastOptions};
//!
//! // What `cvt.rn.satfinite.e4m3x2.f32` makes of 1000: the largest e4m3.
//! let cast = Cast::new(F32, E4M3FN, &CastOptions::default())?;
//! assert_eq!(cast.code(u64::from(1000_f32.to_bits())), 0x7e);
//! # Ok::<(), mmascope_model::Error>(())
//! ```
//!
//! The rules are those of the specification of precision §2.1, §2.2 and §6; the sources are PTX ISA
//! 9.4, CUDA's headers, OCP OFP8 and MX, and `ml_dtypes` 0.6. This is the reference: one code at a
//! time. Slices are cast by `mmascope-gemm`, with the same bits.

#![deny(clippy::float_arithmetic)]

mod nan;
mod packed;
mod policy;
pub mod ptx;
mod random;
mod shown;

use std::cmp::Ordering;

pub use nan::NanRule;
pub use packed::{Packing, lane_names};
pub use policy::CastPolicy;
pub use random::{RandomBits, Slice, reversed, slice_bits};
pub use shown::{Shown, decimal};

use crate::error::{Error, Result};
use crate::format::{
    Class, Exact, F32, Format, Kind, Overflow, Rounding, Specials, UE8M0, Unpacked,
};

/// What is asked of a cast beside its two formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CastOptions {
    /// `None` is round to nearest even.
    pub rounding: Option<Rounding>,
    /// What values out of range become; `None` is what the policy says.
    pub overflow: Option<OutOfRange>,
    /// Whose rules; `None` is PTX `cvt` where PTX has the form, else IEEE.
    pub policy: Option<CastPolicy>,
    /// Negative values become +0, a NaN the canonical NaN (PTX `.relu`).
    pub relu: bool,
    /// Values are clamped to [0, 1] and NaN becomes +0; between integers, to the range (PTX `.sat`).
    pub sat: bool,
    /// Subnormal f32 operands and results become zeros with their sign (PTX `.ftz`).
    pub ftz: bool,
    /// A result of −0 becomes +0 (PTX `.pzo`).
    pub pzo: bool,
}

/// What is asked for values beyond the largest finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// ∞ or the largest finite number, as the rounding direction says; ∞ stays ∞.
    Ieee,
    /// The largest finite number, ∞ included (PTX `.satfinite`).
    SatFinite,
    /// NaN.
    Nan,
}

impl OutOfRange {
    const NAMES: [(&'static str, Self); 3] = [
        ("ieee", Self::Ieee),
        ("satfinite", Self::SatFinite),
        ("nan", Self::Nan),
    ];

    /// The names: `ieee satfinite nan`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }

    /// The choice of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, choice)| *choice)
            .ok_or_else(|| Error::unknown("overflow", name, Self::names()))
    }

    fn overflow(self) -> Overflow {
        match self {
            Self::Ieee => Overflow::Ieee,
            Self::SatFinite => Overflow::Saturate,
            Self::Nan => Overflow::Nan,
        }
    }
}

/// The result for values that a clamp catches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Clamp {
    None,
    Relu,
    /// To [0, 1].
    Unit,
}

/// A cast from one format to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cast {
    from: Format,
    to: Format,
    rounding: Rounding,
    overflow: Overflow,
    policy: CastPolicy,
    clamp: Clamp,
    ftz: bool,
    pzo: bool,
    /// Between integers: the low bits are kept, as PTX, C and NumPy do.
    wraps: bool,
    form: Option<ptx::PtxForm>,
}

impl Cast {
    /// A cast with these options.
    ///
    /// # Errors
    /// [`Error::Argument`] when the target has no ∞ or NaN that is asked for, a clamp does not fit,
    /// or the policy is PTX and no target has such a `cvt`.
    pub fn new(from: Format, to: Format, options: &CastOptions) -> Result<Self> {
        check(&from, &to, options)?;
        let rounding = options.rounding.unwrap_or(Rounding::Rne);
        let form = ptx::form(&from, &to, rounding, options);
        let (policy, form) = match (options.policy, form) {
            (None | Some(CastPolicy::Ptx), Ok(form)) => (CastPolicy::Ptx, Some(form)),
            (None, Err(_)) => (CastPolicy::Ieee, None),
            (Some(CastPolicy::Ptx), Err(why)) => return Err(Error::Argument(why)),
            (Some(policy), _) => (policy, None),
        };
        let overflow = match (options.overflow, form) {
            (Some(choice), _) => choice.overflow(),
            (None, Some(form)) if form.saturates => Overflow::Saturate,
            (None, _) => policy.overflow(&to),
        };
        let overflow = match policy {
            CastPolicy::Host if to == UE8M0 => of_host_to_ue8m0(rounding, overflow)?,
            _ => overflow,
        };
        let between_integers = is_integer(&from) && is_integer(&to);
        let keeps_low_bits = matches!(
            policy,
            CastPolicy::Ptx | CastPolicy::MlDtypes | CastPolicy::Host
        );
        Ok(Self {
            from,
            to,
            rounding,
            overflow,
            policy,
            clamp: match (options.relu, options.sat) {
                (true, _) => Clamp::Relu,
                (_, true) if !is_integer(&to) => Clamp::Unit,
                _ => Clamp::None,
            },
            ftz: options.ftz,
            pzo: options.pzo,
            wraps: between_integers && keeps_low_bits && !options.sat && options.overflow.is_none(),
            form,
        })
    }

    /// The source format.
    #[must_use]
    pub fn from(&self) -> &Format {
        &self.from
    }

    /// The target format.
    #[must_use]
    pub fn to(&self) -> &Format {
        &self.to
    }

    /// How inexact values are rounded.
    #[must_use]
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// What values out of range become.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Whose rules hold.
    #[must_use]
    pub fn policy(&self) -> CastPolicy {
        self.policy
    }

    /// The PTX instruction whose result this is, if there is one.
    #[must_use]
    pub fn form(&self) -> Option<&ptx::PtxForm> {
        self.form.as_ref()
    }

    /// Whether the result depends on nothing but sign, exponent and fraction of a value that is
    /// rounded: no clamp and no flush.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.clamp == Clamp::None && !self.ftz && !self.pzo && !self.wraps
    }

    /// The same with other random bits; nothing else changes, and nothing at all unless the rounding
    /// is stochastic.
    #[must_use]
    pub fn with_random(mut self, slice: Slice) -> Self {
        if let Rounding::Stochastic { .. } = self.rounding {
            self.rounding = slice.rounding();
        }
        self
    }

    /// The register word of the result for a register word of the source.
    #[must_use]
    pub fn word(&self, word: u64) -> u64 {
        self.to
            .to_register(self.code(self.from.from_register(word)))
    }

    /// The code of the result for a code of the source.
    #[must_use]
    pub fn code(&self, code: u64) -> u64 {
        if self.wraps {
            return self.low_bits(code);
        }
        let mut value = self.from.decode(code);
        if value.class == Class::Nan {
            return self.of_nan(code);
        }
        if self.ftz && self.from == F32 && is_subnormal(&self.from, &value) {
            (value.class, value.significand) = (Class::Zero, 0);
        }
        if let Some(code) = self.clamped(&value) {
            return code;
        }
        if self.policy == CastPolicy::MlDtypes
            && let Some(code) = self.of_ml_dtypes(&value)
        {
            return code;
        }
        let code = match exact(&value) {
            None => self.to.infinity(value.negative, self.overflow),
            Some(exact) => self.to.round(&exact, self.rounding, self.overflow),
        };
        self.finished(code, value.negative)
    }

    /// Whether source and result have the same value; a NaN is the same as any NaN.
    #[must_use]
    pub fn is_exact(&self, from_code: u64, to_code: u64) -> bool {
        let (from, to) = (self.from.decode(from_code), self.to.decode(to_code));
        match (exact(&from), exact(&to)) {
            (Some(x), Some(y)) => compare(&x, &y) == Ordering::Equal,
            (None, None) => {
                from.class == to.class && (from.class == Class::Nan || from.negative == to.negative)
            }
            _ => false,
        }
    }

    /// Flushes and signs of zeros, after the rounding.
    fn finished(&self, code: u64, negative: bool) -> u64 {
        let flushed = self.ftz && self.to == F32 && is_subnormal(&F32, &F32.decode(code));
        let code = if flushed {
            self.to.zero(negative)
        } else {
            code
        };
        if self.pzo && self.to.decode(code).class == Class::Zero {
            return self.to.zero(false);
        }
        code
    }

    /// The result where a clamp decides it; a NaN is no matter of this.
    fn clamped(&self, value: &Unpacked) -> Option<u64> {
        let one = Exact {
            negative: false,
            magnitude: 1,
            exponent: 0,
            sticky: false,
        };
        match self.clamp {
            Clamp::None => None,
            Clamp::Relu | Clamp::Unit if value.negative => {
                Some(self.finished(self.of_zero(), false))
            }
            Clamp::Unit if exact(value).is_none_or(|x| compare(&x, &one) == Ordering::Greater) => {
                Some(self.to.round(&one, self.rounding, self.overflow))
            }
            _ => None,
        }
    }

    fn of_zero(&self) -> u64 {
        self.to.zero(false)
    }

    /// An integer's low bits; a negative one is extended by its sign.
    fn low_bits(&self, code: u64) -> u64 {
        let value = self.from.decode(code);
        let magnitude = value.significand;
        let bits = if value.negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        };
        bits & self.to.mask()
    }
}

/// What does not fit the formats, whatever the policy.
fn check(from: &Format, to: &Format, options: &CastOptions) -> Result<()> {
    let wrong = |message: String| Err(Error::Argument(message));
    if options.relu && options.sat {
        return wrong("relu and sat exclude each other; give one of them".into());
    }
    if options.ftz && *from != F32 && *to != F32 {
        return wrong(format!(
            "ftz flushes f32 operands and results; from {from} to {to} there is neither"
        ));
    }
    let allowed = || {
        let all = [OutOfRange::Ieee, OutOfRange::SatFinite, OutOfRange::Nan];
        let fit = all.into_iter().filter(|choice| has(to, *choice));
        let names = OutOfRange::names().zip(all);
        let fit: Vec<OutOfRange> = fit.collect();
        let names: Vec<&str> = names
            .filter(|(_, choice)| fit.contains(choice))
            .map(|(name, _)| name)
            .collect();
        names.join(", ")
    };
    match options.overflow {
        Some(OutOfRange::Ieee) if !has(to, OutOfRange::Ieee) => wrong(format!(
            "overflow ieee: {to} has no infinity; allowed: {}",
            allowed()
        )),
        Some(OutOfRange::Nan) if !has(to, OutOfRange::Nan) => wrong(format!(
            "overflow nan: {to} has no NaN; allowed: {}",
            allowed()
        )),
        _ => Ok(()),
    }
}

/// CUDA's headers convert to ue8m0 toward zero, upward or, in software alone, to nearest; without SATFINITE no finite number
/// becomes NaN toward zero.
fn of_host_to_ue8m0(rounding: Rounding, overflow: Overflow) -> Result<Overflow> {
    match rounding {
        Rounding::Rz | Rounding::Ru if overflow == Overflow::Nan => Ok(Overflow::Ieee),
        Rounding::Rz | Rounding::Ru | Rounding::Rne => Ok(overflow),
        other => Err(Error::Argument(format!(
            "round {other}: the policy host converts to ue8m0 with rz, ru or rne, as CUDA's headers do"
        ))),
    }
}

fn has(to: &Format, choice: OutOfRange) -> bool {
    match choice {
        OutOfRange::SatFinite => true,
        OutOfRange::Ieee => to
            .float()
            .is_some_and(|float| float.specials == Specials::Ieee),
        OutOfRange::Nan => to.nan().is_some(),
    }
}

/// Whether this is an integer format (mxint8 and s2f6 are fractions).
pub(crate) fn is_integer(format: &Format) -> bool {
    matches!(format.kind, Kind::Fixed { scale: 0 })
}

fn is_subnormal(format: &Format, value: &Unpacked) -> bool {
    let Some(float) = format.float() else {
        return false;
    };
    value.class == Class::Finite && value.significand >> float.fraction_bits == 0
}

/// The exact value; `None` for ∞ and NaN.
fn exact(value: &Unpacked) -> Option<Exact> {
    value.exact()
}

/// Compares two exact values without sticky parts; zeros are equal whatever their signs.
fn compare(x: &Exact, y: &Exact) -> Ordering {
    let sign = |v: &Exact| match (v.magnitude, v.negative) {
        (0, _) => 0,
        (_, false) => 1,
        (_, true) => -1,
    };
    let order = sign(x).cmp(&sign(y));
    if order != Ordering::Equal || sign(x) == 0 {
        return order;
    }
    // The top bits first; then both magnitudes at the smaller exponent fit: 64 bits each.
    let top = |v: &Exact| i64::from(v.magnitude.ilog2()) + i64::from(v.exponent);
    let magnitudes = top(x).cmp(&top(y)).then_with(|| {
        let least = x.exponent.min(y.exponent);
        let at = |v: &Exact| v.magnitude << (v.exponent - least);
        at(x).cmp(&at(y))
    });
    if x.negative {
        magnitudes.reverse()
    } else {
        magnitudes
    }
}
