//! The matrices on which errors are measured: from files, or generated.

use rayon::prelude::*;

use crate::array::{Array, Casting, Words};
use crate::cases::{Distribution, GeneratedOperand};
use crate::dpa::Signature;
use crate::error::{Error, Result, named};
use crate::format::{Exact, F64, Format, Overflow, Rounding};
use crate::gemm::{Matrices, Matrix};

/// A, m × k, and B, k × n, as numbers: every unit gets them rounded to its own formats. C is +0
/// unless it is asked for, and block scales are 1.
#[derive(Clone, Debug)]
pub struct Data {
    source: Source,
    shape: [usize; 3],
    /// Distribution and seed of C.
    c: Option<(Distribution, u64)>,
    /// How numbers from files are rounded to operands.
    casting: Casting,
}

#[derive(Clone, Debug)]
enum Source {
    Generated {
        distribution: Distribution,
        seed: u64,
    },
    Given(Box<[Array; 2]>),
}

impl Data {
    /// Generated matrices of the shape `[m, n, k]`.
    ///
    /// # Errors
    /// [`Error::Argument`] when a length is 0 or above 2^24.
    pub fn generated(distribution: Distribution, seed: u64, shape: [usize; 3]) -> Result<Self> {
        if shape.iter().any(|length| !(1..=1 << 24).contains(length)) {
            let [m, n, k] = shape;
            return Err(Error::Argument(format!(
                "shape {m}x{n}x{k}: every length must be from 1 to {}",
                1 << 24
            )));
        }
        let source = Source::Generated { distribution, seed };
        Ok(Self {
            source,
            shape,
            c: None,
            casting: Casting::default(),
        })
    }

    /// Matrices of files.
    ///
    /// # Errors
    /// [`Error::Argument`] when they are no matrices or do not fit each other.
    pub fn given(a: Array, b: Array) -> Result<Self> {
        let (m, k) = named("A", a.rows_and_columns())?;
        let (rows, n) = named("B", b.rows_and_columns())?;
        if rows != k {
            return Err(Error::Argument(format!(
                "A ({}) is {m} × {k} and B ({}) is {rows} × {n}: B must have {k} rows",
                a.name(),
                b.name()
            )));
        }
        let source = Source::Given(Box::new([a, b]));
        let shape = [m, n, k];
        Ok(Self {
            source,
            shape,
            c: None,
            casting: Casting::default(),
        })
    }

    /// With a generated C, m × n.
    #[must_use]
    pub fn with_c(mut self, distribution: Distribution, seed: u64) -> Self {
        self.c = Some((distribution, seed));
        self
    }

    /// With numbers of files beyond an operand's range clamped to its largest one, instead of an error.
    #[must_use]
    pub fn saturating(mut self) -> Self {
        self.casting.saturate = true;
        self
    }

    /// Whether there is memory for the operands over the first k products, before any work is done.
    pub(super) fn check_memory(&self, k: usize) -> Result<()> {
        let [m, n, _] = self.shape;
        for (name, rows, columns) in [("A", m, k), ("B", k, n), ("D", m, n)] {
            reserved(name, rows, columns)?;
        }
        Ok(())
    }

    /// Rows of A.
    #[must_use]
    pub fn m(&self) -> usize {
        self.shape[0]
    }

    /// Columns of B.
    #[must_use]
    pub fn n(&self) -> usize {
        self.shape[1]
    }

    /// Columns of A.
    #[must_use]
    pub fn k(&self) -> usize {
        self.shape[2]
    }

    /// The operands of a unit over the first k products.
    ///
    /// # Errors
    /// [`Error::Argument`] when k is too large or a number of a file does not fit its format.
    pub fn matrices(&self, signature: &Signature, k: usize) -> Result<Matrices> {
        let [m, n, all] = self.shape;
        if k > all {
            return Err(Error::Argument(format!("K = {k}: the data have {all}")));
        }
        let (a, b) = match &self.source {
            Source::Generated { distribution, seed } => {
                let of = |format: &Format, operand, rows, columns| {
                    generated(distribution, *seed, format, operand, (rows, columns))
                };
                (
                    of(&signature.a, GeneratedOperand::A, m, k)?,
                    of(&signature.b, GeneratedOperand::B, k, n)?,
                )
            }
            Source::Given(given) => {
                let [a, b] = &**given;
                let a = named("A", a.words(&signature.a, &self.casting))?;
                let b = named("B", b.words(&signature.b, &self.casting))?;
                (part(&a, (m, k), all)?, part(&b, (k, n), n)?)
            }
        };
        self.complete(signature, Matrices::new(a, b)?)
    }

