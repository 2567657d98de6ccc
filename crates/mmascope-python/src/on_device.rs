//! Products of matrices that lie on a GPU, such as PyTorch's tensors.
#![allow(unsafe_code)] // addresses of tensors

use pyo3::prelude::*;

use crate::error::Raised;
use crate::interrupt::{self, Work};
use crate::row::Row;
use mmascope_cuda::on_device::{self, DeviceLines};

/// Whether products of the row over so many k are computed on a GPU's own memory.
#[pyfunction]
pub(crate) fn takes_device_memory(row: &Row, k: usize) -> PyResult<bool> {
    Ok(on_device::takes(row.unit().raised()?, k))
}

/// `d = a b + d` on a GPU: sizes are M, N and K; a matrix is the address of its first element, the elements from a row of a
/// (a column of b) to the next, and those from a k to the next; d lies row by row.
#[pyfunction]
pub(crate) fn multiply_on_device(
    py: Python<'_>,
    row: &Row,
    ordinal: usize,
    sizes: (usize, usize, usize),
    a: (u64, usize, usize),
    b: (u64, usize, usize),
    d: u64,
) -> PyResult<()> {
    let (m, n, k) = sizes;
    let lines = |(pointer, line_stride, k_stride), count| DeviceLines {
        pointer,
        count,
        line_stride,
        k_stride,
    };
    let lines = [lines(a, m), lines(b, n)];
    let unit = row.unit().raised()?;
    // It is watched however long it takes: whoever waits may stop it between launches.
    let work = Work {
        steps: u64::MAX,
        ..Work::default()
    };
    interrupt::run(py, &work, |watch| {
        // SAFETY: the package passes addresses and strides of tensors that it holds, whose stream it has waited for.
        unsafe { on_device::multiply(ordinal, unit, lines, d, k, watch) }
    })
}
