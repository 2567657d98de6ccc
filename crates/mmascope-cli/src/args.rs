//! The arguments, and the help that they print.

use std::num::NonZeroUsize;

/// See, predict and prove what matrix accelerators really compute.
///
/// Names an architecture (hopper, sm_90, H100 …) and an instruction
/// (mma.m16n8k16.f32.f16.f16.f32, full PTX spelling, v_mfma_f32_32x32x8_f16 …) and computes the
/// bits that the silicon gives.
///
/// Exit status: 0 done; 1 the answer is no (mismatches); 2 wrong input or an instruction without a
/// known model; 130 interrupted.
#[derive(clap::Parser)]
#[command(name = "mmascope", version, propagate_version = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(clap::Args)]
pub(crate) struct Common {
    /// A file that extends or overrides the catalogue; may be given several times
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) isa: Vec<String>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Number of threads [default: one per core]; the result never depends on it
    #[arg(long, value_name = "N", global = true)]
    pub(crate) threads: Option<NonZeroUsize>,
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List architectures, or the instructions of one
    List(List),
    /// Show what an instruction computes and how well that is known
    Show(Show),
    /// Compute the results of vector lines
    Eval(Eval),
    /// Compare vector lines that carry results with the model
    Check(Check),
    /// Generate vector lines: operands of eight families, replayable from family, seed and index
    Gen(Gen),
    /// Find where units disagree: counts, distances, the first and the smallest input
    Diff(Diff),
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// Only this architecture, with its instructions
    #[arg(long)]
    pub(crate) arch: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The architecture: a name, SM or gfx number, or product name
    #[arg(long)]
    pub(crate) arch: String,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: String,
}

/// Reads vector lines (JSON, one dot product a line; plain or gzip) and writes each with its
/// result `d`. On a pipe it obeys the process protocol: a batch of lines ends with an empty line,
/// and so do the answers. A bad line is answered with an `error`, reported, and makes the exit
/// status 2.
#[derive(clap::Args)]
pub(crate) struct Eval {
    /// Architecture of lines that name none
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// Instruction of lines that name none
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Vector files; `-` or none is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

/// Reads vector lines with results and compares them with the model. Prints at most 20 mismatches
/// and a closing line `N passed, N failed`.
#[derive(clap::Args)]
pub(crate) struct Check {
    /// Check only lines of this architecture; lines that name none are taken for it
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// Check only lines of this instruction; lines that name none are taken for it
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Check every line against this instruction instead of the one that it names
    #[arg(long = "as", value_name = "ARCH:INST", conflicts_with_all = ["arch", "inst"])]
    pub(crate) against: Option<String>,
    /// Vector files, plain or gzip; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

/// Writes vector lines without results. Every line carries family, seed and index, from which the same
/// operands are made again on any machine; docs/generator.md states the recipes.
#[derive(clap::Args)]
pub(crate) struct Gen {
    /// The architecture
    #[arg(long)]
    pub(crate) arch: String,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: String,
    #[command(flatten)]
    pub(crate) cases: Cases,
    /// Write to this file, as gzip when its name ends in .gz; it appears when it is complete
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true
    )]
    pub(crate) output: String,
    /// Add the model's result `d` to every line
    #[arg(long)]
    pub(crate) with_results: bool,
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

/// Gives the same operands to several units and shows where their results differ. The units are every
/// architecture with every instruction that it has; an item ARCH:INST is that unit alone. Generated
/// operands are of the first unit's formats. A unit with a smaller K computes slices of k, ascending; a
/// larger K is padded with +0; other formats take operands that they hold exactly.
///
/// Exit status 1 when two units differ, 0 when all agree.
#[derive(clap::Args)]
pub(crate) struct Diff {
    /// Architectures, or ARCH:INST items, with commas
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    pub(crate) arch: Vec<String>,
    /// An instruction; may be given several times
    #[arg(long)]
    pub(crate) inst: Vec<String>,
    /// Take the operands from this file of vector lines, plain or gzip (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["family", "seed", "count", "start"])]
    pub(crate) vectors: Option<String>,
    #[command(flatten)]
    pub(crate) cases: Cases,
    /// Write a report for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
    /// Write the histograms as a drawing
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<String>,
}
