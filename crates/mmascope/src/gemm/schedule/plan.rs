//! What a schedule says of one product: the order of its steps, its regions, their parts.

use std::ops::Range;

use super::{Order, Schedule, Split};
use crate::error::{Error, Result};
use crate::gemm::Region;

/// Rows and columns of the regions that a product is computed in when the schedule has no tiles:
/// what lies beside D in memory stays small.
const REGION: (usize, usize) = (256, 1024);

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
                        "schedule: {} blocks, but K takes only {steps} steps",
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

/// Part `index` of `count` as equal parts of a range of that length.
fn share(index: usize, count: usize, length: usize) -> Range<usize> {
    let start = |index: usize| (index as u128 * length as u128 / count as u128) as usize;
    start(index)..start(index + 1)
}

impl Schedule {
    /// The regions in which D is computed, in a fixed order.
    pub(super) fn regions(&self, extent: &Extent) -> Vec<Region> {
        let (rows, columns) = match self.split {
            Split::StreamK { rows, columns, .. } => (rows, columns),
            _ => REGION,
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
                        "schedule: split-k={parts}, but K takes only {steps} steps"
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

/// Where workers cut the iterations of a tile: from 0 to `iterations`, ascending.
fn cuts(tile: usize, iterations: usize, total: usize, workers: usize) -> Vec<usize> {
    let (each, more) = (total / workers, total % workers);
    let start = |worker: usize| worker * each + worker.min(more);
    let (first, end) = (tile * iterations, (tile + 1) * iterations);
    // The worker that has the tile's first iteration: the last one that starts at or before it.
    let with_more = more * (each + 1);
    let mut worker = if first < with_more {
        first / (each + 1)
    } else {
        more + (first - with_more) / each.max(1)
    };
    let mut cuts = vec![0];
    while worker < workers {
        worker += 1;
        let next = start(worker).min(end);
        if next > first {
            cuts.push(next - first);
        }
        if next == end {
            break;
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::cuts;

    /// By dealing out the iterations one by one.
    #[test]
    fn cuts_are_where_the_worker_changes() {
        for tiles in 1..6 {
            for iterations in 1..8 {
                for workers in 1..20 {
                    let total = tiles * iterations;
                    let mut owners = Vec::new();
                    for worker in 0..workers {
                        let count = total / workers + usize::from(worker < total % workers);
                        owners.extend(std::iter::repeat_n(worker, count));
                    }
                    for tile in 0..tiles {
                        let mine = &owners[tile * iterations..(tile + 1) * iterations];
                        let mut expected = vec![0];
                        expected.extend((1..iterations).filter(|&at| mine[at] != mine[at - 1]));
                        expected.push(iterations);
                        assert_eq!(cuts(tile, iterations, total, workers), expected);
                    }
                }
            }
        }
    }
}
