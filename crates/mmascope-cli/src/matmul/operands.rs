//! The files of a product: numbers or codes, or what `quantize` wrote.

use crate::args::Matmul;
use crate::report::Failure;
use crate::units;
use mmascope::array::{self, Array};
use mmascope::blocks::Quantised;
use mmascope::dpa::{Scale, Unit};
use mmascope::format::Format;
use mmascope::isa::{OperandTypes, Scaling};

/// 1 as an f32 word.
const ONE: u64 = 0x3f80_0000;

/// A file that holds A or B.
enum Operand {
    Plain(Array),
    Quantised(String, Quantised),
}

impl Operand {
    fn read(argument: &str, file: &str) -> Result<Self, Failure> {
        let failed = |error| Failure::Input(format!("{argument}: {error}"));
        Ok(if array::names_quantised(file) {
            let quantised = array::read_quantised(file).map_err(failed)?;
            Self::Quantised(file.to_owned(), quantised)
        } else {
            Self::Plain(array::read(file).map_err(failed)?)
        })
    }

    /// The format of its elements, and its scales where the file has them.
    fn format(&self, argument: &str) -> Result<(Format, Option<Scale>), Failure> {
        match self {
            Self::Plain(array) => Ok((units::format_of(argument, array)?, None)),
            Self::Quantised(_, quantised) => {
                let scale = Scale {
                    format: quantised.format.scale,
                    block: quantised.block,
                };
                Ok((quantised.format.element, Some(scale)))
            }
        }
    }

    /// The operand as a unit takes it.
    fn side(self, argument: &str, unit: &Unit, is_transposed: bool) -> Result<Side, Failure> {
        let signature = unit.signature();
        let (format, k_is_last) = match argument {
            "A" => (&signature.a, !is_transposed),
            _ => (&signature.b, is_transposed),
        };
        match self {
            Self::Plain(array) => Ok(Side {
                array,
                scales: None,
                words: None,
                tensor_scale: ONE,
            }),
            Self::Quantised(file, quantised) => {
                let operand = quantised
                    .operand(&file, format, signature.scale, k_is_last, is_transposed)
                    .map_err(|error| Failure::Input(format!("{argument}: {error}")))?;
                let tensor = f32::from_bits(operand.tensor_scale);
                Ok(Side {
                    array: operand.codes,
                    scales: Some(operand.scales),
                    words: Some(format!("{}, tensor scale {tensor:e}", quantised.format)),
                    tensor_scale: operand.tensor_scale.into(),
                })
            }
        }
    }
}

/// The arrays of all files.
pub(super) struct Files {
    a: Operand,
    b: Operand,
    c: Option<Array>,
    scale_a: Option<Array>,
    scale_b: Option<Array>,
}

impl Files {
    pub(super) fn read(options: &Matmul) -> Result<Self, Failure> {
        let optional = |argument: &str, file: &Option<String>| match file {
            Some(file) => array::read(file)
                .map(Some)
                .map_err(|error| Failure::Input(format!("{argument}: {error}"))),
            None => Ok(None),
        };
        Ok(Self {
            a: Operand::read("A", &options.a)?,
            b: Operand::read("B", &options.b)?,
            c: optional("--c", &options.c)?,
            scale_a: optional("--scale-a", &options.scale_a)?,
            scale_b: optional("--scale-b", &options.scale_b)?,
        })
    }

    /// The operand types that they say. Scales of numbers belong to a schedule, and of codes to the unit.
    pub(super) fn types(&self) -> Result<OperandTypes, Failure> {
        let (a, scale_of_a) = self.a.format("A")?;
        let (b, scale_of_b) = self.b.format("B")?;
        let is_code = |array: &Option<Array>| {
            let element = array.as_ref().map(Array::element);
            element.is_some_and(|element| element.bits() == 8)
        };
        let scaling = match scale_of_a.or(scale_of_b) {
            Some(scale) => Scaling::Exactly(scale),
            None if is_code(&self.scale_a) || is_code(&self.scale_b) => Scaling::Some,
            None => Scaling::Open,
        };
        Ok(OperandTypes {
            c: self.c.as_ref().and_then(Array::format),
            scaling,
            ..OperandTypes::of(a, b)
        })
    }

    /// The operands as a unit takes them.
    pub(super) fn operands(self, unit: &Unit, options: &Matmul) -> Result<Operands, Failure> {
        let mut a = self.a.side("A", unit, options.transpose_a)?;
        let mut b = self.b.side("B", unit, options.transpose_b)?;
        let scale_a = a.scales("--scale-a", self.scale_a)?;
        let scale_b = b.scales("--scale-b", self.scale_b)?;
        Ok(Operands {
            a,
            b,
            c: self.c,
            scale_a,
            scale_b,
        })
    }
}

/// The arrays of a product.
pub(super) struct Operands {
    pub(super) a: Side,
    pub(super) b: Side,
    pub(super) c: Option<Array>,
    pub(super) scale_a: Option<Array>,
    pub(super) scale_b: Option<Array>,
}

/// A or B.
pub(super) struct Side {
    pub(super) array: Array,
    /// Scales that the file itself has.
    scales: Option<Array>,
    /// What the file is, in words, where `quantize` wrote it.
    pub(super) words: Option<String>,
    /// An f32 word.
    pub(super) tensor_scale: u64,
}

impl Side {
    /// The operand's block scales: its own, or those of another file.
    fn scales(&mut self, argument: &str, other: Option<Array>) -> Result<Option<Array>, Failure> {
        match (self.scales.take(), other) {
            (Some(_), Some(other)) => Err(Failure::Input(format!(
                "{argument} {}: the operand's file has its own scales; leave one of them out",
                other.name()
            ))),
            (own, other) => Ok(own.or(other)),
        }
    }
}
