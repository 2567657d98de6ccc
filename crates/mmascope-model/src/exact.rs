//! Exact numbers: integers times powers of two.
//!
//! There is one kind of number here and two widths of it. [`Dyadic`] has any size and all
//! operations; it is for everything that need not be fast. [`Exact`] has 128 bits and a mark for
//! what lies below them; it is what the reference computes with and what a
//! [`Format`](crate::format::Format) rounds. [`Sum`] adds many `Exact`s without any loss.
//! [`Rounding`] says how a number becomes a multiple of a power of two.
//!
//! Nothing here knows formats, infinities, NaN or the sign of zero.

#![deny(clippy::float_arithmetic)]

mod dyadic;
mod fixed;
mod rounding;
mod sum;
mod text;

pub use dyadic::Dyadic;
pub use fixed::Exact;
pub use rounding::Rounding;
pub use sum::Sum;
