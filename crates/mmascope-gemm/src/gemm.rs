//! Matrix products: D = C + A·B by one unit, chained over ascending K or as a schedule says.
//!
//! Every element of D is a chain of dot products: the instruction takes the first K products and
//! C, the next K products and the last result, and so on. A [`Product`] holds the operands and
//! advances accumulators by steps of the instruction's K; [`chain`] is the plain order.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use mmascope_gemm::gemm::{self, Matrices, Matrix, Watch};
//! use mmascope_model::{dpa::Modifiers, isa::Catalogue};
//!
//! let unit = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?.unit()?;
//! let one = 0x3c00_u16; // 1.0 in f16
//! let a = Matrix::row_major(2, 16, vec![one; 32])?;
//! let b = Matrix::column_major(16, 3, vec![one; 48])?;
//! let matrices = Matrices::new(a, b)?;
//! let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
//! assert_eq!(gemm::chain(unit, &matrices, &Modifiers::default(), &watch)?, [0x4180_0000; 6]); // 16.0
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod accumulators;
mod arrays;
mod choice;
mod dots;
mod matrices;
mod matrix;
mod piece;
mod preparation;
mod product;
pub mod schedule;
mod scheduled;
mod statistics;
mod task;
mod threads;
mod yardstick;

pub use accumulators::{Accumulators, Region};
pub use arrays::Arrays;
pub use choice::{choose_engine, engine};
pub use dots::dots;
pub use matrices::Matrices;
pub use matrix::{Matrix, Strides};
pub use product::Product;
pub use schedule::{Excerpt, Schedule, SoftwareScales};
pub use scheduled::ScheduledProduct;
pub use statistics::{ErrorStatistics, SAMPLES, Summary, scheduled_statistics, statistics};
pub use threads::{MOST_THREADS, THREAD_STACK, on_threads};

pub use crate::engine::Watch;

use crate::array::Words;
use crate::dpa::{Modifiers, Unit};
use crate::error::Result;

/// D, m × n, row-major, matrix by matrix of a batch, as register words of the unit's d.
///
/// Negations of A and B hold for every step. What is done to c (`noC`, `negC`, `scaleD`) is done
/// to C, in the first step: the later steps take the result so far as it is. The result does not
/// depend on the number of threads.
///
/// Besides the operands and D it needs memory for what [`Product::new`] prepares.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) when the operands do not fit the unit, K is no multiple of the unit's, or
/// more than one step is needed and d cannot be the next step's c; [`Error::Cancelled`](crate::Error::Cancelled).
pub fn chain(
    unit: &Unit,
    matrices: &Matrices,
    modifiers: &Modifiers,
    watch: &Watch<'_>,
) -> Result<Words> {
    let product = Product::new(unit, matrices, *modifiers)?;
    let mut accumulators = product.c(product.whole())?;
    product.advance(0..product.steps(), true, &mut accumulators, watch)?;
    Ok(accumulators.into_words())
}
