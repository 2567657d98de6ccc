//! Products of matrices that lie on a GPU already, such as PyTorch's tensors: nothing is copied to the host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mmascope_gemm::engine::Watch;
use mmascope_model::dpa::Unit;
use mmascope_model::export::{self, Language};

use crate::chip::Argument;
use crate::engine::{CudaEngine, Lines};
use crate::gpu::Gpu;
use crate::{Error, Result};

/// Rows of A or columns of B in memory of a GPU. Strides are in elements.
#[derive(Clone, Copy, Debug)]
pub struct DeviceLines {
    /// Address of the first element.
    pub pointer: u64,
    /// How many lines there are.
    pub count: usize,
    /// Elements from a line to the next one.
    pub line_stride: usize,
    /// Elements from a k to the next one.
    pub k_stride: usize,
}

/// The engine of a GPU; what it has compiled is kept.
fn engine(ordinal: usize) -> Result<Arc<CudaEngine>> {
    static ENGINES: Mutex<Option<HashMap<usize, Arc<CudaEngine>>>> = Mutex::new(None);
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    let engines = engines.get_or_insert_with(HashMap::new);
    if let Some(engine) = engines.get(&ordinal) {
        return Ok(Arc::clone(engine));
    }
    let gpu = Arc::new(Gpu::open(ordinal)?);
    let engine = Arc::new(CudaEngine::new(&format!("cuda:{ordinal}"), gpu));
    engines.insert(ordinal, Arc::clone(&engine));
    Ok(engine)
}

/// Whether products of a unit over so many k are computed on a GPU's own memory: it has a source, no block scales, and a c that d goes
/// on as.
#[must_use]
pub fn takes(unit: &Unit, k: usize) -> bool {
    is_chain_of_words(unit, k) && export::unit(unit, "unit", Language::Cuda, None).is_ok()
}

/// All of this but whether it has a source, which takes long to say.
fn is_chain_of_words(unit: &Unit, k: usize) -> bool {
    let signature = unit.signature();
    let is_chain = k == signature.k || unit.check_chain(k).is_ok();
    signature.k > 0
        && k > 0
        && k.is_multiple_of(signature.k)
        && is_chain
        && signature.scale.is_none()
        && signature.c.container() == signature.d.container()
}

/// `d = a b + d` with the bits of a unit, on a GPU. `d` has a's lines as rows and b's as columns, one row after the other, in
/// words of c and d. It waits until the product is there.
///
/// # Errors
/// [`Error::Argument`] where the unit is none that [`takes`] takes, or a matrix is empty; [`Error::Device`].
///
/// # Safety
/// The addresses are of memory of that GPU, which has all elements that the numbers name, and nothing writes to it meanwhile.
#[allow(unsafe_code)] // whoever calls it vouches for addresses
pub unsafe fn multiply(
    ordinal: usize,
    unit: &Unit,
    [a, b]: [DeviceLines; 2],
    d: u64,
    k: usize,
    watch: &Watch<'_>,
) -> Result<()> {
    if !is_chain_of_words(unit, k) || a.count == 0 || b.count == 0 {
        return Err(Error::Argument(format!(
            "{} × {} × {k} products of this unit are none of a GPU's own memory",
            a.count, b.count
        )));
    }
    let engine = engine(ordinal)?;
    let lines = [a, b].map(|lines| Lines {
        codes: Argument::Word(lines.pointer),
        count: lines.count,
        line_stride: lines.line_stride,
        k_stride: lines.k_stride,
        scales: Argument::Word(0),
    });
    let program = engine.program(unit)?;
    let mut product = engine.on_chip(program, unit, lines, k / unit.signature().k)?;
    product.run(Argument::Word(d), watch)
}
