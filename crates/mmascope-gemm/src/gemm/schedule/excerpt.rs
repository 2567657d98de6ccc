//! Asks a few elements of D under many schedules. Chains of steps that several schedules have in common are computed once.
//!
//! The elements are where some rows of A meet some columns of B: a small product. Its steps are put in a schedule's order
//! first, so that all parts of the schedule are ranges of steps.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::combine::Values;
use super::plan::Extent;
use super::run::Run;
use super::{Order, Schedule, SoftwareScales, Split};
use crate::dpa::{Modifiers, Unit};
use crate::error::{Error, Result};
use crate::gemm::accumulators::Accumulators;
use crate::gemm::{Matrices, Product, Region, Watch};

/// How often a chain that the reference computes stops on the way through all of K.
const STOPS: usize = 64;

/// Some rows and some columns of a product.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use mmascope_gemm::gemm::{Excerpt, Matrices, Matrix, Schedule, Watch};
/// use mmascope_model::isa::Catalogue;
///
/// let unit = Catalogue::built_in().find("H100", "mma.m16n8k8.f32.f16.f16.f32")?.unit()?;
/// let one = 0x3c00_u16; // 1.0 in f16
/// // Row 7 and columns 3 and 5 of a product of 64 × 64 × 32.
/// let a = Matrix::row_major(1, 32, vec![one; 32])?;
/// let b = Matrix::column_major(32, 2, vec![one; 64])?;
/// let matrices = Matrices::new(a, b)?;
/// let watch = Watch { progress: &|_| (), cancel: &AtomicBool::new(false) };
/// let schedules: Vec<Schedule> = vec!["chain".parse()?, "split-k=2 reduce=ascending/f32".parse()?];
/// let excerpt = Excerpt::new([64, 64], vec![7], vec![3, 5])?;
/// let found = excerpt.words(unit, &matrices, &schedules, None, &watch)?;
/// assert_eq!(found, [[0x4200_0000; 2]; 2]); // 32.0
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// M and N of the whole product.
    whole: [usize; 2],
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Excerpt {
    /// These rows and columns of a product of M × N elements.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are none, they do not ascend, or they lie outside.
    pub fn new([m, n]: [usize; 2], rows: Vec<usize>, columns: Vec<usize>) -> Result<Self> {
        for (name, lines, length) in [("rows", &rows, m), ("columns", &columns, n)] {
            let ascends = lines.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascends || lines.last().is_none_or(|last| *last >= length) {
                return Err(Error::Argument(format!(
                    "an excerpt of the {name} {lines:?} of {length}: they must ascend and lie within"
                )));
            }
        }
        Ok(Self {
            whole: [m, n],
            rows,
            columns,
        })
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The elements under each schedule, row by row: the words that [`Schedule::run`] has there for the whole product.
    ///
    /// `matrices` hold these rows and columns alone, K filled up as the whole product's; `scales` are those of the
    /// whole product.
    ///
    /// # Errors
    /// As [`Schedule::run`]; [`Error::Argument`] when the matrices are of another shape.
    pub fn words(
        &self,
        unit: &Unit,
        matrices: &Matrices,
        schedules: &[Schedule],
        scales: Option<&SoftwareScales>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Vec<u64>>> {
        let shape = [matrices.batch(), matrices.m(), matrices.n()];
        if shape != [1, self.rows.len(), self.columns.len()] {
            return Err(Error::Argument(format!(
                "an excerpt of {} rows and {} columns: the matrices are of {shape:?}",
                self.rows.len(),
                self.columns.len()
            )));
        }
        let mut orders: Vec<(&Order, Vec<usize>)> = Vec::new();
        for (index, schedule) in schedules.iter().enumerate() {
            match orders.iter_mut().find(|(own, _)| **own == schedule.order) {
                Some((_, indices)) => indices.push(index),
                None => orders.push((&schedule.order, vec![index])),
            }
        }
        let mut found = vec![Vec::new(); schedules.len()];
        for (order, indices) in orders {
            let signature = unit.signature();
            let sequence = order.sequence(matrices.k() / signature.k)?;
            let ordered;
            let matrices = match order {
                Order::Ascending => matrices,
                _ => {
                    ordered = matrices.in_order(&sequence, signature.k, signature.scales())?;
                    &ordered
                }
            };
            let product = Product::new(unit, matrices, Modifiers::default())?;
            let chains = Chains {
                excerpt: self,
                product: &product,
                whole: product.whole(),
                known: Mutex::default(),
            };
            for index in indices {
                watch.check()?;
                let run = Run {
                    schedule: &schedules[index],
                    product: &product,
                    scales,
                    sequence: sequence.clone(),
                    chains: Some(&chains),
                    watch,
                };
                found[index] = self.run(&run)?;
            }
        }
        Ok(found)
    }

    /// One schedule, tile by tile.
    fn run(&self, run: &Run<'_>) -> Result<Vec<u64>> {
        let schedule = run.schedule;
        schedule.check_plain()?;
        let [m, n] = self.whole;
        let steps = run.product.steps();
        let extent = Extent {
            batch: 1,
            m,
            n,
            steps,
        };
        schedule.check_scales(&extent, m * n, run.scales)?;
        let mut words = vec![0; self.rows.len() * self.columns.len()];
        let (tile_rows, tile_columns) = schedule.tile().unwrap_or((m, n));
        let across = n.div_ceil(tile_columns);
        let count = m.div_ceil(tile_rows) * across;
        for rows in runs(&self.rows, tile_rows) {
            for columns in runs(&self.columns, tile_columns) {
                let tile = self.rows[rows.start] / tile_rows * across
                    + self.columns[columns.start] / tile_columns;
                let region = Region {
                    batch: 0..1,
                    rows: rows.clone(),
                    columns,
                };
                let parts = schedule.parts(tile, count, steps)?;
                let values = run.region(&region, &parts)?;
                for (index, word) in values.words.iter().enumerate() {
                    let (_, i, j) = region.place(index);
                    words[i * self.columns.len() + j] = word;
                }
            }
        }
        Ok(words)
    }
}

/// The lines that lie in one tile each, as ranges of their indices.
fn runs(lines: &[usize], length: usize) -> Vec<Range<usize>> {
    let mut start = 0;
    lines
        .chunk_by(|line, next| line / length == next / length)
        .map(|run| {
            let range = start..start + run.len();
            start = range.end;
            range
        })
        .collect()
}

impl Schedule {
    /// Rows and columns of stream-K's tiles.
    fn tile(&self) -> Option<(usize, usize)> {
        match self.split {
            Split::StreamK { rows, columns, .. } => Some((rows, columns)),
            _ => None,
        }
    }

    /// Whether tiles of D are cut in different ways, as by stream-K.
    #[must_use]
    pub fn is_by_tiles(&self) -> bool {
        self.tile().is_some()
    }

    /// The first element, by rows, of every tile of an M × N product in which the two schedules cut K in other ways. Without
    /// stream-K there is one tile at most.
    ///
    /// # Errors
    /// [`Error::Argument`] when a schedule has more parts than K has steps.
    pub fn parted_from(
        &self,
        other: &Self,
        [m, n]: [usize; 2],
        steps: usize,
    ) -> Result<Vec<(usize, usize)>> {
        let parts = |schedule: &Self, i: usize, j: usize| {
            let (rows, columns) = schedule.tile().unwrap_or((m, n));
            let across = n.div_ceil(columns);
            let tile = i / rows * across + j / columns;
            schedule.parts(tile, m.div_ceil(rows) * across, steps)
        };
        let lines = |length: usize, of: fn((usize, usize)) -> usize| {
            let lengths = [self, other].map(|one| one.tile().map(of).unwrap_or(length));
            let starts = lengths.map(|by| (0..length).step_by(by));
            let mut starts: Vec<usize> = starts.into_iter().flatten().collect();
            starts.sort_unstable();
            starts.dedup();
            starts
        };
        let (rows, columns) = (lines(m, |tile| tile.0), lines(n, |tile| tile.1));
        let mut found = Vec::new();
        for i in rows {
            for &j in &columns {
                if parts(self, i, j)? != parts(other, i, j)? {
                    found.push((i, j));
                }
            }
        }
        Ok(found)
    }
}

/// Sums of chains of an excerpt, whose product has its steps in a schedule's order.
pub(super) struct Chains<'a> {
    excerpt: &'a Excerpt,
    product: &'a Product<'a>,
    whole: Region,
    known: Mutex<HashMap<Start, BTreeMap<usize, Accumulators>>>,
}

/// Where a chain begins: its elements, whether C goes into it, its first step.
type Start = (Region, bool, usize);

impl Chains<'_> {
    /// Where an element stands in the whole product.
    pub(super) fn place(&self, (batch, i, j): (usize, usize, usize)) -> (usize, usize, usize) {
        (batch, self.excerpt.rows[i], self.excerpt.columns[j])
    }

    /// The sums of some steps, from C or from +0.
    pub(super) fn sum(
        &self,
        region: &Region,
        steps: Range<usize>,
        with_c: bool,
        watch: &Watch<'_>,
    ) -> Result<Values> {
        // An engine computes all elements in hardly more time than some; the reference does not.
        let computed = match self.product.is_by_reference() {
            true => region,
            false => &self.whole,
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let chain = known
            .entry((computed.clone(), with_c, steps.start))
            .or_default();
        let longest = chain.range(..=steps.end).next_back();
        if longest.is_none_or(|(end, _)| *end < steps.end) {
            let (mut done, mut sums) = match longest {
                Some((end, sums)) => (*end, sums.clone()),
                None if with_c => (steps.start, self.product.c(computed.clone())?),
                None => (steps.start, self.product.zeros(computed.clone())?),
            };
            // Other schedules may end the same chain earlier. The reference stops on the way at no cost.
            let at_once = match self.product.is_by_reference() {
                true => self.product.steps().div_ceil(STOPS),
                false => steps.len().max(1),
            };
            loop {
                let end = steps.end.min(done + at_once);
                let is_first = with_c && done == steps.start;
                self.product
                    .advance(done..end, is_first, &mut sums, watch)?;
                chain.insert(end, sums.clone());
                done = end;
                if done == steps.end {
                    break;
                }
            }
        }
        let longest = chain.range(..=steps.end).next_back();
        let (_, sums) = longest.ok_or_else(|| Error::Argument("a chain is missing".into()))?;
        let format = *sums.format();
        if computed == region {
            let words = sums.words().clone();
            return Ok(Values { words, format });
        }
        let mut some = Values::zeros(format, region.len())?;
        for index in 0..region.len() {
            let word = sums.words().get(computed.index(region.place(index)));
            some.words.set(index, word);
        }
        Ok(some)
    }
}
