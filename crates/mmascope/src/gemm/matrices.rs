//! The operands of a matrix product: from arrays, checked, padded.

use crate::array::{Array, Casting};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::format::{Exact, Overflow, Rounding};

/// Row-major matrices of register words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrices {
    /// Rows of A, C and D.
    pub m: usize,
    /// Columns of B, C and D.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
    /// A, m × k.
    pub a: Vec<u64>,
    /// B, k × n.
    pub b: Vec<u64>,
    /// C, m × n; `None` is +0.
    pub c: Option<Vec<u64>>,
    /// Scales of A, m × k/block; empty when there are none.
    pub scale_a: Vec<u64>,
    /// Scales of B, k/block × n; empty when there are none.
    pub scale_b: Vec<u64>,
}

/// The same as arrays of files.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    /// A, M × K.
    pub a: &'a Array,
    /// B, K × N.
    pub b: &'a Array,
    /// C, M × N.
    pub c: Option<&'a Array>,
    /// Scales of A, M × K/block.
    pub scale_a: Option<&'a Array>,
    /// Scales of B, K/block × N.
    pub scale_b: Option<&'a Array>,
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
        let (m, k) = named("A", arrays.a.rows_and_columns())?;
        let (rows, n) = named("B", arrays.b.rows_and_columns())?;
        if rows != k {
            return Err(Error::Argument(format!(
                "A ({}) is {m} × {k} and B ({}) is {rows} × {n}: B must have {k} rows",
                arrays.a.name(),
                arrays.b.name()
            )));
        }
        let c = match arrays.c {
            None => None,
            Some(c) => {
                check_shape("C", c, m, n, "M × N")?;
                Some(named("C", c.words(&signature.c, casting))?)
            }
        };
        let scales = |name, array: Option<&Array>, other: usize, is_a: bool| {
            let Some(scale) = signature.scale else {
                return match array {
                    None => Ok(Vec::new()),
                    Some(array) => Err(Error::Argument(format!(
                        "{name} ({}): the instruction has no block scales",
                        array.name()
                    ))),
                };
            };
            let (format, block) = (scale.format, scale.block);
            let Some(array) = array else {
                return Err(Error::Argument(format!(
                    "{name} is missing: the instruction takes a {format} scale for every {block} k"
                )));
            };
            if k % block != 0 {
                return Err(Error::Argument(format!(
                    "K = {k}: every {block} k share a scale, so {block} must divide K"
                )));
            }
            if is_a {
                check_shape(name, array, other, k / block, "M × K/block")?;
            } else {
                check_shape(name, array, k / block, other, "K/block × N")?;
            }
            named(name, array.scale_words(&format))
        };
        Ok(Self {
            m,
            n,
            k,
            scale_a: scales("the scale of A (--scale-a)", arrays.scale_a, m, true)?,
            scale_b: scales("the scale of B (--scale-b)", arrays.scale_b, n, false)?,
            a: named("A", arrays.a.words(&signature.a, casting))?,
            b: named("B", arrays.b.words(&signature.b, casting))?,
            c,
        })
    }

    /// The same with K up to the next multiple of the instruction's: columns of +0 after A's, rows
    /// of +0 after B's, and scales of 1 for them.
    ///
    /// # Errors
    /// [`Error::Argument`] when the lengths do not fit each other, a scale block does not divide K,
    /// or the padded matrices do not fit the memory.
    pub fn padded(self, signature: &Signature) -> Result<Self> {
        self.check_lengths(signature)?;
        let (k, n) = (self.k, self.n);
        let padded = k.div_ceil(signature.k).checked_mul(signature.k);
        let padded = padded.ok_or_else(|| Error::Argument(format!("K = {k} is too large")))?;
        if padded == k {
            return Ok(self);
        }
        let one = signature.scale.map_or(0, |scale| {
            let one = Exact {
                negative: false,
                magnitude: 1,
                exponent: 0,
                sticky: false,
            };
            let code = scale.format.round(&one, Rounding::Rne, Overflow::Ieee);
            scale.format.to_register(code)
        });
        let (blocks, padded_blocks) = match signature.scale {
            Some(scale) => (k / scale.block, padded / scale.block),
            None => (0, 0),
        };
        Ok(Self {
            k: padded,
            a: wider(&self.a, k, padded, 0)?,
            b: longer(self.b, (padded - k).checked_mul(n), 0)?,
            scale_a: wider(&self.scale_a, blocks, padded_blocks, one)?,
            scale_b: longer(self.scale_b, (padded_blocks - blocks).checked_mul(n), one)?,
            ..self
        })
    }

    /// The number of elements of D.
    pub(super) fn outputs(&self) -> Result<usize> {
        let outputs = self.m.checked_mul(self.n);
        outputs.ok_or_else(|| Error::Argument(format!("D, {} × {}, is too large", self.m, self.n)))
    }

    /// Scales of one row of A.
    pub(super) fn blocks(&self, signature: &Signature) -> usize {
        signature.scale.map_or(0, |scale| self.k / scale.block)
    }

    /// An element of C.
    pub(super) fn c_at(&self, i: usize, j: usize) -> u64 {
        self.c.as_ref().map_or(0, |c| c[i * self.n + j])
    }

    /// Checks everything against a signature, K included.
    pub(super) fn check(&self, signature: &Signature) -> Result<()> {
        let (k, native) = (self.k, signature.k);
        if k % native != 0 {
            let below = k / native * native;
            let near = match below {
                0 => format!("{native}"),
                _ => format!("{below} and {}", below + native),
            };
            return Err(Error::Argument(format!(
                "K = {k} is no multiple of the instruction's {native}; the nearest: {near}. \
                 Padding (--pad) fills up with +0"
            )));
        }
        self.check_lengths(signature)
    }

    fn check_lengths(&self, signature: &Signature) -> Result<()> {
        let Self { m, n, k, .. } = *self;
        if m == 0 || n == 0 || k == 0 {
            return Err(Error::Argument(format!(
                "{m} × {n} × {k}: a matrix is empty"
            )));
        }
        if let Some(scale) = signature.scale.filter(|scale| k % scale.block != 0) {
            let block = scale.block;
            return Err(Error::Argument(format!(
                "K = {k}: every {block} k share a scale, so {block} must divide K"
            )));
        }
        let blocks = self.blocks(signature);
        let c = self.c.as_ref();
        let shapes = [
            ("A", Some(self.a.len()), m, k),
            ("B", Some(self.b.len()), k, n),
            ("C", c.map(Vec::len), m, n),
            ("the scale of A", Some(self.scale_a.len()), m, blocks),
            ("the scale of B", Some(self.scale_b.len()), blocks, n),
        ];
        for (name, length, rows, columns) in shapes {
            if let Some(length) = length
                && Some(length) != rows.checked_mul(columns)
            {
                return Err(Error::Argument(format!(
                    "{name} has {length} elements; {rows} × {columns} are needed"
                )));
            }
        }
        Ok(())
    }
}

