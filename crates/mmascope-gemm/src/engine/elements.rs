//! Tells an engine where operand words lie.

use std::ops::Range;

/// The operand words of one product, or of some rows, columns and steps of it, as the instruction's formats have
/// them in registers. All indices count from the first row, column and k that are there.
pub trait Elements: Sync {
    /// Rows of A.
    fn m(&self) -> usize;
    /// Columns of B.
    fn n(&self) -> usize;
    /// Columns of A and rows of B.
    fn k(&self) -> usize;
    /// Fills `out` with consecutive words of row `i` of A, from column `k` on.
    fn a_row(&self, i: usize, k: usize, out: &mut [u64]);
    /// The same, the lower 32 bits of each.
    fn narrow_a_row(&self, i: usize, k: usize, out: &mut [u32]);
    /// Fills `out` with consecutive words of row `k` of B, from column `j` on, the lower 32 bits of each.
    fn narrow_b_row(&self, k: usize, j: usize, out: &mut [u32]);
    /// The same of the rows `ks`, each at its multiple of `stride` in `out`.
    fn narrow_b_rows(
        &self,
        ks: Range<usize>,
        columns: Range<usize>,
        out: &mut [u32],
        stride: usize,
    );
    /// Fills `out` with consecutive words of row `k` of B, from column `j` on.
    fn b_row(&self, k: usize, j: usize, out: &mut [u64]);
    /// Fills `out` with consecutive words of column `j` of B, from row `k` on.
    fn b_column(&self, j: usize, k: usize, out: &mut [u64]) {
        for (offset, word) in out.iter_mut().enumerate() {
            self.b_row(k + offset, j, std::slice::from_mut(word));
        }
    }
    /// The scale of a block of k in row `i` of A; 0 when the unit has no block scales.
    fn scale_a(&self, i: usize, block: usize) -> u64;
    /// The scale of a block of k in column `j` of B; 0 when the unit has no block scales.
    fn scale_b(&self, block: usize, j: usize) -> u64;
}
