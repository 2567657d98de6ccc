//! The arguments, and the help that they print.

use std::num::NonZeroUsize;
use std::path::PathBuf;

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
    /// Explain step by step how one output comes to be, or where two units part
    Explain(Explain),
    /// Compute the results of vector lines
    Eval(Eval),
    /// Compare vector lines that carry results with the model
    Check(Check),
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

/// Prints the decoded operands, every sum with the bits that fall off, every rounding, what was
/// lost where, and the result beside the exact one.
///
/// Operands are the hexadecimal string of a vector line or a list of values with commas: decimals,
/// powers of two (-2^13, 1.5*2^-3), hexadecimal floats (0x1.8p-3), inf, nan, words (0x3c00). Short
/// lists are padded with +0, scales with 1.
#[derive(clap::Args)]
pub(crate) struct Explain {
    /// The architecture
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Row of A
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) a: Option<String>,
    /// Column of B
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) b: Option<String>,
    /// The accumulator input [default: +0]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) c: Option<String>,
    /// Scales of A's blocks [default: 1]
    #[arg(long, value_name = "LIST")]
    pub(crate) sa: Option<String>,
    /// Scales of B's blocks [default: 1]
    #[arg(long, value_name = "LIST")]
    pub(crate) sb: Option<String>,
    /// Operand modifiers: negA, negB, negC, noC, scaleD=-3; several with commas
    #[arg(long, value_name = "NAMES")]
    pub(crate) mods: Vec<String>,
    /// Round values that a format does not have to nearest even, instead of refusing them
    #[arg(long)]
    pub(crate) round: bool,
    /// The operands as a vector line (JSON), which may name the instruction too
    #[arg(long, value_name = "LINE", conflicts_with_all = ["a", "b", "c", "sa", "sb"])]
    pub(crate) vector: Option<String>,
    /// Show a second instruction beside the first, up to the first step and bit where they part
    #[arg(long, value_name = "ARCH:INST")]
    pub(crate) against: Option<String>,
    /// Write a page with pictures of the bits, too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
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
