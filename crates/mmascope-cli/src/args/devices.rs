//! The arguments of the commands that ask devices.

use crate::tested::Tested;

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
    /// The routine of a lib: takes 64-bit integers (ILP64), although its name does not say so as sdot64_ does
    #[arg(long)]
    pub(crate) ilp64: bool,
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
    /// model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cuda:N:INST or cmd:COMMAND LINE
    #[arg(required_unless_present = "compare", conflicts_with = "compare")]
    pub(crate) subject: Option<String>,
    /// Two subjects side by side, in place of SUBJECT, also as A,B; exit status 1 when a feature differs
    #[arg(long, num_args = 1..=2, value_names = ["A", "B"])]
    pub(crate) compare: Vec<String>,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// Write a page for a browser, with every input and output
    #[arg(short = 'o', long, value_name = "FILE.html", conflicts_with = "html")]
    pub(crate) output: Option<String>,
    /// The same as -o, with any name
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
    /// model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cuda:N:INST or cmd:COMMAND LINE
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// About the most queries, 2000 or more; the order of long sums and the last checks may take more. Fewer queries leave more room for
    /// a model that errs on rare inputs
    #[arg(long, value_name = "QUERIES", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(2000..))]
    pub(crate) budget: u64,
    /// Fresh inputs beside the budget that confirm the model [default: 100000; 0, which is none, with a budget below 20000]. A row of the
    /// catalogue gets a fifth as many. A model with several unusual parameters or more than eight statements, or of a search that reached
    /// its limit of computing time, gets three times as many.
    /// They end when the device has taken about ten seconds for them
    #[arg(long, value_name = "INPUTS")]
    pub(crate) confirm: Option<u64>,
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
    /// model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cuda:N:INST or cmd:COMMAND LINE; or cuda:N, which makes and
    /// compares its operands itself
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) device: Tested,
    /// The model: a row of the catalogue or of an --isa file; several with commas: the device is compared with each in turn, over
    /// the same cases, --trials or --minutes for each
    #[arg(long, value_name = "ARCH:INST,…", value_delimiter = ',')]
    pub(crate) against: Vec<String>,
    /// With cuda:N: every row of the GPU's architecture that has a model
    #[arg(long, conflicts_with = "inst")]
    pub(crate) all: bool,
    /// With cuda:N: the conversions (PTX cvt) that the GPU has, instead of matrix instructions; --trials inputs of each,
    /// all inputs of 16 bits and fewer [default: 16777216]
    #[arg(long, conflicts_with_all = ["inst", "all", "dry_run"])]
    pub(crate) conversions: bool,
    /// With cuda:N, --arch and --inst: print the kernels instead of running them; no GPU is needed
    #[arg(long, requires = "inst")]
    pub(crate) dry_run: bool,
    /// Cases in all, every family in turn [default: 1000000; of cuda:N 100000000 a row]
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

#[derive(clap::Args)]
pub(crate) struct Record {
    /// cuda:N, a GPU
    pub(crate) subject: String,
    /// Only this instruction
    #[arg(long, conflicts_with = "all", required_unless_present_any = ["all", "functions"])]
    pub(crate) inst: Option<String>,
    /// Every row of the GPU's architecture that has a model
    #[arg(long)]
    pub(crate) all: bool,
    /// The approximate functions (ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh) instead: hashes of the answers to all of their
    /// inputs, 2^20 by 2^20
    #[arg(long, conflicts_with_all = ["inst", "all", "count", "seed"])]
    pub(crate) functions: bool,
    /// With --functions: also compare with such a file of another GPU; exit status 1 when an answer differs
    #[arg(long, value_name = "FILE", requires = "functions")]
    pub(crate) against: Option<String>,
    /// Cases of each family
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) count: u64,
    /// Seed of every family
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The vector file, or that of the hashes; FILE.about.json beside it says which GPU, driver and compiler gave it
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: String,
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
    /// Memory that it shares with the program that started it
    pub(crate) memory: Option<std::path::PathBuf>,
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
    /// Memory that it shares with the program that started it
    pub(crate) memory: Option<std::path::PathBuf>,
}
