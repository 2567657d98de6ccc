//! Arithmetic outside the unit on many words at once.

use rayon::prelude::*;

use super::MultiplyAdd;
use crate::array::{Stored, Words, each_width};
use crate::dpa::Scalar;
use crate::error::Result;
use crate::format::Format;

/// Words that one task takes.
const CHUNK: usize = 1 << 12;

/// Words of a region with their format.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Values {
    pub(in crate::gemm) words: Words,
    pub(in crate::gemm) format: Format,
}

impl Values {
    /// `length` words of +0.
    pub(super) fn zeros(format: Format, length: usize) -> Result<Self> {
        Ok(Self {
            words: Words::filled(format.register.bits, length, 0)?,
            format,
        })
    }

    /// The same values in another format.
    pub(super) fn converted(self, scalar: &Scalar) -> Result<Self> {
        match self.format == scalar.format() {
            true => Ok(self),
            false => self.output(scalar),
        }
    }

    /// The values as an output is written. What is in its format already may still be an ∞ or a NaN that the output
    /// has no use for.
    pub(super) fn output(self, scalar: &Scalar) -> Result<Self> {
        let (from, to) = (self.format, scalar.format());
        let mut out = Self::zeros(to, self.words.len())?;
        out.update(|index, _| scalar.write(&from, self.words.get(index)));
        Ok(out)
    }

    /// Replaces every word by a function of its index and itself.
    pub(super) fn update(&mut self, function: impl Fn(usize, u64) -> u64 + Sync) {
        each_width!(&mut self.words, words => {
            words.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, words)| {
                for (offset, word) in words.iter_mut().enumerate() {
                    let result = function(chunk * CHUNK + offset, word.word());
                    *word = Stored::stored(result);
                }
            });
        });
    }

    /// Adds other values of the same format.
    pub(super) fn add(&mut self, other: &Self, scalar: &Scalar) {
        self.update(|index, word| scalar.add(word, other.words.get(index)));
    }
}

impl MultiplyAdd {
    /// `x·y + z`.
    pub(super) fn multiply_add(self, scalar: &Scalar, x: u64, y: u64, z: u64) -> u64 {
        match self {
            Self::Fma => scalar.fused_multiply_add(x, y, z),
            Self::MulAdd => scalar.add(scalar.multiply(x, y), z),
        }
    }
}
