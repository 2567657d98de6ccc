//! Source operands, 19 bits, and what a datum of Dst is in working form (§2).

use crate::format::{F16, F32, TF32, Unpacked};

/// How the 19 bits of a source datum are read. The bits are `sign(18) exponent(17..10) fraction(9..0)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceFormat {
    /// Exponent of 8 bits, fraction of 10.
    Tf32,
    /// Exponent of 8 bits, fraction of 7; the three low bits are not there. Also what BFP8, BFP4 and
    /// BFP2 are unpacked to.
    Bf16,
    /// Exponent of 5 bits (the three high ones are 0), fraction of 10. Also FP8 and the `a` block formats.
    F16,
    /// Sign and magnitude of 10 bits; the exponent field is 16, or 0 for zero.
    Int8,
}

/// How wide a datum of Dst is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 16 bits: bf16, or f16 for sources with exponents of 5 bits.
    Bits16,
    /// 32 bits: f32, or sign and magnitude of 31 bits.
    Bits32,
}

/// The sign of a source datum.
pub(super) const SIGN: u32 = 1 << 18;
/// The fraction of a source datum.
pub(super) const FRACTION: u32 = 0x3ff;

impl SourceFormat {
    /// Whether exponents have 8 bits.
    #[must_use]
    pub fn has_wide_exponents(self) -> bool {
        matches!(self, Self::Tf32 | Self::Bf16)
    }

    /// The bits that the matrix unit takes.
    pub(super) fn taken(self, datum: u32) -> u32 {
        let datum = datum & 0x7_ffff;
        match self {
            Self::Tf32 | Self::Int8 => datum,
            Self::Bf16 => datum & !7,
            Self::F16 => datum & (SIGN | 31 << 10 | FRACTION),
        }
    }

    /// The number that a datum is: every code is one.
    pub(super) fn number(self, datum: u32) -> Unpacked {
        let datum = u64::from(self.taken(datum));
        match self {
            Self::Tf32 | Self::Bf16 => TF32.without_specials().decode(datum),
            Self::F16 | Self::Int8 => {
                let code = (datum >> 18 << 15) | (datum & 0x7fff);
                F16.without_specials().decode(code)
            }
        }
    }

    /// A bf16 word as a source datum.
    #[must_use]
    pub fn of_bf16(word: u16) -> u32 {
        let word = u32::from(word);
        (word >> 15 << 18) | (word & 0x7fff) << 3
    }

    /// An f16 word as a source datum.
    #[must_use]
    pub fn of_f16(word: u16) -> u32 {
        let word = u32::from(word);
        (word >> 15 << 18) | (word & 0x7fff)
    }

    /// The upper 19 bits of an f32 word: how a tf32 operand is taken.
    #[must_use]
    pub fn of_f32(word: u32) -> u32 {
        word >> 13
    }
}

/// A datum of Dst as a number, from its working form: f32 itself, bf16 in the upper half, f16 as
/// `sign(31) exponent(27..23) fraction(22..13)`.
pub(super) fn dst_number(word: u32, is_f16: bool) -> Unpacked {
    match is_f16 {
        false => F32.without_specials().decode(word.into()),
        true => F16.without_specials().decode(f16_of_working(word).into()),
    }
}

/// An f16 word in working form.
pub(super) fn working_of_f16(word: u16) -> u32 {
    let word = u32::from(word);
    (word >> 15 << 31) | (word & 0x7fff) << 13
}

/// The f16 word of a working form.
pub(super) fn f16_of_working(word: u32) -> u16 {
    ((word >> 31 << 15) | (word >> 13 & 0x7fff)) as u16
}
