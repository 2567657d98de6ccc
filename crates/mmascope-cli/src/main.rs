//! The command line of mmascope.

mod args;
mod cases;
mod cast;
mod check;
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
mod tree;
mod units;
mod validate;

use std::io::Write;
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
            let _ = writeln!(std::io::stderr(), "error: {message}");
            Status::WrongInput as u8
        }
        Err(Failure::Device(message)) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            Status::DeviceFailed as u8
        }
    };
    ExitCode::from(status)
}

fn run(args: &args::Args) -> Result<Status, Failure> {
    files::check(args)?;
    let catalogue = catalogue(&args.common)?;
    if let Some(threads) = args.common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| Failure::Input(format!("--threads {threads}: {error}")))?;
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
        Command::PluginHost(options) => device::host(options),
        Command::LibraryHost(options) => device::library_host(options),
        Command::Resolve(options) => resolve::run(&catalogue, &args.common, options),
        Command::Legal(options) => legal::run(&catalogue, &args.common, options),
        Command::Tree(command) => tree::run(&catalogue, &args.common, command),
    }
}

/// The shipped catalogue with the user's files on top.
fn catalogue(common: &Common) -> Result<Catalogue, Failure> {
    let mut catalogue = Catalogue::built_in().clone();
    for file in &common.isa {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::Input(format!("--isa {file}: {error}")))?;
        catalogue.extend(file, &text)?;
    }
    Ok(catalogue)
}
