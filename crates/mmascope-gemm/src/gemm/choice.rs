//! The one place where this crate chooses an engine, and so the only one that depends on what is built in.

use std::sync::{Arc, OnceLock};

use crate::engine::{Engine, Reference};
use crate::error::Result;

/// The engine that a program has chosen for all its products.
static CHOSEN: OnceLock<Arc<dyn Engine>> = OnceLock::new();

/// Makes an engine the one that products take by default, from now on and in this whole process: a GPU, for example. Only the
/// first choice counts; whether this was it is returned. The bits are the same by every engine.
pub fn choose_engine(engine: Arc<dyn Engine>) -> bool {
    CHOSEN.set(engine).is_ok()
}

/// The engine that products take by default: the one of [`choose_engine`], else the processor's kernels where they are built in (feature `kernel`),
/// else the reference. Units that it cannot carry are computed by the reference.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) when `MMASCOPE_SIMD` asks for what this machine does not have.
pub fn engine() -> Result<Arc<dyn Engine>> {
    if let Some(chosen) = CHOSEN.get() {
        return Ok(Arc::clone(chosen));
    }
    #[cfg(feature = "kernel")]
    return Ok(Arc::new(crate::cpu::Cpu::current()?));
    #[allow(unreachable_code)] // with kernels
    Ok(Arc::new(Reference))
}
