//! Writes schedules as text, in their canonical form.

use std::fmt;

use super::{BY, REDUCTIONS};
use crate::dpa::Scalar;
use crate::format::{F32, F64, Overflow, Rounding};
use crate::gemm::schedule::{CEntry, Order, Promotion, Reduction, Schedule, SoftwareScale, Split};

/// The shortest decimal number that is read back as the same word.
fn value_text(scalar: &Scalar, word: u64) -> String {
    let format = scalar.format();
    if format == F32 {
        return format!("{}", f32::from_bits(word as u32));
    }
    let wide = Scalar::new(F64, Rounding::Rne).map(|wide| wide.convert(&format, word));
    format!("{}", f64::from_bits(wide.unwrap_or(0)))
}

pub(super) fn name_of<T: PartialEq + Copy>(value: T, all: &[(&'static str, T)]) -> &'static str {
    let found = all.iter().find(|(_, known)| *known == value);
    found.map_or("", |(name, _)| name)
}

/// `f32`, or `f32/rz`.
pub(super) struct Type<'a>(pub(super) &'a Scalar);

impl fmt::Display for Type<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0.format())?;
        match self.0.rounding() {
            Rounding::Rne => Ok(()),
            rounding => write!(out, "/{rounding}"),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ascending => out.write_str("ascending"),
            Self::Descending => out.write_str("descending"),
            Self::Stride(stride) => write!(out, "stride/{stride}"),
            Self::Blocks(blocks) => {
                let texts: Vec<String> = blocks.iter().map(usize::to_string).collect();
                write!(out, "blocks/{}", texts.join(","))
            }
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = name_of(self.order, &REDUCTIONS);
        write!(out, "reduce={order}/{}", Type(&self.scalar))
    }
}

impl fmt::Display for Promotion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "promote={}/{}", self.steps, Type(&self.scalar))?;
        match self.scale {
            None => Ok(()),
            Some(SoftwareScale { rows, columns, by }) => {
                write!(out, " scale={rows}x{columns} by={}", name_of(by, &BY))
            }
        }
    }
}

impl fmt::Display for Schedule {
    /// The canonical text: what [`FromStr`](std::str::FromStr) reads back.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut clauses = Vec::new();
        clauses.extend(self.emulation.as_ref().map(ToString::to_string));
        if self.order != Order::Ascending {
            clauses.push(format!("order={}", self.order));
        }
        match &self.split {
            Split::None => {}
            Split::SplitK { count, reduction } => {
                clauses.push(format!("split-k={count} {reduction}"));
            }
            Split::StreamK {
                workers,
                rows,
                columns,
                iteration,
                reduction,
            } => clauses.push(format!(
                "stream-k={workers} tile={rows}x{columns} iteration={iteration} {reduction}"
            )),
        }
        clauses.extend(self.promotion.map(|promotion| promotion.to_string()));
        if let CEntry::Epilogue {
            scalar,
            alpha,
            beta,
            by,
        } = &self.c
        {
            clauses.push(format!(
                "c=epilogue/{} alpha={} beta={} by={}",
                Type(scalar),
                value_text(scalar, *alpha),
                value_text(scalar, *beta),
                name_of(*by, &BY)
            ));
        }
        if let Some(output) = &self.output {
            let mut clause = format!("out={} {}", output.rounding(), output.format());
            if output.overflow() != Overflow::Ieee {
                clause.push_str(&format!(" overflow={}", output.overflow()));
            }
            clauses.push(clause);
        }
        if clauses.is_empty() {
            return out.write_str("chain");
        }
        out.write_str(&clauses.join("; "))
    }
}
