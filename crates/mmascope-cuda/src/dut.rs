//! An instruction of a chip as a device under test: batches of dot products in full tiles, and tiles themselves.

use std::collections::BTreeMap;

use mmascope_gemm::array::Words;
use mmascope_gemm::gemm::Matrices;
use mmascope_io::vector::Answer;
use mmascope_lab::device_code::{DeviceCode, OperandSource};
use mmascope_lab::dut::{Answers, Batch, Dut};
use mmascope_model::dpa::Signature;
use mmascope_model::isa::Instruction;

use crate::chip::{Chip, Loaded, failed, read_words, write_words};
use crate::layout::{self, Tiles};
use crate::{Result, sass};

/// Tiles of a launch. A batch of 4,096 dot products fits with the tiles that have eight columns.
const TILES: usize = 512;

/// An instruction of a chip.
///
/// Each dot product stands on the diagonal of a tile, and again wherever row and column numbers allow it; all of its places must
/// agree. A tile of many dot products uses every element.
pub struct CudaDut {
    name: String,
    code: DeviceCode,
    loaded: Box<dyn Loaded>,
    tiles: Tiles,
}

impl CudaDut {
    /// Compiles the instruction for the chip and checks its layout there.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) where no device code is written down; [`Error::Device`](crate::Error::Device)
    /// when it does not compile, or its layout does not hold on this chip.
    pub fn new(
        name: &str,
        chip: &dyn Chip,
        row: &Instruction,
        source: OperandSource,
    ) -> Result<Self> {
        let code = DeviceCode::of(row, "cuda", source)?;
        let mut loaded = chip.load(&code.source(), code.is_own)?;
        let tiles = Tiles::new(loaded.as_mut(), &code, TILES)?;
        layout::check(loaded.as_mut(), name, &code, row.unit().ok(), &tiles)?;
        Ok(Self {
            name: name.to_owned(),
            code,
            loaded,
            tiles,
        })
    }

    /// The machine instructions that the compiler made of it, where a disassembler is there.
    ///
    /// # Errors
    /// As [`sass::instructions`].
    pub fn instructions(&self) -> Result<Option<BTreeMap<String, usize>>> {
        self.loaded.binary().map_or(Ok(None), sass::instructions)
    }

    /// Computes tiles; the words are those of whole tiles, one after the other.
    fn compute(&mut self, a: &[u64], b: &[u64], c: &[u64], count: usize) -> Result<Vec<u64>> {
        let loaded = self.loaded.as_mut();
        write_words(loaded, self.tiles.a, a)?;
        write_words(loaded, self.tiles.b, b)?;
        write_words(loaded, self.tiles.c, c)?;
        // What a kernel leaves out is seen: no result has 64 ones but a NaN of f64, which no instruction makes.
        write_words(loaded, self.tiles.d, &vec![u64::MAX; c.len()])?;
        self.tiles.run(loaded, &self.code, count)?;
        read_words(loaded, self.tiles.d, c.len())
    }

