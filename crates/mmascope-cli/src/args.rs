//! The arguments, and the help that they print.

use std::num::NonZeroUsize;

/// See, predict and prove what matrix accelerators really compute.
///
/// Names an architecture (hopper, sm_90, H100 …) and an instruction
/// (mma.m16n8k16.f32.f16.f16.f32, full PTX spelling, v_mfma_f32_32x32x8_f16 …) and computes the
/// bits that the silicon gives.
///
/// Exit status: 0 done; 1 the answer is no (mismatches); 2 wrong input or an instruction without a
/// known model; 3 a device failed; 130 interrupted.
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
    /// Find the summation tree of a subject, and verify it
    Reveal(Reveal),
    /// Show, compare, execute and export summation trees
    #[command(subcommand)]
    Tree(TreeCommand),
}

/// Finds in which order a subject sums, from masked inputs, and replays the tree against it on
/// random data. SUBJECT is model:ARCH:INST, plugin:PATH, cmd:COMMAND LINE or lib:PATH:SYMBOL (BLAS:
/// sdot ddot sgemv dgemv sgemm dgemm, as cblas_sdot or sdot_). Exit status 1 when there is no single
/// tree or a trial contradicts it.
#[derive(clap::Args)]
pub(crate) struct Reveal {
    /// What sums
    pub(crate) subject: String,
    /// Number of products of a lib: or cmd: subject
    #[arg(short = 'n', value_name = "N")]
    pub(crate) n: Option<usize>,
    /// Number type of a lib: or cmd: sum
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<String>,
    /// naive, basic, fprev, fprev-narrow, pivot or distinct
    #[arg(long, default_value = "pivot")]
    pub(crate) algorithm: String,
    /// Random inputs with which the tree is verified
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) trials: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Formats of a process: "a=f16 b=f16 c=f32 d=f32 k=16"
    #[arg(long, value_name = "TEXT")]
    pub(crate) signature: Option<String>,
    /// Architecture whose interface a process has
    #[arg(long, requires = "inst")]
    pub(crate) arch: Option<String>,
    /// Instruction whose interface a process has
    #[arg(long, requires = "arch")]
    pub(crate) inst: Option<String>,
    /// Write the tree to a file: .svg, .dot, .html, .json or .txt
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

#[derive(clap::Subcommand)]
pub(crate) enum TreeCommand {
    /// Pattern, counts and text of a tree
    Show(TreeShow),
    /// Compare two trees; exit status 1 when they differ
    Diff(TreeDiff),
    /// Sum given values in the order of a tree
    Run(TreeRun),
    /// Write code that sums in the order of a tree
    Export(TreeExport),
}

#[derive(clap::Args)]
pub(crate) struct TreeShow {
    /// Tree file: the output of `reveal --json`, a node in JSON, or text; `-` is standard input
    pub(crate) file: String,
    /// Write the tree to a file: .svg, .dot, .html, .json or .txt
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct TreeDiff {
    /// First tree file
    pub(crate) left: String,
    /// Second tree file
    pub(crate) right: String,
}

#[derive(clap::Args)]
pub(crate) struct TreeRun {
    /// Tree file
    pub(crate) file: String,
    /// File with one value, or product a*b, for each leaf; `-` is standard input
    pub(crate) values: String,
    /// Format to which a product of its own is rounded
    #[arg(long, default_value = "f32")]
    pub(crate) dtype: String,
    /// Fraction bits that fused nodes keep
    #[arg(long, value_name = "BITS")]
    pub(crate) fused_bits: Option<i32>,
    /// Rounding of every node
    #[arg(long, default_value = "rne")]
    pub(crate) rounding: String,
}

#[derive(clap::Args)]
pub(crate) struct TreeExport {
    /// Tree file
    pub(crate) file: String,
    /// rust, c, python or cuda
    #[arg(long, default_value = "c")]
    pub(crate) language: String,
    /// f32 or f64 [default: what the file says, or f32]
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// How many leaves, the first ones, are products [default: what the file says, or 0]
    #[arg(long, value_name = "N")]
    pub(crate) products: Option<usize>,
    /// Write to a file
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
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
