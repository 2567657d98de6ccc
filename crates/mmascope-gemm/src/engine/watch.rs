//! Lets a caller follow a long computation and end it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// How a caller follows a long computation and ends it.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Called from any thread with what is done since its last call: of a product, elements of D
    /// times steps of the instruction's K; of statistics, elements.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set by the caller to stop; the computation then returns [`Error::Cancelled`].
    pub cancel: &'a AtomicBool,
}

impl Watch<'_> {
    /// An error when the caller wants to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}
