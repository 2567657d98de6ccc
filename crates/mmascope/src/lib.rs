//! mmascope: see, predict and prove what matrix accelerators really compute.

pub mod dpa;
pub mod error;
pub mod format;
pub mod isa;
pub mod tree;
pub mod vector;

pub use error::{Error, Position, Result};
