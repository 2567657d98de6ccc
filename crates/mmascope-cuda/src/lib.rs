//! NVIDIA GPUs as devices under test, and as an engine of matrix products.
//!
//! Driver and compiler (NVRTC) are loaded at run time. A machine without them builds and starts this crate all the same, and
//! [`doctor`] says what is missing. Everything above [`chip::Chip`] knows no driver: the tests run it on a chip in C++.
//!
//! | module | what it does |
//! |---|---|
//! | [`chip`] | the trait [`chip::Chip`]: compiles a source, holds memory, launches kernels |
//! | [`gpu`] | a real GPU behind it |
//! | [`nvrtc`], [`sass`] | the compiler, and which instructions it really chose |
//! | [`dut`] | an instruction of a chip as a [`Dut`](mmascope_lab::dut::Dut) |
//! | [`trial`] | millions of operands made, computed and compared on the chip |
//! | [`engine`] | matrix products with the bits of any unit, by a chip's ordinary instructions |
//! | [`on_device`] | products of matrices that lie on a GPU already |
//! | [`cublas`] | products of cuBLAS and cuBLASLt as devices |
//! | [`default`] | a GPU as the engine of everything that a program computes |
//! | [`function`] | conversions and approximate functions of a chip |
//! | [`doctor`] | what this machine has |

pub mod chip;
pub mod cublas;
mod cublas_lt;
pub mod default;
pub mod doctor;
pub mod dut;
pub mod engine;
pub mod function;
pub mod gpu;
pub mod hashes;
mod layout;
pub mod nvrtc;
pub mod on_device;
pub mod sass;
mod search;
pub mod source;
pub mod trial;

pub(crate) use mmascope_model::{Error, Result};
