//! A matrix of register words in any layout, or a batch of them.

use crate::array::Words;
use crate::error::{Error, Result};

/// A matrix of register words, or several of one shape; rows and columns lie where the strides say.
///
/// ```
/// use mmascope_gemm::gemm::Matrix;
/// let rows = Matrix::row_major(2, 3, vec![1_u16, 2, 3, 4, 5, 6])?;
/// let columns = Matrix::column_major(2, 3, vec![1_u16, 4, 2, 5, 3, 6])?;
/// assert_eq!(rows, columns);
/// assert_eq!(rows.transposed().at(0, 2, 1), 6);
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matrix {
    words: Words,
    batch: usize,
    rows: usize,
    columns: usize,
    strides: Strides,
}

/// How many words apart neighbours are; 0 repeats one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// From one matrix of a batch to the next.
    pub batch: usize,
    /// From one row to the next.
    pub row: usize,
    /// From one column to the next.
    pub column: usize,
}

impl Matrix {
    /// A matrix whose rows lie one after the other.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are not rows × columns words.
    pub fn row_major(rows: usize, columns: usize, words: impl Into<Words>) -> Result<Self> {
        Self::batched(1, rows, columns, words)
    }

    /// A matrix whose columns lie one after the other.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are not rows × columns words.
    pub fn column_major(rows: usize, columns: usize, words: impl Into<Words>) -> Result<Self> {
        Ok(Self::row_major(columns, rows, words)?.transposed())
    }

    /// So many row-major matrices, one after the other.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are not batch × rows × columns words.
    pub fn batched(
        batch: usize,
        rows: usize,
        columns: usize,
        words: impl Into<Words>,
    ) -> Result<Self> {
        let words = words.into();
        let size = rows.checked_mul(columns);
        if size.and_then(|size| size.checked_mul(batch)) != Some(words.len()) {
            return Err(Error::Argument(format!(
                "{} words; {} are needed",
                words.len(),
                shape_text(batch, rows, columns)
            )));
        }
        let strides = Strides {
            batch: size.unwrap_or(0),
            row: columns,
            column: 1,
        };
        Self::with_strides(batch, rows, columns, strides, words)
    }

    /// Matrices whose element (i, j) of number `b` is word `b·batch + i·row + j·column`.
    ///
    /// # Errors
    /// [`Error::Argument`] when the last element lies beyond the words.
    pub fn with_strides(
        batch: usize,
        rows: usize,
        columns: usize,
        strides: Strides,
        words: impl Into<Words>,
    ) -> Result<Self> {
        let words = words.into();
        let end = [
            (batch, strides.batch),
            (rows, strides.row),
            (columns, strides.column),
        ]
        .into_iter()
        .try_fold(0_usize, |sum, (count, stride)| {
            sum.checked_add(count.saturating_sub(1).checked_mul(stride)?)
        });
        let is_empty = batch == 0 || rows == 0 || columns == 0;
        if !is_empty && end.is_none_or(|end| end >= words.len()) {
            return Err(Error::Argument(format!(
                "{} words hold no matrix of {} with the strides {}, {}, {}",
                words.len(),
                shape_text(batch, rows, columns),
                strides.batch,
                strides.row,
                strides.column
            )));
        }
        Ok(Self {
            words,
            batch,
            rows,
            columns,
            strides,
        })
    }

    /// The same matrices with rows and columns exchanged; nothing is moved.
    #[must_use]
    pub fn transposed(self) -> Self {
        let Strides { batch, row, column } = self.strides;
        Self {
            rows: self.columns,
            columns: self.rows,
            strides: Strides {
                batch,
                row: column,
                column: row,
            },
            ..self
        }
    }

    /// How many matrices there are.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Rows of each.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of each.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where elements lie.
    #[must_use]
    pub fn strides(&self) -> Strides {
        self.strides
    }

