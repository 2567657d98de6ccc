//! The arguments of the commands on vector lines and on cases.

use super::DeviceOptions;

#[derive(clap::Args)]
pub(crate) struct Eval {
    /// Architecture of lines that name none; with --subject, of the device
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// Instruction of lines that name none; with --subject, of the device
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Operand modifiers of lines that carry none, separated by commas: negA, negB, negC, noC,
    /// scaleD=-N
    #[arg(long, value_delimiter = ',', conflicts_with = "subject")]
    pub(crate) mods: Vec<String>,
    /// Let a device answer instead of the model: model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE],
    /// plugin:PATH, cuda:N:INST or cmd:COMMAND LINE.
    /// One in 64 questions is asked twice, so that noise is found
    #[arg(long)]
    pub(crate) subject: Option<String>,
    /// Formats of a device that is no row of the catalogue, as in
    /// "a=f16 b=f16 c=f32 d=f32 k=16 scale=ue8m0 block=32"
    #[arg(long, requires = "subject", conflicts_with_all = ["arch", "inst"])]
    pub(crate) signature: Option<String>,
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    /// Vector files; `-` or none is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// Check only lines of this architecture; lines that name none are taken for it
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// Check only lines of this instruction; lines that name none are taken for it
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Check every line against this instruction instead of the one that it names; several with commas, each of which
    /// checks all lines
    #[arg(long = "as", value_name = "ARCH:INST,…", value_delimiter = ',', conflicts_with_all = ["arch", "inst"])]
    pub(crate) against: Vec<String>,
    /// Compute through the engine of matrix products instead of one by one; the report is the same
    #[arg(long)]
    pub(crate) engine: bool,
    /// Compare status flags too, where a line carries them; without a model of the instruction's flags
    /// such a line is a bad line
    #[arg(long)]
    pub(crate) flags: bool,
    /// Ask a device instead of reading recorded results: model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE],
    /// plugin:PATH, cuda:N:INST or cmd:COMMAND LINE
    #[arg(long, conflicts_with_all = ["engine", "flags"])]
    pub(crate) subject: Option<String>,
    #[command(flatten)]
    pub(crate) device: DeviceOptions,
    /// Show failing lines whole, with the neighbours that each separates
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Vector files, plain or gzip; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Gen {
    /// The unit, ARCH:INST, which may stand without the option too; or its architecture, with --inst. With --vectors, the
    /// architecture of lines that name none
    #[arg(long, required_unless_present = "vectors")]
    pub(crate) arch: Option<String>,
    /// The instruction, where --arch does not name it too; with --vectors, that of lines that name none
    #[arg(long)]
    pub(crate) inst: Option<String>,
    #[command(flatten)]
    pub(crate) cases: Cases,
    /// jsonl: vector lines. readmemh: a folder, which -o names, of files for $readmemh: operands, results and a
    /// manifest
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GenFormat::Jsonl)]
    pub(crate) format: GenFormat,
    /// With --format readmemh, instead of families: the lines of this file, plain or gzip (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["family", "seed", "count", "start", "discriminating"])]
    pub(crate) vectors: Option<String>,
    /// Write to this file, as gzip when its name ends in .gz; it appears when it is complete
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true
    )]
    pub(crate) output: String,
    /// Add the model's result `d` to every line; files for $readmemh always have it
    #[arg(long)]
    pub(crate) with_results: bool,
    /// Instead of families: a few lines, with results, that separate the row from every neighbour in the
    /// model space; each says what it separates
    #[arg(long, conflicts_with_all = ["family", "count", "start"])]
    pub(crate) discriminating: bool,
    /// With --discriminating, a CUDA program that asks a chip for these lines
    #[arg(long, value_name = "FILE", requires = "discriminating")]
    pub(crate) cuda: Option<String>,
    /// With --discriminating, a HIP program that asks a chip for these lines
    #[arg(long, value_name = "FILE", requires = "discriminating")]
    pub(crate) hip: Option<String>,
}

/// How generated cases are written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GenFormat {
    Jsonl,
    Readmemh,
}

/// Which generated cases.
#[derive(clap::Args)]
pub(crate) struct Cases {
    /// bits normal outlier stress sparse close boundary exhaustive; several with commas
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub(crate) family: Vec<String>,
    /// The seed, a whole number below 2^64
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many cases of each family [default: 1000; exhaustive: all]
    #[arg(short = 'n', long = "count", value_name = "N")]
    pub(crate) count: Option<u64>,
    /// Index of the first case
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    pub(crate) start: u64,
}

#[derive(clap::Args)]
pub(crate) struct Diff {
    /// A and B of a product that every unit computes, instead of single dot products: FILE.npy or
    /// FILE.safetensors:NAME. With --results: the D of each unit
    #[arg(value_name = "FILE", conflicts_with_all = ["vectors", "family", "seed", "count", "start"])]
    pub(crate) files: Vec<String>,
    /// Architectures, or ARCH:INST items, with commas
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        required_unless_present = "results"
    )]
    pub(crate) arch: Vec<String>,
    /// The files are results, computed elsewhere, and compared as they are
    #[arg(long, requires = "files", conflicts_with_all = ["arch", "inst", "types", "c", "schedule", "pad", "saturate"])]
    pub(crate) results: bool,
    /// C of the product, M × N [default: +0]
    #[arg(long, value_name = "FILE", requires = "files")]
    pub(crate) c: Option<String>,
    /// Schedule of the product (docs/schedules.md) [default: chain]
    #[arg(long, value_name = "TEXT", requires = "files")]
    pub(crate) schedule: Option<String>,
    /// Fill A and B up to a multiple of the instruction's K with +0
    #[arg(long, requires = "files")]
    pub(crate) pad: bool,
    /// Clamp floats beyond an operand's range to its largest number, instead of an error
    #[arg(long, requires = "files")]
    pub(crate) saturate: bool,
    /// An instruction; may be given several times [default: that of the operand types, as --types,
    /// the files or the first line of --vectors have them]
    #[arg(long)]
    pub(crate) inst: Vec<String>,
    /// Operand types, whose default instruction every architecture takes: A, B, C and D with commas,
    /// and block scales behind them, as in f16,f16,f32 or e2m1,e2m1,f32,ue4m3/16
    #[arg(long, value_name = "TYPES", conflicts_with = "inst")]
    pub(crate) types: Option<String>,
    /// Take the operands from this file of vector lines, plain or gzip (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["family", "seed", "count", "start"])]
    pub(crate) vectors: Option<String>,
    #[command(flatten)]
    pub(crate) cases: Cases,
    /// Write a report (.html) or a drawing (.svg), as the name ends: of single dot products the
    /// histograms, of whole products a map of where results differ
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with_all = ["html", "svg"])]
    pub(crate) output: Option<String>,
    /// Write a report for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
    /// Write the histograms, or the map of whole products, as a drawing
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<String>,
}
