//! The places where workers cut the iterations of stream-K.

use crate::shares::cuts;

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
