//! Matrix products: D = C + A·B by one unit, chained over ascending K.
//!
//! Every element of D is a chain of dot products: the instruction takes the first K products and
//! C, the next K products and the last result, and so on. This is the plain engine: it calls
//! [`Unit::dot`] on each slice of K, and whatever is faster has to equal it.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use mmascope::{dpa::Modifiers, gemm::{self, Matrices, Watch}, isa::Catalogue};
//!
//! let unit = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?.unit()?;
//! let one = 0x3c00; // 1.0 in f16
//! let matrices = Matrices { m: 2, n: 3, k: 16, a: vec![one; 32], b: vec![one; 48], ..Matrices::default() };
//! let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
//! assert_eq!(gemm::chain(unit, &matrices, &Modifiers::default(), &watch)?, [0x4180_0000; 6]); // 16.0
//! # Ok::<(), mmascope::Error>(())
//! ```

mod exact;
mod matrices;
mod statistics;

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

pub use matrices::{Arrays, Matrices};
pub use statistics::{SAMPLES, Statistics, Summary, statistics};

use crate::dpa::{Modifiers, Operands, Signature, Unit};
use crate::error::{Error, Result};

/// Elements of D that one task computes.
const CHUNK: usize = 64;

/// How a caller follows a long computation and ends it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called from any thread with the number of elements of D done since its last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set by the caller to stop; the computation then returns [`Error::Cancelled`].
    pub cancel: &'a AtomicBool,
}

impl Watch<'_> {
    /// An error when the caller wants to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

/// D, m × n, row-major, as register words of the unit's d.
///
/// Negations of A and B hold for every step. What is done to c (`noC`, `negC`, `scaleD`) is done
/// to C, in the first step: the later steps take the result so far as it is. The result does not
/// depend on the number of threads.
///
/// # Errors
/// [`Error::Argument`] when the lengths do not fit each other, K is no multiple of the unit's, or
/// more than one step is needed and d cannot be the next step's c; [`Error::Cancelled`].
pub fn chain(
    unit: &Unit,
    matrices: &Matrices,
    modifiers: &Modifiers,
    watch: &Watch<'_>,
) -> Result<Vec<u64>> {
    let signature = unit.signature();
    matrices.check(signature)?;
    check_steps(signature, matrices.k)?;
    let Matrices { m, n, k, .. } = *matrices;
    let outputs = matrices.outputs()?;
    let blocks = matrices.blocks(signature);
    let b = columns(&matrices.b, k, n);
    let scale_b = columns(&matrices.scale_b, blocks, n);
    let mut d = Vec::new();
    d.try_reserve_exact(outputs)
        .map_err(|_| Error::Argument(format!("D, {m} × {n}, does not fit the memory")))?;
    d.resize(outputs, 0);
    d.par_chunks_mut(CHUNK)
        .enumerate()
        .try_for_each(|(chunk, results)| {
            let first = chunk * CHUNK;
            for (offset, result) in results.iter_mut().enumerate() {
                let (i, j) = ((first + offset) / n, (first + offset) % n);
                let operands = Operands {
                    a: &matrices.a[i * k..(i + 1) * k],
                    b: &b[j * k..(j + 1) * k],
                    c: matrices.c_at(i, j),
                    scale_a: &matrices.scale_a[i * blocks..(i + 1) * blocks],
                    scale_b: &scale_b[j * blocks..(j + 1) * blocks],
                };
                *result = element(unit, &operands, modifiers, watch)?;
            }
            (watch.progress)(results.len() as u64);
            Ok(())
        })?;
    Ok(d)
}

/// One element of D: the whole row of A and the whole column of B.
fn element(
    unit: &Unit,
    whole: &Operands<'_>,
    modifiers: &Modifiers,
    watch: &Watch<'_>,
) -> Result<u64> {
    let signature = unit.signature();
    let (k, blocks) = (signature.k, signature.scales());
    let later = Modifiers {
        negate_a: modifiers.negate_a,
        negate_b: modifiers.negate_b,
        ..Modifiers::default()
    };
    let mut sum = whole.c;
    for step in 0..whole.a.len() / k {
        watch.check()?;
        let scales = step * blocks..(step + 1) * blocks;
        let operands = Operands {
            a: &whole.a[step * k..(step + 1) * k],
            b: &whole.b[step * k..(step + 1) * k],
            c: sum,
            scale_a: &whole.scale_a[scales.clone()],
            scale_b: &whole.scale_b[scales],
        };
        sum = unit.dot(&operands, if step == 0 { modifiers } else { &later })?;
    }
    Ok(sum)
}

/// Whether the unit's d can be the c of the next step.
fn check_steps(signature: &Signature, k: usize) -> Result<()> {
    let Signature {
        c, d, k: native, ..
    } = signature;
    if k == *native || c.container() == d.container() {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "K = {k} takes {} steps, but the instruction gives {d} and takes c in {c}, so its result \
         cannot be the next step's c; K = {native} is one step",
        k / native
    )))
}

/// The columns of a rows × n matrix, one after the other.
fn columns(matrix: &[u64], rows: usize, n: usize) -> Vec<u64> {
    let mut columns = Vec::with_capacity(matrix.len());
    for j in 0..n {
        columns.extend((0..rows).map(|i| matrix[i * n + j]));
    }
    columns
}
