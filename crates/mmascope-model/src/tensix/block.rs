//! Block floating-point formats: sixteen data share one exponent (§2).

use super::source::SourceFormat;
use crate::error::{Error, Result};

/// A block format: how many bits a datum has, and how wide the shared exponent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensixBlockFormat {
    /// The name in the vendor's documents.
    pub name: &'static str,
    /// Bits of a datum, its sign included.
    pub bits: u32,
    /// Bits of the shared exponent: 8 (bias 127), or 5 (bias 15) for the `a` variants.
    pub exponent_bits: u32,
}

const fn block(name: &'static str, bits: u32, exponent_bits: u32) -> TensixBlockFormat {
    TensixBlockFormat {
        name,
        bits,
        exponent_bits,
    }
}

impl TensixBlockFormat {
    /// Data that share an exponent.
    pub const SIZE: usize = 16;
    /// Eight bits.
    pub const BFP8: Self = block("bfp8", 8, 8);
    /// Four bits.
    pub const BFP4: Self = block("bfp4", 4, 8);
    /// Two bits.
    pub const BFP2: Self = block("bfp2", 2, 8);
    /// Eight bits, exponent as f16.
    pub const BFP8A: Self = block("bfp8a", 8, 5);
    /// Four bits, exponent as f16.
    pub const BFP4A: Self = block("bfp4a", 4, 5);
    /// Two bits, exponent as f16.
    pub const BFP2A: Self = block("bfp2a", 2, 5);
    /// Every block format.
    pub const ALL: [Self; 6] = [
        Self::BFP8,
        Self::BFP4,
        Self::BFP2,
        Self::BFP8A,
        Self::BFP4A,
        Self::BFP2A,
    ];

    /// The block format of that name, in any case.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        let lower = name.to_lowercase();
        let found = Self::ALL.into_iter().find(|format| format.name == lower);
        found.ok_or_else(|| {
            let names = Self::ALL.map(|format| format.name);
            Error::unknown("block format", name, names)
        })
    }

    /// How an unpacked datum is read.
    #[must_use]
    pub fn source(self) -> SourceFormat {
        match self.exponent_bits {
            8 => SourceFormat::Bf16,
            _ => SourceFormat::F16,
        }
    }
}

/// One block: the shared exponent and sixteen data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its format.
    pub format: TensixBlockFormat,
    /// The shared exponent, biased.
    pub exponent: u8,
    /// Sign and magnitude, right-aligned.
    pub data: [u8; TensixBlockFormat::SIZE],
}
