//! Accumulators of a part of D: register words of c going in and of d coming out.

use std::ops::Range;

use crate::array::Words;
use crate::format::Format;

/// A part of D: some products of the batch, some rows, some columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Products of the batch.
    pub batch: Range<usize>,
    /// Rows of D.
    pub rows: Range<usize>,
    /// Columns of D.
    pub columns: Range<usize>,
}

impl Region {
    /// Elements in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.len() * self.rows.len() * self.columns.len()
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What both have.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let common = |own: &Range<usize>, other: &Range<usize>| {
            let start = own.start.max(other.start);
            start..own.end.min(other.end).max(start)
        };
        Self {
            batch: common(&self.batch, &other.batch),
            rows: common(&self.rows, &other.rows),
            columns: common(&self.columns, &other.columns),
        }
    }

    /// The inverse of [`Region::place`].
    pub(in crate::gemm) fn index(&self, (batch, row, column): (usize, usize, usize)) -> usize {
        let line = (batch - self.batch.start) * self.rows.len() + row - self.rows.start;
        line * self.columns.len() + column - self.columns.start
    }

    /// Product of the batch, row and column of element `index`, counted row by row.
    #[must_use]
    #[inline]
    pub fn place(&self, index: usize) -> (usize, usize, usize) {
        let (line, column) = (index / self.columns.len(), index % self.columns.len());
        let (batch, row) = (line / self.rows.len(), line % self.rows.len());
        (
            self.batch.start + batch,
            self.rows.start + row,
            self.columns.start + column,
        )
    }
}

/// The accumulators of a region, row by row, matrix by matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulators {
    pub(super) region: Region,
    pub(super) words: Words,
    /// The format of the registers: c's container before the first step, d's after it.
    pub(super) format: Format,
}

impl Accumulators {
    /// Which part of D they are.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The words, row by row, matrix by matrix.
    #[must_use]
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The words, without the rest.
    #[must_use]
    pub fn into_words(self) -> Words {
        self.words
    }

    /// The format of the words: c's before the first step, d's after it.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }
}
