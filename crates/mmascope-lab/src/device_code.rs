//! Device code that runs one matrix instruction on tiles of register words: CUDA and HIP, plain C++, no library.
//!
//! [`DeviceCode::of`] is the one generator of such code. What it makes is one kernel, `tile`: a thread block (or a pair)
//! computes one tile, or several independent ones where the instruction does, from words in global memory.
//! `discriminate` puts a program with vectors around it; `mmascope-cuda` compiles it at run time.
//!
//! ```
//! use mmascope_lab::device_code::{DeviceCode, OperandSource};
//! use mmascope_model::isa::Catalogue;
//!
//! let row = Catalogue::built_in().find("hopper", "mma.m16n8k16.f32.f16.f16.f32")?;
//! let code = DeviceCode::of(row, "cuda", OperandSource::Shared)?;
//! assert_eq!((code.lanes, code.tile), (32, [16, 8, 1]));
//! assert!(code.source().contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod cuda;
mod hip;

use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::isa::Instruction;

/// What every kernel begins with.
const HEAD: &str = include_str!("device_code/head.cpp");

/// Where an instruction takes A from, if there is a choice (`wgmma`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandSource {
    /// Shared memory, or registers where the instruction takes nothing else.
    Shared,
    /// Registers.
    Registers,
}

/// A kernel `tile(a, b, c, d)` and what its host has to know of it.
///
/// Row i of A of a tile lies at `a[i * WIDE]`, column j of B at `b[j * WIDE]`: K words, k ascending, then the scales of the
/// row's or the column's blocks. C and D lie by rows. Independent tiles of one instruction follow each other, and so do those
/// of the thread blocks. All are 64-bit words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceCode {
    /// Operand formats and K.
    pub signature: Signature,
    /// Threads that work together.
    pub lanes: u32,
    /// Thread blocks that work together.
    pub ctas: u32,
    /// Rows and columns of a tile, independent tiles of one instruction.
    pub tile: [u32; 3],
    /// Whether only this architecture has the instruction, not the later ones too.
    pub is_own: bool,
    /// The source before the kernel.
    head: String,
    /// The kernel.
    body: String,
}

impl DeviceCode {
    /// The device code of an instruction; `language` is `cuda` or `hip`.
    ///
    /// # Errors
    /// [`Error::Argument`] where none is written down, with the reason.
    pub fn of(row: &Instruction, language: &str, source: OperandSource) -> Result<Self> {
        Self::or_reason(row, language, source).map_err(|reason| {
            Error::Argument(format!(
                "'{}' has no device code in {language}: {reason}",
                row.name
            ))
        })
    }

    /// The same with the reason alone.
    pub(crate) fn or_reason(
        row: &Instruction,
        language: &str,
        source: OperandSource,
    ) -> std::result::Result<Self, String> {
        match language {
            "cuda" => cuda::code(row, source),
            "hip" if source == OperandSource::Shared => hip::code(row),
            "hip" => Err("its operands lie in registers anyway".to_owned()),
            _ => Err("the languages are cuda and hip".to_owned()),
        }
    }

    /// The words of a row of A, or a column of B: its k, then its scales.
    #[must_use]
    pub fn wide(&self) -> usize {
        self.signature.k + self.signature.scales()
    }

    /// Types, sizes and the kernel.
    #[must_use]
    pub fn source(&self) -> String {
        let [m, n, blocks] = self.tile;
        fill(
            HEAD,
            &[
                // The parts first: they use the names below.
                ("HEAD", self.head.clone()),
                ("KERNEL", self.body.clone()),
                ("M", m.to_string()),
                ("N", n.to_string()),
                ("K", self.signature.k.to_string()),
                ("SCALES", self.signature.scales().to_string()),
                ("BLOCKS", blocks.to_string()),
                ("CTAS", self.ctas.to_string()),
            ],
        )
    }
}

/// A text with `@NAME@` replaced.
pub(crate) fn fill(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), value)
    })
}

/// `{%first,…}`.
fn list(first: usize, count: usize) -> String {
    let names: Vec<String> = (first..first + count).map(|i| format!("%{i}")).collect();
    format!("{{{}}}", names.join(","))
}

/// Operands of inline assembly: `"constraint"(name[0]), …`.
fn operands(constraint: &str, name: &str, count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|i| format!("\"{constraint}\"({name}[{i}])"))
        .collect();
    all.join(", ")
}
