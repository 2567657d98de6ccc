//! A folder of files that appears only when all of them are complete.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{failure, partial_name, remove_partial, set_partial};
use crate::report::Failure;

/// Whether a file of this name is one that the command writes.
pub(crate) type IsOwn<'a> = &'a dyn Fn(&str) -> bool;

/// A folder being written, beside the place that it will take.
pub(crate) struct Folder {
    /// The argument and the name as the user gave them, for messages.
    name: String,
    partial: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl Folder {
    /// Begins the folder that an argument names. An older one is replaced when all its files are such as the command
    /// writes.
    pub(crate) fn create(argument: &str, name: &str, is_own: IsOwn<'_>) -> Result<Self, Failure> {
        let target = Self::check(argument, name, is_own)?;
        let named = format!("{argument} {name}");
        let partial = partial_name(&target);
        fs::create_dir(&partial).map_err(|error| failure(&named, &error))?;
        set_partial(Some(partial.clone()));
        Ok(Self {
            name: named,
            partial,
            target,
            is_finished: false,
        })
    }

    /// Checks, before long work, that the folder can be written, and gives its path.
    pub(crate) fn check(argument: &str, name: &str, is_own: IsOwn<'_>) -> Result<PathBuf, Failure> {
        let refused = |what: String| Failure::Input(format!("{argument} {name}: {what}"));
        if name == "-" {
            let what = "a folder is written, not standard output; name one".to_owned();
            return Err(refused(what));
        }
        // An older folder may stand behind a link.
        let target = fs::canonicalize(name).unwrap_or_else(|_| {
            // (Without the separator that may stand at the end of a name.)
            Path::new(name).components().collect()
        });
        if target.is_dir() {
            let entries = fs::read_dir(&target).map_err(|error| refused(error.to_string()))?;
            for entry in entries {
                let entry = entry.map_err(|error| refused(error.to_string()))?;
                let file = entry.file_name().to_string_lossy().into_owned();
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                if !is_file || !is_own(&file) {
                    return Err(refused(format!(
                        "the folder holds '{file}', which would be lost; name another folder"
                    )));
                }
            }
            return Ok(target);
        }
        if fs::symlink_metadata(&target).is_ok() {
            let what = "this is a file; a folder is written here".to_owned();
            return Err(refused(what));
        }
        let parent = target.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        if target.file_name().is_none() || !parent.is_dir() {
            return Err(refused(format!(
                "there is no folder '{}' to write it to",
                parent.display()
            )));
        }
        Ok(target)
    }

    /// Begins a file of the folder.
    pub(crate) fn file(&self, name: &str) -> Result<BufWriter<File>, Failure> {
        let file = File::create(self.partial.join(name));
        Ok(BufWriter::new(file.map_err(|error| self.failed(&error))?))
    }

    /// What went wrong, in words that name the folder.
    pub(crate) fn failed(&self, error: &std::io::Error) -> Failure {
        failure(&self.name, error)
    }

    /// Ends the files and gives the folder its name.
    pub(crate) fn finish(mut self, files: Vec<BufWriter<File>>) -> Result<(), Failure> {
        for mut file in files {
            file.flush().map_err(|error| self.failed(&error))?;
        }
        // Both folders are complete from here on: an interrupt removes neither.
        set_partial(None);
        let mut older = self.target.clone().into_os_string();
        older.push(format!(".{}.old", std::process::id()));
        let had_older = self.target.is_dir();
        if had_older {
            fs::rename(&self.target, &older).map_err(|error| self.failed(&error))?;
        }
        if let Err(error) = fs::rename(&self.partial, &self.target) {
            if had_older {
                let _ = fs::rename(&older, &self.target);
            }
            return Err(self.failed(&error));
        }
        self.is_finished = true;
        if had_older {
            fs::remove_dir_all(&older).map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_finished {
            set_partial(Some(self.partial.clone()));
            remove_partial();
        }
    }
}
