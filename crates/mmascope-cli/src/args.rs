//! The arguments, and the help that they print.

use std::num::NonZeroUsize;

/// See, predict and prove what matrix accelerators really compute.
///
/// Names an architecture (hopper, sm_90, H100 …) and an instruction
/// (mma.m16n8k16.f32.f16.f16.f32, full PTX spelling, v_mfma_f32_32x32x8_f16 …) and computes the
/// bits that the silicon gives.
///
/// Exit status: 0 done; 1 the answer is no (mismatches); 2 wrong input or an instruction without a
/// known model; 3 the device failed; 130 interrupted.
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
    /// Architecture of lines that name none; with --subject, of the device
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// Instruction of lines that name none; with --subject, of the device
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Let a device answer instead of the model: model:ARCH:INST, plugin:PATH or cmd:COMMAND LINE
    #[arg(long)]
    pub(crate) subject: Option<String>,
    /// Formats of a device that is no row of the catalogue, as in
    /// "a=f16 b=f16 c=f32 d=f32 k=16 scale=ue8m0 block=32"
    #[arg(long, requires = "subject", conflicts_with_all = ["arch", "inst"])]
    pub(crate) signature: Option<String>,
    /// Seconds that a process may take for a batch of 4,096 lines
    #[arg(long, requires = "subject", default_value_t = 10.0)]
    pub(crate) timeout: f64,
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
