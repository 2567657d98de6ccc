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
