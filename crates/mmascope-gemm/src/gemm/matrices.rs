//! The operands of a matrix product, checked against each other and padded.

use super::matrix::{Matrix, shape_text};
use crate::dpa::{Scale, Signature};
use crate::error::{Error, Result};
use crate::format::{Exact, Format, Overflow, Rounding};

/// The operands of D = C + A·B, or of a batch of such products. An operand of one matrix takes
/// part in every product of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrices {
    a: Matrix,
    b: Matrix,
    c: Option<Matrix>,
    scales: Option<(Matrix, Matrix)>,
    batch: usize,
    /// The operands count their products, even when there is one.
    pub(super) is_batch: bool,
}

impl Matrices {
    /// A, m × k, and B, k × n. C is +0 until it is given.
    ///
    /// # Errors
    /// [`Error::Argument`] when they do not fit each other or are empty.
    pub fn new(a: Matrix, b: Matrix) -> Result<Self> {
        let (m, k, n) = (a.rows(), a.columns(), b.columns());
        if b.rows() != k {
            return Err(Error::Argument(format!(
                "A is {m} × {k} and B is {} × {n}: B must have {k} rows",
                b.rows()
            )));
        }
        if m == 0 || n == 0 || k == 0 || a.batch() == 0 || b.batch() == 0 {
            return Err(Error::Argument(format!(
                "{m} × {n} × {k}: a matrix is empty"
            )));
        }
        let batch = a.batch().max(b.batch());
        let out = Self {
            a,
            b,
            c: None,
            scales: None,
            batch,
            is_batch: batch > 1,
        };
        out.check_shape("A", &out.a, m, k)?;
        out.check_shape("B", &out.b, k, n)?;
        m.checked_mul(n)
            .and_then(|size| size.checked_mul(batch))
            .ok_or_else(|| Error::Argument(format!("D, {m} × {n}, is too large")))?;
        Ok(out)
    }

    /// With C, m × n.
    ///
    /// # Errors
    /// [`Error::Argument`] when its shape does not fit.
    pub fn with_c(mut self, c: Matrix) -> Result<Self> {
        self.check_shape("C", &c, self.m(), self.n())?;
        self.c = Some(c);
        Ok(self)
    }

    /// With C as it is where there is none: +0.
    #[must_use]
    pub fn without_c(self) -> Self {
        Self { c: None, ..self }
    }

    /// With block scales of A, m × k/block, and of B, k/block × n.
    ///
    /// # Errors
    /// [`Error::Argument`] when their shapes do not fit each other.
    pub fn with_scales(mut self, scale_a: Matrix, scale_b: Matrix) -> Result<Self> {
        self.check_shape("the scale of A", &scale_a, self.m(), scale_a.columns())?;
        self.check_shape("the scale of B", &scale_b, scale_a.columns(), self.n())?;
        self.scales = Some((scale_a, scale_b));
        Ok(self)
    }

    /// The same with K up to the next multiple of the instruction's: columns of +0 after A's, rows
    /// of +0 after B's, and scales of 1 for them.
    ///
    /// # Errors
    /// [`Error::Argument`] when the operands do not fit the signature, a scale block does not
    /// divide K, or the padded matrices do not fit the memory.
    pub fn padded(self, signature: &Signature) -> Result<Self> {
        self.check_scales(signature)?;
        let (m, n, k) = (self.m(), self.n(), self.k());
        let padded = k.div_ceil(signature.k).checked_mul(signature.k);
        let padded = padded.ok_or_else(|| Error::Argument(format!("K = {k} is too large")))?;
        if padded == k {
            return Ok(self);
        }
        let scales = match (signature.scale, &self.scales) {
            (Some(scale), Some((scale_a, scale_b))) => {
                let format = scale.format;
                let one = format.round(&Exact::ONE, Rounding::Rne, Overflow::Ieee);
                let one = format.to_register(one);
                let blocks = padded / scale.block;
                Some((
                    scale_a.grown(m, blocks, one)?,
                    scale_b.grown(blocks, n, one)?,
                ))
            }
            _ => None,
        };
        Ok(Self {
            a: self.a.grown(m, padded, 0)?,
            b: self.b.grown(padded, n, 0)?,
            scales,
            ..self
        })
    }

    /// The same with the steps of K in another order, and with their scales: `step` k and `blocks` scales each.
    pub(super) fn in_order(&self, steps: &[usize], step: usize, blocks: usize) -> Result<Self> {
        let scales = match &self.scales {
            Some((a, b)) => Some((
                a.with_columns_in_order(steps, blocks)?,
                b.with_rows_in_order(steps, blocks)?,
            )),
            None => None,
        };
        Ok(Self {
            a: self.a.with_columns_in_order(steps, step)?,
            b: self.b.with_rows_in_order(steps, step)?,
            c: self.c.clone(),
            scales,
            ..*self
        })
    }

    /// How many products the batch has; 1 without one.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Rows of A, C and D.
    #[must_use]
    pub fn m(&self) -> usize {
        self.a.rows()
    }

    /// Columns of B, C and D.
    #[must_use]
    pub fn n(&self) -> usize {
        self.b.columns()
    }

