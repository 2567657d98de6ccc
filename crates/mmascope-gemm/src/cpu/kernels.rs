//! The inner loops: what runs over packed operands, generic over the registers of [`lanes`](super::lanes).
//!
//! # What every `unsafe` here relies on
//! These functions are `unsafe` for two reasons. Comments name the reason by its word.
//!
//! * **Instructions.** An operation of [`Lanes`](super::lanes::Lanes) may only run where the processor has the
//!   instruction set of its type. `enter` (in `enter.rs`, and in `double.rs` for f64) establishes that: it asserts that the level is
//!   there and calls a function compiled for the level's features, into which all of this is inlined but what `Lanes::alone` runs,
//!   which is compiled for the same features. It holds for everything called from there, so that functions here pass it on. Broken, the processor meets an illegal instruction, or the
//!   compiler passes registers by a convention that the callee does not know.
//! * **Room.** Operands are read through pointers, without a check for each read. A pointer comes from the function that
//!   checks row, panel and steps against the packed shape with `assert!` (`Sums::at`, `Sums::begin`, `Groups::run`), and from the
//!   slice that packing made for this shape; from there it moves by whole groups, as many as the steps have. Loops also read the exponents of
//!   one group *beyond* the last, whose values are not used: packing leaves `pack::room` behind every operand for
//!   that. Broken, kernels read beyond the allocation. They write through references and checked
//!   slices only; `double.rs` says where its sums lie.
#![allow(unsafe_code)]

mod chained;
mod double;
mod exact;
mod fused;
mod grouped;
mod half;
mod integers;
mod late;
mod native;
mod outside;
mod pairs;
mod parts;
mod rounding;
mod split;
mod stages;
mod truncated;
mod wide;

pub(super) use fused::Tile;
pub(super) use pairs::Begin;
