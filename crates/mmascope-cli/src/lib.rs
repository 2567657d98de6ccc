//! The command line of mmascope, as a library: the program and the Python package call [`run`].

#![forbid(unsafe_code)]

mod args;
mod atlas;
mod cases;
mod cast;
mod check;
mod completions;
mod cuda;
mod device;
mod diff;
mod discriminate;
mod doctor;
mod error;
mod eval;
mod explain;
mod export;
mod files;
mod formats;
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
mod progress;
mod quantize;
mod readmemh;
mod report;
mod resolve;
mod reveal;
mod show;
mod specials;
mod table;
mod terminal;
mod tested;
mod threads;
mod tree;
mod units;
mod validate;
mod walk;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Parser;

use args::{Command, Common};
use mmascope::isa::Catalogue;
use report::{Failure, Status};

/// Rows and architectures as JSON, as the program gives them.
pub mod json {
    use mmascope::isa::{Architecture, Instruction};
    use serde_json::Value;

    /// A row, as `list` and `show` give it.
    #[must_use]
    pub fn instruction(row: &Instruction) -> Value {
        crate::list::instruction_json(row)
    }

    /// An architecture with its rows, as `list` gives it.
    #[must_use]
    pub fn architecture(architecture: &Architecture) -> Value {
        crate::list::architecture_json(architecture)
    }
}

/// What the program prints, as text.
pub mod words {
    use mmascope::isa::{Architecture, Instruction};
    use mmascope::{Error, Result};

    use crate::report::Failure;

    /// What `show` prints of a row.
    ///
    /// # Errors
    /// [`Error::Unmodelled`]; [`Error::Argument`] when `MMASCOPE_SIMD` asks for what this machine lacks.
    pub fn show(architecture: &Architecture, row: &Instruction) -> Result<String> {
        let mut out = Vec::new();
        match crate::show::write_text(&mut out, architecture, row, row.unit()?) {
            Ok(()) => Ok(String::from_utf8_lossy(&out).into_owned()),
            Err(Failure::Input(message) | Failure::Device(message)) => {
                Err(Error::Argument(message))
            }
            Err(Failure::ClosedPipe | Failure::Interrupted) => Err(Error::Cancelled),
        }
    }
}

/// What a command says with `--json`, for callers in this process.
pub struct Said {
    /// The JSON.
    pub json: String,
    /// What the program would have written to standard error.
    pub warnings: Vec<String>,
    /// Whether the answer is yes (exit status 0).
    pub holds: bool,
}

/// Runs a command (its name first, without `--json`) on a catalogue and gives its JSON, in the threads of
/// the caller. `--isa` and `--threads` are the caller's affair.
///
/// # Errors
/// What the program would have said; [`mmascope::Error::Cancelled`] after [`cancel`].
pub fn said(catalogue: &Catalogue, arguments: &[String]) -> mmascope::Result<Said> {
    let args = parsed(arguments)?;
    let (result, json, warnings) = report::captured(|| {
        files::check(&args)?;
        dispatch(&args, catalogue)
    });
    Ok(Said {
        json,
        warnings,
        holds: ended(result, arguments)? == Status::Done,
    })
}

fn parsed(arguments: &[String]) -> mmascope::Result<args::Args> {
    let words = ["mmascope"]
        .into_iter()
        .chain(arguments.iter().map(String::as_str));
    let words = words.chain(["--json"]).map(OsString::from);
    let words = args::with_units(args::with_negative_values(words));
    let mut args = args::Args::try_parse_from(words)
        .map_err(|error| mmascope::Error::Argument(error.to_string().trim_end().to_owned()))?;
    files::by_ending(&mut args.command).map_err(mmascope::Error::Argument)?;
    Ok(args)
}

/// What a command came to, for callers in this process.
fn ended<T>(result: Result<T, Failure>, arguments: &[String]) -> mmascope::Result<T> {
    result.map_err(|failure| match failure {
        Failure::ClosedPipe | Failure::Interrupted => mmascope::Error::Cancelled,
        Failure::Input(message) => mmascope::Error::Argument(message),
        Failure::Device(message) => mmascope::Error::Device {
            device: arguments.first().cloned().unwrap_or_default(),
            query: None,
            message,
        },
    })
}

/// `diff` in parts, for callers that share out its cases.
pub mod parts {
    use mmascope::isa::Catalogue;

    use crate::{Command, Said, Status, diff, ended, files, parsed, report};

    fn refused() -> mmascope::Error {
        mmascope::Error::Argument("only diff has parts".to_owned())
    }

    /// What the cases of these arguments come to, as JSON.
    ///
    /// # Errors
    /// As [`crate::said`].
    pub fn diff_part(catalogue: &Catalogue, arguments: &[String]) -> mmascope::Result<String> {
        let args = parsed(arguments)?;
        let Command::Diff(options) = &args.command else {
            return Err(refused());
        };
        let (result, ..) = report::captured(|| diff::part(catalogue, options));
        ended(result, arguments)
    }

