//! Chains of multiply-adds, products that are added in pairs, exact sums: what f32 and f64 do themselves.

use mmascope_gemm::shape::StepShape;
use mmascope_model::dpa::{FlushSign, Output, Reading, Signature, Start, Unit, ZeroSign};
use mmascope_model::format::{F32, F64, Format, Overflow, Rounding};

use super::statements::{Dot, Dots};

const HEAD: &str = include_str!("../source/operands.cu");
const METHODS: &str = include_str!("../source/floats.cu");

/// What the dot products of a program have in common.
pub(super) struct Floats {
    is_wide: bool,
    /// Of all: the slots of a tile are whole blocks.
    shape: StepShape,
    /// Products of a block.
    block: usize,
    rounding: Rounding,
    zero: ZeroSign,
}

impl Floats {
    pub(super) fn new(
        signature: &Signature,
        shape: StepShape,
        output: &Output,
    ) -> Result<Self, String> {
        let is_wide = output.format == F64;
        let widest = if is_wide { F64 } else { F32 };
        for (name, format) in [("a", signature.a), ("b", signature.b), ("c", signature.c)] {
            if !holds(&widest, &format) {
                return Err(format!(
                    "{name} in {format}: not all of its numbers are {widest}"
                ));
            }
        }
        let block = match shape {
            StepShape::Pairwise { p, .. } => p as usize,
            StepShape::Exact { l } => signature.k.min(l as usize),
            _ => 1,
        };
        Ok(Self {
            is_wide,
            shape,
            block,
            rounding: output.rounding,
            zero: output.zero,
        })
    }

    /// The method of one dot product.
    pub(super) fn method(&self, dot: &Dot<'_>, is_alone: bool) -> Result<String, String> {
        let output = dot.output;
        let wrong = || {
            Err(format!(
                "{} {} zero={} overflow={}",
                output.rounding, output.format, output.zero, output.overflow
            ))
        };
        let format = if self.is_wide { F64 } else { F32 };
        let is_nearest = output.rounding == Rounding::Rne;
        // To nearest, what overflows is ∞ by IEEE 754, too.
        let overflows = output.overflow == Overflow::Ieee
            || is_nearest && output.overflow == Overflow::Infinity;
        let same =
            output.format == format && output.rounding == self.rounding && output.zero == self.zero;
        let is_directed = matches!(output.rounding, Rounding::Rz | Rounding::Rd | Rounding::Ru);
        if !same || !overflows || output.flush.is_some() || !(is_nearest || is_directed) {
            return wrong();
        }
        if dot.shape != self.shape {
            return Err("steps of several kinds".to_owned());
        }
        if dot.reading != Reading::WHOLE {
            return Err("operands widened or in parts".to_owned());
        }
        // A product that is added to −0 keeps its sign only so.
        if dot.from == Start::Product && !is_nearest || dot.count == 0 {
            return Err("a first product that is not rounded to nearest, or none".to_owned());
        }
        match dot.shape {
            StepShape::Chain if output.zero == ZeroSign::Ieee => Ok("Chain".to_owned()),
            StepShape::Pairwise {
                p,
                flush_out: FlushSign::Kept,
                ..
            } if is_alone
                && is_nearest
                && !self.is_wide
                && output.zero == ZeroSign::Ieee
                && dot.c == F32
                && p <= 8
                && dot.count.is_multiple_of(p as usize) =>
            {
                Ok(format!("Pairwise<{p}>"))
            }
            StepShape::Exact { l } if is_nearest && !self.is_wide => {
                let l = dot.count.min(l as usize);
                let zeros = matches!(output.zero, ZeroSign::Exact | ZeroSign::Ieee);
                match zeros && l <= 32 && l == self.block && dot.count.is_multiple_of(l) {
                    true => Ok(format!("Exact<{l}>")),
                    false => wrong(),
                }
            }
            _ => wrong(),
        }
    }

    pub(super) fn dots(&self, unit: &Unit) -> Dots {
        let flush = match self.shape {
            StepShape::Pairwise { flush_in, .. } => Some(flush_in),
            _ => None,
        };
        let rounding = match self.rounding {
            Rounding::Rz => "rz",
            Rounding::Rd => "rd",
            Rounding::Ru => "ru",
            _ => "rn",
        };
        let has_doubles = self.is_wide || matches!(self.shape, StepShape::Exact { .. });
        let letter = if self.is_wide { "" } else { "f" };
        let number = |condition: bool| i32::from(condition).to_string();
        Dots {
            what: match (self.shape, self.is_wide) {
                (StepShape::Pairwise { .. }, _) => "products in f32, added in pairs and flushed",
                (StepShape::Exact { .. }, _) => {
                    "exact sums between two in f64, rounded down and up"
                }
                (_, true) => "chains of multiply-adds in f64",
                (_, false) => "chains of multiply-adds in f32",
            },
            is_wide: self.is_wide,
            bytes: if has_doubles { 8 } else { 4 },
            // Exact sums are two in f64.
            columns: if has_doubles { 4 } else { 8 },
            resident: 1,
            block: self.block,
            has_exponents: false,
            widened: None,
            pieces: [HEAD, METHODS],
            values: vec![
                (
                    "OPERAND",
                    if has_doubles { "double" } else { "float" }.to_owned(),
                ),
                ("FMA", format!("__fma{letter}_{rounding}")),
                ("FLUSHES", number(flush.is_some())),
                ("PLUS", number(flush == Some(FlushSign::Plus))),
                (
                    "RESULTS_FLUSH",
                    number(flush.is_some() && reaches_subnormals(unit.signature())),
                ),
                ("EXACT_ZEROS_ARE_PLUS", number(self.zero == ZeroSign::Exact)),
            ],
        }
    }
}

/// Whether all numbers of a format are numbers of another one.
fn holds(wide: &Format, format: &Format) -> bool {
    let (Some(wide), Some(float)) = (wide.float(), format.float()) else {
        return false;
    };
    let largest = |bits: u32, bias: i32| (1 << bits) - 1 - bias;
    format.signed
        && float.subnormals
        && float.fraction_bits <= wide.fraction_bits
        && float.emin() - float.fraction_bits as i32 >= wide.emin() - wide.fraction_bits as i32
        && largest(float.exponent_bits, float.bias) <= largest(wide.exponent_bits, wide.bias)
}

/// Whether products of normal operands, or sums of them with a normal c, may lie below the normal numbers of f32. Where all products are
/// multiples of a g of 2^-102 or more, none does: beside a c below g / 2 a sum is g / 2 or more, and every other c is a multiple of 2^-126.
fn reaches_subnormals(signature: &Signature) -> bool {
    let place = |format: &Format| {
        let float = format.float();
        float.map_or(-1000, |float| float.emin() - float.fraction_bits as i32)
    };
    place(&signature.a) + place(&signature.b) < -102
}
