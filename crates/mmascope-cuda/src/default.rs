//! Makes a GPU the engine of all products of this process.

use std::sync::{Arc, OnceLock};

use mmascope_gemm::gemm::choose_engine;

use crate::engine::CudaEngine;
use crate::gpu::Gpu;
use crate::{Error, Result};

/// The variable that names the engine: `cuda:0`.
pub const VARIABLE: &str = "MMASCOPE_ENGINE";

/// Makes the GPU that `MMASCOPE_ENGINE` names the engine of all products of this process. Without the variable nothing happens; of
/// several calls only the first looks.
///
/// # Errors
/// [`Error::Argument`] when the variable names no GPU; [`Error::Device`] when that GPU cannot be used.
pub fn choose_from_environment() -> Result<()> {
    static DONE: OnceLock<Result<()>> = OnceLock::new();
    DONE.get_or_init(choose).clone()
}

fn choose() -> Result<()> {
    let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let name = name.to_string_lossy().into_owned();
    let ordinal = name
        .strip_prefix("cuda:")
        .and_then(|number| number.parse().ok());
    let ordinal =
        ordinal.ok_or_else(|| Error::Argument(format!("{VARIABLE}={name}: expected cuda:N")))?;
    let gpu = Gpu::open(ordinal)?;
    choose_engine(Arc::new(CudaEngine::new(&name, Arc::new(gpu))));
    Ok(())
}