    /// With C and block scales.
    fn complete(&self, signature: &Signature, mut matrices: Matrices) -> Result<Matrices> {
        let ([m, n, _], k) = (self.shape, matrices.k());
        if let Some((distribution, seed)) = &self.c {
            let c = generated(
                distribution,
                *seed,
                &signature.c,
                GeneratedOperand::C,
                (m, n),
            )?;
            matrices = matrices.with_c(c)?;
        }
        let Some(scale) = signature.scale else {
            return Ok(matrices);
        };
        let code = scale
            .format
            .round(&Exact::ONE, Rounding::Rne, Overflow::Ieee);
        let word = scale.format.to_register(code);
        let blocks = k / scale.block;
        let ones = |rows: usize, columns: usize| {
            let words = Words::filled(scale.format.register.bits, rows * columns, word)?;
            Matrix::row_major(rows, columns, words)
        };
        matrices.with_scales(ones(m, blocks)?, ones(blocks, n)?)
    }
}

impl Data {
    /// The numbers of A and of B over the first k products, row by row, as f64.
    ///
    /// # Errors
    /// As [`Data::matrices`].
    pub(super) fn numbers(&self, k: usize) -> Result<[Vec<f64>; 2]> {
        let [m, n, all] = self.shape;
        let [a, b] = match &self.source {
            Source::Generated { distribution, seed } => {
                let of = |operand, shape| generated(distribution, *seed, &F64, operand, shape);
                [
                    of(GeneratedOperand::A, (m, k))?,
                    of(GeneratedOperand::B, (k, n))?,
                ]
            }
            Source::Given(given) => {
                let [a, b] = &**given;
                let casting = Casting::default();
                [
                    part(&named("A", a.words(&F64, &casting))?, (m, k), all)?,
                    part(&named("B", b.words(&F64, &casting))?, (k, n), n)?,
                ]
            }
        };
        Ok([a, b].map(|matrix| matrix.iter().map(f64::from_bits).collect()))
    }

    /// The same data with these words as A and B, which are row-major over the first k products.
    pub(super) fn with_words(
        &self,
        signature: &Signature,
        k: usize,
        [a, b]: [Vec<u64>; 2],
    ) -> Result<Matrices> {
        let [m, n, _] = self.shape;
        let a = Matrix::row_major(m, k, Words::of(&signature.a, a)?)?;
        let b = Matrix::row_major(k, n, Words::of(&signature.b, b)?)?;
        self.complete(signature, Matrices::new(a, b)?)
    }
}

/// Memory for so many words.
fn reserved(name: &str, rows: usize, columns: usize) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    let reserved = rows
        .checked_mul(columns)
        .map(|count| words.try_reserve_exact(count));
    match reserved {
        Some(Ok(())) => Ok(words),
        _ => Err(Error::Argument(format!(
            "{name}, {rows} × {columns}, does not fit the memory"
        ))),
    }
}

fn generated(
    distribution: &Distribution,
    seed: u64,
    format: &Format,
    operand: GeneratedOperand,
    (rows, columns): (usize, usize),
) -> Result<Matrix> {
    let code = distribution.codes(format, operand, seed)?;
    let mut words = reserved(&format!("{operand:?}"), rows, columns)?;
    (0..rows * columns)
        .into_par_iter()
        .map(|index| {
            let (i, j) = ((index / columns) as u32, (index % columns) as u32);
            format.to_register(code(i, j))
        })
        .collect_into_vec(&mut words);
    Matrix::row_major(rows, columns, Words::of(format, words)?)
}

/// The first rows and columns of a row-major matrix of rows of `length` words.
fn part(words: &Words, (rows, columns): (usize, usize), length: usize) -> Result<Matrix> {
    let mut out = Words::with_capacity(words.width(), rows * columns)?;
    for i in 0..rows {
        for j in 0..columns {
            out.push(words.get(i * length + j));
        }
    }
    Matrix::row_major(rows, columns, out)
}
