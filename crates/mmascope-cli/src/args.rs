//! The arguments, and the help that they print.

use crate::tested::Tested;

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
    /// Number of threads, 1 to 1024 [default: one per core]; the result never depends on it
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List architectures, or the instructions of one
    List(List),
    /// Show what an instruction computes and how well that is known
    Show(Show),
    /// Explain step by step how one output comes to be, or where two units part
    ///
    /// Prints the decoded operands, every sum with the bits that fall off, every rounding, what was
    /// lost where, and the result beside the exact one.
    ///
    /// Operands are the hexadecimal string of a vector line or a list of values with commas: decimals,
    /// powers of two (-2^13, 1.5*2^-3), hexadecimal floats (0x1.8p-3), inf, nan, words (0x3c00). Short
    /// lists are padded with +0, scales with 1.
    Explain(Explain),
    /// Compute the results of vector lines
    ///
    /// Reads vector lines (JSON, one dot product a line; plain or gzip) and writes each with its
    /// result `d`. On a pipe it obeys the process protocol: a batch of lines ends with an empty line,
    /// and so do the answers. A bad line is answered with an `error`, reported, and makes the exit
    /// status 2.
    /// The lines are JSON themselves, so `--json` changes nothing here.
    Eval(Eval),
    /// Compare vector lines that carry results with the model
    ///
    /// Reads vector lines with results and compares them with the model. Prints at most 20 mismatches
    /// and a closing line `N passed, N failed`.
    Check(Check),
    /// Multiply whole matrices in files, and say how far the result is from the exact one
    ///
    /// D = C + A·B as the instruction computes it, chained over ascending K: the instruction takes C and
    /// the first K products, then its result and the next K products, and so on. `--schedule` chooses
    /// other orders, split-K, stream-K, promotion, epilogues.
    ///
    /// A is M × K, B is K × N, C and D are M × N, for any M and N; the instruction's K must divide K.
    /// With three dimensions A or B is a batch of matrices, and D one of products; a single matrix beside a
    /// batch takes part in every product, as in numpy.matmul. Files are .npy or FILE.safetensors:NAME. Floats are numbers and are rounded to the operand's
    /// format; integers, and what np.save makes of ml_dtypes (V2, V1, f1), are codes of the operand's
    /// format, one per element. D is written as f32, f16 or f64, whatever the accumulator is; the
    /// file appears whole or not at all.
    ///
    /// The exact result that the errors are measured against is that of the operands after rounding,
    /// scales and modifiers included. Outputs whose exact result is 0 count only in the error relative
    /// to Σ|a·b|.
    Matmul(Matmul),
    /// Measure the error against the exact product as K grows
    ///
    /// Multiplies generated or given matrices under every instruction, over the first K products, K from
    /// one instruction's on and doubling, and measures the results as `matmul` does: errors relative to
    /// Σ|a·b|, their mean with its sign (the bias), and results that vanished: 0 where the exact one is not.
    ///
    /// Every unit gets the same numbers, rounded to its own formats; C is +0 unless --c is given, block scales are 1.
    Error(ErrorOptions),
    /// Generate vector lines: operands of eight families, replayable from family, seed and index
    ///
    /// Writes vector lines without results. Every line carries family, seed and index, from which the same
    /// operands are made again on any machine; docs/generator.md states the recipes.
    /// The lines are JSON themselves, one object a line, so `--json` changes nothing here.
    Gen(Gen),
    /// Find where units disagree: counts, distances, the first and the smallest input
    ///
    /// Gives the same operands to several units and shows where their results differ. The units are every
    /// architecture with every instruction that it has; an item ARCH:INST is that unit alone. Generated
    /// operands are of the first unit's formats. A unit with a smaller K computes slices of k, ascending; a
    /// larger K is padded with +0; other formats take operands that they hold exactly.
    ///
    /// Exit status 1 when two units differ, 0 when all agree.
    Diff(Diff),
    /// Find the summation tree of a subject, and verify it
    ///
    /// Finds in which order a subject sums, from masked inputs, and replays the tree against it on
    /// random data. SUBJECT is model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cmd:COMMAND LINE or
    /// lib:PATH:SYMBOL (BLAS: sdot ddot sgemv dgemv sgemm dgemm, as cblas_sdot or sdot_). Exit status 1 when
    /// there is no single tree or a trial contradicts it.
    Reveal(Reveal),
    /// Measure the numerical features of a device, each with its inputs and outputs
    ///
    /// The tests of Fasi et al., MMA-Sim, FTTN and Hickmann & Bradford: subnormals and flushes, exactness of
    /// products, order and length of steps, bits kept in the alignment, roundings, normalisation, carries,
    /// monotonicity, the floor of the alignment, overflow, NaN, signed zeros, the width of results.
    Probe(Probe),
    /// Find which instruction produced given matrices
    ///
    /// Tries every row of the catalogue whose formats hold A, B, C and D exactly and whose K divides theirs,
    /// first on a sample of D, then, where the whole sample agrees, on every element. Exit status 1 when no
    /// row gives the bits; the nearest is named.
    Identify(Identify),
    /// Find a complete model of a black box, in the catalogue's own notation
    ///
    /// Asks the device directed and random inputs and searches the model space for a program that gives
    /// every answer: rows of the catalogue first, then orders, steps and parameters that no row has. What
    /// is printed loads with --isa and computes. Every parameter is changed, value by value, and an input
    /// is asked that tells the value apart; where there is none the parameter is reported as unobservable
    /// with all its values.
    ///
    /// Exit status 1 when no model of the space fits (a counter-example is shown) or the device is noisy.
    Infer(Infer),
    /// Compare a device with a model over every family of inputs
    ///
    /// Replayable: a case is family, seed and index. Resumable: with --state, an interrupted run goes on
    /// where it was. The first mismatches are shrunk to minimal inputs and explained. Exit status 1 when
    /// device and model differ.
    Validate(Validate),
    /// Show, compare, execute and export summation trees
    #[command(subcommand)]
    Tree(TreeCommand),
    /// Load a plugin and answer for it; the program starts itself like this
    #[command(hide = true)]
    PluginHost(PluginHost),
    /// Load a library and answer for one of its routines; the program starts itself like this
    #[command(hide = true)]
    LibraryHost(LibraryHost),
}

