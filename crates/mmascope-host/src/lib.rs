//! Devices under test outside this process: programs on pipes, C plugins, BLAS libraries.

pub mod dut;
mod frames;
mod memory;
pub mod reveal;

pub(crate) use mmascope_gemm::gemm;
pub(crate) use mmascope_io::vector;
pub use mmascope_model::{Error, Result};
pub(crate) use mmascope_model::{dpa, error, format, isa, tree};