    /// The words, in the order of the strides.
    #[must_use]
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The words, when they are the elements row by row, matrix by matrix, and nothing else.
    pub(super) fn packed(&self) -> Option<&Words> {
        let Strides { batch, row, column } = self.strides;
        let size = self.rows * self.columns;
        let in_order = (batch, row, column) == (size, self.columns, 1);
        (in_order && self.words.len() == size * self.batch).then_some(&self.words)
    }

    /// An element. A batch of one matrix has it under every number.
    ///
    /// # Panics
    /// When the matrix has no such element.
    #[must_use]
    #[inline]
    pub fn at(&self, batch: usize, row: usize, column: usize) -> u64 {
        self.words.get(self.place(batch, row, column))
    }

    /// Replaces an element.
    ///
    /// # Panics
    /// When the matrix has no such element.
    pub fn set(&mut self, batch: usize, row: usize, column: usize, word: u64) {
        let place = self.place(batch, row, column);
        self.words.set(place, word);
    }

    /// The index in [`Matrix::words`] of an element.
    #[inline]
    pub(crate) fn place(&self, batch: usize, row: usize, column: usize) -> usize {
        let batch = if self.batch == 1 { 0 } else { batch };
        batch * self.strides.batch + row * self.strides.row + column * self.strides.column
    }

    /// The elements, row by row, matrix by matrix.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.batch).flat_map(move |batch| {
            (0..self.rows)
                .flat_map(move |row| (0..self.columns).map(move |j| self.at(batch, row, j)))
        })
    }

    /// The same matrices with groups of so many columns in another order.
    pub(super) fn with_columns_in_order(&self, groups: &[usize], each: usize) -> Result<Self> {
        let columns = || {
            let group = |group: &usize| group * each..(group + 1) * each;
            groups.iter().flat_map(group)
        };
        let length = groups.len() * each;
        let mut words = Words::with_capacity(self.words.width(), self.batch * self.rows * length)?;
        for batch in 0..self.batch {
            for i in 0..self.rows {
                for j in columns() {
                    words.push(self.at(batch, i, j));
                }
            }
        }
        Self::batched(self.batch, self.rows, length, words)
    }

    /// The same matrices with groups of so many rows in another order.
    pub(super) fn with_rows_in_order(&self, groups: &[usize], each: usize) -> Result<Self> {
        let turned = self.clone().transposed();
        Ok(turned.with_columns_in_order(groups, each)?.transposed())
    }

    /// The same matrices with further rows or columns of one word, packed, in the order that rows
    /// and columns had.
    pub(super) fn grown(&self, rows: usize, columns: usize, fill: u64) -> Result<Self> {
        let length = rows
            .checked_mul(columns)
            .and_then(|size| size.checked_mul(self.batch))
            .ok_or_else(|| Error::Argument("the padded matrices are too large".into()))?;
        let words = Words::filled(self.words.width(), length, fill)?;
        let by_columns = self.strides.row < self.strides.column;
        let mut grown = if by_columns {
            Self::batched(self.batch, columns, rows, words)?.transposed()
        } else {
            Self::batched(self.batch, rows, columns, words)?
        };
        for batch in 0..self.batch {
            for i in 0..self.rows {
                for j in 0..self.columns {
                    grown.set(batch, i, j, self.at(batch, i, j));
                }
            }
        }
        Ok(grown)
    }
}

/// Matrices are equal when their elements are, however they lie.
impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        let shape = |matrix: &Self| (matrix.batch, matrix.rows, matrix.columns);
        shape(self) == shape(other) && self.iter().eq(other.iter())
    }
}

impl Eq for Matrix {}

/// `3 × 4`, or `2 × 3 × 4` for a batch.
pub(super) fn shape_text(batch: usize, rows: usize, columns: usize) -> String {
    match batch {
        1 => format!("{rows} × {columns}"),
        _ => format!("{batch} × {rows} × {columns}"),
    }
}
