//! Whole matrix products with the bits of matrix units.
//!
//! [`array`](mod@array) holds matrices in memory, [`cast`](mod@cast) casts slices, [`gemm`] multiplies matrices by a unit's
//! arithmetic under a schedule.
//! [`engine`] is the seam between products and what computes them: the reference, `cpu` with fast kernels for
//! this machine's processor, or an engine of another crate. The reference in `mmascope-model` says what
//! every bit must be.
//!
//! Who may know whom: `cpu` → `engine` → `array`; `gemm` knows them all and is known by none of them.

pub mod array;
pub mod blocks;
pub mod cast;
#[cfg(feature = "kernel")]
pub mod cpu;
pub mod engine;
pub mod gemm;
mod memory;
pub mod random;
pub mod shape;

pub use mmascope_model::{Error, Result};
pub(crate) use mmascope_model::{dpa, error, exact, format, tree};
