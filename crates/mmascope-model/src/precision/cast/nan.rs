//! Decides what a NaN becomes in a cast. Which rule holds is said by the policy or, under PTX's, by the instruction.

use super::{Cast, CastPolicy, Clamp, is_integer};
use crate::format::{BF16, E4M3FN, E5M2, F16, F32, F64, Format, TF32};

/// What a cast to a float makes of a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanRule {
    /// PTX's canonical NaN: every bit of exponent and fraction set, no sign; f64 has the default
    /// quiet NaN.
    Canonical,
    /// The target's default quiet NaN; the largest number where the target has no NaN.
    Default,
    /// The default quiet NaN with the operand's sign; where the target has no NaN, a zero of the
    /// other sign.
    Signed,
    /// Sign and fraction are kept: the fraction loses low bits or gets zeros there. A fraction that
    /// is lost as a whole leaves ∞. A move, a shift or a mask does this.
    Kept,
    /// As [`NanRule::Kept`], with the top bit of the fraction set.
    Quieted,
    /// As [`NanRule::Kept`], but a fraction that is lost as a whole becomes 1.
    KeptAsNan,
    /// As [`NanRule::Kept`], then the next code toward zero: ∞ becomes the largest number.
    Lowered,
}

impl NanRule {
    /// Whether more of the operand than its sign reaches the result.
    #[must_use]
    pub fn keeps_payload(self) -> bool {
        match self {
            Self::Canonical | Self::Default | Self::Signed => false,
            Self::Kept | Self::Quieted | Self::KeptAsNan | Self::Lowered => true,
        }
    }

    /// The code that a NaN of one format gets in another.
    fn code(self, from: &Format, to: &Format, code: u64) -> u64 {
        // The only NaN of the FNUZ formats is a set sign bit.
        let negative = from.signed && code >> (from.bits - 1) & 1 == 1;
        let sign = u64::from(negative && to.signed) << (to.bits - 1);
        match self {
            Self::Canonical => canonical(to),
            Self::Default => to.nan_or_substitute(),
            Self::Signed => to
                .nan()
                .map_or_else(|| to.zero(!negative), |nan| nan | sign),
            Self::Kept if from == to => code,
            Self::Kept => carried(from, to, code) | sign,
            Self::Quieted => carried(from, to, code) | quiet_bit(to) | sign,
            Self::KeptAsNan => {
                let kept = carried(from, to, code);
                let is_lost = kept & fraction_mask(to) == 0;
                kept | u64::from(is_lost) | sign
            }
            Self::Lowered => (carried(from, to, code) - 1) | sign,
        }
    }
}

impl Cast {
    /// What becomes of a NaN; `None` where the source has none or it becomes a number: an integer, or
    /// 0 by `.sat`.
    #[must_use]
    pub fn nan_rule(&self) -> Option<NanRule> {
        if self.from.nan().is_none() || is_integer(&self.to) || self.clamp == Clamp::Unit {
            return None;
        }
        Some(match (self.policy, self.form) {
            // `.relu` asks for it.
            _ if self.clamp == Clamp::Relu => NanRule::Canonical,
            (CastPolicy::Ptx, Some(form)) => form.nan_rule(),
            (CastPolicy::Ptx, None) => NanRule::Canonical,
            (CastPolicy::Ieee | CastPolicy::Ocp, _) => NanRule::Default,
            (CastPolicy::Host, _) => host(&self.from, &self.to),
            (CastPolicy::MlDtypes, _) => ml_dtypes(&self.from, &self.to),
        })
    }

    /// The code that the target gets for a NaN of the source.
    pub(super) fn of_nan(&self, code: u64) -> u64 {
        if is_integer(&self.to) {
            return self.integer_of_nan();
        }
        let Some(rule) = self.nan_rule() else {
            return self.of_zero();
        };
        // PTX flushes an operand by an addition or a product, whose NaN is canonical.
        let is_flushed = self.policy == CastPolicy::Ptx && self.ftz && self.from == F32;
        let code = if is_flushed { canonical(&F32) } else { code };
        rule.code(&self.from, &self.to, code)
    }

    /// PTX: 0, but the smallest number where the source is f64 or the target has 64 bits (of an
    /// unsigned one, the top bit).
    fn integer_of_nan(&self) -> u64 {
        let is_long = self.from == F64 || self.to.bits == 64;
        match self.policy {
            CastPolicy::Ptx | CastPolicy::Host if is_long => 1 << (self.to.bits - 1),
            _ => 0,
        }
    }
}

/// CUDA's headers: f32 and narrower NaNs are made canonical first; f64 keeps its sign in fp8 and in
/// e5m2 the top of its payload; bf16 is shifted into f32.
fn host(from: &Format, to: &Format) -> NanRule {
    match (*from, *to) {
        (F64, E5M2) => NanRule::Quieted,
        (F64, E4M3FN) => NanRule::Signed,
        (BF16, F32) => NanRule::Kept,
        _ => NanRule::Canonical,
    }
}

/// `ml_dtypes` keeps the sign; NumPy, which does f16, f32 and f64, the payload too.
fn ml_dtypes(from: &Format, to: &Format) -> NanRule {
    match (*from, *to) {
        _ if from == to => NanRule::Kept,
        (F32 | F64, F16) => NanRule::KeptAsNan,
        // NumPy 2.4 carries payloads of f16 as they are; those of f32 become quiet.
        (F16 | BF16, F32) | (F16, F64) => NanRule::Kept,
        (F32, F64) | (F64, F32) | (BF16, F64) => NanRule::Quieted,
        _ => NanRule::Signed,
    }
}

fn canonical(to: &Format) -> u64 {
    match to.nan() {
        Some(_) if [F32, F16, BF16, TF32, E5M2].contains(to) => to.mask() >> 1,
        _ => to.nan_or_substitute(),
    }
}

fn fraction_bits(format: &Format) -> u32 {
    format.float().map_or(0, |float| float.fraction_bits)
}

fn fraction_mask(format: &Format) -> u64 {
    (1 << fraction_bits(format)) - 1
}

fn quiet_bit(format: &Format) -> u64 {
    1 << (fraction_bits(format) - 1)
}

/// Exponent all ones and the payload, aligned at its top; no sign.
fn carried(from: &Format, to: &Format, code: u64) -> u64 {
    let (narrow, wide) = (fraction_bits(from), fraction_bits(to));
    let fraction = code & fraction_mask(from);
    let fraction = if wide >= narrow {
        fraction << (wide - narrow)
    } else {
        fraction >> (narrow - wide)
    };
    let exponent = (to.mask() >> 1) & !fraction_mask(to);
    exponent | fraction
}
