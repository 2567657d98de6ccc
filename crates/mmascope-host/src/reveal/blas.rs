//! BLAS routines of a C library as subjects: dot products, matrix times vector, matrix times matrix.
//!
//! The library runs in this process: one that crashes takes the process with it. [`BlasProcess`]
//! holds it in a process of its own.
//!
//! [`BlasProcess`]: super::BlasProcess
#![allow(unsafe_code)] // loading and calling foreign code

mod routine;

use std::ffi::{c_int, c_void};

use libloading::Library;

pub use routine::Routine;
pub(super) use routine::Scalar;
use routine::{Symbol, exported, multiply};

use crate::memory::Memory;

use super::{Masks, Query, Summation, spread_term};
use crate::error::{Error, Result};
use crate::format::{F64, Format};
use crate::tree::Term;

/// Rows and columns of the result of a matrix product, and rows of a matrix times vector.
const OUTPUTS: usize = 64;

/// A BLAS routine with n products a result.
pub struct Blas {
    name: String,
    symbol: Symbol,
    n: usize,
    /// The routine that `symbol` names.
    function: *const c_void,
    /// Rows of outputs that are used, and columns: those that share the first output's order.
    used_rows: Vec<usize>,
    used_columns: Vec<usize>,
    /// Number of threads that the library says it uses, if it says so.
    threads: Option<usize>,
    masks: Masks,
    /// Keeps the code mapped for as long as `function` may be called.
    _library: Library,
}

/// How OpenBLAS says its threads, under the names that NumPy and SciPy build it with too.
const OPENBLAS_THREADS: [&[u8]; 4] = [
    b"openblas_get_num_threads\0",
    b"scipy_openblas_get_num_threads64_\0",
    b"scipy_openblas_get_num_threads\0",
    b"openblas_get_num_threads64_\0",
];

type Threads = unsafe extern "C" fn() -> c_int;

/// The subject as the user names it.
pub(super) fn subject(path: &str, symbol: &str) -> String {
    format!("lib:{path}:{symbol}")
}

/// Names under which a library has the routine of a symbol that it lacks, in words; nothing where it has none.
fn present(library: &Library, symbol: &str) -> String {
    let is_there = |name: &String| {
        // SAFETY: the symbol is looked up, and neither kept nor called.
        unsafe { library.get::<*const c_void>(name.as_bytes()).is_ok() }
    };
    let names = routine::spellings(symbol).into_iter().filter(is_there);
    match &names.collect::<Vec<_>>()[..] {
        [] => String::new(),
        names => format!("; this library has {}", names.join(", ")),
    }
}

impl Blas {
    /// Loads `symbol` of the shared library at `path`, for results of `n` products. A path without
    /// a slash is searched for as the system does. A symbol has 64-bit integers where its name says so
    /// (`scipy_cblas_sdot64_`) or `@ilp64` stands behind it.
    ///
    /// # Errors
    /// [`Error::Argument`] for a symbol that is none of `sdot ddot sgemv dgemv sgemm dgemm sbgemm shgemm hgemm
    /// gemm_bf16bf16f32 gemm_f16f16f32` in CBLAS or Fortran spelling, with any prefix, or a wrong n; [`Error::Device`] when it cannot be loaded.
    pub fn load(path: &str, symbol: &str, n: usize) -> Result<Self> {
        let name = subject(path, symbol);
        let known = Symbol::checked(&name, symbol, n)?;
        let fail = |error: libloading::Error| Error::Device {
            device: name.clone(),
            query: None,
            message: error.to_string(),
        };
        // SAFETY: loading runs the library's initialisers. The user named this file as code to
        // run; nothing else can be promised about foreign code.
        let library = unsafe { Library::new(path) }.map_err(fail)?;
        // SAFETY: the symbol is only kept as an address here; it is called with the type that BLAS
        // gives this name.
        let function =
            unsafe { library.get::<*const c_void>(exported(symbol).as_bytes()) }.map(|s| *s);
        let missing = |error: libloading::Error| Error::Device {
            device: name.clone(),
            query: None,
            message: format!("{error}{}", present(&library, symbol)),
        };
        let function = match function {
            Ok(function) => function,
            // Fortran names are found without their underscore too.
            // SAFETY: as above.
            Err(error) if !known.cblas => unsafe {
                let with = format!("{}_", exported(symbol).trim_end_matches('_'));
                *library
                    .get::<*const c_void>(with.as_bytes())
                    .map_err(|_| missing(error))?
            },
            Err(error) => return Err(missing(error)),
        };
        let threads = OPENBLAS_THREADS
            .into_iter()
            .chain([&b"MKL_Get_Max_Threads\0"[..]])
            .find_map(|name| {
                // SAFETY: both functions take nothing and return a number.
                unsafe { library.get::<Threads>(name).ok().map(|threads| threads()) }
            })
            .and_then(|threads| usize::try_from(threads).ok());
        let mut blas = Self {
            used_rows: Vec::new(),
            used_columns: Vec::new(),
            name,
            symbol: known,
            n,
            function,
            threads,
            masks: Masks::choice(known.operands, known.format, 0),
            _library: library,
        };
        blas.used_rows = (0..blas.rows()).collect();
        blas.used_columns = (0..blas.columns()).collect();
        if blas.is_double() {
            blas.find_shared::<f64>();
        } else {
            blas.find_shared::<f32>();
        }
        Ok(blas)
    }

