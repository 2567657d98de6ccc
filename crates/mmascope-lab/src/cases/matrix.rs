//! Generates elements of matrices: the same numbers for every format, rounded to that format.

use super::code::Code;
use super::draw::{below, step};
use super::normal;
use crate::error::{Error, Result};
use crate::format::Format;
use mmascope_gemm::random::philox;

/// The distribution of the elements of generated matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseShape {
    /// Standard normal.
    Normal,
    /// The magnitude of a standard normal.
    Positive,
    /// Uniform from −1 to 1.
    Uniform,
    /// Standard normal; one in 32 is larger by 2^4 to 2^12.
    Outlier,
    /// Standard normal with three in four zero.
    Sparse,
}

const NAMES: [(&str, CaseShape); 5] = [
    ("normal", CaseShape::Normal),
    ("positive", CaseShape::Positive),
    ("uniform", CaseShape::Uniform),
    ("outlier", CaseShape::Outlier),
    ("sparse", CaseShape::Sparse),
];

/// A distribution of elements: a shape times a power of two. Its text is `normal` or `normal*2^-14`.
///
/// Element (i, j) of A (operand 1), B (operand 2) or C (operand 3) is a function of Philox4x32-10 with the key of
/// the seed and the counter (i, j, operand·65536, 1): words w0, w1 make the deviate, w2 its sign
/// (bit 0) and, in `outlier`, who is large (bits 8 to 12 all zero); w3 how much larger
/// (4 + below(9, w3) binades), or, in `sparse`, who is not zero (below(4, w3) = 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Distribution {
    /// The shape.
    pub shape: CaseShape,
    /// Every number is multiplied by 2^exponent.
    pub exponent: i32,
}

/// The matrix that an element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeneratedOperand {
    /// A, i its row.
    A = 1,
    /// B, i its row.
    B = 2,
    /// C, i its row.
    C = 3,
}

impl Distribution {
    /// The code of element (i, j) in a format: rounded to nearest even, at most the largest
    /// number.
    ///
    /// # Errors
    /// [`Error::Argument`] when the format is no float.
    pub fn codes<'a>(
        &'a self,
        format: &Format,
        operand: GeneratedOperand,
        seed: u64,
    ) -> Result<impl Fn(u32, u32) -> u64 + Sync + use<'a>> {
        let code = Code::of(format)?;
        let key = [seed as u32, (seed >> 32) as u32];
        Ok(move |i, j| {
            let draw = philox([i, j, (operand as u32) << 16, 1], key);
            self.code(&code, draw)
        })
    }

    fn code(&self, code: &Code, draw: [u32; 4]) -> u64 {
        let mut negative = draw[2] & 1 == 1;
        let (mut magnitude, mut exponent) = (normal::magnitude(draw[0], draw[1]), normal::PLACE);
        match self.shape {
            CaseShape::Normal => {}
            CaseShape::Positive => negative = false,
            CaseShape::Uniform => (magnitude, exponent) = (u64::from(draw[0]), -32),
            CaseShape::Outlier if (draw[2] >> 8) & 31 == 0 => exponent += 4 + step(9, draw[3]),
            CaseShape::Outlier => {}
            CaseShape::Sparse if below(4, draw[3]) != 0 => magnitude = 0,
            CaseShape::Sparse => {}
        }
        code.round(negative, u128::from(magnitude), exponent + self.exponent)
    }
}

impl std::str::FromStr for Distribution {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, exponent) = match text.split_once("*2^") {
            None => (text, Ok(0)),
            Some((name, exponent)) => (name, exponent.parse()),
        };
        let Ok(exponent @ -1000..=1000) = exponent else {
            return Err(Error::Argument(format!(
                "distribution '{}': the power of two must be a whole number from -1000 to 1000, as \
                 in normal*2^-14",
                crate::error::quoted(text)
            )));
        };
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some(&(_, shape)) => Ok(Self { shape, exponent }),
            None => Err(Error::unknown(
                "distribution",
                name,
                NAMES.map(|(known, _)| known),
            )),
        }
    }
}

impl std::fmt::Display for Distribution {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = NAMES.iter().find(|(_, shape)| *shape == self.shape);
        out.write_str(name.map_or("", |(name, _)| name))?;
        match self.exponent {
            0 => Ok(()),
            exponent => write!(out, "*2^{exponent}"),
        }
    }
}
