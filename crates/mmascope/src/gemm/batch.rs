//! One product of a batch as kernels read it.

use std::ops::Range;

use super::{Matrices, Matrix};
use crate::array::{Stored, each_width};
use crate::kernel::Elements;

/// The operands of one product of a batch.
pub(super) struct Batch<'a> {
    pub(super) matrices: &'a Matrices,
    pub(super) batch: usize,
}

impl Batch<'_> {
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

impl Elements for Batch<'_> {
    fn m(&self) -> usize {
        self.matrices.m()
    }

    fn n(&self) -> usize {
        self.matrices.n()
    }

    fn k(&self) -> usize {
        self.matrices.k()
    }

    fn a_row(&self, i: usize, k: usize, out: &mut [u64]) {
        let a = self.matrices.a();
        Self::copy(a, a.place(self.batch, i, k), a.strides().column, out);
    }

    fn narrow_a_row(&self, i: usize, k: usize, out: &mut [u32]) {
        let a = self.matrices.a();
        Self::copy(a, a.place(self.batch, i, k), a.strides().column, out);
    }

    fn narrow_b_row(&self, k: usize, j: usize, out: &mut [u32]) {
        let b = self.matrices.b();
        Self::copy(b, b.place(self.batch, k, j), b.strides().column, out);
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
        let first = b.place(self.batch, ks.start, columns.start);
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
        Self::copy(b, b.place(self.batch, k, j), b.strides().column, out);
    }

    fn b_column(&self, j: usize, k: usize, out: &mut [u64]) {
        let b = self.matrices.b();
        Self::copy(b, b.place(self.batch, k, j), b.strides().row, out);
    }

    fn scale_a(&self, i: usize, block: usize) -> u64 {
        self.matrices
            .scale_a()
            .map_or(0, |scale| scale.at(self.batch, i, block))
    }

    fn scale_b(&self, block: usize, j: usize) -> u64 {
        self.matrices
            .scale_b()
            .map_or(0, |scale| scale.at(self.batch, block, j))
    }
}
