//! Writes programs that ask a chip for the vectors of a row: one CUDA or HIP source, plain C++, no library.
//!
//! A program first multiplies small whole numbers, all different, whose products are exact under every
//! arithmetic, and reports nothing where one of them is wrong: a layout that is not the chip's is never
//! taken for arithmetic. Then each vector fills all rows, columns and c, and every element of D is compared.

mod program;

use super::Vectors;
use crate::device_code::{DeviceCode, OperandSource};
use crate::error::{Error, Result};
use crate::isa::{Architecture, Instruction};

/// The source that runs the vectors of a row of an architecture: `language` is `cuda` or `hip`.
///
/// # Errors
/// [`Error::Argument`] when the instruction has no runner; it names the reason and the nearest that has one.
/// [`Error::Unmodelled`] when nobody has published the arithmetic.
pub fn runner(
    architecture: &Architecture,
    row: &Instruction,
    vectors: &Vectors,
    language: &str,
) -> Result<String> {
    row.unit()?;
    match kernel(row, language) {
        Ok(kernel) => program::program(architecture, row, vectors, &kernel, language),
        Err(reason) => {
            let nearest = nearest(architecture, row, language);
            Err(Error::Argument(format!(
                "{language} runner: '{}' has none: {reason}; {nearest}",
                row.name
            )))
        }
    }
}

/// The device code, or why there is none.
fn kernel(row: &Instruction, language: &str) -> std::result::Result<DeviceCode, String> {
    // Operands travel as floats' registers do, and the program's own check counts in f32.
    if row.signature.a.float().is_none() {
        return Err("programs for integer operands are not written down here".to_owned());
    }
    DeviceCode::or_reason(row, language, OperandSource::Shared)
}

/// Names the row of the same chip with a runner that has the most in common.
fn nearest(architecture: &Architecture, row: &Instruction, language: &str) -> String {
    let common = |other: &Instruction| {
        let (mine, its) = (&row.signature, &other.signature);
        let formats = [
            (mine.a, its.a),
            (mine.b, its.b),
            (mine.c, its.c),
            (mine.d, its.d),
        ];
        let alike = formats.iter().filter(|(x, y)| x == y).count();
        let start = row.name.chars().zip(other.name.chars());
        (
            alike,
            mine.k == its.k,
            start.take_while(|(x, y)| x == y).count(),
        )
    };
    let has_one = |other: &&Instruction| other.unit().is_ok() && kernel(other, language).is_ok();
    let all: Vec<&Instruction> = architecture.instructions().filter(has_one).collect();
    // Among equals the first wins.
    let best = all.into_iter().rev().max_by_key(|other| common(other));
    match best {
        Some(other) => format!("the nearest that has one is '{}'", other.name),
        None => format!(
            "no instruction of {} has one in this language",
            architecture.name
        ),
    }
}
