//! The one place where this crate chooses an engine, and so the only one that depends on what is built in.

use std::sync::Arc;

use crate::engine::{Engine, Reference};
use crate::error::Result;

/// The engine that products take by default: the processor's kernels where they are built in (feature `kernel`),
/// else the reference. Units that it cannot carry are computed by the reference.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) when `MMASCOPE_SIMD` asks for what this machine does not have.
pub fn engine() -> Result<Arc<dyn Engine>> {
    #[cfg(feature = "kernel")]
    return Ok(Arc::new(crate::cpu::Cpu::current()?));
    #[allow(unreachable_code)] // with kernels
    Ok(Arc::new(Reference))
}
