//! Tiles: all dot products of some rows with some columns, for devices that compute them at once.

use super::{Batch, Dut};
use crate::array::Words;
use crate::dpa::Operands;
use crate::error::{Error, Result};
use crate::gemm::{Matrices, Matrix};
use crate::vector::Answer;

/// Dot products that are asked together of a device without tiles.
const BATCH: usize = 4096;

/// The answers to a tile, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Register words of d.
    Words(Words),
    /// One by one.
    Each(Vec<Answer>),
}

impl Answers {
    /// The number of answers.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Each(answers) => answers.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One answer.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> Answer {
        match self {
            Self::Words(words) => Answer::Word(words.get(index)),
            Self::Each(answers) => answers[index],
        }
    }
}

/// The tile as single dot products, row by row.
pub(super) fn one_by_one<D: Dut + ?Sized>(device: &mut D, tile: &Matrices) -> Result<Vec<Answer>> {
    let signature = *device.signature();
    if tile.k() != signature.k || tile.batch() != 1 {
        return Err(Error::Argument(format!(
            "a tile of K = {} and {} products: {} takes one of K = {}",
            tile.k(),
            tile.batch(),
            device.name(),
            signature.k
        )));
    }
    let line = |matrix: Option<&Matrix>, at: &dyn Fn(&Matrix, usize) -> u64, length: usize| {
        matrix.map_or_else(Vec::new, |matrix| {
            (0..length)
                .map(|index| at(matrix, index))
                .collect::<Vec<u64>>()
        })
    };
    let (k, blocks, n) = (signature.k, signature.scales(), tile.n());
    let mut answers = Vec::with_capacity(tile.m() * n);
    let places: Vec<usize> = (0..tile.m() * n).collect();
    for places in places.chunks(BATCH) {
        let mut batch = Batch::new(signature);
        for place in places {
            let (i, j) = (place / n, place % n);
            batch.push(&Operands {
                a: &line(Some(tile.a()), &|a, k| a.at(0, i, k), k),
                b: &line(Some(tile.b()), &|b, k| b.at(0, k, j), k),
                c: tile.c().map_or(0, |c| c.at(0, i, j)),
                scale_a: &line(tile.scale_a(), &|scale, k| scale.at(0, i, k), blocks),
                scale_b: &line(tile.scale_b(), &|scale, k| scale.at(0, k, j), blocks),
            })?;
        }
        answers.extend(device.run(&batch)?);
    }
    Ok(answers)
}
