//! Chooses the default instruction when only operand types are given.
//!
//! The choice is data: `default` in front of a family of the catalogue. The rule that the marks follow
//! stands at the head of `isa/nvidia.txt`.

use super::{Architecture, Instruction};
use crate::dpa::{Scale, Signature};
use crate::error::{Error, Result, quoted};
use crate::format::Format;

/// Operand types that choose an instruction. What is left open is chosen: B is as A, D is as C where
/// an instruction has that, C is as wide as possible, and scales are left out where possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandTypes {
    /// Format of A.
    pub a: Format,
    /// Format of B.
    pub b: Option<Format>,
    /// Format of C.
    pub c: Option<Format>,
    /// Format of D.
    pub d: Option<Format>,
    /// Block scales.
    pub scaling: Scaling,
}

/// What is known of block scales when operand types choose an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// Nothing: an instruction without scales is taken if there is one.
    #[default]
    Open,
    /// There are scales, of a kind that is not known.
    Some,
    /// There are scales of this kind.
    Exactly(Scale),
}

impl OperandTypes {
    /// A and B of these formats, the rest open.
    #[must_use]
    pub fn of(a: Format, b: Format) -> Self {
        Self {
            a,
            b: Some(b),
            c: None,
            d: None,
            scaling: Scaling::Open,
        }
    }

    /// Whether an instruction of this signature has these types.
    #[must_use]
    pub fn fit(&self, signature: &Signature) -> bool {
        let fits = |wanted: Option<Format>, own: Format| wanted.is_none_or(|it| it == own);
        signature.a == self.a
            && signature.b == self.b.unwrap_or(self.a)
            && fits(self.c, signature.c)
            && fits(self.d, signature.d)
            && match self.scaling {
                Scaling::Open => true,
                Scaling::Some => signature.scale.is_some(),
                Scaling::Exactly(scale) => signature.scale == Some(scale),
            }
    }
}

impl std::fmt::Display for OperandTypes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{},{}", self.a, self.b.unwrap_or(self.a))?;
        for format in [self.c, self.d].into_iter().flatten() {
            write!(out, ",{format}")?;
        }
        match self.scaling {
            Scaling::Open => Ok(()),
            Scaling::Some => write!(out, " with block scales"),
            Scaling::Exactly(scale) => write!(out, ",{}/{}", scale.format, scale.block),
        }
    }
}

/// The types of a row as [`Architecture::operand_types`] reads them.
fn spelt(signature: &Signature) -> String {
    let Signature {
        a, b, c, d, scale, ..
    } = signature;
    let d = if c == d {
        String::new()
    } else {
        format!(",{d}")
    };
    let scale = scale.map_or(String::new(), |s| format!(",{}/{}", s.format, s.block));
    format!("{a},{b},{c}{d}{scale}")
}

impl Architecture {
    /// Reads operand types: `A`, `A,B`, `A,B,C` or `A,B,C,D`, and block scales as `ue8m0/32` behind
    /// them. Type names mean what they mean in the names of this architecture's instructions.
    ///
    /// # Errors
    /// [`Error::Unknown`] naming the format; [`Error::Argument`] for too many of them.
    pub fn operand_types(&self, text: &str) -> Result<OperandTypes> {
        let wrong = || {
            Error::Argument(format!(
                "operand types '{}': expected A, A,B, A,B,C or A,B,C,D, and block scales as \
                 ue8m0/32 behind them, as in f16,f16,f32",
                quoted(text)
            ))
        };
        let mut formats = Vec::new();
        let mut scaling = Scaling::Open;
        for word in text.split(',').map(str::trim) {
            if scaling != Scaling::Open {
                return Err(wrong());
            }
            match word.split_once('/') {
                Some((format, block)) => {
                    let block = block
                        .parse()
                        .ok()
                        .filter(|block| (1..=4096).contains(block));
                    scaling = Scaling::Exactly(Scale {
                        format: self.type_named(format)?,
                        block: block.ok_or_else(wrong)?,
                    });
                }
                None => formats.push(self.type_named(word)?),
            }
        }
        let [a, rest @ ..] = &formats[..] else {
            return Err(wrong());
        };
        if rest.len() > 3 {
            return Err(wrong());
        }
        Ok(OperandTypes {
            a: *a,
            b: rest.first().copied(),
            c: rest.get(1).copied(),
            d: rest.get(2).copied(),
            scaling,
        })
    }

