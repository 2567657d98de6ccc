//! The four standard configurations: which formats, which flushes, which flags go together (`precision.md` §8).

use std::fmt;
use std::str::FromStr;

use super::denormal::{Denormal, DenormalMode};
use super::flags::Fmf;
use super::{Note, Severity};
use crate::error::{Error, Result};
use crate::precision::legal::{Legality, Target};

/// A standard configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Serving: e4m3 operands, f32 sums, e4m3 or bf16 results, flush on, `afn` and `contract`.
    Inference,
    /// The forward pass: bf16 operands, f32 sums, bf16 results, no flush, `contract`.
    TrainingForward,
    /// The backward pass: e5m2 operands, f32 sums, bf16 results, no flush, `contract`.
    TrainingBackward,
    /// The reference: f32 everywhere, no flush, no flag.
    Reference,
}

struct Row {
    name: &'static str,
    preset: Preset,
    /// Format of the matrix operands.
    operand: &'static str,
    /// Formats of results.
    results: &'static [&'static str],
    flush: bool,
    flags: Fmf,
    /// The matrix instruction of a warp; none where f32 operands are summed by fma.
    matrix: Option<&'static str>,
    /// The conversions of the results.
    casts: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        name: "inference",
        preset: Preset::Inference,
        operand: "e4m3",
        results: &["e4m3", "bf16"],
        flush: true,
        flags: Fmf::AFN_CONTRACT,
        matrix: Some("mma.m16n8k32.f32.e4m3.e4m3.f32"),
        casts: &["cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.bf16x2.f32"],
    },
    Row {
        name: "training-forward",
        preset: Preset::TrainingForward,
        operand: "bf16",
        results: &["bf16"],
        flush: false,
        flags: Fmf::CONTRACT,
        matrix: Some("mma.m16n8k16.f32.bf16.bf16.f32"),
        casts: &["cvt.rn.bf16x2.f32"],
    },
    Row {
        name: "training-backward",
        preset: Preset::TrainingBackward,
        operand: "e5m2",
        results: &["bf16"],
        flush: false,
        flags: Fmf::CONTRACT,
        matrix: Some("mma.m16n8k32.f32.e5m2.e5m2.f32"),
        casts: &["cvt.rn.bf16x2.f32"],
    },
    Row {
        name: "reference",
        preset: Preset::Reference,
        operand: "f32",
        results: &["f32"],
        flush: false,
        flags: Fmf::NONE,
        matrix: None,
        casts: &[],
    },
];

impl Preset {
    fn row(self) -> &'static Row {
        ROWS.iter()
            .find(|row| row.preset == self)
            .unwrap_or(&ROWS[0])
    }

    /// The flags of its operations.
    #[must_use]
    pub fn flags(self) -> Fmf {
        self.row().flags
    }

    /// The denormal mode of its functions.
    #[must_use]
    pub fn denormal(self) -> DenormalMode {
        let mode = if self.row().flush {
            Denormal::PreserveSign
        } else {
            Denormal::Ieee
        };
        DenormalMode {
            output: mode,
            input: mode,
        }
    }

    /// Whether its operations flush.
    #[must_use]
    pub fn flushes(self) -> bool {
        self.row().flush
    }

    /// The format of matrix operands, of sums, and of results.
    #[must_use]
    pub fn formats(self) -> (&'static str, &'static str, &'static [&'static str]) {
        (self.row().operand, "f32", self.row().results)
    }

    /// What goes together: the matrix instruction and the conversions of the results, with the targets' answer.
    pub(super) fn notes(self, target: Target) -> Vec<Note> {
        let row = self.row();
        let rule = format!("preset/{self}");
        let text = format!(
            "{} operands, f32 sums, {} results, flush {}, flags {}",
            row.operand,
            row.results.join(" or "),
            if row.flush { "on" } else { "off" },
            row.flags
        );
        let mut notes = vec![Note::new(Severity::Note, &rule, &text)];
        if row.matrix.is_none() {
            let text = "f32 operands have no matrix instruction on these units; sums are fma or mul and add";
            notes.push(Note::new(Severity::Note, &rule, text));
        }
        for instruction in row.matrix.iter().chain(row.casts) {
            let legal = Legality::of(instruction).and_then(|legality| legality.on(target));
            let (severity, verdict) = match legal {
                Ok(true) => (Severity::Note, "is legal on"),
                _ => (Severity::Warning, "does not exist on"),
            };
            let text = format!("{instruction} {verdict} {target}");
            notes.push(Note::new(severity, &rule, &text));
        }
        if row.operand.starts_with("e4m3") || row.operand.starts_with("e5m2") {
            let text = "the f32 sum of fp8 products is narrower than f32";
            notes.push(Note::new(Severity::Note, &rule, text));
        }
        notes
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = ROWS.iter().find(|row| row.name == name);
        found
            .map(|row| row.preset)
            .ok_or_else(|| Error::unknown("preset", name, ROWS.iter().map(|row| row.name)))
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.row().name)
    }
}