    /// Format of operands and results, from the routine's name alone: what cannot be loaded for its
    /// name is refused here.
    ///
    /// # Errors
    /// [`Error::Argument`] as [`Blas::load`].
    pub fn format_of(path: &str, symbol: &str, n: usize) -> Result<Format> {
        Ok(Symbol::checked(&subject(path, symbol), symbol, n)?.format)
    }

    /// Format of operands, likewise.
    pub(super) fn operands_of(path: &str, symbol: &str, n: usize) -> Result<Format> {
        Ok(Symbol::checked(&subject(path, symbol), symbol, n)?.operands)
    }

    fn is_double(&self) -> bool {
        self.symbol.format == F64
    }

    /// Finds out which outputs share the first one's order: rows and columns with equal inputs must
    /// give equal bits on random data.
    fn find_shared<T: Scalar>(&mut self) {
        let mut random = super::Random::new(1);
        // All digits of f64: sums of shorter numbers would be exact, and so equal in any order. Operands of 16 bits have
        // too few, so that their exponents lie apart.
        let apart = self.symbol.operands.bits == 16;
        let mut number = || {
            let bits = random.bits();
            let number = (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
            let exponent = if apart { (bits & 15) as i32 } else { 0 };
            T::from_f64(number * crate::tree::power_of_two(-exponent))
        };
        let mut trials = Vec::new();
        for _ in 0..24 {
            let row: Vec<T> = (0..self.n).map(|_| number()).collect();
            let shared: Vec<T> = (0..self.n).map(|_| number()).collect();
            let results = self.outputs(&row.repeat(self.rows()), &shared);
            trials.push(
                results
                    .iter()
                    .map(|x| x.to_f64().to_bits())
                    .collect::<Vec<u64>>(),
            );
        }
        let columns = trials[0].len() / self.rows();
        let same = |at: usize| trials.iter().all(|results| results[at] == results[0]);
        self.used_rows.retain(|&row| same(row * columns));
        let rows = &self.used_rows;
        self.used_columns
            .retain(|&column| rows.iter().all(|&row| same(row * columns + column)));
    }

    /// Number of threads that the library says it uses, if it says so.
    #[must_use]
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// How many rows a call has.
    fn rows(&self) -> usize {
        match self.symbol.routine {
            Routine::Dot => 1,
            Routine::Gemv | Routine::Gemm => OUTPUTS,
        }
    }

    /// How many columns a call has.
    fn columns(&self) -> usize {
        match self.symbol.routine {
            Routine::Dot | Routine::Gemv => 1,
            Routine::Gemm => OUTPUTS,
        }
    }

    /// Calls the routine: `rows` × n numbers (row by row) times n numbers; one result a row.
    fn call<T: Scalar>(&self, rows: &[T], shared: &[T]) -> Result<Vec<T>> {
        let results = self.outputs(rows, shared);
        let columns = results.len() / self.rows();
        let mut found = Vec::with_capacity(self.rows());
        for &row in &self.used_rows {
            // Used columns are equal, so a difference means that they are summed differently.
            let results = &results[row * columns..(row + 1) * columns];
            let first = results[0].to_f64();
            let differs = |&&at: &&usize| results[at].to_f64().to_bits() != first.to_bits();
            if let Some(column) = self.used_columns.iter().find(differs) {
                return Err(Error::Device {
                    device: self.name.clone(),
                    query: Some(row),
                    message: format!(
                        "columns 0 and {column} have equal inputs and different results ({first:e} and {:e}): \
                         the outputs do not share one order",
                        results[*column].to_f64()
                    ),
                });
            }
            found.push(results[0]);
        }
        Ok(found)
    }

    /// Every output of one call, row by row: all columns are `shared`.
    fn outputs<T: Scalar>(&self, rows: &[T], shared: &[T]) -> Vec<T> {
        let (m, w) = (self.rows(), self.columns());
        let matrix: Vec<T>;
        let columns = if w == 1 {
            shared
        } else {
            matrix = (shared.iter())
                .flat_map(|&x| std::iter::repeat_n(x, w))
                .collect();
            &matrix
        };
        // SAFETY: `load` took the address under this very symbol, and T is its number type.
        unsafe { multiply(self.function, &self.symbol, (m, self.n, w), rows, columns) }
    }

    fn measure_as<T: Scalar>(&self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let Masks { large, unit, .. } = self.masks();
        let base: Vec<T> = units
            .iter()
            .map(|weight| T::from_f64(weight * unit))
            .collect();
        let ones = vec![T::from_f64(1.0); self.n];
        let zero = T::from_f64(0.0);
        let mut rows: Vec<T> = (0..self.rows())
            .flat_map(|_| base.iter().copied())
            .collect();
        let mut results = Vec::with_capacity(queries.len());
        for chunk in queries.chunks(self.used_rows.len()) {
            for (query, &at) in chunk.iter().zip(&self.used_rows) {
                let row = &mut rows[at * self.n..(at + 1) * self.n];
                if let Some(only) = query.only {
                    row.fill(zero);
                    row[only] = T::from_f64(unit);
                }
                for (leaf, value) in [(query.plus, large), (query.minus, -large)] {
                    if let Some(leaf) = leaf {
                        row[leaf] = T::from_f64(value);
                    }
                }
            }
            let sums = self.call(&rows, &ones)?;
            results.extend(sums.iter().take(chunk.len()).map(|sum| sum.to_f64() / unit));
            for (query, &at) in chunk.iter().zip(&self.used_rows) {
                let row = &mut rows[at * self.n..(at + 1) * self.n];
                if query.only.is_some() {
                    row.copy_from_slice(&base);
                }
                for leaf in [query.plus, query.minus].into_iter().flatten() {
                    row[leaf] = base[leaf];
                }
            }
        }
        Ok(results)
    }

    /// Inputs whose second factors are all that of the background, a row each; one alone takes every row, and they must
    /// agree.
    fn evaluate_sparse_as<T: Scalar>(
        &self,
        (base, shared): (f64, f64),
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let base = T::from_f64(base);
        let shared = vec![T::from_f64(shared); self.n];
        let mut rows = vec![base; self.rows() * self.n];
        let mut results = Vec::with_capacity(inputs.len());
        let all: Vec<usize> = (0..self.rows()).collect();
        for chunk in inputs.chunks(self.used_rows.len()) {
            let alone = chunk.len() == 1;
            let places = if alone { &all } else { &self.used_rows };
            let inputs = chunk.iter().cycle();
            for (input, &at) in inputs.clone().zip(places).take(places.len()) {
                for &(leaf, term) in input {
                    rows[at * self.n + leaf] = T::from_f64(first_factor(term));
                }
            }
            let sums = self.call(&rows, &shared)?;
            if alone {
                self.check_rows(&sums)?;
            }
            results.extend(sums.iter().take(chunk.len()).map(|sum| sum.to_f64()));
            for (input, &at) in inputs.zip(places).take(places.len()) {
                for &(leaf, _) in input {
                    rows[at * self.n + leaf] = base;
                }
            }
        }
        Ok(results)
    }

    /// Inputs with the same second factors share a call, a row each; one alone takes every row, and
    /// they must agree.
    fn evaluate_as<T: Scalar>(&self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        self.evaluate_factors(inputs.iter().map(|input| factors::<T>(input)))
    }

    /// The same of inputs that lie in shared memory: n first factors, then n second ones, input after
    /// input. `None` when the memory does not hold as many.
    pub(super) fn evaluate_shared(
        &self,
        memory: &Memory,
        count: usize,
    ) -> Option<Result<Vec<f64>>> {
        if self.is_double() {
            self.evaluate_in::<f64>(memory, count)
        } else {
            self.evaluate_in::<f32>(memory, count)
        }
    }

    fn evaluate_in<T: Scalar>(&self, memory: &Memory, count: usize) -> Option<Result<Vec<f64>>> {
        let numbers = count.checked_mul(2 * self.n)?;
        if numbers > memory.room::<T>() {
            return None;
        }
        let factor = |index: usize| memory.read::<T>(index * self.n, self.n).unwrap_or_default();
        let inputs = (0..count).map(|index| (factor(2 * index), factor(2 * index + 1)));
        Some(self.evaluate_factors(inputs))
    }

    fn evaluate_factors<T: Scalar>(
        &self,
        inputs: impl Iterator<Item = (Vec<T>, Vec<T>)>,
    ) -> Result<Vec<f64>> {
        let same = |left: &[T], right: &[T]| {
            let bits = |x: &T| x.to_f64().to_bits();
            left.iter().map(bits).eq(right.iter().map(bits))
        };
        let mut results = Vec::new();
        let mut rest = inputs.peekable();
        while let Some((first, shared)) = rest.next() {
            let mut group = vec![first];
            while group.len() < self.used_rows.len()
                && let Some((next, _)) = rest.next_if(|(_, other)| same(other, &shared))
            {
                group.push(next);
            }
            let mut rows = group[0].repeat(self.rows());
            for (row, &at) in group.iter().zip(&self.used_rows) {
                rows[at * self.n..(at + 1) * self.n].copy_from_slice(row);
            }
            let sums = self.call(&rows, &shared)?;
            if group.len() == 1 {
                self.check_rows(&sums)?;
            }
            results.extend(sums.iter().take(group.len()).map(|sum| sum.to_f64()));
        }
        Ok(results)
    }

    fn check_rows<T: Scalar>(&self, sums: &[T]) -> Result<()> {
        let first = sums[0].to_f64().to_bits();
        match sums.iter().position(|sum| sum.to_f64().to_bits() != first) {
            None => Ok(()),
            Some(row) => Err(Error::Device {
                device: self.name.clone(),
                query: Some(row),
                message: format!(
                    "rows 0 and {row} have equal inputs and different results: the outputs do not \
                     share one order"
                ),
            }),
        }
    }
}

/// The first factor of a term.
fn first_factor(term: Term) -> f64 {
    match term {
        Term::Value(value) | Term::Product(value, _) => value,
    }
}

/// The factors of a background that all terms share the second one with.
fn shared_factors(background: Term, inputs: &[Vec<(usize, Term)>]) -> Option<(f64, f64)> {
    let second = |term: Term| match term {
        Term::Value(_) => 1.0_f64,
        Term::Product(_, b) => b,
    };
    let shared = second(background);
    let mut terms = inputs.iter().flatten();
    terms
        .all(|&(_, term)| second(term).to_bits() == shared.to_bits())
        .then(|| (first_factor(background), shared))
}

/// All terms of an input that has a background.
fn filled(leaves: usize, background: Term, input: &[(usize, Term)]) -> Vec<Term> {
    let mut terms = vec![background; leaves];
    for &(leaf, term) in input {
        terms[leaf] = term;
    }
    terms
}

/// First and second factors of an input.
pub(super) fn factors<T: Scalar>(input: &[Term]) -> (Vec<T>, Vec<T>) {
    let factors = input.iter().map(|term| match *term {
        Term::Value(value) => (T::from_f64(value), T::from_f64(1.0)),
        Term::Product(a, b) => (T::from_f64(a), T::from_f64(b)),
    });
    factors.unzip()
}

impl Summation for Blas {
    fn name(&self) -> &str {
        &self.name
    }