    fn type_named(&self, name: &str) -> Result<Format> {
        match self.types.get(name) {
            Some(format) => Ok(*format),
            None => Format::named(name),
        }
    }

    /// The instruction that is taken when only operand types are given: the one that the catalogue
    /// marks as `default`, or the only one of these types.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the types that have a default, when there is none;
    /// [`Error::Unmodelled`] when no instruction of these types has a model; [`Error::Argument`]
    /// when the types leave several.
    ///
    /// ```
    /// use mmascope_model::isa::Catalogue;
    /// let hopper = Catalogue::built_in().architecture("hopper")?;
    /// let row = hopper.default_for(&hopper.operand_types("f16,f16,f32")?)?;
    /// assert_eq!(row.name, "wgmma.m64n8k16.f32.f16.f16");
    /// assert_eq!(hopper.find("f16")?.name, row.name);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn default_for(&self, types: &OperandTypes) -> Result<&Instruction> {
        let fitting = |row: &&Instruction| types.fit(&row.signature);
        let mut rows: Vec<&Instruction> = self.defaults().filter(fitting).collect();
        if rows.is_empty() {
            let modelled = self.instructions().filter(|row| row.is_modelled());
            rows = modelled.filter(fitting).collect();
        }
        // What is left open, in the order in which it is decided.
        let unscaled = |row: &Instruction| row.signature.scale.is_none();
        if types.scaling == Scaling::Open && rows.iter().any(|row| unscaled(row)) {
            rows.retain(|row| unscaled(row));
        }
        let same = |row: &Instruction| row.signature.c == row.signature.d;
        if types.d.is_none() && rows.iter().any(|row| same(row)) {
            rows.retain(|row| same(row));
        }
        let width = |row: &Instruction| (row.signature.c.bits, row.signature.d.bits);
        if let Some(widest) = rows.iter().map(|row| width(row)).max() {
            rows.retain(|row| width(row) == widest);
        }
        match rows[..] {
            [row] => Ok(row),
            [] => Err(self.without_default(types)),
            _ => {
                let names: Vec<String> = rows
                    .iter()
                    .map(|row| format!("{} ({})", row.name, spelt(&row.signature)))
                    .collect();
                Err(Error::Argument(format!(
                    "{} of {} are not enough to choose an instruction; there are: {}",
                    types,
                    self.name,
                    names.join(", ")
                )))
            }
        }
    }

    /// The rows that the catalogue marks as `default`, one for each combination of operand types.
    pub fn defaults(&self) -> impl Iterator<Item = &Instruction> {
        self.instructions().filter(|row| row.is_default)
    }

    fn without_default(&self, types: &OperandTypes) -> Error {
        let unmodelled = self
            .instructions()
            .find(|row| types.fit(&row.signature))
            .and_then(|row| row.unit().err());
        if let Some(Error::Unmodelled { reason, .. }) = unmodelled {
            return Error::Unmodelled {
                name: format!("{} {types}", self.name),
                reason,
            };
        }
        let mut spellings: Vec<String> = Vec::new();
        for row in self.defaults() {
            let spelling = spelt(&row.signature);
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
        match Error::unknown("operand types", &types.to_string(), &spellings) {
            Error::Unknown {
                what,
                name,
                nearest,
                allowed,
                elsewhere,
            } => Error::Unknown {
                what,
                name: format!("{name}' of '{}", self.name),
                nearest,
                allowed,
                elsewhere,
            },
            other => other,
        }
    }
}