    /// Some queries, at most as many as the tiles have places for.
    fn answers(&mut self, batch: &Batch, first: usize, count: usize) -> Result<Vec<Answer>> {
        let [m, n, blocks] = self.code.tile.map(|size| size as usize);
        let (side, signature) = (m.min(n), self.code.signature);
        let parts = count.div_ceil(side);
        let tiles = parts.div_ceil(blocks);
        // Places that no query has take the last one.
        let query = |part: usize, place: usize| {
            batch.query(first + (part * side + place % side).min(count - 1))
        };
        let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
        for part in 0..tiles * blocks {
            for row in 0..m {
                let query = query(part, row);
                a.extend(query.a.iter().chain(query.scale_a));
            }
            for column in 0..n {
                let query = query(part, column);
                b.extend(query.b.iter().chain(query.scale_b));
            }
            for place in 0..m * n {
                c.push(query(part, place % n).c);
            }
        }
        debug_assert_eq!(
            a.len(),
            tiles * blocks * m * (signature.k + signature.scales())
        );
        let d = self.compute(&a, &b, &c, tiles)?;
        let mut answers = Vec::with_capacity(count);
        for index in 0..count {
            let (part, place) = (index / side, index % side);
            let own = |row: usize, column: usize| d[(part * m + row) * n + column];
            let word = own(place, place);
            if word > signature.d.widest_word() {
                return Err(crate::Error::Device {
                    device: self.name.clone(),
                    query: Some(first + index),
                    message: format!(
                        "{word:x} is no word of {}: the kernel left it out",
                        signature.d
                    ),
                });
            }
            for row in (place..m).step_by(side) {
                for column in (place..n).step_by(side) {
                    let other = own(row, column);
                    if other != word {
                        return Err(crate::Error::Device {
                            device: self.name.clone(),
                            query: Some(first + index),
                            message: format!(
                                "element {place}, {place} of a tile is {word:x}, element {row}, {column} of the same operands {other:x}"
                            ),
                        });
                    }
                }
            }
            answers.push(Answer::Word(word));
        }
        Ok(answers)
    }
}

impl Dut for CudaDut {
    fn signature(&self) -> &Signature {
        &self.code.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.code.signature)?;
        let [m, n, blocks] = self.code.tile.map(|size| size as usize);
        let most = self.tiles.count * blocks * m.min(n);
        let mut answers = Vec::with_capacity(batch.len());
        while answers.len() < batch.len() {
            let count = most.min(batch.len() - answers.len());
            answers.extend(self.answers(batch, answers.len(), count)?);
        }
        Ok(answers)
    }

    fn has_tiles(&self) -> bool {
        true
    }

    fn tile(&mut self, tile: &Matrices) -> Result<Answers> {
        let signature = self.code.signature;
        if tile.k() != signature.k || tile.batch() != 1 {
            return Err(failed(
                &self.name,
                format!(
                    "a tile of K = {} and {} products: it takes one of K = {}",
                    tile.k(),
                    tile.batch(),
                    signature.k
                ),
            ));
        }
        let [m, n, blocks] = self.code.tile.map(|size| size as usize);
        let (rows, columns) = (tile.m(), tile.n());
        let starts: Vec<(usize, usize)> = (0..rows)
            .step_by(m)
            .flat_map(|row| (0..columns).step_by(n).map(move |column| (row, column)))
            .collect();
        let scales = signature.scales();
        let mut d = vec![0; rows * columns];
        for part in starts.chunks(self.tiles.count * blocks) {
            let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
            let tiles = part.len().div_ceil(blocks);
            for at in 0..tiles * blocks {
                // Places beyond the matrices take their last row and column again.
                let (row, column) = part[at.min(part.len() - 1)];
                let row = |i: usize| (row + i).min(rows - 1);
                let column = |j: usize| (column + j).min(columns - 1);
                for i in 0..m {
                    a.extend((0..signature.k).map(|k| tile.a().at(0, row(i), k)));
                    let scale = tile.scale_a();
                    a.extend(
                        (0..scales)
                            .map(|block| scale.map_or(0, |scale| scale.at(0, row(i), block))),
                    );
                }
                for j in 0..n {
                    b.extend((0..signature.k).map(|k| tile.b().at(0, k, column(j))));
                    let scale = tile.scale_b();
                    b.extend(
                        (0..scales)
                            .map(|block| scale.map_or(0, |scale| scale.at(0, block, column(j)))),
                    );
                }
                for place in 0..m * n {
                    c.push(
                        tile.c()
                            .map_or(0, |c| c.at(0, row(place / n), column(place % n))),
                    );
                }
            }
            let got = self.compute(&a, &b, &c, tiles)?;
            for (at, &(row, column)) in part.iter().enumerate() {
                for i in 0..m.min(rows - row) {
                    for j in 0..n.min(columns - column) {
                        d[(row + i) * columns + column + j] = got[(at * m + i) * n + j];
                    }
                }
            }
        }
        Ok(Answers::Words(Words::of(&signature.d, d)?))
    }
}
