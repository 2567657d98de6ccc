//! The units under test: rows of the catalogue, and units that differ from them in one parameter.

use mmascope::dpa::{Signature, Unit};
use mmascope::isa::Catalogue;

/// A unit with a name for messages.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    name: String,
    unit: Unit,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.name)
    }
}

impl Subject {
    /// A row of the shipped catalogue.
    pub(crate) fn new(architecture: &str, instruction: &str) -> Self {
        let found = Catalogue::built_in().find(architecture, instruction);
        let unit = found.and_then(|row| row.unit().cloned());
        Self {
            name: format!("{architecture} {instruction}"),
            unit: unit.unwrap_or_else(|error| panic!("{architecture} {instruction}: {error}")),
        }
    }

    /// A unit from its notation.
    pub(crate) fn notation(signature: Signature, program: &str) -> Self {
        let unit = program.parse().and_then(|p| Unit::new(signature, p));
        Self {
            name: format!("'{program}'"),
            unit: unit.unwrap_or_else(|error| panic!("{program}: {error}")),
        }
    }

    /// The same unit with one part of its notation replaced.
    pub(crate) fn with(&self, part: &str, replacement: &str) -> Self {
        let program = self.unit.program().to_string();
        assert!(program.contains(part), "'{program}' has no '{part}'");
        let changed = program.replace(part, replacement);
        let unit = Self::notation(*self.unit.signature(), &changed).unit;
        Self {
            name: format!("{} with {replacement}", self.name),
            unit,
        }
    }

    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Number of products.
    pub(crate) fn k(&self) -> usize {
        self.unit.signature().k
    }

    /// Whether the operands have at least the 11 significant bits of f16.
    pub(crate) fn takes_eleven_bits(&self) -> bool {
        let a = self.unit.signature().a.float();
        a.is_some_and(|float| float.fraction_bits >= 10)
    }
}

/// A row whose parameters the tests know from the specification, not from the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) subject: Subject,
    /// Fraction bits that alignment keeps.
    pub(crate) f: u32,
    /// Products per block.
    pub(crate) l: usize,
}

/// Rows of truncated fused units with f32 results: `arithmetic.md` §4.
const TO_F32: &[(&str, &str, u32, usize)] = &[
    ("volta", "mma.m8n8k4.f32.f16.f16.f32", 23, 4),
    ("volta", "wmma.m16n16k16.f32.f16.f16.f32", 23, 4),
    ("turing", "mma.m8n8k4.f32.f16.f16.f32", 23, 4),
    ("turing", "mma.m16n8k8.f32.f16.f16.f32", 24, 8),
    ("turing", "wmma.m16n16k16.f32.f16.f16.f32", 24, 8),
    ("ampere", "mma.m16n8k8.f32.f16.f16.f32", 24, 8),
    ("ampere", "mma.m16n8k16.f32.f16.f16.f32", 24, 8),
    ("ampere", "wmma.m16n16k16.f32.f16.f16.f32", 24, 8),
    ("ampere", "mma.m16n8k8.f32.bf16.bf16.f32", 24, 8),
    ("ampere", "mma.m16n8k16.f32.bf16.bf16.f32", 24, 8),
    ("ampere", "mma.m16n8k4.f32.tf32.tf32.f32", 24, 4),
    ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32", 24, 4),
    ("ampere", "wmma.m16n16k8.f32.tf32.tf32.f32", 24, 4),
    ("ada", "mma.m16n8k8.f32.f16.f16.f32", 24, 8),
    ("ada", "mma.m16n8k16.f32.f16.f16.f32", 24, 8),
    ("ada", "mma.m16n8k16.f32.bf16.bf16.f32", 24, 8),
    ("ada", "mma.m16n8k8.f32.tf32.tf32.f32", 24, 4),
    ("hopper", "mma.m16n8k8.f32.f16.f16.f32", 25, 8),
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32", 25, 16),
    ("hopper", "mma.m16n8k16.f32.bf16.bf16.f32", 25, 16),
    ("hopper", "mma.m16n8k8.f32.tf32.tf32.f32", 25, 8),
    ("hopper", "wmma.m16n16k8.f32.tf32.tf32.f32", 25, 4),
    ("hopper", "wgmma.m64n8k16.f32.f16.f16", 25, 16),
    ("hopper", "wgmma.m64n8k16.f32.bf16.bf16", 25, 16),
    ("hopper", "wgmma.m64n8k8.f32.tf32.tf32", 25, 8),
    ("blackwell", "mma.m16n8k16.f32.f16.f16.f32", 25, 16),
    ("blackwell", "mma.m16n8k16.f32.bf16.bf16.f32", 25, 16),
    ("blackwell", "mma.m16n8k8.f32.tf32.tf32.f32", 25, 8),
    ("blackwell", "wmma.m16n16k8.f32.tf32.tf32.f32", 25, 4),
    (
        "blackwell",
        "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16",
        25,
        16,
    ),
    (
        "blackwell",
        "tcgen05.mma.m128n8k16.kind::f16.f32.bf16.bf16",
        25,
        16,
    ),
    (
        "blackwell",
        "tcgen05.mma.m128n8k8.kind::tf32.f32.tf32.tf32",
        25,
        8,
    ),
    ("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32", 25, 16),
    ("rtx-blackwell", "mma.m16n8k16.f32.bf16.bf16.f32", 25, 16),
    ("rtx-blackwell", "mma.m16n8k8.f32.tf32.tf32.f32", 25, 8),
];

