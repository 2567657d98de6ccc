//! Plans one product under a schedule: the order of its steps, its regions, their parts.

use std::ops::Range;

use super::shares::{cuts, share};
use super::{Order, Schedule, Split};
use crate::error::{Error, Result};
use crate::gemm::Region;

/// Rows and columns of the regions that a product is computed in when the schedule has no tiles: at most so
/// many elements, so that what lies beside D in memory stays small.
fn region(extent: &Extent, elements: usize) -> (usize, usize) {
    const ROWS: usize = 64;
    let columns = extent.n.min(1024).min(elements / ROWS);
    (elements / columns.max(1), columns.max(1))
}

/// Batch, rows and columns of D, and steps of K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) batch: usize,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) steps: usize,
}

impl Order {
    /// The steps in order.
    pub(super) fn sequence(&self, steps: usize) -> Result<Vec<usize>> {
        Ok(match self {
            Self::Ascending => (0..steps).collect(),
            Self::Descending => (0..steps).rev().collect(),
            Self::Stride(stride) => (0..*stride)
                .flat_map(|residue| (residue..steps).step_by(*stride))
                .collect(),
            Self::Blocks(blocks) => {
                if blocks.len() > steps {
                    return Err(Error::Argument(format!(
                        "the schedule: {} blocks, but K takes only {steps} steps",
                        blocks.len()
                    )));
                }
                blocks
                    .iter()
                    .flat_map(|&block| share(block, blocks.len(), steps))
                    .collect()
            }
        })
    }
}

impl Schedule {
    /// The regions in which D is computed, in a fixed order: tiles, or regions of so many elements.
    pub(super) fn regions(&self, extent: &Extent, elements: usize) -> Vec<Region> {
        let (rows, columns) = match self.split {
            Split::StreamK { rows, columns, .. } => (rows, columns),
            _ => region(extent, elements),
        };
        let cut = |length: usize, by: usize| {
            (0..length.div_ceil(by)).map(move |index| index * by..length.min((index + 1) * by))
        };
        let mut regions = Vec::new();
        for batch in 0..extent.batch {
            for rows in cut(extent.m, rows) {
                for columns in cut(extent.n, columns) {
                    regions.push(Region {
                        batch: batch..batch + 1,
                        rows: rows.clone(),
                        columns,
                    });
                }
            }
        }
        regions
    }

    /// The parts of region `index` of `count`, as ranges of places in the order of the steps.
    pub(super) fn parts(
        &self,
        index: usize,
        count: usize,
        steps: usize,
    ) -> Result<Vec<Range<usize>>> {
        match self.split {
            Split::None => Ok(std::iter::once(0..steps).collect()),
            Split::SplitK { count: parts, .. } => {
                if parts > steps {
                    return Err(Error::Argument(format!(
                        "the schedule: split-k={parts}, but K takes only {steps} steps"
                    )));
                }
                Ok((0..parts).map(|part| share(part, parts, steps)).collect())
            }
            Split::StreamK {
                workers, iteration, ..
            } => {
                let iterations = steps.div_ceil(iteration);
                let cuts = cuts(index, iterations, count * iterations, workers);
                let place = |iteration_index: usize| steps.min(iteration_index * iteration);
                Ok(cuts
                    .windows(2)
                    .map(|pair| place(pair[0])..place(pair[1]))
                    .collect())
            }
        }
    }
}