#[derive(clap::Args)]
pub(crate) struct Reveal {
    /// What sums
    pub(crate) subject: String,
    /// Number of products of a lib:, cmd: or gemm: subject [default for gemm: four instructions]
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
    #[command(flatten)]
    pub(crate) device: Tested,
    /// Write the tree to a file: .svg, .dot, .html, .json or .txt
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Probe {
    /// model:ARCH:INST, plugin:PATH or cmd:COMMAND LINE
    #[arg(required_unless_present = "compare", conflicts_with = "compare")]
    pub(crate) subject: Option<String>,
    /// Two subjects side by side, in place of SUBJECT; exit status 1 when a feature differs
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) compare: Vec<String>,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// Write a page for a browser, with every input and output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Identify {
    /// M × K: FILE.npy or FILE.safetensors:NAME
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// K × N
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// M × N: the bits in question
    #[arg(value_name = "D")]
    pub(crate) d: String,
    /// A's file holds K × M; its scales are M × K/block all the same
    #[arg(long)]
    pub(crate) transpose_a: bool,
    /// B's file holds N × K; its scales are K/block × N all the same
    #[arg(long)]
    pub(crate) transpose_b: bool,
    /// M × N [default: +0]
    #[arg(long, value_name = "FILE")]
    pub(crate) c: Option<String>,
    /// What the product was multiplied by
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub(crate) alpha: f64,
    /// What C was multiplied by
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub(crate) beta: f64,
    /// Scales of A: block scales, M × K/block, for instructions that take them; for all others
    /// numbers that the kernel multiplied its sums by, M/rows × K/products of any such shape
    #[arg(long, value_name = "FILE", requires = "scale_b")]
    pub(crate) scale_a: Option<String>,
    /// Scales of B, K/block × N, or K/products × N/columns
    #[arg(long, value_name = "FILE", requires = "scale_a")]
    pub(crate) scale_b: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Infer {
    /// model:ARCH:INST, plugin:PATH or cmd:COMMAND LINE
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// The most queries
    #[arg(long, value_name = "QUERIES", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(4000..))]
    pub(crate) budget: u64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Search the model space without looking at the rows of the catalogue
    #[arg(long)]
    pub(crate) without_catalogue: bool,
    /// Write the row to a file, for --isa
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Validate {
    /// model:ARCH:INST, plugin:PATH or cmd:COMMAND LINE
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// The model: a row of the catalogue or of an --isa file
    #[arg(long, value_name = "ARCH:INST")]
    pub(crate) against: String,
    /// Cases in all, every family in turn [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trials: Option<u64>,
    /// Minutes to run
    #[arg(long, value_name = "M", conflicts_with = "trials", value_parser = minutes)]
    pub(crate) minutes: Option<f64>,
    /// Families, with commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) families: Vec<String>,
    /// Seed of every family
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Keep the position in this file, and go on from it
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<String>,
    /// Write the summary to a file, as JSON
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// A positive number of minutes.
fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 1e6 => Ok(minutes),
        _ => Err("expected a positive number of minutes, at most 1000000".to_owned()),
    }
}

/// How a device is asked.
#[derive(clap::Args)]
pub(crate) struct DeviceOptions {
    /// Seconds that a process, a plugin or a library may take for a batch of 4,096 questions or fewer
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "subject",
        default_value_t = 10.0
    )]
    pub(crate) timeout: f64,
    /// Run a plugin: or lib: in this process, which is faster. For code that is trusted: what crashes
    /// or hangs takes this program with it, and --timeout does not reach it
    #[arg(long, requires = "subject")]
    pub(crate) in_process: bool,
}

