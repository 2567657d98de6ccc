//! Makes a function over rows of numbers a subject: one that sums each row, or multiplies it by a vector.

use super::subject::{Masks, Query, Summation, spread_term};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::tree::Term;

/// A function over memory of its own: rows of numbers, and second factors that all rows share.
///
/// Rows and factors hold zeros at first.
pub trait RowFunction {
    /// The subject as the user named it.
    fn name(&self) -> &str;
    /// Numbers of a row.
    fn leaves(&self) -> usize;
    /// Rows that one call takes.
    fn rows(&self) -> usize;
    /// Format of the numbers.
    fn operands(&self) -> Format;
    /// Format of the results.
    fn results(&self) -> Format;
    /// Whether it multiplies the rows by factors.
    fn has_factors(&self) -> bool;
    /// Replaces a number of a row.
    fn set(&mut self, row: usize, leaf: usize, value: f64);
    /// Replaces a second factor.
    fn set_factor(&mut self, leaf: usize, value: f64);
    /// The results of all rows.
    ///
    /// # Errors
    /// Whatever went wrong in the function.
    fn call(&mut self) -> Result<Vec<f64>>;
}

/// A [`RowFunction`] as a subject.
///
/// What the rows hold is remembered, so that a call costs only what changes.
pub struct RowSum<F> {
    function: F,
    masks: Masks,
    /// What the rows hold, one after the other.
    held: Vec<f64>,
    /// What the factors hold.
    factors: Vec<f64>,
}

impl<F: RowFunction> RowSum<F> {
    /// The subject.
    pub fn new(function: F) -> Self {
        let (rows, leaves) = (function.rows().max(1), function.leaves());
        let mut own = Self {
            masks: Masks::choice(function.operands(), function.results(), 0),
            held: vec![0.0; rows * leaves],
            factors: vec![0.0; leaves],
            function,
        };
        if own.function.has_factors() {
            own.share(1.0);
        }
        own
    }

    /// The function, when nothing is asked any more.
    pub fn into_function(self) -> F {
        self.function
    }

    fn rows(&self) -> usize {
        self.function.rows().max(1)
    }

    fn put(&mut self, row: usize, leaf: usize, value: f64) {
        let held = &mut self.held[row * self.factors.len() + leaf];
        if held.to_bits() != value.to_bits() {
            *held = value;
            self.function.set(row, leaf, value);
        }
    }

    fn put_factor(&mut self, leaf: usize, value: f64) {
        if self.factors[leaf].to_bits() != value.to_bits() {
            self.factors[leaf] = value;
            self.function.set_factor(leaf, value);
        }
    }

    /// One factor for all.
    fn share(&mut self, factor: f64) {
        for leaf in 0..self.factors.len() {
            self.put_factor(leaf, factor);
        }
    }

    fn call(&mut self) -> Result<Vec<f64>> {
        let results = self.function.call()?;
        if results.len() == self.rows() {
            return Ok(results);
        }
        Err(Error::Device {
            device: self.function.name().to_owned(),
            query: None,
            message: format!("{} results for {} rows", results.len(), self.rows()),
        })
    }

    /// The results of rows that hold what is asked. One row alone is put in every place: they must agree.
    fn results(&mut self, count: usize) -> Result<Vec<f64>> {
        let mut results = self.call()?;
        if count == 1
            && let Some(row) = results
                .iter()
                .position(|other| other.to_bits() != results[0].to_bits())
        {
            return Err(Error::Device {
                device: self.function.name().to_owned(),
                query: Some(row),
                message: format!(
                    "rows 0 and {row} have equal inputs and different results ({:e} and {:e}): the rows do not \
                     share one order",
                    results[0], results[row]
                ),
            });
        }
        results.truncate(count);
        Ok(results)
    }

    fn split(&self, term: Term) -> (f64, f64) {
        match term {
            Term::Value(value) => (value, 1.0),
            Term::Product(a, b) => (a, b),
        }
    }
}

impl<F: RowFunction> Summation for RowSum<F> {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn leaves(&self) -> usize {
        self.factors.len()
    }

    fn format(&self) -> Format {
        self.function.results()
    }

    fn operand_format(&self) -> Format {
        self.function.operands()
    }

    fn products(&self) -> bool {
        self.function.has_factors()
    }

    fn capacity(&self) -> usize {
        self.rows()
    }

    fn remarks(&self) -> Vec<String> {
        match self.rows() {
            1 => Vec::new(),
            rows => vec![format!(
                "{rows} rows are summed in one call; equal rows gave equal bits"
            )],
        }
    }

    fn masks(&self) -> Masks {
        self.masks
    }

