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
    /// Whether products of its operands are short enough to be kept as such; wider ones have more bits than fused sums take.
    pub(super) fn has_products(&self) -> bool {
        self.a.bits <= 32 && self.b.bits <= 32
    }

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

impl std::str::FromStr for Signature {
    type Err = Error;

    /// Reads `a=f16 b=f16 c=f32 d=f32 k=16 [scale=ue8m0 block=32]`, in any order.
    ///
    /// ```
    /// use mmascope_model::dpa::Signature;
    /// let signature: Signature = "a=e4m3 b=e5m2 c=f32 d=f32 k=32 scale=ue8m0 block=32".parse()?;
    /// assert_eq!(signature.scales(), 1);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        const EXAMPLE: &str = "a=f16 b=f16 c=f32 d=f32 k=16 [scale=ue8m0 block=32]";
        const KEYS: [&str; 7] = ["a", "b", "c", "d", "k", "scale", "block"];
        let wrong = |what: String| {
            Error::Argument(format!(
                "signature '{text}': {what}; expected like '{EXAMPLE}'"
            ))
        };
        let mut values: [Option<&str>; KEYS.len()] = [None; KEYS.len()];
        for word in text.split_whitespace() {
            let slot = word.split_once('=').and_then(|(key, value)| {
                Some((KEYS.iter().position(|known| *known == key)?, value))
            });
            match slot {
                Some((index, value)) if values[index].is_none() => values[index] = Some(value),
                _ => return Err(wrong(format!("'{word}' is no key of it or stands twice"))),
            }
        }
        let required = |index: usize| {
            values[index].ok_or_else(|| wrong(format!("{}= is missing", KEYS[index])))
        };
        let number = |index: usize| -> Result<usize> {
            match required(index)?.parse() {
                Ok(number @ 1..=4096) => Ok(number),
                _ => Err(wrong(format!(
                    "{}= must be a number from 1 to 4096",
                    KEYS[index]
                ))),
            }
        };
        let scale = match (values[5], values[6]) {
            (None, None) => None,
            (Some(format), _) => Some(Scale {
                format: Format::named(format)?,
                block: number(6)?,
            }),
            (None, Some(_)) => return Err(wrong("block= without scale=".to_owned())),
        };
        let format = |index: usize| required(index).and_then(Format::named);
        let (a, b, c, d) = (format(0)?, format(1)?, format(2)?, format(3)?);
        Ok(Self {
            a,
            b,
            c,
            d,
            k: number(4)?,
            scale,
        })
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

/// The operands of many dot products, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Queries<'a> {
    /// K words each.
    pub a: &'a [u64],
    /// K words each.
    pub b: &'a [u64],
    /// One word each.
    pub c: &'a [u64],
    /// As many words each as the instruction has scales.
    pub scale_a: &'a [u64],
    /// The same of B.
    pub scale_b: &'a [u64],
}

impl<'a> Queries<'a> {
    /// One of them, of so many products and scales; what is missing at the end is left out.
    pub fn at(&self, index: usize, k: usize, scales: usize) -> Operands<'a> {
        let part = |words: &'a [u64], each: usize| {
            let from = (index * each).min(words.len());
            &words[from..(from + each).min(words.len())]
        };
        Operands {
            a: part(self.a, k),
            b: part(self.b, k),
            c: self.c[index],
            scale_a: part(self.scale_a, scales),
            scale_b: part(self.scale_b, scales),
        }
    }
}

/// The same as [`Operands`], owned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperandWords {
    /// K words of A's row.
    pub a: Vec<u64>,
    /// K words of B's column.
    pub b: Vec<u64>,
    /// The accumulator input.
    pub c: u64,
    /// Scales of A's blocks; empty when the instruction has none.
    pub scale_a: Vec<u64>,
    /// Scales of B's blocks; empty when the instruction has none.
    pub scale_b: Vec<u64>,
}

impl OperandWords {
    /// The words as operands of a unit.
    #[must_use]
    pub fn operands(&self) -> Operands<'_> {
        Operands {
            a: &self.a,
            b: &self.b,
            c: self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        }
    }
}

impl Operands<'_> {
    /// A copy that owns its words.
    #[must_use]
    pub fn to_words(&self) -> OperandWords {
        OperandWords {
            a: self.a.to_vec(),
            b: self.b.to_vec(),
            c: self.c,
            scale_a: self.scale_a.to_vec(),
            scale_b: self.scale_b.to_vec(),
        }
    }

    /// Checks the lengths against a signature.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the argument, its length and the right one.
    pub fn check(&self, signature: &Signature) -> Result<()> {
        let (k, scales) = (signature.k, signature.scales());
        let lengths = [
            ("a", self.a.len(), k),
            ("b", self.b.len(), k),
            ("scale_a", self.scale_a.len(), scales),
            ("scale_b", self.scale_b.len(), scales),
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
