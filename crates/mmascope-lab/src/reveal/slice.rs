//! Makes a plain function over slices a subject.

use super::subject::{Masks, Query, Summation};
use crate::error::Result;
use crate::format::{F32, F64, Format};
use crate::tree::Term;

/// A number type of slices.
pub trait Element: Copy + Default {
    /// Its format.
    const FORMAT: Format;
    /// The nearest number.
    fn from_f64(value: f64) -> Self;
    /// The number.
    fn to_f64(self) -> f64;
}

impl Element for f32 {
    const FORMAT: Format = F32;
    fn from_f64(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Element for f64 {
    const FORMAT: Format = F64;
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

/// A function that sums a slice.
pub struct SliceSum<T, F> {
    name: String,
    buffer: Vec<T>,
    masks: Masks,
    sum: F,
}

impl<T: Element, F: FnMut(&[T]) -> T> SliceSum<T, F> {
    /// A subject of `leaves` summands.
    pub fn new(name: &str, leaves: usize, sum: F) -> Self {
        Self {
            name: name.to_owned(),
            buffer: vec![T::default(); leaves],
            masks: Masks::of(T::FORMAT),
            sum,
        }
    }

    /// Other masks than those of the format, for accumulators narrower than it.
    #[must_use]
    pub fn with_masks(mut self, masks: Masks) -> Self {
        self.masks = masks;
        self
    }
}

impl<T: Element, F: FnMut(&[T]) -> T> Summation for SliceSum<T, F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn leaves(&self) -> usize {
        self.buffer.len()
    }

    fn format(&self) -> Format {
        T::FORMAT
    }

    fn masks(&self) -> Masks {
        self.masks
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let Masks { large, unit, .. } = self.masks;
        let zero = T::default();
        for (slot, weight) in self.buffer.iter_mut().zip(units) {
            *slot = T::from_f64(weight * unit);
        }
        let filled = units;
        let mut results = Vec::with_capacity(queries.len());
        for query in queries {
            if let Some(only) = query.only {
                self.buffer.fill(zero);
                self.buffer[only] = T::from_f64(unit);
            }
            for (leaf, value) in [(query.plus, large), (query.minus, -large)] {
                if let Some(leaf) = leaf {
                    self.buffer[leaf] = T::from_f64(value);
                }
            }
            results.push((self.sum)(&self.buffer).to_f64() / unit);
            if query.only.is_some() {
                for (slot, weight) in self.buffer.iter_mut().zip(filled) {
                    *slot = T::from_f64(weight * unit);
                }
            }
            for leaf in [query.plus, query.minus].into_iter().flatten() {
                self.buffer[leaf] = T::from_f64(filled[leaf] * unit);
            }
        }
        Ok(results)
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let results = inputs.iter().map(|terms| {
            for (slot, term) in self.buffer.iter_mut().zip(terms) {
                *slot = T::from_f64(match *term {
                    Term::Value(value) => value,
                    Term::Product(a, b) => a * b,
                });
            }
            (self.sum)(&self.buffer).to_f64()
        });
        Ok(results.collect())
    }

    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let value = |term: Term| match term {
            Term::Value(value) => T::from_f64(value),
            Term::Product(a, b) => T::from_f64(a * b),
        };
        let base = value(background);
        self.buffer.fill(base);
        let mut results = Vec::with_capacity(inputs.len());
        for input in inputs {
            for &(leaf, term) in input {
                self.buffer[leaf] = value(term);
            }
            results.push((self.sum)(&self.buffer).to_f64());
            for &(leaf, _) in input {
                self.buffer[leaf] = base;
            }
        }
        Ok(results)
    }
}
