//! Decides what a NaN becomes in a cast, by policy.

use super::{Cast, CastPolicy, Clamp, is_integer};
use crate::format::{BF16, Class, E4M3FN, E5M2, F16, F32, F64, Format, Rounding, TF32};

/// The canonical NaN of PTX: every bit of exponent and fraction set, no sign;
/// f64 has the default quiet NaN.
fn ptx_nan(to: &Format) -> u64 {
    match to.nan() {
        Some(_) if [F32, F16, BF16, TF32, E5M2].contains(to) => to.mask() >> 1,
        _ => to.nan_or_substitute(),
    }
}

impl Cast {
    /// The code that the target gets for a NaN of the source.
    pub(super) fn of_nan(&self, code: u64) -> u64 {
        if self.clamp == Clamp::Unit {
            return self.of_zero();
        }
        if is_integer(&self.to) {
            return self.integer_of_nan();
        }
        // The only NaN of the FNUZ formats is a set sign bit.
        let negative = self.from.signed && code >> (self.from.bits - 1) & 1 == 1;
        match self.policy {
            // The canonical NaN, which `.relu` asks for as well.
            _ if self.clamp == Clamp::Relu => ptx_nan(&self.to),
            CastPolicy::Ptx => ptx_nan(&self.to),
            CastPolicy::Ieee | CastPolicy::Ocp => self.to.nan_or_substitute(),
            CastPolicy::Host => self.host_nan(code, negative),
            CastPolicy::MlDtypes => self.ml_dtypes_nan(code, negative),
        }
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

    /// CUDA's headers: NaN of f32 and narrower is made canonical first; f64 keeps sign and the top
    /// of its payload in e5m2, its sign in e4m3.
    fn host_nan(&self, code: u64, negative: bool) -> u64 {
        let sign = u64::from(negative) << 7;
        match self.to {
            E4M3FN if self.from == F64 => 0x7f | sign,
            E5M2 if self.from == F64 => 0x7e | (code >> 50 & 3) | sign,
            _ => ptx_nan(&self.to),
        }
    }

    /// `ml_dtypes` keeps the sign; NumPy, which does f16, f32 and f64, the payload too.
    fn ml_dtypes_nan(&self, code: u64, negative: bool) -> u64 {
        let (from, to) = (&self.from, &self.to);
        let Some(nan) = to.nan() else {
            return to.zero(!negative);
        };
        let sign = u64::from(negative && to.signed) << (to.bits - 1);
        let payload = match (*from, *to) {
            (F32 | F64, F16) => {
                let kept = code >> (fraction_bits(from) - 10) & 0x3ff;
                0x7c00 | if kept == 0 { 1 } else { kept }
            }
            // NumPy 2.4 carries payloads of f16 as they are; those of f32 become quiet.
            (F16 | BF16, F32) | (F16, F64) => carried(from, to, code),
            (F32, F64) | (F64, F32) | (BF16, F64) => carried(from, to, code) | quiet_bit(to),
            _ if from == to => return code,
            _ => nan,
        };
        payload | sign
    }

    /// `cvt.rna.tf32.f32` adds to finite words only and clears the low 13 bits of every word: a NaN
    /// whose payload is only there becomes ∞.
    pub(super) fn tf32_of_nan(&self, word: u64) -> Option<u64> {
        let is_plain =
            self.policy == CastPolicy::Ptx && self.overflow == crate::format::Overflow::Ieee;
        let is_rna = self.rounding == Rounding::Rna && self.from == F32 && self.to == TF32;
        let is_nan = F32.decode(word).class == Class::Nan;
        (is_plain && is_rna && is_nan && self.clamp == Clamp::None).then_some(word & 0xffff_e000)
    }
}

fn fraction_bits(format: &Format) -> u32 {
    format.float().map_or(0, |float| float.fraction_bits)
}

fn quiet_bit(format: &Format) -> u64 {
    1 << (fraction_bits(format) - 1)
}

/// Exponent all ones and the payload, aligned at its top; no sign.
fn carried(from: &Format, to: &Format, code: u64) -> u64 {
    let (narrow, wide) = (fraction_bits(from), fraction_bits(to));
    let fraction = code & ((1 << narrow) - 1);
    let fraction = if wide >= narrow {
        fraction << (wide - narrow)
    } else {
        fraction >> (narrow - wide)
    };
    let exponent = (to.mask() >> 1) & !((1 << wide) - 1);
    exponent | fraction
}