    /// Columns of A and rows of B.
    #[must_use]
    pub fn k(&self) -> usize {
        self.a.columns()
    }

    /// A, m × k.
    #[must_use]
    pub fn a(&self) -> &Matrix {
        &self.a
    }

    /// B, k × n.
    #[must_use]
    pub fn b(&self) -> &Matrix {
        &self.b
    }

    /// C, m × n; `None` is +0.
    #[must_use]
    pub fn c(&self) -> Option<&Matrix> {
        self.c.as_ref()
    }

    /// Scales of A, m × k/block, if there are any.
    #[must_use]
    pub fn scale_a(&self) -> Option<&Matrix> {
        self.scales.as_ref().map(|(scale_a, _)| scale_a)
    }

    /// Scales of B, k/block × n, if there are any.
    #[must_use]
    pub fn scale_b(&self) -> Option<&Matrix> {
        self.scales.as_ref().map(|(_, scale_b)| scale_b)
    }

    /// An element of C.
    pub(super) fn c_at(&self, batch: usize, i: usize, j: usize) -> u64 {
        self.c.as_ref().map_or(0, |c| c.at(batch, i, j))
    }

    /// The shape of D: m, n, and before them, where A or B is a batch, its length.
    #[must_use]
    pub fn d_shape(&self) -> Vec<usize> {
        let batch = self.is_batch.then_some(self.batch);
        batch.into_iter().chain([self.m(), self.n()]).collect()
    }

    /// Elements of D in all products of the batch.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.batch * self.m() * self.n() // checked in `new`
    }

    /// Checks everything against a signature, K included.
    pub(super) fn check(&self, signature: &Signature) -> Result<()> {
        let (k, native) = (self.k(), signature.k);
        if k % native != 0 {
            let below = k / native * native;
            let near = match below {
                0 => format!("{native}"),
                _ => format!("{below} and {}", below + native),
            };
            let help = match signature.scale {
                Some(Scale { block, .. }) if k % block != 0 => format!(
                    "{block} k share a scale and {block} does not divide {k}: padding is no help"
                ),
                _ => "Padding fills up with +0".to_owned(),
            };
            return Err(Error::Argument(format!(
                "K = {k} is no multiple of the instruction's {native}; the nearest: {near}. {help}"
            )));
        }
        self.check_scales(signature)?;
        let scale = signature.scale.map(|scale| scale.format);
        for (name, matrix, format) in [
            ("A", Some(&self.a), Some(signature.a)),
            ("B", Some(&self.b), Some(signature.b)),
            ("C", self.c(), Some(signature.c)),
            ("the scale of A", self.scale_a(), scale),
            ("the scale of B", self.scale_b(), scale),
        ] {
            if let (Some(matrix), Some(format)) = (matrix, format) {
                check_words(name, matrix, &format)?;
            }
        }
        Ok(())
    }

    /// Scales are there when the signature has them, and fit it.
    fn check_scales(&self, signature: &Signature) -> Result<()> {
        let k = self.k();
        match (signature.scale, &self.scales) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(Error::Argument(
                "the instruction has no block scales".into(),
            )),
            (Some(scale), None) => Err(scales_missing("the block scales", &scale)),
            (Some(scale), Some((scale_a, _))) => {
                let block = scale.block;
                if !k.is_multiple_of(block) {
                    return Err(block_does_not_divide(k, block));
                }
                self.check_shape("the scale of A", scale_a, self.m(), k / block)
            }
        }
    }

    fn check_shape(&self, name: &str, matrix: &Matrix, rows: usize, columns: usize) -> Result<()> {
        let batch = matrix.batch();
        let fits = batch == 1 || batch == self.batch;
        if fits && (matrix.rows(), matrix.columns()) == (rows, columns) {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "{name} is {}; {} is needed",
            shape_text(batch, matrix.rows(), matrix.columns()),
            shape_text(self.batch, rows, columns)
        )))
    }
}

pub(super) fn scales_missing(name: &str, scale: &crate::dpa::Scale) -> Error {
    let (format, block) = (scale.format, scale.block);
    Error::Argument(format!(
        "{name} is missing: the instruction takes a {format} scale for every {block} k"
    ))
}

pub(super) fn block_does_not_divide(k: usize, block: usize) -> Error {
    Error::Argument(format!(
        "K = {k}: every {block} k share a scale, so {block} must divide K"
    ))
}

/// Checks that every element is a word of the format's register; what lies between elements does
/// not matter.
fn check_words(name: &str, matrix: &Matrix, format: &Format) -> Result<()> {
    let widest = format.widest_word();
    if matrix.words().width() <= format.register.bits || matrix.words().largest() <= widest {
        return Ok(());
    }
    match matrix.iter().enumerate().find(|(_, word)| *word > widest) {
        None => Ok(()),
        Some((index, word)) => Err(Error::Argument(format!(
            "element [{}, {}] of {name} is {word:x}, wider than a word of {format} (at most \
             {widest:x})",
            index / matrix.columns() % matrix.rows(),
            index % matrix.columns()
        ))),
    }
}
