//! Makes software scales from the data, as the caller of a GPU kernel would.

use super::Data;
use crate::array::Words;
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::format::{Conversion, F32, F64, Format, Overflow, Rounding};
use crate::gemm::schedule::{Promotion, SoftwareScale};
use crate::gemm::{Matrices, Matrix, SoftwareScales};

/// A matrix of rows × columns, row by row, cut into blocks.
struct Blocks<'a> {
    numbers: &'a [f64],
    columns: usize,
    /// Rows and columns of a block.
    block: [usize; 2],
}

impl Data {
    /// The operands over the first k products in units of software scales, and the scales.
    ///
    /// A block's scale is its largest magnitude divided by the format's largest number, rounded to
    /// f32; 1 for a block of zeros. Every number is divided by its block's scale (in f64) and rounded
    /// to nearest even, at most the format's largest. A block has `scale.rows` rows of A, or
    /// `scale.columns` columns of B, and the products of one promotion.
    ///
    /// # Errors
    /// As [`Data::matrices`]; [`Error::Argument`] when the promotion is neither to f32 nor to f64.
    pub fn scaled(
        &self,
        signature: &Signature,
        k: usize,
        promotion: &Promotion,
        scale: SoftwareScale,
    ) -> Result<(Matrices, SoftwareScales)> {
        let format = promotion.scalar.format();
        if ![F32, F64].contains(&format) {
            return Err(Error::Argument(format!(
                "the schedule: scale= with {}: the scales that are made here are f32 numbers; f32 and \
                 f64 are possible",
                format.name
            )));
        }
        let along_k = promotion.steps.saturating_mul(signature.k);
        let [a, b] = self.numbers(k)?;
        let a = Blocks {
            numbers: &a,
            columns: k,
            block: [scale.rows, along_k],
        };
        let b = Blocks {
            numbers: &b,
            columns: self.n(),
            block: [along_k, scale.columns],
        };
        let (of_a, of_b) = (a.scales(&signature.a), b.scales(&signature.b));
        let words = [a.words(&of_a, &signature.a), b.words(&of_b, &signature.b)];
        let scales = SoftwareScales {
            a: a.matrix(&of_a, &format)?,
            b: b.matrix(&of_b, &format)?,
        };
        Ok((self.with_words(signature, k, words)?, scales))
    }
}

impl Blocks<'_> {
    fn rows(&self) -> usize {
        self.numbers.len() / self.columns
    }

    /// Rows and columns of blocks.
    fn counts(&self) -> [usize; 2] {
        let [rows, columns] = self.block;
        [self.rows().div_ceil(rows), self.columns.div_ceil(columns)]
    }

    /// The block of an element.
    fn of(&self, index: usize) -> usize {
        let [rows, columns] = self.block;
        let (i, j) = (index / self.columns, index % self.columns);
        i / rows * self.counts()[1] + j / columns
    }

    /// The scale of each block.
    fn scales(&self, format: &Format) -> Vec<f32> {
        let [rows, columns] = self.counts();
        let mut largest = vec![0.0_f64; rows * columns];
        for (index, number) in self.numbers.iter().enumerate() {
            let block = &mut largest[self.of(index)];
            *block = block.max(number.abs());
        }
        let widest = to_f64(format, format.max_finite(false));
        let scale = |largest: f64| match largest {
            0.0 => 1.0,
            _ => ((largest / widest) as f32).clamp(f32::MIN_POSITIVE, f32::MAX),
        };
        largest.into_iter().map(scale).collect()
    }

    /// The elements in units of their scales.
    fn words(&self, scales: &[f32], format: &Format) -> Vec<u64> {
        let conversion = Conversion {
            rounding: Rounding::Rne,
            overflow: Overflow::SaturateFinite,
        };
        let word = |(index, number): (usize, &f64)| {
            let quotient = number / f64::from(scales[self.of(index)]);
            format.to_register(F64.convert(quotient.to_bits(), format, conversion))
        };
        self.numbers.iter().enumerate().map(word).collect()
    }

    fn matrix(&self, scales: &[f32], format: &Format) -> Result<Matrix> {
        let word = |scale: &f32| match *format == F64 {
            true => f64::from(*scale).to_bits(),
            false => scale.to_bits().into(),
        };
        let [rows, columns] = self.counts();
        let words: Vec<u64> = scales.iter().map(word).collect();
        Matrix::row_major(rows, columns, Words::of(format, words)?)
    }
}

/// A number of a format that f64 holds.
fn to_f64(format: &Format, code: u64) -> f64 {
    let conversion = Conversion {
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
    };
    f64::from_bits(format.convert(code, &F64, conversion))
}