/// The error of an array with the operand that it was given for in front.
fn named<T>(operand: &str, result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Argument(message) => Error::Argument(format!("{operand}: {message}")),
        other => other,
    })
}

fn check_shape(what: &str, array: &Array, rows: usize, columns: usize, words: &str) -> Result<()> {
    if array.shape() == [rows, columns] {
        return Ok(());
    }
    let name = array.name();
    Err(Error::Argument(format!(
        "{what} ({name}) has the shape {:?}; {words} = {rows} × {columns} is needed",
        array.shape()
    )))
}

/// Each row of `from` words, filled up to `to` words.
fn wider(matrix: &[u64], from: usize, to: usize, fill: u64) -> Result<Vec<u64>> {
    let mut out = Vec::new();
    if from == 0 {
        return Ok(out);
    }
    let length = (matrix.len() / from).checked_mul(to);
    reserve(&mut out, length)?;
    for row in matrix.chunks_exact(from) {
        out.extend_from_slice(row);
        out.extend(std::iter::repeat_n(fill, to - from));
    }
    Ok(out)
}

/// The matrix with so many more words.
fn longer(mut matrix: Vec<u64>, more: Option<usize>, fill: u64) -> Result<Vec<u64>> {
    reserve(&mut matrix, more)?;
    matrix.extend(std::iter::repeat_n(fill, more.unwrap_or(0)));
    Ok(matrix)
}

fn reserve(matrix: &mut Vec<u64>, more: Option<usize>) -> Result<()> {
    let reserved = more.is_some_and(|more| matrix.try_reserve_exact(more).is_ok());
    reserved
        .then_some(())
        .ok_or_else(|| Error::Argument("the padded matrices do not fit the memory".into()))
}
