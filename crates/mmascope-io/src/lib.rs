//! Files of mmascope: arrays as `.npy` and `.safetensors`, and vector lines: dot products as lines of JSON.
#![forbid(unsafe_code)]

pub mod array;
pub mod vector;

pub(crate) use mmascope_gemm::gemm;
pub use mmascope_model::{Error, Result};
pub(crate) use mmascope_model::{dpa, error, format, isa};
