//! A whole product of matrices in one call, with a kernel at a given level.

use super::{Elements, Kernel};
use crate::dpa::{Modifiers, Signature};
use crate::error::Result;
use crate::gemm::{Matrices, Watch};

/// Matrices as a kernel reads them.
struct Words<'a> {
    matrices: &'a Matrices,
    blocks: usize,
}

impl<'a> Words<'a> {
    fn new(matrices: &'a Matrices, signature: &Signature) -> Self {
        let blocks = matrices.blocks(signature);
        Self { matrices, blocks }
    }
}

impl Elements for Words<'_> {
    fn m(&self) -> usize {
        self.matrices.m
    }

    fn n(&self) -> usize {
        self.matrices.n
    }

    fn k(&self) -> usize {
        self.matrices.k
    }

    fn a_row(&self, i: usize, k: usize, out: &mut [u64]) {
        let from = i * self.matrices.k + k;
        out.copy_from_slice(&self.matrices.a[from..from + out.len()]);
    }

    fn b_row(&self, k: usize, j: usize, out: &mut [u64]) {
        let from = k * self.matrices.n + j;
        out.copy_from_slice(&self.matrices.b[from..from + out.len()]);
    }

    fn scale_a(&self, i: usize, block: usize) -> u64 {
        self.matrices.scale_a[i * self.blocks + block]
    }

    fn scale_b(&self, block: usize, j: usize) -> u64 {
        self.matrices.scale_b[block * self.matrices.n + j]
    }
}

impl Kernel {
    /// D, m × n, row-major, by this kernel alone: what [`crate::gemm::chain`] gives. `None` when
    /// the operands' exponents leave nothing for it, so that the reference would do all.
    ///
    /// # Errors
    /// As [`crate::gemm::chain`].
    pub fn chain(
        &self,
        matrices: &Matrices,
        modifiers: &Modifiers,
        watch: &Watch<'_>,
    ) -> Result<Option<Vec<u64>>> {
        let signature = self.unit.signature();
        matrices.check(signature)?;
        let words = Words::new(matrices, signature);
        let Some(operand) = self.pack(&words, modifiers) else {
            return Ok(None);
        };
        let mut d = match &matrices.c {
            Some(c) => c.clone(),
            None => vec![0; matrices.m * matrices.n],
        };
        let steps = 0..matrices.k / signature.k;
        self.advance(&operand, &words, modifiers, steps, true, &mut d, watch)?;
        Ok(Some(d))
    }
}
