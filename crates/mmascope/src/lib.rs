//! mmascope: see, predict and prove what matrix accelerators really compute.
//!
//! Name an architecture and an instruction, give operands as bits, get the bits that the silicon
//! gives:
//!
//! ```
//! use mmascope::{dpa::{Modifiers, Operands}, isa::Catalogue};
//!
//! // c = 2^23 and the products -2^23, -1/2, -1/4, -1/8; the exact sum is -0.875.
//! let catalogue = Catalogue::built_in();
//! let a = [0xf000, 0xb800, 0xb400, 0xb000, 0, 0, 0, 0];
//! let b = [0x6400, 0x3c00, 0x3c00, 0x3c00, 0, 0, 0, 0];
//! let operands = Operands { a: &a, b: &b, c: 0x4b00_0000, ..Operands::default() };
//! let on = |arch, inst| catalogue.find(arch, inst)?.dot(&operands, &Modifiers::default());
//! assert_eq!(on("turing", "mma.m16n8k8.f32.f16.f16.f32")?, 0xbf00_0000); // -0.5
//! assert_eq!(on("hopper", "mma.m16n8k8.f32.f16.f16.f32")?, 0xbf40_0000); // -0.75
//! assert_eq!(on("MI300X", "v_mfma_f32_32x32x8_f16")?, 0xbf00_0000); // -0.5
//! assert_eq!(on("MI100", "v_mfma_f32_32x32x8_f16")?, 0xbf60_0000); // -0.875
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! A whole instruction on tiles, any m and n:
//!
//! ```
//! use mmascope::{dpa::{Modifiers, Tiles}, isa::Catalogue};
//!
//! let instruction = Catalogue::built_in().find("cdna3", "v_mfma_f32_32x32x2_f32")?;
//! let one = 0x3f80_0000;
//! let tiles = Tiles { m: 2, n: 3, a: &[one; 4], b: &[one; 6], c: &[0; 6], ..Tiles::default() };
//! assert_eq!(instruction.tile(&tiles, &Modifiers::default())?, [0x4000_0000; 6]); // 2.0
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! A unit that is in no catalogue, from its notation:
//!
//! ```
//! use mmascope::dpa::{Modifiers, Operands, Signature, Unit};
//! use mmascope::format::{BF16, F32};
//!
//! let signature = Signature { a: BF16, b: BF16, c: F32, d: F32, k: 2, scale: None };
//! let unit = Unit::new(signature, "t-fdpa L=2 F=12 e0=-126 align=rne -> rne f32".parse()?)?;
//! let operands = Operands { a: &[0x3f80; 2], b: &[0x3f80; 2], ..Operands::default() };
//! assert_eq!(unit.dot(&operands, &Modifiers::default())?, 0x4000_0000); // 2.0
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! The map: [`exact`] has exact numbers, [`format`](mod@format) the number formats, [`dpa`] the arithmetic, [`isa`] the
//! catalogue, [`vector`] recorded and asked dot products as lines of JSON, [`tree`] summation trees,
//! [`dut`] devices under test, [`array`](mod@array) matrices in files, [`gemm`] whole matrix products
//! and their errors, [`engine`] what computes them, [`accuracy`] how errors grow with K.
//! [`precision`] has casts between formats, block scaling and special values, [`cast`](mod@cast) casts whole slices.
//! [`reveal`] finds summation trees, [`cases`] generated operands, [`diff`] where units disagree, [`explain`] one output step by step.
//!
//! What it is not: it is no emulator of instruction sets and no performance model, and it does not
//! guess. An instruction whose arithmetic nobody has published is found and refused with
//! [`Error::Unmodelled`]; what is disputed is marked in the row's [`isa::Evidence`].

#[cfg(feature = "kernel")]
pub use mmascope_gemm::cpu;
pub use mmascope_gemm::{blocks, cast, engine, gemm};
pub use mmascope_io::{array, vector};
pub use mmascope_lab::{
    accuracy, cases, diff, discriminate, identify, infer, probe, quantisation, validate,
};
pub use mmascope_model::{
    Error, Position, Result, dpa, error, exact, explain, format, isa, precision, tree,
};

/// Devices under test: the trait, and what stands behind it in this process and outside.
pub mod dut {
    pub use mmascope_host::dut::*;
    pub use mmascope_lab::dut::*;
}

/// Revealing accumulation orders, of functions in this process, devices and libraries.
pub mod reveal {
    pub use mmascope_host::reveal::*;
    pub use mmascope_lab::reveal::*;
}

/// The code of the README is compiled and run with the examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
