//! Defines the arguments of all commands, and the help that they print.

mod devices;
mod precision;
mod products;
mod resolver;
mod trees;
mod units;
mod vectors;

use mmascope::tree::TreeForm;

pub(crate) use devices::*;
pub(crate) use precision::*;
pub(crate) use products::*;
pub(crate) use resolver::*;
pub(crate) use trees::*;
pub(crate) use units::with_units;
pub(crate) use vectors::*;

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
    /// Print the result as JSON; trees as a flat list of nodes with `=flat`, and always above 1,000 levels
    #[arg(
        long,
        value_name = "FORM",
        global = true,
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "nested"
    )]
    json: Option<Json>,
    /// Number of threads, 1 to 1024 [default: one per core]; the result never depends on it
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Where standard error is no terminal, print the progress of long work as a line every 10 s, or every SECONDS
    #[arg(
        long,
        value_name = "SECONDS",
        global = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub(crate) progress: Option<u16>,
}

impl Common {
    /// The files of the catalogue as a command names them that is to be run again, after a space.
    pub(crate) fn isa_options(&self) -> String {
        let option = |file: &String| format!(" --isa {}", shell_words::quote(file));
        self.isa.iter().map(option).collect()
    }
}

/// How trees stand in JSON.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Json {
    Nested,
    Flat,
}

impl Common {
    /// Whether the result is JSON.
    pub(crate) fn json(&self) -> bool {
        self.json.is_some()
    }

