//! The command-line program, in this process.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs a command of `mmascope`; gives its exit status. `host` is the program that holds foreign code.
#[pyfunction]
#[pyo3(signature = (arguments, host=None))]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>, host: Option<PathBuf>) -> u8 {
    py.detach(|| mmascope_cli::run(arguments.into_iter(), host))
}