/// Rows of truncated fused units with f16 operands and results.
const TO_F16: &[(&str, &str, u32, usize)] = &[
    ("volta", "mma.m8n8k4.f16.f16.f16.f16", 23, 4),
    ("turing", "mma.m8n8k4.f16.f16.f16.f16", 23, 4),
    ("turing", "mma.m16n8k8.f16.f16.f16.f16", 24, 8),
    ("ampere", "mma.m16n8k8.f16.f16.f16.f16", 24, 8),
    ("ampere", "mma.m16n8k16.f16.f16.f16.f16", 24, 8),
    ("ada", "mma.m16n8k8.f16.f16.f16.f16", 24, 8),
    ("ada", "mma.m16n8k16.f16.f16.f16.f16", 24, 8),
    ("hopper", "mma.m16n8k8.f16.f16.f16.f16", 25, 8),
    ("hopper", "mma.m16n8k16.f16.f16.f16.f16", 25, 16),
    ("hopper", "wgmma.m64n8k16.f16.f16.f16", 25, 16),
    ("blackwell", "mma.m16n8k16.f16.f16.f16.f16", 25, 16),
    (
        "blackwell",
        "tcgen05.mma.m128n8k16.kind::f16.f16.f16.f16",
        25,
        16,
    ),
    ("rtx-blackwell", "mma.m16n8k16.f16.f16.f16.f16", 25, 16),
];

fn rows(table: &[(&str, &str, u32, usize)]) -> Vec<Row> {
    let row = |&(architecture, instruction, f, l): &(&str, &str, u32, usize)| Row {
        subject: Subject::new(architecture, instruction),
        f,
        l,
    };
    table.iter().map(row).collect()
}

/// Rows with f16, bf16 or tf32 operands and f32 results.
pub(crate) fn rows_to_f32() -> Vec<Row> {
    rows(TO_F32)
}

/// Rows with f16 operands and f16 results.
pub(crate) fn rows_to_f16() -> Vec<Row> {
    rows(TO_F16)
}

/// Several instructions of one architecture.
pub(crate) fn subjects(architecture: &str, instructions: &[&str]) -> Vec<Subject> {
    let subject = |instruction: &&str| Subject::new(architecture, instruction);
    instructions.iter().map(subject).collect()
}