    /// How trees stand in it.
    pub(crate) fn form(&self) -> TreeForm {
        match self.json {
            Some(Json::Flat) => TreeForm::Flat,
            Some(Json::Nested) | None => TreeForm::Nested,
        }
    }
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List architectures, or the instructions of one
    List(List),
    /// List number formats, or the codes of one
    ///
    /// Of a format of at most 8 bits every code is shown with its value.
    Formats(Formats),
    /// Show what an instruction computes and how well that is known
    Show(Show),
    /// Write what a unit computes as one source file
    ///
    /// The file depends on nothing, says at its head what the unit is and how well it is known, and has a function
    /// (`dot`, or NAME) that gives the bits of one element of D: in C, Rust or Python to be called, in SystemVerilog to be
    /// simulated or compared with a design, in SMT-LIB 2 to be reasoned about. Operands and results are register
    /// words.
    ///
    /// Every modelled instruction of the catalogue has such a file; exit status 2 for a unit of your own that has none.
    Export(Export),
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
    /// format, one per element. D is written as f32, f16 or f64, whatever the accumulator is, and in
    /// another format of a schedule's `out=` as codes, as np.save writes ml_dtypes; the file appears
    /// whole or not at all.
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
    /// random data. SUBJECT is model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cuda:N:INST, cmd:COMMAND LINE or
    /// lib:PATH:SYMBOL (BLAS: sdot ddot sgemv dgemv sgemm dgemm, as cblas_sdot or sdot_; sbgemm shgemm hgemm gemm_bf16bf16f32
    /// gemm_f16f16f32). Exit status 1 when there is no single tree or a trial contradicts it.
    Reveal(Reveal),
    /// Measure the numerical features of a device, each with its inputs and outputs
    ///
    /// The tests of Fasi et al., MMA-Sim, FTTN and Hickmann & Bradford: subnormals and flushes, exactness of
    /// products, order and length of steps, bits kept in the alignment, roundings, normalisation, carries,
    /// monotonicity, the floor of the alignment, overflow, NaN, signed zeros, the width of results.
    Probe(Probe),
    /// Find which instruction produced given matrices
    ///
    /// Tries every row of the catalogue whose formats hold A, B, C and D exactly, K filled up with +0 where it is no multiple of the row's,
    /// each with the usual schedules of kernels (splits of K, orders, promotion, emulated precision:
    /// docs/schedules.md), first on a sample of D, then, where the whole sample agrees, on every element. Exit status 1 when no
    /// row gives the bits; the nearest is named.
    Identify(Identify),
    /// Find a complete model of a black box, in the catalogue's own notation
    ///
    /// Asks the device directed and random inputs and searches the model space for a program that gives
    /// every answer: rows of the catalogue first, then orders, steps and parameters that no row has. What
    /// is printed loads with --isa and computes. Every parameter is changed, value by value, and an input
    /// is asked that tells the value apart; where there is none the parameter is reported as not told apart
    /// with all its values.
    ///
    /// Exit status 1 when no model of the space fits (a counter-example is shown) or the device is noisy.
    Infer(Infer),
    /// Compare a device with a model over every family of inputs
    ///
    /// Replayable: a case is family, seed and index. Resumable: with --state, an interrupted run goes on
    /// where it was. The first mismatches are shrunk to minimal inputs and explained. Exit status 1 when
    /// device and model differ.
    ///
    /// With cuda:N the GPU itself makes the operands, computes them by the instruction (--inst, or --all of them) and compares
    /// every element with its row, which it computes too. No --against is needed.
    Validate(Validate),
    /// Record what a GPU answers: vector lines with its results
    ///
    /// Writes cases of every family with the GPU's own results, for `check`; with --functions what its approximate functions answer. A second file, FILE.about.json, says which GPU,
    /// driver and compiler gave them, when, and which machine instructions ran.
    Record(Record),
    /// Say what this machine has, and what each missing part is for
    ///
    /// Vector instructions, the CUDA driver and its GPUs, NVIDIA's compiler (NVRTC) and disassembler, Python. Nothing of it is
    /// needed for the model itself; the exit status is 0 whatever is missing.
    Doctor,
    /// Say which targets take a PTX instruction
    ///
    /// The answer comes from rules (least SM, family, suffix) that generalise what NVIDIA's assembler accepts;
    /// no compiler's policy has a part in it. Exit status 1 when no target, or one of --target, does not take it.
    Legal(Legal),
    /// Say which instructions a compiler chooses for an operation, by which rule, and what they compute
    ///
    /// Flags, denormal mode, reflect map, rounding, target and policy go in; instructions with their modifiers, the
    /// rules that chose them and diagnostics come out. With --value the result is evaluated: exactly where PTX
    /// defines the bits, as an enclosure (`lo`, `hi`) where only an error bound is documented. `exact` says whether
    /// the bits are known. Exit status 1 when the combination is illegal.
    Resolve(Resolve),
    /// Show, compare, execute and export summation trees
    #[command(subcommand)]
    Tree(TreeCommand),
    /// Cast values from one format to another
    ///
    /// Without --policy a cast is what PTX cvt does where PTX has the form (with .satfinite where that is
    /// mandatory), else IEEE. VALUE is a decimal, a power of two (1.5*2^-3), a hexadecimal float
    /// (0x1.8p-3), inf, nan or a word (0x3c00). In a file floats are values, which are rounded to the
    /// source format, and integers are codes of it; the output file holds codes, one for each element.
    Cast(Cast),
    /// Quantise an array to codes with block scales
    ///
    /// Writes a .safetensors file with the tensors codes (u8, one for each element), scale (u8, one for
    /// each block) and tensor_scale (f32, 1 except for nvfp4), and format, recipe, axis and block as
    /// metadata. `matmul` takes such a file as an operand. A block at the end of the axis may be shorter.
    /// docs/precision.md states the recipes.
    Quantize(Quantize),
    /// Make numbers (f32) of a file that `quantize` wrote
    ///
    /// A number is element · scale, rounded to f32, times the tensor's scale, rounded. A NaN scale makes
    /// its whole block NaN.
    Dequantize(Dequantize),
    /// Show what every unit makes of NaN, infinities, subnormals, zeros and overflow
    ///
    /// Every result is computed from the unit's model; nothing is typed in. `nan` stands for a NaN whose
    /// payload the unit does not fix.
    Specials(Specials),
    /// Write the atlas: a site of everything that the catalogue and the models know, to read and to play with
    ///
    /// A page for every architecture, every unit with its instructions and every algorithm, made from the catalogue and computed by
    /// the models; the explorer computes in the browser, with the WebAssembly module that `cargo xtask atlas` builds. The site
    /// is a folder of files that load nothing from elsewhere: any web server can offer it, and a browser can open it as it is.
    Atlas(Atlas),
    /// Print the completions of a shell
    ///
    /// For bash: mmascope completions bash > ~/.local/share/bash-completion/completions/mmascope
    Completions(Completions),
    /// Write the manual pages to a folder; `cargo xtask generate` does
    #[command(hide = true)]
    ManPages(ManPages),
    /// Load a plugin and answer for it; the program starts itself like this
    #[command(hide = true)]
    PluginHost(PluginHost),
    /// Load a library and answer for one of its routines; the program starts itself like this
    #[command(hide = true)]
    LibraryHost(LibraryHost),
}

