//! The arguments of the commands on whole matrices.

#[derive(Clone, clap::Args)]
pub(crate) struct Matmul {
    /// The architecture: a name, SM or gfx number, or product name. Several, or ARCH:INST items, with commas or one by one
    /// give one D each and a comparison; ARCH:INST may stand behind A and B too, without the option
    #[arg(long, value_delimiter = ',', required = true)]
    pub(crate) arch: Vec<String>,
    /// The instruction [default: that of the operand types, as the files have them; see --types]
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Operand types, whose default instruction is taken: A, B, C and D with commas, and block scales
    /// behind them, as in f16,f16,f32 or e2m1,e2m1,f32,ue4m3/16. What is left out is open
    #[arg(long, value_name = "TYPES", conflicts_with = "inst")]
    pub(crate) types: Option<String>,
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
    /// Where D is written, an .npy file; of several architectures D-ARCH.npy each [default: nowhere]
    #[arg(short, long, value_name = "D.npy")]
    pub(crate) output: Option<String>,
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

impl Matmul {
    /// The one architecture of options that `--arch` has been taken apart of.
    pub(crate) fn architecture(&self) -> &str {
        self.arch.first().map_or("", String::as_str)
    }

    /// A plain product of two files, and of C where there is one.
    pub(crate) fn of_files(arch: &str, inst: Option<&str>, files: [&str; 2]) -> Self {
        let [a, b] = files.map(str::to_owned);
        Self {
            arch: vec![arch.to_owned()],
            inst: inst.map(str::to_owned),
            types: None,
            a,
            b,
            transpose_a: false,
            transpose_b: false,
            c: None,
            scale_a: None,
            scale_b: None,
            output: None,
            schedule: None,
            pad: false,
            round: None,
            saturate: false,
            mods: Vec::new(),
            stats: Stats::None,
        }
    }
}

#[derive(clap::Args)]
pub(crate) struct ErrorOptions {
    /// Architectures, or ARCH:INST items, with commas; may be given several times
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    pub(crate) arch: Vec<String>,
    /// An instruction; may be given several times: every architecture is measured with those it has
    /// [default: that of the operand types, as the files have them; see --types]
    #[arg(long)]
    pub(crate) inst: Vec<String>,
    /// Operand types, whose default instruction every architecture takes: A, B, C and D with commas,
    /// and block scales behind them, as in f16,f16,f32 or e2m1,e2m1,f32,ue4m3/16
    #[arg(long, value_name = "TYPES", conflicts_with = "inst")]
    pub(crate) types: Option<String>,
    /// Shape of generated matrices, such as 64x64x4096
    #[arg(long, value_name = "MxNxK")]
    pub(crate) shape: Option<String>,
    /// Distribution of generated matrices: normal, positive, uniform, outlier or sparse, and a power of
    /// two as in normal*2^-14
    #[arg(
        long,
        value_name = "NAME",
        default_value = "normal",
        conflicts_with = "files"
    )]
    pub(crate) dist: String,
    /// Distribution of C, spelt as --dist [default: +0]
    #[arg(long, value_name = "NAME")]
    pub(crate) c: Option<String>,
    /// Seed of generated matrices [default: 1]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
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
    /// Clamp numbers of the files beyond an operand's range to its largest number, instead of an error
    #[arg(long, conflicts_with = "shape")]
    pub(crate) saturate: bool,
    /// A and B instead of generated matrices: FILE.npy or FILE.safetensors:NAME
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

impl ErrorOptions {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// Which outputs are compared with the exact result.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Stats {
    Full,
    None,
    Sampled,
}
