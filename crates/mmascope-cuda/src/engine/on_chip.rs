//! A product whose operands lie on the chip: its kernels and the memory that they need.

use std::fmt;
use std::ops::Range;

use mmascope_gemm::engine::Watch;
use mmascope_model::dpa::Unit;

use super::fast::Fast;
use crate::Result;
use crate::chip::{Argument, Loaded, Memory};

/// Threads of a block.
const THREADS: u32 = 128;
/// What threads read beyond the last line (`source/tile.cu`).
const BEYOND: usize = 128;
/// Lines whose words fill a multiple of 16 bytes (`source/tile.cu`).
const ALIGNED: usize = 8;
/// Products of a launch: a person who waits can stop between launches.
const PRODUCTS: u64 = 1 << 32;
/// The same by a fast method.
const FAST_PRODUCTS: u64 = 1 << 36;

/// The words of a matrix on the chip: rows of A, or columns of B.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The first word.
    pub codes: Argument,
    /// How many lines there are.
    pub count: usize,
    /// Words from a line to the next one.
    pub line_stride: usize,
    /// Words from a k to the next one.
    pub k_stride: usize,
    /// Scales of the lines, line by line.
    pub scales: Argument,
}

/// A part of D on the chip: `columns` words a row, one row after the other.
pub(super) struct Part {
    /// c before, d after.
    pub d: Argument,
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    pub steps: Range<usize>,
}

/// A product of a loaded program.
pub(super) struct OnChip {
    operands: [Lines; 2],
    /// The fast method, with values, exponents, signs and marks of A, then those of B.
    fast: Option<(Fast, Vec<Memory>)>,
    /// Which outputs it leaves to the integers, and for how many there is room.
    again: Option<(Memory, usize)>,
    /// Products of a step, and scales of a line.
    k: usize,
    scales: usize,
}

/// A product all of whose matrices lie on the chip.
pub struct ProductOnChip {
    loaded: Box<dyn Loaded>,
    product: OnChip,
    lines: [usize; 2],
    steps: usize,
}

impl fmt::Debug for ProductOnChip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a product on a chip")
    }
}

impl ProductOnChip {
    pub(super) fn new(
        mut loaded: Box<dyn Loaded>,
        unit: &Unit,
        operands: [Lines; 2],
        steps: usize,
        fast: Option<Fast>,
    ) -> Result<Self> {
        let product = OnChip::new(loaded.as_mut(), unit, operands, steps, fast)?;
        Ok(Self {
            loaded,
            product,
            lines: operands.map(|lines| lines.count),
            steps,
        })
    }

    /// Computes D where C lies, row by row.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn run(&mut self, d: Argument, watch: &Watch<'_>) -> Result<()> {
        let [rows, columns] = self.lines;
        let part = Part {
            d,
            rows: 0..rows,
            columns: 0..columns,
            steps: 0..self.steps,
        };
        self.product.advance(self.loaded.as_mut(), &part, watch)
    }

    /// The program, with its memory.
    pub fn loaded(&mut self) -> &mut dyn Loaded {
        self.loaded.as_mut()
    }

    /// How many outputs the fast method left in the last launch to the integers; `None` where there are none.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn left_to_integers(&mut self) -> Result<Option<usize>> {
        let Some((memory, _)) = self.product.again else {
            return Ok(None);
        };
        let mut marks = vec![0; self.lines[0] * self.lines[1]];
        self.loaded.read(memory, &mut marks)?;
        Ok(Some(marks.iter().filter(|mark| **mark != 0).count()))
    }
}

fn word(number: usize) -> Argument {
    Argument::Word(number as u64)
}

fn blocks(threads: usize) -> u32 {
    u32::try_from((threads as u64).div_ceil(THREADS.into())).unwrap_or(u32::MAX)
}

impl OnChip {
    /// Gets operands of so many steps ready.
    pub(super) fn new(
        loaded: &mut dyn Loaded,
        unit: &Unit,
        operands: [Lines; 2],
        steps: usize,
        fast: Option<Fast>,
    ) -> Result<Self> {
        let mut with_memory = None;
        if let Some(fast) = fast {
            let mut all = Vec::new();
            let kernels = ["expand_a", "expand_b"].into_iter().zip(fast.exponents);
            for (lines, kernel) in operands.iter().zip(kernels) {
                all.extend(expand(loaded, &fast, lines, steps, kernel)?);
            }
            with_memory = Some((fast, all));
        }
        let signature = unit.signature();
        Ok(Self {
            operands,
            fast: with_memory,
            again: None,
            k: signature.k,
            scales: steps * signature.scales(),
        })
    }

