//! Computes independent dot products by the engine, as the diagonals of square products.

use super::{Matrices, Matrix, Product, Watch};
use crate::array::Words;
use crate::dpa::{Modifiers, Operands, Unit};
use crate::error::Result;
use crate::format::Format;

/// Rows and columns of a square: enough that every lane of a kernel gets some of the diagonal.
const SIDE: usize = 16;

/// The results of many dot products of one unit, as [`Unit::dot`] gives them, through the engine
/// of matrix products: sixteen at a time are rows, columns and diagonal of a square product.
///
/// # Errors
/// As [`Unit::dot`]; [`Error::Cancelled`](crate::Error::Cancelled).
pub fn dots(
    unit: &Unit,
    operands: &[Operands<'_>],
    modifiers: &Modifiers,
    watch: &Watch<'_>,
) -> Result<Vec<u64>> {
    if operands.is_empty() {
        return Ok(Vec::new());
    }
    let signature = unit.signature();
    for one in operands {
        one.check(signature)?;
    }
    let squares = operands.len().div_ceil(SIDE);
    // Rows of A, or columns of B, of all squares; what is missing in the last one is +0.
    let lines = |of: &dyn Fn(&Operands<'_>) -> Vec<u64>, length: usize, format: &Format| {
        let missing = squares * SIDE - operands.len();
        let zeros = std::iter::repeat_n(0, missing * length);
        let words = operands.iter().flat_map(of).chain(zeros);
        Matrix::batched(squares, SIDE, length, Words::of(format, words)?)
    };
    let k = signature.k;
    let a = lines(&|one| one.a.to_vec(), k, &signature.a)?;
    let b = lines(&|one| one.b.to_vec(), k, &signature.b)?.transposed();
    let c = lines(&|one| vec![one.c; SIDE], SIDE, &signature.c)?;
    let mut matrices = Matrices::new(a, b)?.with_c(c)?;
    if let Some(scale) = signature.scale {
        let blocks = signature.scales();
        matrices = matrices.with_scales(
            lines(&|one| one.scale_a.to_vec(), blocks, &scale.format)?,
            lines(&|one| one.scale_b.to_vec(), blocks, &scale.format)?.transposed(),
        )?;
    }
    let product = Product::new(unit, &matrices, *modifiers)?;
    let mut d = product.c(product.whole())?;
    product.advance(0..1, true, &mut d, watch)?;
    let place = |index: usize| (index / SIDE * SIDE + index % SIDE) * SIDE + index % SIDE;
    Ok((0..operands.len())
        .map(|index| d.words().get(place(index)))
        .collect())
}
