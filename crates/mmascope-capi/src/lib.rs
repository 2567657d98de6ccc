//! mmascope for C: `libmmascope` and `include/mmascope.h`. It holds no arithmetic.
//!
//! Every function returns a status: 0, or the exit status that the command line would have (2 wrong input, 3
//! a failure of a device or of the library itself). The words are in `mmascope_last_error`, one text for each
//! thread. Nothing unwinds into the caller. Handles are immutable: threads may share them.
// Arguments of C functions are pointers and lengths; each must be named.
#![allow(unsafe_code, clippy::too_many_arguments)]

pub mod cases;
pub mod casting;
pub mod dot;
pub mod failure;
mod memory;
mod packed;
pub mod product;
pub mod quantising;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tree;
pub mod unit;
