//! Arguments of `legal` and `resolve`.

#[derive(clap::Args)]
pub(crate) struct Legal {
    /// The instruction, with or without operands: cvt.rn.satfinite.e4m3x2.f32, "add.ftz.f32 f5,f0,f1"
    #[arg(value_name = "INSTRUCTION")]
    pub(crate) instruction: String,
    /// Ask only about these targets (sm_90a); several with commas, or the option several times
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Resolve {
    /// A name (sqrt), an expression (a*b+c, 1/sqrt(x)), a PTX instruction (cvt.rn.satfinite.e4m3x2.f32), an
    /// operation of the Tile dialect (ftof …, mmaf …, mmaf_scaled …) or the text of an LLVM function
    #[arg(
        value_name = "OPERATION",
        required_unless_present = "input",
        allow_hyphen_values = true
    )]
    pub(crate) operation: Option<String>,
    /// Read the operation from a file; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "operation")]
    pub(crate) input: Option<String>,
    /// Type of an expression: f32, f64, f16, bf16; a symbol such as __nv_fast_expf has its own
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// The target, for example sm_90a; several with commas, or the option several times
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub(crate) target: Vec<String>,
    /// Whose choices to follow: seed, llvm, libnvvm, cuda-tile
    #[arg(long, value_name = "NAME", default_value = "llvm")]
    pub(crate) policy: String,
    /// Fast-math flags of every operation: nnan ninf nsz arcp contract afn reassoc, fast for all; several with commas
    #[arg(long, value_name = "FLAGS", value_delimiter = ',')]
    pub(crate) fmf: Option<Vec<String>>,
    /// Rounding that every operation asks for: rn rz rm rp, approx, full
    #[arg(long, value_name = "MODE", conflicts_with = "approx")]
    pub(crate) round: Option<String>,
    /// Every operation asks for the approximation
    #[arg(long)]
    pub(crate) approx: bool,
    /// Every operation asks for the flush of subnormal numbers (libnvvm: -ftz=1)
    #[arg(long)]
    pub(crate) ftz: bool,
    /// The function's denormal mode: ieee, preserve-sign, positive-zero, dynamic, for results and operands
    #[arg(long, value_name = "OUT,IN")]
    pub(crate) denormal: Option<String>,
    /// An entry of the reflect map, for example __CUDA_PREC_SQRT=1; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) reflect: Vec<String>,
    /// A standard configuration: inference, training-forward, training-backward, reference
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The compiler's precision of f32 divisions: libnvvm 0 or 1, llvm 0 to 3
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) prec_div: Option<u8>,
    /// The compiler's precision of f32 square roots: 0 or 1
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) prec_sqrt: Option<u8>,
    /// libnvvm's -fma: 0 or 1 [default: 1]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) fma: Option<u8>,
    /// Evaluate what was resolved: one value for each input, in the order of their names; further values are further
    /// evaluations
    #[arg(long, value_name = "X", num_args = 1.., allow_negative_numbers = true)]
    pub(crate) value: Vec<String>,
}