    /// What `diff` says of all cases of these arguments, from what its parts came to.
    ///
    /// # Errors
    /// As [`crate::said`]; [`mmascope::Error::Argument`] where the parts are not those of these arguments.
    pub fn diff_whole(
        catalogue: &Catalogue,
        arguments: &[String],
        parts: &[String],
    ) -> mmascope::Result<Said> {
        let args = parsed(arguments)?;
        let Command::Diff(options) = &args.command else {
            return Err(refused());
        };
        let (result, json, warnings) = report::captured(|| {
            files::check(&args)?;
            diff::whole(catalogue, &args.common, options, parts)
        });
        Ok(Said {
            json,
            warnings,
            holds: ended(result, arguments)? == Status::Done,
        })
    }
}

/// Makes the GPU that `MMASCOPE_ENGINE` names the engine of all products of this process, once.
///
/// # Errors
/// What is missing for it.
pub fn choose_engine() -> mmascope::Result<()> {
    mmascope_cuda::default::choose_from_environment()
}

/// Asks commands that run by [`said`] to stop, or takes that back.
pub fn cancel(is_asked: bool) {
    interrupt::ask(is_asked);
}

/// The program that is started again to hold foreign code, where it is not this process's own.
static HOST: OnceLock<PathBuf> = OnceLock::new();

/// Runs the command of these arguments, the program's name first; gives the exit status.
///
/// Help, the version and wrong arguments are printed as for the program, and give its status.
/// `host` is the program that holds foreign code in a process of its own (with the same commands);
/// without it this process's program is taken.
pub fn run(arguments: impl Iterator<Item = OsString>, host: Option<PathBuf>) -> u8 {
    if let Some(host) = host {
        // A second call keeps the first one's: both are this package's program.
        let _ = HOST.set(host);
    }
    interrupt::install();
    let arguments = args::with_units(args::with_negative_values(arguments));
    let mut args = match args::Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            // As clap does it where it ends the program itself.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(Status::WrongInput as u8);
        }
    };
    let ended = files::by_ending(&mut args.command)
        .map_err(Failure::Input)
        .and_then(|()| command(&args));
    match ended {
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
    }
}

fn command(args: &args::Args) -> Result<Status, Failure> {
    files::check(args)?;
    progress::set_lines(args.common.progress);
    // A host waits for its questions; it needs no catalogue and no threads, and every isolated device waits for its start.
    match &args.command {
        Command::PluginHost(options) => return device::host(options),
        Command::LibraryHost(options) => return device::library_host(options),
        _ => {}
    }
    let catalogue = catalogue(&args.common)?;
    threads::start(args.common.threads)?;
    dispatch(args, &catalogue)
}

fn dispatch(args: &args::Args, catalogue: &Catalogue) -> Result<Status, Failure> {
    // What is missing is for `doctor` to say, whatever was asked for.
    if !matches!(args.command, Command::Doctor) {
        choose_engine()?;
    }
    match &args.command {
        Command::List(options) => list::run(catalogue, &args.common, options),
        Command::Formats(options) => formats::run(catalogue, &args.common, options),
        Command::Show(options) => show::run(catalogue, &args.common, options),
        Command::Export(options) => export::run(catalogue, &args.common, options),
        Command::Explain(options) => explain::run(catalogue, &args.common, options),
        Command::Eval(options) => eval::run(catalogue, options),
        Command::Check(options) => check::run(catalogue, &args.common, options),
        Command::Matmul(options) => matmul::run(catalogue, &args.common, options),
        Command::Gen(options) => generate::run(catalogue, options),
        Command::Error(options) => error::run(catalogue, &args.common, options),
        Command::Diff(options) => diff::run(catalogue, &args.common, options),
        Command::Reveal(options) => reveal::run(catalogue, &args.common, options),
        Command::Probe(options) => probe::run(catalogue, &args.common, options),
        Command::Identify(options) => identify::run(catalogue, &args.common, options),
        Command::Infer(options) => infer::run(catalogue, &args.common, options),
        Command::Validate(options) => validate::run(catalogue, &args.common, options),
        Command::Record(options) => cuda::record(catalogue, &args.common, options),
        Command::Doctor => doctor::run(catalogue, &args.common),
        Command::Cast(options) => cast::run(catalogue, &args.common, options),
        Command::Quantize(options) => quantize::run(catalogue, &args.common, options),
        Command::Dequantize(options) => quantize::back(catalogue, &args.common, options),
        Command::Specials(options) => specials::run(catalogue, &args.common, options),
        Command::Atlas(options) => atlas::run(catalogue, &args.common, options),
        Command::Completions(options) => completions::print(options),
        Command::ManPages(options) => completions::write_pages(options),
        Command::PluginHost(options) => device::host(options),
        Command::LibraryHost(options) => device::library_host(options),
        Command::Resolve(options) => resolve::run(catalogue, &args.common, options),
        Command::Legal(options) => legal::run(catalogue, &args.common, options),
        Command::Tree(command) => tree::run(catalogue, &args.common, command),
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