    fn choices(&self) -> usize {
        Masks::choices(self.operand_format())
    }

    fn choose(&mut self, choice: usize) {
        self.masks = Masks::choice(self.operand_format(), self.format(), choice);
    }

    fn random_term(&self, _leaf: usize, bits: u64) -> Term {
        spread_term(self.operand_format(), self.products(), bits)
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let Masks { large, unit, .. } = self.masks;
        if self.products() {
            self.share(1.0);
        }
        let rows = self.rows();
        for row in 0..rows.min(queries.len()) {
            for (leaf, weight) in units.iter().enumerate() {
                self.put(row, leaf, weight * unit);
            }
        }
        let mut results = Vec::with_capacity(queries.len());
        for chunk in queries.chunks(rows) {
            for (row, query) in chunk.iter().enumerate() {
                if let Some(only) = query.only {
                    (0..units.len()).for_each(|leaf| self.put(row, leaf, 0.0));
                    self.put(row, only, unit);
                }
                for (leaf, value) in [(query.plus, large), (query.minus, -large)] {
                    if let Some(leaf) = leaf {
                        self.put(row, leaf, value);
                    }
                }
            }
            let sums = self.call()?;
            results.extend(sums.iter().take(chunk.len()).map(|sum| sum / unit));
            for (row, query) in chunk.iter().enumerate() {
                if query.only.is_some() {
                    (0..units.len()).for_each(|leaf| self.put(row, leaf, units[leaf] * unit));
                }
                for leaf in [query.plus, query.minus].into_iter().flatten() {
                    self.put(row, leaf, units[leaf] * unit);
                }
            }
        }
        Ok(results)
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let (rows, has_factors) = (self.rows(), self.products());
        let mut results = Vec::with_capacity(inputs.len());
        let mut rest = inputs;
        while let Some(first) = rest.first() {
            let factor = |term: &Term| match *term {
                Term::Value(_) => 1.0_f64.to_bits(),
                Term::Product(_, b) => b.to_bits(),
            };
            let shares = |other: &&Vec<Term>| {
                !has_factors || first.iter().map(factor).eq(other.iter().map(factor))
            };
            let count = rest.iter().take(rows).take_while(shares).count().max(1);
            for row in 0..rows {
                // Rows beyond what is asked repeat a lone input, and hold whatever they held otherwise.
                let Some(input) = rest[..count].get(row).or((count == 1).then_some(first)) else {
                    break;
                };
                for (leaf, &term) in input.iter().enumerate() {
                    let (value, factor) = self.split(term);
                    self.put(row, leaf, value);
                    if has_factors && row == 0 {
                        self.put_factor(leaf, factor);
                    }
                }
            }
            results.extend(self.results(count)?);
            rest = &rest[count..];
        }
        Ok(results)
    }

    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let (rows, has_factors) = (self.rows(), self.products());
        let (base, shared) = self.split(background);
        let mut results = Vec::with_capacity(inputs.len());
        // Every input has the shared factor where its own factors say nothing else.
        let own = |input: &[(usize, Term)]| {
            let factors = input.iter().filter_map(|&(leaf, term)| match term {
                Term::Product(_, b) if b.to_bits() != shared.to_bits() => Some((leaf, b.to_bits())),
                _ => None,
            });
            let mut factors: Vec<(usize, u64)> = factors.collect();
            factors.sort_unstable();
            factors
        };
        for row in 0..rows {
            (0..self.leaves()).for_each(|leaf| self.put(row, leaf, base));
        }
        if has_factors {
            self.share(shared);
        }
        let mut rest = inputs;
        while let Some(first) = rest.first() {
            let factors = own(first);
            let shares = |other: &&Vec<(usize, Term)>| !has_factors || own(other) == factors;
            let count = rest.iter().take(rows).take_while(shares).count().max(1);
            if has_factors {
                for &(leaf, bits) in &factors {
                    self.put_factor(leaf, f64::from_bits(bits));
                }
            }
            let place = |row: usize| match count {
                1 => Some(first),
                _ => rest[..count].get(row),
            };
            for row in 0..rows {
                for &(leaf, term) in place(row).into_iter().flatten() {
                    let (value, _) = self.split(term);
                    self.put(row, leaf, value);
                }
            }
            results.extend(self.results(count)?);
            for row in 0..rows {
                for &(leaf, _) in place(row).into_iter().flatten() {
                    self.put(row, leaf, base);
                }
            }
            for &(leaf, _) in &factors {
                self.put_factor(leaf, shared);
            }
            rest = &rest[count..];
        }
        Ok(results)
    }
}
