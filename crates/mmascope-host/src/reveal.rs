//! BLAS libraries as subjects of `reveal`, in this process or in one of their own.

mod blas;
mod process;

pub use blas::{Blas, Routine};
pub use process::{BlasProcess, serve_blas};

use mmascope_lab::reveal::{Element, Masks, Query, Random, Summation, spread_term};
