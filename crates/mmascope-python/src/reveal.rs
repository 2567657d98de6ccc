//! Callables as subjects of `reveal`: numbers are written into arrays that the callable is given.
#![allow(unsafe_code)] // writes to the memory of arrays

use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::{Raised, argument, device_error};
use crate::tree::Tree;
use mmascope::format::{F64, Format};
use mmascope::precision::cast::{Cast, CastOptions, CastPolicy};
use mmascope::reveal::{Algorithm, RevealOptions, RowFunction, RowSum, reveal_with_progress};

/// An array of the package's own that a callable is given; only this module writes to it.
struct Memory<'py> {
    array: Bound<'py, PyUntypedArray>,
    bytes: usize,
    length: usize,
}

impl<'py> Memory<'py> {
    fn new(array: Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if !array.is_c_contiguous() {
            return Err(argument("the array of a subject is not row-major"));
        }
        let bytes = array.dtype().itemsize();
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(argument(
                "the elements of a subject have 1, 2, 4 or 8 bytes",
            ));
        }
        let length = array.len();
        Ok(Self {
            array,
            bytes,
            length,
        })
    }

    fn set(&mut self, index: usize, word: u64) {
        if index >= self.length {
            return;
        }
        let little = word.to_le_bytes();
        let big = word.to_be_bytes();
        let source = if cfg!(target_endian = "little") {
            &little[..self.bytes]
        } else {
            &big[8 - self.bytes..]
        };
        // SAFETY: NumPy's array is alive as long as `self`, row-major and of `length` elements of `bytes` bytes
        // (`new` has checked it), and `index` is below `length`. The interpreter's lock is held, and the package made
        // the array for this one call, so that nobody reads it now.
        unsafe {
            let data = (*self.array.as_array_ptr()).fields.data.cast::<u8>();
            let target = data.add(index * self.bytes);
            std::ptr::copy_nonoverlapping(source.as_ptr(), target, self.bytes);
        }
    }
}

/// A callable and the arrays that it is given.
struct Callable<'py> {
    name: String,
    function: Bound<'py, PyAny>,
    arguments: Bound<'py, PyTuple>,
    rows: Memory<'py>,
    factors: Option<Memory<'py>>,
    leaves: usize,
    count: usize,
    operands: Format,
    results: Format,
    /// To the operands' format; `None` for formats that Rust has itself.
    cast: Option<Cast>,
    /// What Python raised.
    raised: Option<PyErr>,
}

impl Callable<'_> {
    fn word(&self, value: f64) -> u64 {
        match &self.cast {
            Some(cast) => cast.word(value.to_bits()),
            None if self.operands == F64 => value.to_bits(),
            None => u64::from((value as f32).to_bits()),
        }
    }

    fn ask(&self) -> PyResult<Vec<f64>> {
        let py = self.function.py();
        py.check_signals()?;
        let result = self.function.call1(&self.arguments)?;
        if self.count == 1 {
            return Ok(vec![result.extract()?]);
        }
        let results: PyReadonlyArray1<'_, f64> = result.extract()?;
        Ok(results.as_array().to_vec())
    }
}

impl RowFunction for Callable<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn leaves(&self) -> usize {
        self.leaves
    }

    fn rows(&self) -> usize {
        self.count
    }

    fn operands(&self) -> Format {
        self.operands
    }

    fn results(&self) -> Format {
        self.results
    }

    fn has_factors(&self) -> bool {
        self.factors.is_some()
    }

    fn set(&mut self, row: usize, leaf: usize, value: f64) {
        let word = self.word(value);
        self.rows.set(row * self.leaves + leaf, word);
    }

    fn set_factor(&mut self, leaf: usize, value: f64) {
        let word = self.word(value);
        if let Some(factors) = &mut self.factors {
            factors.set(leaf, word);
        }
    }

    fn call(&mut self) -> mmascope::Result<Vec<f64>> {
        self.ask().map_err(|error| {
            let message = error.to_string();
            self.raised = Some(error);
            device_error(&self.name, &message)
        })
    }
}

/// What the package knows of a callable.
#[derive(FromPyObject)]
pub(crate) struct Subject<'py> {
    name: String,
    /// Takes `arguments`; gives a float, or so many float64 as there are rows.
    function: Bound<'py, PyAny>,
    arguments: Bound<'py, PyTuple>,
    /// rows × leaves
    rows: Bound<'py, PyUntypedArray>,
    /// leaves
    factors: Option<Bound<'py, PyUntypedArray>>,
    operands: String,
    results: String,
}

/// The tree of a callable, and the report as JSON.
#[pyfunction]
pub(crate) fn reveal(
    subject: Subject<'_>,
    algorithm: &str,
    trials: usize,
    seed: u64,
    verify: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Tree, String)> {
    let operands = Format::named(&subject.operands).raised()?;
    let results = Format::named(&subject.results).raised()?;
    let (count, leaves) = match *subject.rows.shape() {
        [rows, leaves] => (rows, leaves),
        ref shape => return Err(argument(&format!("rows of shape {shape:?}"))),
    };
    let has_type = ["f32", "f64"].contains(&operands.name);
    let cast = CastOptions {
        policy: Some(CastPolicy::Host),
        ..CastOptions::default()
    };
    let callable = Callable {
        name: subject.name,
        function: subject.function,
        arguments: subject.arguments,
        rows: Memory::new(subject.rows)?,
        factors: subject.factors.map(Memory::new).transpose()?,
        leaves,
        count,
        operands,
        results,
        cast: match has_type {
            true => None,
            false => Some(Cast::new(F64, operands, &cast).raised()?),
        },
        raised: None,
    };
    let options = RevealOptions {
        algorithm: Algorithm::named(algorithm).raised()?,
        trials,
        seed,
        verify,
    };
    let mut told = Ok(());
    let mut tell = |measurements: u64| {
        if let Some(progress) = &progress {
            told = progress.call1((measurements,)).map(|_| ());
        }
    };
    let mut sum = RowSum::new(callable);
    let result = reveal_with_progress(&mut sum, &options, &mut tell);
    if let Some(error) = sum.into_function().raised {
        return Err(error);
    }
    told?;
    let report = result.raised()?;
    let mut json = report.json();
    json.remove("tree");
    json.insert("verdict".to_owned(), report.verdict().into());
    json.insert("holds".to_owned(), report.holds().into());
    let tree = Tree::with_names(report.tree, report.leaves);
    Ok((tree, serde_json::Value::Object(json).to_string()))
}
