//! Makes tiles of cases: a few rows and columns give many dot products.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::{Differing, agrees, check_count};
use crate::array::{Words, each_width};
use crate::cases::Generator;
use crate::dpa::OperandWords;
use crate::dpa::{Modifiers, Signature, Unit};
use crate::dut::{Answers, Dut};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gemm::{self, Matrices, Matrix, Watch};

/// Rows and columns of a tile of crossed cases.
pub const SIDE: u64 = 256;
/// Single cases of a family before its first tile: short runs have cases of their own throughout.
const SINGLE: u64 = 4096;

/// The next tile of a family.
pub(super) struct Tile {
    /// The first index.
    first: u64,
    rows: u64,
    columns: u64,
    /// Bits of a where all pairs are compared; crossed cases otherwise.
    bits_a: Option<u32>,
}

impl Tile {
    /// The next tile after `done` single cases and `tiles` tiles; `None` where there is none. A device
    /// that knows single dot products only gains little from tiles, whose cases share their c: it gets as many
    /// single ones.
    pub(super) fn next(
        generator: &Generator,
        done: u64,
        tiles: u64,
        has_tiles: bool,
    ) -> Option<Self> {
        if let Some((a, b)) = generator.pairs() {
            let size = 1_u64 << (a + b);
            let tile = Self {
                first: done,
                rows: 1 << a,
                columns: 1 << b,
                bits_a: Some(a),
            };
            return done.is_multiple_of(size).then_some(tile);
        }
        let tile = Self {
            first: tiles * SIDE,
            rows: SIDE,
            columns: SIDE,
            bits_a: None,
        };
        let crossed = if has_tiles { 0 } else { tiles * SIDE * SIDE };
        (generator.is_crossed() && done >= SINGLE.max(crossed)).then_some(tile)
    }

    pub(super) fn len(&self) -> u64 {
        self.rows * self.columns
    }

    pub(super) fn is_crossed(&self) -> bool {
        self.bits_a.is_none()
    }

    /// The index of an element's case, and that of b's where it is another.
    fn place(&self, element: usize) -> (u64, Option<u64>) {
        let (i, j) = (element as u64 / self.columns, element as u64 % self.columns);
        match self.bits_a {
            Some(bits) => (self.first + (j << bits) + i, None),
            None => (self.first + i, (i != j).then_some(self.first + j)),
        }
    }

    /// The cases on which device and model differ.
    pub(super) fn compare(
        &self,
        device: &mut dyn Dut,
        model: &Unit,
        generator: &Generator,
    ) -> Result<Vec<Differing>> {
        let tile = self.matrices(model.signature(), generator)?;
        let watch = Watch {
            progress: &|_| (),
            cancel: &AtomicBool::new(false),
        };
        let words = gemm::chain(model, &tile, &Modifiers::default(), &watch)?;
        let answers = device.tile(&tile)?;
        check_count(device, answers.len(), words.len())?;
        if matches!(&answers, Answers::Words(got) if *got == words) {
            return Ok(Vec::new());
        }
        let mut differing = Vec::new();
        for element in 0..words.len() {
            let answer = answers.get(element);
            if agrees(model, words.get(element), answer) {
                continue;
            }
            let (index, column) = self.place(element);
            let case = generator.crossed(index, column.unwrap_or(index));
            let word = model.dot(&case.operands(), &Modifiers::default())?;
            if !model.agrees(word, words.get(element)) {
                return Err(Error::Device {
                    device: "the engine of matrix products".to_owned(),
                    query: None,
                    message: format!(
                        "differs from the reference on family {}, seed {}, index {index}, column \
                         {column:?}: please report this",
                        generator.family(),
                        generator.seed()
                    ),
                });
            }
            differing.push((index, column, answer, word));
        }
        Ok(differing)
    }

    fn matrices(&self, signature: &Signature, generator: &Generator) -> Result<Matrices> {
        let cases = |count: u64, step: u64| -> Vec<OperandWords> {
            let indices = (0..count as usize).into_par_iter().with_min_len(64);
            indices
                .map(|index| generator.case(self.first + index as u64 * step))
                .collect()
        };
        let rows = cases(self.rows, 1);
        let other = self.bits_a.map(|bits| cases(self.columns, 1 << bits));
        let columns = other.as_ref().unwrap_or(&rows);
        let lines = |cases: &[OperandWords],
                     of: fn(&OperandWords) -> &[u64],
                     length: usize,
                     format: &Format| {
            let words = cases.iter().flat_map(of).copied();
            Matrix::row_major(cases.len(), length, Words::of(format, words)?)
        };
        let k = signature.k;
        let a = lines(&rows, |case| &case.a, k, &signature.a)?;
        let b = lines(columns, |case| &case.b, k, &signature.b)?.transposed();
        let c = self.c(signature, &rows)?;
        let mut tile = Matrices::new(a, b)?.with_c(c)?;
        if let Some(scale) = signature.scale {
            let blocks = signature.scales();
            tile = tile.with_scales(
                lines(&rows, |case| &case.scale_a, blocks, &scale.format)?,
                lines(columns, |case| &case.scale_b, blocks, &scale.format)?.transposed(),
            )?;
        }
        Ok(tile)
    }

    /// C: of the row's case where row and column are both even or both odd, else of the column's; the
    /// same everywhere where the cases are all pairs.
    fn c(&self, signature: &Signature, rows: &[OperandWords]) -> Result<Matrix> {
        let (m, n) = (self.rows as usize, self.columns as usize);
        let own = Words::of(&signature.c, rows.iter().map(|case| case.c))?;
        if !self.is_crossed() {
            let words = Words::filled(own.width(), m * n, own.get(0))?;
            return Matrix::row_major(m, n, words);
        }
        let words: Words = each_width!(&own, own => {
            let mut words = Vec::with_capacity(m * n);
            for (i, &of_row) in own.iter().enumerate() {
                let line = own.iter().enumerate();
                words.extend(line.map(|(j, &of_column)| if (i ^ j) & 1 == 0 { of_row } else { of_column }));
            }
            words.into()
        });
        Matrix::row_major(m, n, words)
    }
}
