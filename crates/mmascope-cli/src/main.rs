//! The command line of mmascope.

mod args;
mod cases;
mod cast;
mod check;
mod completions;
mod device;
mod diff;
mod discriminate;
mod error;
mod eval;
mod explain;
mod files;
mod generate;
mod identify;
mod infer;
mod interrupt;
mod layout;
mod legal;
mod list;
mod matmul;
mod output;
mod probe;
mod quantize;
mod report;
mod resolve;
mod reveal;
mod show;
mod specials;
mod tested;
mod threads;
mod tree;
mod units;
mod validate;

use std::process::ExitCode;

use clap::Parser;

use args::{Command, Common};
use mmascope::isa::Catalogue;
use report::{Failure, Status};

fn main() -> ExitCode {
    interrupt::install();
    let args = args::Args::parse_from(args::with_negative_values(std::env::args_os()));
    let result = run(&args);
    let status = match result {
        Ok(status) => status as u8,
        Err(Failure::ClosedPipe) => 0,
        Err(Failure::Interrupted) => report::INTERRUPTED,
        Err(Failure::Input(message)) => {
            report::tell(format_args!("error: {message}"));
            Status::WrongInput as u8
        }
        Err(Failure::Device(message)) => {
            report::tell(format_args!("error: {message}"));
            Status::DeviceFailed as u8
        }
    };
    ExitCode::from(status)
}

fn run(args: &args::Args) -> Result<Status, Failure> {
    files::check(args)?;
    let catalogue = catalogue(&args.common)?;
    if !matches!(
        args.command,
        Command::PluginHost(_) | Command::LibraryHost(_)
    ) {
        threads::start(args.common.threads)?;
    }
    match &args.command {
        Command::List(options) => list::run(&catalogue, &args.common, options),
        Command::Show(options) => show::run(&catalogue, &args.common, options),
        Command::Explain(options) => explain::run(&catalogue, &args.common, options),
        Command::Eval(options) => eval::run(&catalogue, options),
        Command::Check(options) => check::run(&catalogue, &args.common, options),
        Command::Matmul(options) => matmul::run(&catalogue, &args.common, options),
        Command::Gen(options) if options.discriminating => discriminate::run(&catalogue, options),
        Command::Error(options) => error::run(&catalogue, &args.common, options),
        Command::Gen(options) => generate::run(&catalogue, options),
        Command::Diff(options) => diff::run(&catalogue, &args.common, options),
        Command::Reveal(options) => reveal::run(&catalogue, &args.common, options),
        Command::Probe(options) => probe::run(&catalogue, &args.common, options),
        Command::Identify(options) => identify::run(&catalogue, &args.common, options),
        Command::Infer(options) => infer::run(&catalogue, &args.common, options),
        Command::Validate(options) => validate::run(&catalogue, &args.common, options),
        Command::Cast(options) => cast::run(&catalogue, &args.common, options),
        Command::Quantize(options) => quantize::run(&catalogue, &args.common, options),
        Command::Dequantize(options) => quantize::back(&catalogue, &args.common, options),
        Command::Specials(options) => specials::run(&catalogue, &args.common, options),
        Command::Completions(options) => completions::print(options),
        Command::ManPages(options) => completions::write_pages(options),
        Command::PluginHost(options) => device::host(options),
        Command::LibraryHost(options) => device::library_host(options),
        Command::Resolve(options) => resolve::run(&catalogue, &args.common, options),
        Command::Legal(options) => legal::run(&catalogue, &args.common, options),
        Command::Tree(command) => tree::run(&catalogue, &args.common, command),
    }
}

/// The longest `--isa` file in bytes, as the library takes it.
const LONGEST_CATALOGUE: u64 = 16 << 20;

/// The shipped catalogue with the user's files on top.
fn catalogue(common: &Common) -> Result<Catalogue, Failure> {
    let mut catalogue = Catalogue::built_in().clone();
    for file in &common.isa {
        let text = report::read_whole("--isa", file, LONGEST_CATALOGUE)?;
        catalogue.extend(file, &text)?;
    }
    Ok(catalogue)
}