/// Not for people: a plugin in a process of its own.
#[derive(clap::Args)]
pub(crate) struct PluginHost {
    /// The shared library
    pub(crate) path: String,
}

/// Not for people: a routine of a library in a process of its own.
#[derive(clap::Args)]
pub(crate) struct LibraryHost {
    /// The shared library
    pub(crate) path: String,
    /// The routine
    pub(crate) symbol: String,
    /// Number of products
    pub(crate) n: usize,
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
    #[command(flatten)]
    pub(crate) arithmetic: TreeArithmetic,
}

/// What a tree leaves open; a file that `reveal --json` wrote says it.
#[derive(clap::Args)]
pub(crate) struct TreeArithmetic {
    /// Format of the operands [default: what the file says, or f32]
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Fraction bits that fused nodes keep [default: what the file says]
    #[arg(long, value_name = "BITS")]
    pub(crate) fused_bits: Option<i32>,
    /// Rounding of every node [default: what the file says, or rne]
    #[arg(long)]
    pub(crate) rounding: Option<String>,
    /// Rounding of fused nodes, if another [default: what the file says, or that of every node]
    #[arg(long, value_name = "ROUNDING")]
    pub(crate) fused_rounding: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct TreeExport {
    /// Tree file
    pub(crate) file: String,
    /// rust, c, python or cuda
    #[arg(long, default_value = "c")]
    pub(crate) language: String,
    #[command(flatten)]
    pub(crate) arithmetic: TreeArithmetic,
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
    pub(crate) html: Option<String>,
}

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
    /// plugin:PATH or cmd:COMMAND LINE.
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
    /// Check every line against this instruction instead of the one that it names
    #[arg(long = "as", value_name = "ARCH:INST", conflicts_with_all = ["arch", "inst"])]
    pub(crate) against: Option<String>,
    /// Compute through the engine of matrix products instead of one by one; the report is the same
    #[arg(long)]
    pub(crate) engine: bool,
    /// Compare exception flags too; no unit of the catalogue has a model of them yet, so that lines
    /// which carry flags are then bad lines
    #[arg(long)]
    pub(crate) flags: bool,
    /// Vector files, plain or gzip; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Matmul {
    /// The architecture: a name, SM or gfx number, or product name
    #[arg(long)]
    pub(crate) arch: String,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: String,
    /// M × K, or a batch of such matrices (three dimensions): FILE.npy or FILE.safetensors:NAME
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// K × N, or a batch
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// A's file holds K × M (or a batch of them); its scales are M × K/block all the same
    #[arg(long)]
    pub(crate) transpose_a: bool,
    /// B's file holds N × K (or a batch of them); its scales are K/block × N all the same
    #[arg(long)]
    pub(crate) transpose_b: bool,
    /// M × N, for all products of a batch or one each [default: +0]
    #[arg(long, value_name = "FILE")]
    pub(crate) c: Option<String>,
    /// Block scales of A, M × K/block: codes of the scale's format, one byte each. With a schedule
    /// that has scale=ROWSxCOLUMNS: its software scales, numbers, M/ROWS × K/promotion
    #[arg(long, value_name = "FILE")]
    pub(crate) scale_a: Option<String>,
    /// Block scales of B, K/block × N; software scales, K/promotion × N/COLUMNS
    #[arg(long, value_name = "FILE")]
    pub(crate) scale_b: Option<String>,
    /// Where D is written, an .npy file
    #[arg(short, long, value_name = "D.npy")]
    pub(crate) output: String,
    /// Order of K and what happens outside the unit, such as
    /// "split-k=4 reduce=pairwise/f32; out=rne bf16"; docs/schedules.md [default: chain]
    #[arg(long, value_name = "TEXT")]
    pub(crate) schedule: Option<String>,
    /// Fill A and B up to a multiple of the instruction's K with +0 (and scales of 1). The
    /// instruction then adds products of +0, as kernels do at a ragged end; that may turn a
    /// result of -0 into +0, and rounds as often as the padded K says. A scale block must still
    /// divide K
    #[arg(long)]
    pub(crate) pad: bool,
    /// How floats are rounded to the operands' formats [default: rne, but f32 goes to tf32 and xf32
    /// operands as raw words, as the unit takes them]
    #[arg(long, value_name = "MODE", value_parser = ["rne", "rna", "rz"])]
    pub(crate) round: Option<String>,
    /// Clamp floats beyond the operand's range to its largest number, instead of an error; an
    /// infinity stays one where the format has it
    #[arg(long)]
    pub(crate) saturate: bool,
    /// Operand modifiers that the instruction has, separated by commas: negA, negB hold for every
    /// step; negC, noC and scaleD=-N concern C, in the first step
    #[arg(
        long,
        value_name = "MODS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) mods: Vec<String>,
    /// Outputs that are compared with the exact result: all, none, or 4096 spread over D
    #[arg(long, value_enum, default_value = "sampled")]
    pub(crate) stats: Stats,
}

