//! Deals ranges out to parts and to workers.

use std::ops::Range;

/// Part `index` of `count` as equal parts of a range of that length.
pub(super) fn share(index: usize, count: usize, length: usize) -> Range<usize> {
    let start = |index: usize| (index as u128 * length as u128 / count as u128) as usize;
    start(index)..start(index + 1)
}

/// Where workers cut the iterations of a tile: from 0 to `iterations`, ascending.
pub(super) fn cuts(tile: usize, iterations: usize, total: usize, workers: usize) -> Vec<usize> {
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