    fn leaves(&self) -> usize {
        self.n
    }

    fn format(&self) -> Format {
        self.symbol.format
    }

    fn operand_format(&self) -> Format {
        self.symbol.operands
    }

    fn products(&self) -> bool {
        true
    }

    fn capacity(&self) -> usize {
        self.used_rows.len()
    }

    fn remarks(&self) -> Vec<String> {
        let threads = self.threads.map(|threads| match threads {
            1 => "the library uses one thread".to_owned(),
            _ => format!("the library uses {threads} threads"),
        });
        let (rows, columns) = (self.used_rows.len(), self.used_columns.len());
        let (of, all) = match self.symbol.routine {
            Routine::Dot => return threads.into_iter().collect(),
            Routine::Gemv => (format!("{OUTPUTS}"), rows == OUTPUTS),
            Routine::Gemm => (
                format!("{OUTPUTS} x {OUTPUTS}"),
                rows * columns == OUTPUTS * OUTPUTS,
            ),
        };
        let shape = Some(if all {
            format!("all {of} outputs share one order (equal inputs gave equal bits)")
        } else {
            format!(
                "the {of} outputs do not share one order: this is the first one's, which {rows} \
                 outputs of its column and {columns} of its row share"
            )
        });
        threads.into_iter().chain(shape).collect()
    }

    fn masks(&self) -> Masks {
        self.masks
    }

    fn random_term(&self, _leaf: usize, bits: u64) -> Term {
        spread_term(self.operand_format(), true, bits)
    }

    fn choices(&self) -> usize {
        Masks::choices(self.symbol.operands)
    }

    fn choose(&mut self, choice: usize) {
        self.masks = Masks::choice(self.symbol.operands, self.symbol.format, choice);
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        if self.is_double() {
            self.measure_as::<f64>(units, queries)
        } else {
            self.measure_as::<f32>(units, queries)
        }
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        if self.is_double() {
            self.evaluate_as::<f64>(inputs)
        } else {
            self.evaluate_as::<f32>(inputs)
        }
    }

    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        match shared_factors(background, inputs) {
            Some(factors) if self.is_double() => self.evaluate_sparse_as::<f64>(factors, inputs),
            Some(factors) => self.evaluate_sparse_as::<f32>(factors, inputs),
            None => {
                let full = inputs.iter().map(|input| filled(self.n, background, input));
                self.evaluate(&full.collect::<Vec<_>>())
            }
        }
    }
}
