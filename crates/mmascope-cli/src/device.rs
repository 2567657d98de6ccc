//! Opens the device that the options name; foreign code (plugins, libraries) runs in a process of its own.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::args::{DeviceOptions, LibraryHost, PluginHost};
use crate::report::{self, Failure, Status};
use mmascope::dut::{self, DeviceName, Dut, Frames, Interface};
use mmascope::isa::Catalogue;
use mmascope::reveal::{Blas, BlasProcess, Summation, serve_blas};

/// What a plugin may still take after the program that asked it is gone.
const GRACE: Duration = Duration::from_secs(2);

/// The longest time-out: what lies further off than a century cannot be told from never.
const LONGEST: Duration = Duration::from_secs(3_000_000_000);

/// Opens a device: a plugin by this program once more, unless it is trusted.
pub(crate) fn open(
    subject: &DeviceName,
    catalogue: &Catalogue,
    interface: Option<Interface>,
    options: &DeviceOptions,
) -> Result<Box<dyn Dut>, Failure> {
    let timeout = timeout(options)?;
    if let DeviceName::Model { arch, inst } = subject
        && let Ok(row) = catalogue.find(arch, inst)
    {
        report::doubt(row);
    }
    if let DeviceName::Cuda { ordinal, inst } = subject {
        let device = crate::cuda::open(catalogue, *ordinal, inst)?;
        return match interface {
            Some(interface) if interface.signature != *device.signature() => {
                Err(Failure::Input(format!(
                    "{} has the signature {}, not {}",
                    device.name(),
                    device.signature(),
                    interface.signature
                )))
            }
            _ => Ok(device),
        };
    }
    if options.in_process {
        return Ok(subject.open(catalogue, interface, timeout)?);
    }
    Ok(subject.open_isolated(catalogue, interface, timeout, &this_program()?)?)
}

/// Opens a routine of a library, `lib:PATH:SYMBOL`: by this program once more, unless it is trusted.
pub(crate) fn open_library(
    path: &str,
    symbol: &str,
    n: usize,
    options: &DeviceOptions,
) -> Result<Box<dyn Summation>, Failure> {
    let timeout = timeout(options)?;
    if options.in_process {
        return Ok(Box::new(Blas::load(path, symbol, n)?));
    }
    let host = this_program()?;
    Ok(Box::new(BlasProcess::start(
        path, symbol, n, &host, timeout,
    )?))
}

fn this_program() -> Result<PathBuf, Failure> {
    if let Some(host) = crate::HOST.get() {
        return Ok(host.clone());
    }
    std::env::current_exe()
        .map_err(|error| Failure::Device(format!("this program does not find itself: {error}")))
}

fn timeout(options: &DeviceOptions) -> Result<Duration, Failure> {
    let seconds = options.timeout;
    let timeout = Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|timeout| !timeout.is_zero() && *timeout <= LONGEST);
    timeout.ok_or_else(|| {
        Failure::Input(format!(
            "--timeout {seconds}: expected a number of seconds above 0, at most {}",
            LONGEST.as_secs()
        ))
    })
}

/// `mmascope plugin-host PATH [MEMORY]`: the other side of [`open`].
pub(crate) fn host(options: &PluginHost) -> Result<Status, Failure> {
    let PluginHost { path, memory } = options;
    let messages = Frames::of(io::BufReader::with_capacity(1 << 16, io::stdin()));
    dut::serve(
        path,
        memory.as_deref(),
        questions(messages),
        &mut answers()?,
    )?;
    Ok(Status::Done)
}

/// `mmascope library-host PATH SYMBOL N [MEMORY]`: the other side of [`open_library`].
pub(crate) fn library_host(options: &LibraryHost) -> Result<Status, Failure> {
    let LibraryHost {
        path,
        symbol,
        n,
        memory,
    } = options;
    let messages = Frames::of(io::BufReader::with_capacity(1 << 16, io::stdin()));
    serve_blas(
        path,
        symbol,
        *n,
        memory.as_deref(),
        questions(messages),
        &mut answers()?,
    )?;
    Ok(Status::Done)
}

/// What standard input has. Soon after the last question this process ends, whatever it is doing.
fn questions<T: Send + 'static>(
    stream: impl Iterator<Item = io::Result<T>> + Send + 'static,
) -> impl Iterator<Item = io::Result<T>> {
    let (send, taken) = channel();
    thread::spawn(move || {
        for question in stream {
            if send.send(question).is_err() {
                return;
            }
        }
        // Whoever asked is gone; foreign code that hangs must not stay behind.
        drop(send);
        thread::sleep(GRACE);
        std::process::exit(Status::DeviceFailed as i32);
    });
    taken.into_iter()
}

/// Standard output for the answers alone: what the plugin prints goes to standard error.
#[cfg(unix)]
fn answers() -> io::Result<io::BufWriter<std::fs::File>> {
    let answers = rustix::io::dup(io::stdout())?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(io::BufWriter::new(answers.into()))
}

/// Standard output, which is the plugin's as well.
#[cfg(not(unix))]
fn answers() -> io::Result<io::BufWriter<io::Stdout>> {
    Ok(io::BufWriter::new(io::stdout()))
}
