//! Operand formats of a dot product, and the operands themselves.

use crate::error::{Error, Result};
use crate::format::Format;

/// The formats and the length of one dot product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Format of a_k.
    pub a: Format,
    /// Format of b_k.
    pub b: Format,
    /// Format of c.
    pub c: Format,
    /// Format of d.
    pub d: Format,
    /// Number of products.
    pub k: usize,
    /// Block scales, if the instruction has them.
    pub scale: Option<Scale>,
}

/// Block scaling: one scale for every `block` consecutive k of each operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale {
    /// Format of the scales.
    pub format: Format,
    /// Consecutive k that share a scale.
    pub block: usize,
}

impl Signature {
    /// How many scales each operand has for one dot product.
    #[must_use]
    pub fn scales(&self) -> usize {
        self.scale.map_or(0, |scale| self.k.div_ceil(scale.block))
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "a={} b={} c={} d={} k={}",
            self.a, self.b, self.c, self.d, self.k
        )?;
        match self.scale {
            Some(scale) => write!(out, " scale={} block={}", scale.format, scale.block),
            None => Ok(()),
        }
    }
}

/// The operands of one dot product as register words, k ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Operands<'a> {
    /// K words of A's row.
    pub a: &'a [u64],
    /// K words of B's column.
    pub b: &'a [u64],
    /// The accumulator input.
    pub c: u64,
    /// Scales of A's blocks; empty when the instruction has none.
    pub scale_a: &'a [u64],
    /// Scales of B's blocks; empty when the instruction has none.
    pub scale_b: &'a [u64],
}

impl Operands<'_> {
    /// Checks the lengths against a signature.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the argument, its length and the right one.
    pub fn check(&self, signature: &Signature) -> Result<()> {
        let lengths = [
            ("a", self.a.len(), signature.k),
            ("b", self.b.len(), signature.k),
            ("scale_a", self.scale_a.len(), signature.scales()),
            ("scale_b", self.scale_b.len(), signature.scales()),
        ];
        match lengths
            .into_iter()
            .find(|(_, length, wanted)| length != wanted)
        {
            None => Ok(()),
            Some((name, length, wanted)) => Err(Error::Argument(format!(
                "{name} has {length} elements; {wanted} are needed ({signature})"
            ))),
        }
    }
}
