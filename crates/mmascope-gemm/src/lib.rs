//! Whole matrix products with the bits of matrix units.
//!
//! [`array`](mod@array) holds matrices in memory, [`cast`](mod@cast) casts slices, [`gemm`] multiplies them by a unit's arithmetic under a schedule, `kernel`
//! has the fast lanes. The reference in `mmascope-model` says what every bit must be.

pub mod array;
pub mod blocks;
pub mod cast;
pub mod gemm;
#[cfg(feature = "kernel")]
pub mod kernel;
mod philox;
pub mod random;

pub use mmascope_model::{Error, Result};
pub(crate) use mmascope_model::{dpa, error, format, tree};