    /// Goes on with a part of D for some steps.
    pub(super) fn advance(
        &mut self,
        loaded: &mut dyn Loaded,
        part: &Part,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let (rows, columns) = (part.rows.len(), part.columns.len());
        let count = rows * columns;
        let most = if self.fast.is_some() {
            FAST_PRODUCTS
        } else {
            PRODUCTS
        };
        let at_once = (most / (count as u64 * self.k as u64).max(1)).max(1) as usize;
        let mut range = part.steps.clone();
        while !range.is_empty() {
            watch.check()?;
            let own = at_once.min(range.len());
            let steps = range.start..range.start + own;
            let only = match self.fast {
                Some(_) => Argument::Memory(self.fast(loaded, part, &steps)?),
                None => Argument::Word(0),
            };
            let [a, b] = &self.operands;
            let arguments = [
                a.codes,
                b.codes,
                a.scales,
                b.scales,
                part.d,
                only,
                word(a.line_stride),
                word(a.k_stride),
                word(b.line_stride),
                word(b.k_stride),
                word(self.scales),
                word(part.rows.start),
                word(part.columns.start),
                word(steps.start),
                word(own),
                word(columns),
                word(count),
            ];
            loaded.launch("product", blocks(count), THREADS, &arguments)?;
            (watch.progress)((count * own) as u64);
            range.start += own;
        }
        Ok(())
    }

    /// The fast method. Returns where it says which outputs it has left as they were.
    fn fast(
        &mut self,
        loaded: &mut dyn Loaded,
        part: &Part,
        steps: &Range<usize>,
    ) -> Result<Memory> {
        let (rows, columns) = (part.rows.len(), part.columns.len());
        let count = rows * columns;
        let again = match self.again {
            Some((memory, room)) if room >= count => memory,
            _ => {
                let memory = loaded.allocate(count)?;
                self.again = Some((memory, count));
                memory
            }
        };
        let (tile, expanded) = match &self.fast {
            Some((fast, expanded)) => (fast.tile, &expanded[..]),
            None => ([1, 1], &[][..]),
        };
        let mut arguments: Vec<Argument> = expanded.iter().copied().map(Argument::Memory).collect();
        let [a, b] = &self.operands;
        arguments.extend([
            part.d,
            Argument::Memory(again),
            word(a.count),
            word(b.count),
            word(part.rows.start),
            word(part.columns.start),
            word(steps.start),
            word(steps.len()),
            word(rows),
            word(columns),
        ]);
        let whole = |range: &Range<usize>, tile: usize| {
            (range.start % ALIGNED + range.len()).div_ceil(tile)
        };
        let [high, wide] = tile;
        let tiles = whole(&part.rows, high) * whole(&part.columns, wide);
        loaded.launch(
            "product_fast",
            u32::try_from(tiles).unwrap_or(u32::MAX),
            THREADS,
            &arguments,
        )?;
        Ok(again)
    }
}

/// Values, exponents, signs and marks of the lines of an operand.
fn expand(
    loaded: &mut dyn Loaded,
    fast: &Fast,
    lines: &Lines,
    steps: usize,
    (kernel, exponent): (&str, usize),
) -> Result<[Memory; 4]> {
    let stride = (lines.count + BEYOND).next_multiple_of(ALIGNED);
    let numbers = stride * steps * fast.slots;
    let memory = [
        loaded.allocate(numbers * fast.bytes)?,
        loaded.allocate(numbers * exponent)?,
        loaded.allocate(fast.signs.map_or(0, |block| numbers / block * 4))?,
        loaded.allocate(stride * steps)?,
    ];
    let [values, exponents, signs, marks] = memory.map(Argument::Memory);
    let arguments = [
        lines.codes,
        word(lines.count),
        word(steps),
        word(lines.line_stride),
        word(lines.k_stride),
        values,
        exponents,
        signs,
        marks,
    ];
    loaded.launch(kernel, blocks(lines.count * steps), THREADS, &arguments)?;
    Ok(memory)
}
