//! Writes files and folders that appear only when they are complete.

mod folder;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::report::Failure;
use mmascope::array::output_path;

pub(crate) use folder::Folder;

/// The unfinished file or folder, for the handler of interrupts.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the unfinished file or folder, if there is one.
pub(crate) fn remove_partial() {
    let partial = PARTIAL.lock().map_or(None, |mut partial| partial.take());
    if let Some(path) = partial {
        // It may be gone already.
        let _ = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
    }
}

/// Sets what an interrupt removes.
fn set_partial(path: Option<PathBuf>) {
    if let Ok(mut slot) = PARTIAL.lock() {
        *slot = path;
    }
}

/// Standard output or a file being written.
pub(crate) struct Output {
    /// The argument and the name as the user gave them, for messages.
    name: String,
    /// The unfinished file and its final name; `None` for what is written in place (standard output,
    /// devices, pipes).
    rename: Option<(PathBuf, PathBuf)>,
    stream: Stream,
}

enum Stream {
    Standard(BufWriter<io::Stdout>),
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl Output {
    /// Begins the file that an argument names; `-` is standard output, a name that ends in `.gz` is
    /// compressed.
    pub(crate) fn create(argument: &str, name: &str) -> Result<Self, Failure> {
        if name == "-" {
            return Ok(Self {
                name: name.to_owned(),
                rename: None,
                stream: Stream::Standard(BufWriter::new(io::stdout())),
            });
        }
        let in_place = is_in_place(name);
        let target = target(argument, name)?;
        let rename = (!in_place).then(|| (partial_name(&target), target.clone()));
        let path = rename.as_ref().map_or(&target, |(partial, _)| partial);
        let file = if in_place {
            OpenOptions::new().write(true).open(path)
        } else {
            File::create(path)
        };
        let named = format!("{argument} {name}");
        let file = BufWriter::new(file.map_err(|error| failure(&named, &error))?);
        if let Some((partial, _)) = &rename {
            set_partial(Some(partial.clone()));
        }
        Ok(Self {
            name: named,
            rename,
            stream: if name.ends_with(".gz") {
                Stream::Gzip(GzEncoder::new(file, Compression::default()))
            } else {
                Stream::Plain(file)
            },
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
        let ended = match &mut self.stream {
            Stream::Standard(out) => return Ok(out.flush()?),
            Stream::Plain(out) => out.flush(),
            Stream::Gzip(out) => out.try_finish().and_then(|()| out.get_mut().flush()),
        };
        let renamed = ended.and_then(|()| match &self.rename {
            Some((partial, target)) => fs::rename(partial, target),
            None => Ok(()),
        });
        renamed.map_err(|error| failure(&self.name, &error))?;
        self.rename = None;
        set_partial(None);
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.rename.is_some() {
            remove_partial();
        }
    }
}

/// Checks, before long work, that the file that an argument names can be written.
pub(crate) fn check(argument: &str, name: &str) -> Result<(), Failure> {
    match name {
        "-" => Ok(()),
        name => target(argument, name).map(drop),
    }
}

/// Checks, before any work, that no file is named twice: neither two outputs nor an output that would
/// replace what is read. Each is an argument and the file that it names, if it is given.
pub(crate) fn distinct(
    outputs: &[(&str, Option<&str>)],
    inputs: &[(&str, Option<&str>)],
) -> Result<(), Failure> {
    let given = |files: &[(&str, Option<&str>)]| -> Vec<(String, PathBuf)> {
        let named = files.iter().filter_map(|(argument, name)| {
            let name = (*name).filter(|name| *name != "-" && !is_in_place(name))?;
            let named = format!("{argument} {name}");
            Some((named.trim_start().to_owned(), whole_path(name)))
        });
        named.collect()
    };
    let (outputs, inputs) = (given(outputs), given(inputs));
    for (number, (output, path)) in outputs.iter().enumerate() {
        let same = |(_, other): &&(String, PathBuf)| other == path;
        if let Some((other, _)) = outputs[..number].iter().find(same) {
            let message = format!("{other} and {output} are the same file");
            return Err(Failure::Input(message));
        }
        if let Some((input, _)) = inputs.iter().find(same) {
            let message = format!("{output} would replace the input {input}");
            return Err(Failure::Input(message));
        }
    }
    Ok(())
}

/// One path for all names of a file, also of one that is not there yet.
fn whole_path(name: &str) -> PathBuf {
    let path = output_path(name).unwrap_or_else(|_| PathBuf::from(name));
    if let Ok(path) = fs::canonicalize(&path) {
        return path;
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    match fs::canonicalize(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => folder.join(path.file_name().unwrap_or_default()),
        Err(_) => path,
    }
}

/// Whether this is a device or a pipe, which is written as it is.
fn is_in_place(name: &str) -> bool {
    fs::metadata(name).is_ok_and(|existing| !existing.is_file() && !existing.is_dir())
}

/// The file behind a symbolic link is replaced, not the link.
fn target(argument: &str, name: &str) -> Result<PathBuf, Failure> {
    if is_in_place(name) {
        return Ok(PathBuf::from(name));
    }
    output_path(name).map_err(|error| Failure::Input(format!("{argument} {error}")))
}

/// The name of a file while it is written: beside the final one, so that renaming is one step.
fn partial_name(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    PathBuf::from(name)
}

fn failure(name: &str, error: &io::Error) -> Failure {
    Failure::Input(format!("{name}: {error}"))
}
