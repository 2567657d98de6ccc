//! Files that appear only when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::report::Failure;

/// The unfinished file, for the handler of interrupts.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the unfinished file, if there is one.
pub(crate) fn remove_partial() {
    let partial = PARTIAL.lock().map_or(None, |mut partial| partial.take());
    if let Some(path) = partial {
        // It may be gone already.
        let _ = fs::remove_file(path);
    }
}

/// Standard output or a file being written.
pub(crate) struct Output {
    name: String,
    stream: Stream,
}

enum Stream {
    Standard(BufWriter<io::Stdout>),
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl Output {
    /// Begins a file; `-` is standard output, a name that ends in `.gz` is compressed.
    pub(crate) fn create(name: &str) -> Result<Self, Failure> {
        let stream = if name == "-" {
            Stream::Standard(BufWriter::new(io::stdout()))
        } else {
            if Path::new(name).is_dir() {
                return Err(Failure::Input(format!("{name}: is a directory")));
            }
            let partial = partial_name(name);
            let file = File::create(&partial).map_err(|error| failure(name, &error))?;
            if let Ok(mut slot) = PARTIAL.lock() {
                *slot = Some(partial);
            }
            let file = BufWriter::new(file);
            if name.ends_with(".gz") {
                Stream::Gzip(GzEncoder::new(file, Compression::default()))
            } else {
                Stream::Plain(file)
            }
        };
        Ok(Self {
            name: name.to_owned(),
            stream,
        })
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        let written = match &mut self.stream {
            // A closed pipe is no error of ours.
            Stream::Standard(out) => return Ok(writeln!(out, "{line}")?),
            Stream::Plain(out) => writeln!(out, "{line}"),
            Stream::Gzip(out) => writeln!(out, "{line}"),
        };
        written.map_err(|error| failure(&self.name, &error))
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let name = std::mem::take(&mut self.name);
        let standard = Stream::Standard(BufWriter::new(io::stdout()));
        let end = |stream: Stream| -> io::Result<()> {
            let mut file = match stream {
                Stream::Standard(_) => return Ok(()),
                Stream::Plain(out) => out,
                Stream::Gzip(out) => out.finish()?,
            };
            file.flush()?;
            fs::rename(partial_name(&name), &name)
        };
        match std::mem::replace(&mut self.stream, standard) {
            Stream::Standard(mut out) => Ok(out.flush()?),
            stream => {
                end(stream).map_err(|error| failure(&name, &error))?;
                if let Ok(mut slot) = PARTIAL.lock() {
                    *slot = None;
                }
                Ok(())
            }
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !matches!(self.stream, Stream::Standard(_)) {
            remove_partial();
        }
    }
}

/// The name of a file while it is written: beside the final one, so that renaming is one step.
fn partial_name(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.{}.partial", std::process::id()))
}

fn failure(name: &str, error: &io::Error) -> Failure {
    Failure::Input(format!("{name}: {error}"))
}
