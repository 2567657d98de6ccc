//! One product of a batch, or a piece of it, as engines read it.

use std::ops::Range;

use super::task::Task;
use super::{Matrices, Matrix, Region};
use crate::array::{Stored, each_width};
use crate::engine::Elements;

/// The operands of some rows and columns of D over some k, of one product of a batch. All indices count
/// from the first of them.
pub(super) struct Piece<'a> {
    matrices: &'a Matrices,
    batch: usize,
    rows: Range<usize>,
    columns: Range<usize>,
    ks: Range<usize>,
    /// The first block of scales.
    block: usize,
}

impl<'a> Piece<'a> {
    /// All of a product.
    pub(super) fn whole(matrices: &'a Matrices, batch: usize) -> Self {
        Self {
            matrices,
            batch,
            rows: 0..matrices.m(),
            columns: 0..matrices.n(),
            ks: 0..matrices.k(),
            block: 0,
        }
    }

    /// Some steps of a part of D that lies in one product of the batch.
    pub(super) fn of(task: &Task<'a>, region: &Region, steps: &Range<usize>) -> Self {
        let signature = task.unit.signature();
        Self {
            matrices: task.matrices,
            batch: region.batch.start,
            rows: region.rows.clone(),
            columns: region.columns.clone(),
            ks: steps.start * signature.k..steps.end * signature.k,
            block: steps.start * signature.scales(),
        }
    }

    /// Where an element of A lies.
    fn a(&self, i: usize, k: usize) -> usize {
        (self.matrices.a()).place(self.batch, self.rows.start + i, self.ks.start + k)
    }

    /// Where an element of B lies.
    fn b(&self, k: usize, j: usize) -> usize {
        (self.matrices.b()).place(self.batch, self.ks.start + k, self.columns.start + j)
    }

    /// Words from an element on, so many apart.
    fn copy<W: Stored>(matrix: &Matrix, from: usize, stride: usize, out: &mut [W]) {
        each_width!(matrix.words(), words => {
            if stride == 1 {
                let words = &words[from..from + out.len()];
                for (out, word) in out.iter_mut().zip(words) {
                    *out = W::stored(word.word());
                }
            } else {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = W::stored(words[from + index * stride].word());
                }
            }
        });
    }
}

impl Elements for Piece<'_> {
    fn m(&self) -> usize {
        self.rows.len()
    }

    fn n(&self) -> usize {
        self.columns.len()
    }

    fn k(&self) -> usize {
        self.ks.len()
    }

    fn a_row(&self, i: usize, k: usize, out: &mut [u64]) {
        let a = self.matrices.a();
        Self::copy(a, self.a(i, k), a.strides().column, out);
    }

    fn narrow_a_row(&self, i: usize, k: usize, out: &mut [u32]) {
        let a = self.matrices.a();
        Self::copy(a, self.a(i, k), a.strides().column, out);
    }

    fn narrow_b_row(&self, k: usize, j: usize, out: &mut [u32]) {
        let b = self.matrices.b();
        Self::copy(b, self.b(k, j), b.strides().column, out);
    }

    fn narrow_b_rows(
        &self,
        ks: Range<usize>,
        columns: Range<usize>,
        out: &mut [u32],
        stride: usize,
    ) {
        let b = self.matrices.b();
        let apart = b.strides();
        let first = self.b(ks.start, columns.start);
        let length = columns.len();
        each_width!(b.words(), words => {
            for (row, out) in out.chunks_mut(stride).take(ks.len()).enumerate() {
                let from = first + row * apart.row;
                let out = &mut out[..length];
                if apart.column == 1 {
                    for (out, word) in out.iter_mut().zip(&words[from..from + length]) {
                        *out = word.word() as u32;
                    }
                } else {
                    for (column, out) in out.iter_mut().enumerate() {
                        *out = words[from + column * apart.column].word() as u32;
                    }
                }
            }
        });
    }

    fn b_row(&self, k: usize, j: usize, out: &mut [u64]) {
        let b = self.matrices.b();
        Self::copy(b, self.b(k, j), b.strides().column, out);
    }

    fn b_column(&self, j: usize, k: usize, out: &mut [u64]) {
        let b = self.matrices.b();
        Self::copy(b, self.b(k, j), b.strides().row, out);
    }

    fn scale_a(&self, i: usize, block: usize) -> u64 {
        self.matrices.scale_a().map_or(0, |scale| {
            scale.at(self.batch, self.rows.start + i, self.block + block)
        })
    }

    fn scale_b(&self, block: usize, j: usize) -> u64 {
        self.matrices.scale_b().map_or(0, |scale| {
            scale.at(self.batch, self.block + block, self.columns.start + j)
        })
    }
}