#[derive(clap::Args)]
pub(crate) struct Atlas {
    /// The folder; an older atlas there is replaced
    #[arg(short = 'o', value_name = "FOLDER")]
    pub(crate) output: Option<String>,
    /// Offer the site to the browsers of this machine, on 127.0.0.1 alone, until Ctrl-C; without -o nothing is written. A site
    /// in the folder that is up to date is not made again
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "8410"
    )]
    pub(crate) serve: Option<u16>,
    /// The module of the explorer [default: mmascope.wasm beside the program, in ../share/mmascope, or in ../atlas]
    #[arg(long, value_name = "FILE.wasm")]
    pub(crate) module: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(clap::Args)]
pub(crate) struct ManPages {
    /// The folder, which must be there
    pub(crate) folder: std::path::PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// Only these architectures, with their instructions; ARCH:INST is one instruction
    #[arg(value_name = "ARCH", value_delimiter = ',', conflicts_with = "arch")]
    pub(crate) names: Vec<String>,
    /// The same
    #[arg(long, value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// Only instructions whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) inst: Option<String>,
    /// Only instructions with these operand types: of A, of B (as A), of C, of D
    #[arg(long, value_name = "A[,B[,C[,D]]]")]
    pub(crate) types: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Formats {
    /// A format: a name or an alias
    pub(crate) name: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct Show {
    /// The architecture: a name, SM or gfx number, or product name; or ARCH:INST, which needs no --arch before it. Several
    /// with commas, which are shown one after the other
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) arch: Vec<String>,
    /// The instruction, of every architecture that has it
    #[arg(long)]
    pub(crate) inst: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Export {
    /// The unit, ARCH:INST, which may stand without the option too; or its architecture, with --inst
    #[arg(long)]
    pub(crate) arch: String,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: String,
    /// c, cuda, rust, python, systemverilog or smt2
    #[arg(long)]
    pub(crate) language: String,
    /// What the function is called [default: dot]. In c, cuda and smt2 whatever else the file defines begins with the name,
    /// so that several files fit in one program; a package in systemverilog is NAME_pkg
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The file [default: standard output]
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// A place in a matrix.
fn place(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "row and column are whole numbers from 0".to_owned())
}

#[derive(clap::Args)]
pub(crate) struct Explain {
    /// A and B of a product, of which one output is explained, with --at: FILE.npy or FILE.safetensors:NAME
    #[arg(value_name = "FILE", num_args = 2, requires = "at", conflicts_with_all = ["a", "b", "sa", "sb", "mods", "vector", "round"])]
    pub(crate) files: Vec<String>,
    /// The output of the product: row and column, counted from 0, after a batch's number. Its chain over K is walked,
    /// and one step is explained: the last, or with --against the one where two units part
    #[arg(long, value_name = "I,J", value_delimiter = ',', requires = "files", allow_hyphen_values = true, value_parser = place)]
    pub(crate) at: Vec<usize>,
    /// The step of the chain that is explained: that of product K, counted from 0 over the whole chain with its padding
    #[arg(long, value_name = "K", requires = "files")]
    pub(crate) k: Option<usize>,
    /// Fill A and B up to a multiple of the instruction's K with +0
    #[arg(long, requires = "files")]
    pub(crate) pad: bool,
    /// Clamp floats beyond an operand's range to its largest number, instead of an error
    #[arg(long, requires = "files")]
    pub(crate) saturate: bool,
    /// The unit, ARCH:INST, which may stand without the option too; or its architecture, with --inst
    #[arg(long)]
    pub(crate) arch: Option<String>,
    /// The instruction
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Instead of an instruction: operand types, whose default instruction is taken, as in f16,f16,f32
    #[arg(long, value_name = "TYPES", conflicts_with = "inst")]
    pub(crate) types: Option<String>,
    /// Row of A
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) a: Option<String>,
    /// Column of B
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) b: Option<String>,
    /// The accumulator input; C's file, with files [default: +0]
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
    /// Show a second instruction beside the first, up to the first step and bit where they part. An architecture alone
    /// takes its instruction of the same name or operand types
    #[arg(long, value_name = "ARCH[:INST]")]
    pub(crate) against: Option<String>,
    /// Write a page with pictures of the bits, too
    #[arg(short = 'o', long, value_name = "FILE.html", conflicts_with = "html")]
    pub(crate) output: Option<String>,
    /// The same as -o, with any name
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<String>,
}
