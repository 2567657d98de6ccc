//! Exported source files give the bits of the reference: compiled, run or simulated in every language, on rows of
//! the catalogue and on drawn parameters.
//!
//! A tool that is not here (gcc, rustc, python3, verilator or iverilog, z3 of `$MMASCOPE_PYTHON`) is a printed skip.

#[path = "export/common.rs"]
mod common;
#[path = "export/curly.rs"]
mod curly;
mod inputs;
#[path = "export/names.rs"]
mod names;
#[path = "export/smt.rs"]
mod smt;
#[path = "export/systemverilog.rs"]
mod systemverilog;
