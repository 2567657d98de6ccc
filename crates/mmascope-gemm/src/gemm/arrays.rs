//! Makes the operands of a matrix product from arrays: a matrix or a batch each, transposed or not.

use super::matrices::{block_does_not_divide, scales_missing};
use super::{Matrices, Matrix};
use crate::array::{Array, Casting, Stack, Words};
use crate::dpa::Signature;
use crate::error::{Error, Result, named};

/// The operands of D = C + A·B as arrays of files. A and B may be batches (three dimensions), one of
/// them also a single matrix, which then takes part in every product, as in `numpy.matmul`; so may C
/// and the scales.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    /// A, M × K; K × M when it is transposed.
    pub a: &'a Array,
    /// B, K × N; N × K when it is transposed.
    pub b: &'a Array,
    /// C, M × N.
    pub c: Option<&'a Array>,
    /// Scales of A, M × K/block, however A lies.
    pub scale_a: Option<&'a Array>,
    /// Scales of B, K/block × N, however B lies.
    pub scale_b: Option<&'a Array>,
    /// The array of A holds columns of A as rows.
    pub transpose_a: bool,
    /// The array of B holds columns of B as rows.
    pub transpose_b: bool,
}

/// What the arrays beside A and B have to fit.
struct Wanted {
    /// Products; `None` when neither A nor B counts them.
    batch: Option<usize>,
    m: usize,
    n: usize,
    k: usize,
}

impl Matrices {
    /// The operands of an instruction of that signature. K may still need [`Matrices::padded`].
    ///
    /// # Errors
    /// [`Error::Argument`] naming the array whose shape or elements do not fit.
    pub fn from_arrays(
        arrays: &Arrays<'_>,
        signature: &Signature,
        casting: &Casting,
    ) -> Result<Self> {
        let wanted = wanted(arrays)?;
        let Wanted { m, n, k, .. } = wanted;
        let scale = |name: &str, array: Option<&Array>, (rows, columns), words: &str| {
            let Some(scale) = signature.scale else {
                return match array {
                    None => Ok(None),
                    Some(array) => Err(Error::Argument(format!(
                        "{name} ({}): the instruction has no block scales",
                        array.name()
                    ))),
                };
            };
            let array = array.ok_or_else(|| scales_missing(name, &scale))?;
            if k % scale.block != 0 {
                return Err(block_does_not_divide(k, scale.block));
            }
            let shape = check(name, array, &wanted, (rows, columns), words)?;
            matrix(&shape, named(name, array.scale_words(&scale.format))?).map(Some)
        };
        let blocks = k / signature.scale.map_or(1, |scale| scale.block);
        let scale_a = scale("the scale of A", arrays.scale_a, (m, blocks), "M × K/block")?;
        let scale_b = scale("the scale of B", arrays.scale_b, (blocks, n), "K/block × N")?;
        let c = arrays
            .c
            .map(|c| Ok((c, check("C", c, &wanted, (m, n), "M × N")?)))
            .transpose()?;
        let operand = |name: &str, array: &Array, format, transpose| {
            let words = named(name, array.words(format, casting))?;
            let matrix = matrix(&array.stack()?, words)?;
            Ok(if transpose {
                matrix.transposed()
            } else {
                matrix
            })
        };
        let mut out = Self::new(
            operand("A", arrays.a, &signature.a, arrays.transpose_a)?,
            operand("B", arrays.b, &signature.b, arrays.transpose_b)?,
        )?;
        out.is_batch = wanted.batch.is_some();
        if let Some((c, shape)) = c {
            let words = named("C", c.words(&signature.c, casting))?;
            out = out.with_c(matrix(&shape, words)?)?;
        }
        match (scale_a, scale_b) {
            (Some(scale_a), Some(scale_b)) => out.with_scales(scale_a, scale_b),
            _ => Ok(out),
        }
    }
}

/// The shape of the product, where A and B fit each other.
fn wanted(arrays: &Arrays<'_>) -> Result<Wanted> {
    let a = operand("A", arrays.a, arrays.transpose_a)?;
    let b = operand("B", arrays.b, arrays.transpose_b)?;
    let transposed = |is: bool| if is { ", transposed," } else { "" };
    if b.rows != a.columns {
        return Err(Error::Argument(format!(
            "A ({}){} is {} × {} and B ({}){} is {} × {}: B must have {} rows",
            arrays.a.name(),
            transposed(arrays.transpose_a),
            a.rows,
            a.columns,
            arrays.b.name(),
            transposed(arrays.transpose_b),
            b.rows,
            b.columns,
            a.columns
        )));
    }
    let batch = match (a.batch, b.batch) {
        (Some(1), other @ Some(_)) => other,
        (Some(a), Some(b)) if b != 1 && a != b => {
            return Err(Error::Argument(format!(
                "A ({}) is a batch of {a} matrices and B ({}) one of {b}: both must have as many, or \
                 one of them a single matrix",
                arrays.a.name(),
                arrays.b.name()
            )));
        }
        (a, b) => a.or(b),
    };
    Ok(Wanted {
        batch,
        m: a.rows,
        n: b.columns,
        k: a.columns,
    })
}

/// The matrices of A or B as they take part in the product.
fn operand(name: &str, array: &Array, transpose: bool) -> Result<Stack> {
    let stack = named(name, array.stack())?;
    Ok(match transpose {
        false => stack,
        true => Stack {
            rows: stack.columns,
            columns: stack.rows,
            ..stack
        },
    })
}

/// The matrices of another array, of which every product has one of its own or all share one.
fn check(
    what: &str,
    array: &Array,
    wanted: &Wanted,
    (rows, columns): (usize, usize),
    words: &str,
) -> Result<Stack> {
    let batch = match (array.shape(), wanted.batch) {
        ([_, _], _) => Some(None),
        ([one @ 1, _, _], Some(_)) => Some(Some(*one)),
        ([count, _, _], Some(batch)) if *count == batch => Some(Some(batch)),
        _ => None,
    };
    let stack = batch.map(|batch| Stack {
        batch,
        rows,
        columns,
    });
    if let Some(stack) = stack.filter(|_| array.shape().ends_with(&[rows, columns])) {
        return Ok(stack);
    }
    let or_batch = wanted.batch.map_or(String::new(), |batch| {
        format!(", or {batch} × {rows} × {columns},")
    });
    Err(Error::Argument(format!(
        "{what} ({}) has the shape {:?}; {words} = {rows} × {columns}{or_batch} is needed",
        array.name(),
        array.shape()
    )))
}

fn matrix(stack: &Stack, words: Words) -> Result<Matrix> {
    Matrix::batched(stack.batch.unwrap_or(1), stack.rows, stack.columns, words)
}
