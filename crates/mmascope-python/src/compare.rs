//! Comparisons: commands of the program that work on names, and `identify` on arrays.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use pyo3::prelude::*;

use crate::array::Operand;
use crate::catalogue::Catalogue;
use crate::interrupt::{self, Work};
use mmascope::gemm::Arrays;
use mmascope::identify::{Factors, Question};

/// A command of the program with its JSON: the JSON, what it warned of, and whether the answer is yes.
#[pyfunction]
pub(crate) fn said(
    py: Python<'_>,
    catalogue: &Catalogue,
    arguments: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>, bool)> {
    let said = command(py, catalogue, progress.as_ref(), |catalogue| {
        mmascope_cli::said(catalogue, &arguments)
    })?;
    Ok((said.json, said.warnings, said.holds))
}

/// What one part of the cases of a `diff` comes to, for [`diff_whole`].
#[pyfunction]
pub(crate) fn diff_part(
    py: Python<'_>,
    catalogue: &Catalogue,
    arguments: Vec<String>,
) -> PyResult<String> {
    command(py, catalogue, None, |catalogue| {
        mmascope_cli::parts::diff_part(catalogue, &arguments)
    })
}

/// The JSON of a whole `diff` from its parts, in the order of the cases, and whether the answer is yes.
#[pyfunction]
pub(crate) fn diff_whole(
    py: Python<'_>,
    catalogue: &Catalogue,
    arguments: Vec<String>,
    parts: Vec<String>,
) -> PyResult<(String, Vec<String>, bool)> {
    let said = command(py, catalogue, None, |catalogue| {
        mmascope_cli::parts::diff_whole(catalogue, &arguments, &parts)
    })?;
    Ok((said.json, said.warnings, said.holds))
}

/// Runs a command in the pool, with Ctrl-C.
fn command<T: Send>(
    py: Python<'_>,
    catalogue: &Catalogue,
    progress: Option<&Bound<'_, PyAny>>,
    body: impl FnOnce(&mmascope::isa::Catalogue) -> mmascope::Result<T> + Send,
) -> PyResult<T> {
    let catalogue = catalogue.inner.clone();
    let work = Work {
        progress,
        ..Work::default()
    };
    mmascope_cli::cancel(false);
    interrupt::run(py, &work, |watch| {
        // Commands know one flag for all of the process; it follows this call's.
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let follower = scope.spawn(|| {
                while !ended.load(Relaxed) {
                    if watch.cancel.load(Relaxed) {
                        mmascope_cli::cancel(true);
                    }
                    std::thread::park_timeout(Duration::from_millis(50));
                }
            });
            let result = body(&catalogue);
            ended.store(true, Relaxed);
            follower.thread().unpark();
            result
        })
    })
}

/// The arrays of a question.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    a: Operand<'py>,
    b: Operand<'py>,
    c: Option<Operand<'py>>,
    scale_a: Option<Operand<'py>>,
    scale_b: Option<Operand<'py>>,
}

/// Which rows and schedules give D: JSON.
#[pyfunction]
pub(crate) fn identify(
    py: Python<'_>,
    catalogue: &Catalogue,
    given: Given<'_>,
    d: Operand<'_>,
    alpha: f64,
    beta: f64,
) -> PyResult<String> {
    let catalogue = catalogue.inner.clone();
    let optional = |operand: &Option<Operand<'_>>| operand.as_ref().map(Operand::array).transpose();
    let (a, b, d) = (given.a.array()?, given.b.array()?, d.array()?);
    let c = optional(&given.c)?;
    let scale_a = optional(&given.scale_a)?;
    let scale_b = optional(&given.scale_b)?;
    let found = interrupt::run(py, &Work::default(), |watch| {
        let question = Question {
            operands: Arrays {
                a: &a,
                b: &b,
                c: c.as_ref(),
                scale_a: scale_a.as_ref(),
                scale_b: scale_b.as_ref(),
                transpose_a: false,
                transpose_b: false,
            },
            d: &d,
            factors: Factors { alpha, beta },
        };
        mmascope::identify::identify(&catalogue, &question, watch.cancel, &|_| ())
    })?;
    Ok(serde_json::Value::Object(found.json()).to_string())
}