#[derive(clap::Args)]
pub(crate) struct ErrorOptions {
    /// An architecture; may be given several times
    #[arg(long, required = true)]
    pub(crate) arch: Vec<String>,
    /// An instruction; may be given several times: every architecture is measured with those it has
    #[arg(long, required = true)]
    pub(crate) inst: Vec<String>,
    /// Shape of generated matrices, such as 64x64x4096
    #[arg(long, value_name = "MxNxK")]
    pub(crate) shape: Option<String>,
    /// Distribution of generated matrices: normal, positive, uniform, outlier or sparse, and a power of
    /// two as in normal*2^-14
    #[arg(long, value_name = "NAME", default_value = "normal")]
    pub(crate) dist: String,
    /// Distribution of C, spelt as --dist [default: +0]
    #[arg(long, value_name = "NAME")]
    pub(crate) c: Option<String>,
    /// Seed of generated matrices
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// A schedule (docs/schedules.md); may be given several times, each with every instruction
    /// [default: chain]
    #[arg(long, value_name = "TEXT")]
    pub(crate) schedule: Vec<String>,
    /// Outputs that are compared with the exact result: full, or 4096 spread over D
    #[arg(long, value_enum, default_value = "sampled")]
    pub(crate) stats: Stats,
    /// Draw the curves to a file
    #[arg(short = 'o', value_name = "FILE.svg")]
    pub(crate) output: Option<String>,
    /// A and B instead of generated matrices: FILE.npy or FILE.safetensors:NAME
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

/// Which outputs are compared with the exact result.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Stats {
    Full,
    None,
    Sampled,
}

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
