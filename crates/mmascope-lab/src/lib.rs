//! Experiments on devices: generate operands, compare units, reveal orders, probe features, infer models.
//!
//! Everything here sees a device only through [`dut::Dut`] and [`reveal::Summation`].
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod cases;
pub mod device_code;
pub mod diff;
pub mod discriminate;
pub mod dut;
pub mod identify;
pub mod infer;
pub mod integers;
pub mod probe;
pub mod quantisation;
pub mod reveal;
mod stand_in;
pub mod validate;

pub(crate) use mmascope_gemm::{array, gemm};
pub(crate) use mmascope_io::vector;
pub use mmascope_model::{Error, Result};
pub(crate) use mmascope_model::{dpa, error, exact, explain, format, isa, tree};
