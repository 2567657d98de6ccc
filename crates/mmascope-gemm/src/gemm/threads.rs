//! Chooses the number of threads of a computation.
//!
//! Everything in this crate that runs in parallel asks rayon's current pool. A caller bounds it in one of two ways,
//! and the result is the same for any number of threads:
//!
//! * [`on_threads`] runs work on a number of threads of its own;
//! * a caller that has a pool runs the work inside it: `pool.install(|| product.advance(…))`.
//!
//! Where there are no threads at all (WebAssembly without atomics), rayon notices that its global pool cannot start one
//! and runs everything on the caller's thread, so that nothing here needs another path or feature.

use std::num::NonZeroUsize;

use crate::error::{Error, Result};

/// The stack that a thread needs for products, in bytes, for callers with a pool of their own. Unoptimised kernels keep
/// every vector of every form on it, 5 MB, and a thread that waits takes other work on top; what is not used takes no memory.
pub const THREAD_STACK: usize = if cfg!(debug_assertions) {
    32 << 20
} else {
    8 << 20
};

/// The most threads that [`on_threads`] starts.
pub const MOST_THREADS: usize = 1024;

/// Runs work, and everything in it that runs in parallel, on so many threads, which end with it.
///
/// ```
/// use std::{num::NonZeroUsize, sync::atomic::AtomicBool};
/// use mmascope_gemm::gemm::{self, Matrices, Matrix, Watch};
/// use mmascope_model::{dpa::Modifiers, isa::Catalogue};
///
/// let unit = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?.unit()?;
/// let one = 0x3c00_u16; // 1.0 in f16
/// let a = Matrix::row_major(2, 16, vec![one; 32])?;
/// let b = Matrix::column_major(16, 3, vec![one; 48])?;
/// let matrices = Matrices::new(a, b)?;
/// let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
/// let d = gemm::on_threads(NonZeroUsize::MIN, || {
///     gemm::chain(unit, &matrices, &Modifiers::default(), &watch)
/// })??;
/// assert_eq!(d, [0x4180_0000; 6]); // 16.0
/// # Ok::<(), mmascope_model::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] for more than [`MOST_THREADS`], and when so many threads cannot be started. On a platform without threads the work runs on the
/// caller's own.
pub fn on_threads<R: Send>(threads: NonZeroUsize, work: impl FnOnce() -> R + Send) -> Result<R> {
    if cfg!(all(target_family = "wasm", not(target_feature = "atomics"))) {
        return Ok(work());
    }
    if threads.get() > MOST_THREADS {
        return Err(Error::Argument(format!(
            "threads is {threads}; 1 to {MOST_THREADS} are allowed"
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .stack_size(THREAD_STACK)
        .build()
        .map_err(|error| {
            Error::Argument(format!("{threads} threads cannot be started: {error}"))
        })?;
    Ok(pool.install(work))
}
