//! The arguments of `mmascope tree`.

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
