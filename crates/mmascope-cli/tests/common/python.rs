//! The Python that commands of the documents run: that of `$MMASCOPE_PYTHON`, else `python3` of the machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `PATH` with the folders of the program and of the chosen Python first: commands name them `mmascope` and `python3`.
pub(crate) fn path() -> OsString {
    let folder = |program: &Path| program.parent().map(Path::to_owned);
    let program = folder(Path::new(env!("CARGO_BIN_EXE_mmascope")));
    let chosen = std::env::var_os("MMASCOPE_PYTHON").map(PathBuf::from);
    let python = chosen.and_then(|python| folder(&python));
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.into_iter().chain(python);
    std::env::join_paths(folders.chain(std::env::split_paths(&others))).expect("a path")
}

/// Whether that Python has NumPy.
pub(crate) fn has_numpy() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import numpy"]).env("PATH", path());
    python.output().is_ok_and(|it| it.status.success())
}
