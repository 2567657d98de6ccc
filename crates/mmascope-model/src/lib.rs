//! Exact numbers, number formats, the arithmetic of matrix units, the catalogue, summation trees and explanations.
//!
//! This crate answers one question: which bits does a unit give for one dot product or tile? It has no
//! threads, reads no files, starts no processes and builds for WebAssembly. Whole matrices are in
//! `mmascope-gemm`; the crate `mmascope` joins everything.
#![forbid(unsafe_code)]

pub mod dpa;
pub mod error;
pub mod exact;
pub mod explain;
pub mod export;
pub mod format;
pub mod isa;
pub mod precision;
pub mod tensix;
pub mod tree;

pub use error::{Error, Position, Result};
