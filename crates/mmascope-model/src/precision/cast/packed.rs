//! Packed operands: how the values of one `cvt` lie in a register (`precision.md` §2.2).

use crate::error::{Error, Result};
use crate::format::Format;

/// How many values one instruction converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Two: a is the upper element, b the lower.
    X2,
    /// Four: a, b, e, f from the top.
    X4,
}

/// The names of the operands of an instruction, in the order in which they are written.
#[must_use]
pub fn lane_names(packing: Packing) -> &'static [&'static str] {
    match packing {
        Packing::X2 => &["a", "b"],
        Packing::X4 => &["a", "b", "e", "f"],
    }
}

impl Packing {
    /// The packing of that name: `x2 x4`.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "x2" => Ok(Self::X2),
            "x4" => Ok(Self::X4),
            _ => Err(Error::unknown("packing", name, ["x2", "x4"])),
        }
    }

    /// The name: `x2`, `x4`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X2 => "x2",
            Self::X4 => "x4",
        }
    }

    /// How `cvt.rs` to that format is packed, if PTX has one.
    #[must_use]
    pub fn of_random(to: &Format) -> Option<Self> {
        super::ptx::random_packing(to)
    }

    /// How many values.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::X2 => 2,
            Self::X4 => 4,
        }
    }

    /// Bits that an element takes: those of its register word; e2m1 alone lies two in a byte.
    #[must_use]
    pub fn element_bits(to: &Format) -> u32 {
        to.register.bits
    }

    /// Packs register words in the order of the operands: the first is the uppermost.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are more or fewer words, or they do not fit 64 bits.
    ///
    /// ```
    /// use mmascope_model::{format::F16, precision::cast::Packing};
    /// assert_eq!(Packing::X2.pack(&F16, &[0x3c00, 0x4000])?, 0x3c00_4000);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn pack(self, to: &Format, words: &[u64]) -> Result<u64> {
        let bits = Self::element_bits(to);
        if words.len() != self.count() || bits as usize * self.count() > 64 {
            return Err(Error::Argument(format!(
                "{} words of {to} do not make a register of {} elements of {bits} bits in at most 64",
                words.len(),
                self.count()
            )));
        }
        let push =
            |register: u64, word: &u64| register << bits | (word & (u64::MAX >> (64 - bits)));
        Ok(words.iter().fold(0, push))
    }
}
