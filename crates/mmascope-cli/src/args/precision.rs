//! The arguments of the commands on precision: casts, block scaling, special values.

#[derive(clap::Args)]
pub(crate) struct Cast {
    /// The source format: f64 f32 tf32 f16 bf16 e5m2 e4m3 e3m2 e2m3 e2m1 ue8m0 ue4m3 int8 …
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: String,
    /// The target format; several with commas, or the option several times
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', required = true)]
    pub(crate) to: Vec<String>,
    /// Rounding: rne rna rnz rnu rnd rno rz ra ru rd odd, PTX's rn rz rm rp, or rs with --random-bits
    /// [default: rne]
    #[arg(long, value_name = "MODE")]
    pub(crate) round: Option<String>,
    /// What values beyond the largest become: ieee, satfinite or nan [default: what the policy says]
    #[arg(long, value_name = "WHAT")]
    pub(crate) overflow: Option<String>,
    /// Whose rules hold for NaN, infinities, signs and overflow: ptx, ml_dtypes, ocp or host (CUDA's
    /// headers) [default: ptx where PTX has the form, else IEEE]
    #[arg(long)]
    pub(crate) policy: Option<String>,
    /// Negative values become +0 and NaN the canonical NaN
    #[arg(long)]
    pub(crate) relu: bool,
    /// Clamp to [0, 1], NaN to +0; between integers, to the target's range
    #[arg(long)]
    pub(crate) sat: bool,
    /// Flush subnormal f32 operands and results to zeros of their sign
    #[arg(long)]
    pub(crate) ftz: bool,
    /// A result of -0 becomes +0
    #[arg(long)]
    pub(crate) pzo: bool,
    /// Round stochastically with these bits: a number of at most 13 bits (f16) or 16 is added to the
    /// discarded bits of every value; a larger one is the 32-bit register of cvt.rs, of which the
    /// values of a group (two, or four: a b e f) have their parts
    #[arg(long, value_name = "HEX")]
    pub(crate) random_bits: Option<String>,
    /// Take values in groups, a first, and show the packed registers; random bits are a register then
    #[arg(long, value_name = "x2|x4", conflicts_with = "input")]
    pub(crate) packed: Option<String>,
    /// Refuse what this target has no cvt for, as sm_90 or sm_100a
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// An array instead of values: FILE.npy or FILE.safetensors:NAME
    #[arg(
        long,
        value_name = "X.npy",
        requires = "output",
        conflicts_with = "values"
    )]
    pub(crate) input: Option<String>,
    /// Where the codes are written, an .npy file
    #[arg(short = 'o', value_name = "Y.npy", requires = "input")]
    pub(crate) output: Option<String>,
    /// Values to cast
    #[arg(value_name = "VALUE", required_unless_present = "input")]
    pub(crate) values: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Quantize {
    /// The numbers: FILE.npy or FILE.safetensors:NAME, floats (f64 is rounded to f32)
    #[arg(value_name = "X.npy")]
    pub(crate) input: String,
    /// mxfp8-e4m3, mxfp8-e5m2, mxfp6-e2m3, mxfp6-e3m2, mxfp4, mxint8 or nvfp4
    #[arg(long)]
    pub(crate) format: String,
    /// How scales are chosen: ocp or round-up (MX formats), nvfp4 or four-over-six (nvfp4)
    /// [default: ocp; nvfp4]
    #[arg(long)]
    pub(crate) recipe: Option<String>,
    /// The dimension along which blocks lie; a negative one counts from the last [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) axis: Option<i64>,
    /// Elements that share a scale [default: 32; 16 for nvfp4]
    #[arg(long, value_name = "N")]
    pub(crate) block: Option<usize>,
    /// Round elements stochastically, with the random words of Philox4x32-10 under this key
    #[arg(long, value_name = "SEED")]
    pub(crate) stochastic: Option<u64>,
    /// By which error four-over-six chooses: mse (squared) or mae (absolute) [default: mse]
    #[arg(long, value_name = "MEASURE")]
    pub(crate) selection: Option<String>,
    /// Draw a histogram of the errors to a file: the same as -o FILE.svg
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<String>,
    /// Where codes and scales are written; given once more with a name that ends with .svg, where a histogram of the errors
    /// is drawn
    #[arg(
        short = 'o',
        long = "output",
        value_name = "X.safetensors",
        required = true
    )]
    pub(crate) outputs: Vec<String>,
    /// The one of them that is no drawing.
    #[arg(skip)]
    pub(crate) output: String,
}

#[derive(clap::Args)]
pub(crate) struct Dequantize {
    /// A file that `quantize` wrote
    #[arg(value_name = "X.safetensors")]
    pub(crate) input: String,
    /// Where the numbers are written, an .npy file
    #[arg(short, long, value_name = "Y.npy")]
    pub(crate) output: String,
}

#[derive(clap::Args)]
pub(crate) struct Specials {
    /// Only these architectures; ARCH:INST is one instruction, which needs no --arch before it
    #[arg(long, value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// Only this instruction
    #[arg(long)]
    pub(crate) inst: Option<String>,
    /// Write a file, too: .html is a page with the table, .jsonl (.gz: compressed) a vector line for each case and unit, as
    /// `check` and `eval` read them
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<String>,
}

/// A minus sign that no option begins with.
const MINUS: char = '\u{2212}';

/// The program's arguments, in which negative values of `cast` and of `resolve --value` are not taken for options: `-1`, `-2^13`,
/// `-0x1p3`, `-inf` and `-nan` get another minus sign. (Options may follow values, so that the parser
/// cannot be told to take hyphens.)
pub(crate) fn with_negative_values(
    arguments: impl Iterator<Item = std::ffi::OsString>,
) -> impl Iterator<Item = std::ffi::OsString> {
    let (mut takes_values, mut is_resolve) = (false, false);
    arguments.map(move |argument| {
        let text = argument.to_str();
        let value = text
            .and_then(|text| text.strip_prefix('-'))
            .filter(|value| {
                let lower = value.to_lowercase();
                let begins = |c: char| c.is_ascii_digit() || c == '.';
                value.starts_with(begins) || ["inf", "infinity", "nan"].contains(&&*lower)
            });
        match value.filter(|_| takes_values) {
            Some(value) => format!("{MINUS}{value}").into(),
            None => {
                is_resolve |= text == Some("resolve") && !takes_values;
                takes_values |= text == Some("cast") || is_resolve && text == Some("--value");
                argument
            }
        }
    })
}

/// A value as it was written.
pub(crate) fn as_written(value: &str) -> String {
    value.replace(MINUS, "-")
}
