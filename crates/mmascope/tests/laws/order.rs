//! The order of products inside a fused block is irrelevant; across blocks it is not.

use std::sync::atomic::{AtomicUsize, Ordering};

use mmascope::dpa::{Dpa, Fused, General, GstFdpa};
use rayon::prelude::*;

use super::operands::{Case, Random};
use super::rows::{Row, dots, for_every_row, modelled, witness};

/// Sets of k whose products may change places.
fn free_sets(row: &Row) -> Vec<Vec<usize>> {
    let every = |block: &[usize], step: usize| -> Vec<Vec<usize>> {
        let part = |start| block.iter().skip(start).step_by(step).copied().collect();
        (0..step).map(part).collect()
    };
    let mut sets = Vec::new();
    for (algorithm, order) in dots(row.program(), row.signature().k) {
        for block in order.chunks(algorithm.block()) {
            match algorithm {
                Dpa::TFdpa(_) | Dpa::StFdpa(_) | Dpa::EFdpa(_) | Dpa::TrFdpa(_) => {
                    sets.push(block.to_vec());
                }
                Dpa::GtrFdpa(_) => sets.extend(every(block, 2)),
                Dpa::GstFdpa(GstFdpa { g, .. }) => {
                    sets.extend(block.chunks(g as usize).map(<[usize]>::to_vec));
                }
                // Rounded pairwise sums: only the two of a pair commute.
                Dpa::FtzAddMul(_) => sets.extend(block.chunks(2).map(<[usize]>::to_vec)),
                Dpa::General(General::AddMul(_)) => {
                    sets.extend(block.chunks(2).map(<[usize]>::to_vec));
                }
                // Exact sums; c has other flushes, but it stays where it is.
                Dpa::General(General::Fused(Fused { f: None, .. })) | Dpa::IntDot(_) => {
                    sets.push(block.to_vec());
                }
                // All products on one grid.
                Dpa::General(General::Fused(Fused { groups: None, .. })) => {
                    sets.push(block.to_vec());
                }
                Dpa::General(_) => panic!("no shipped row has it"),
                // Only products of a group meet on one grid.
                Dpa::GrFdpa(step) => {
                    sets.extend(block.chunks(step.g as usize).map(<[usize]>::to_vec));
                }
                Dpa::FmaChain(_) | Dpa::SemiFma(_) => sets.extend(block.iter().map(|&k| vec![k])),
            }
        }
    }
    // A block scale belongs to its place, so products stay within their scale block.
    let Some(scale) = row.signature().scale else {
        return sets;
    };
    let split = |set: Vec<usize>| -> Vec<Vec<usize>> {
        let blocks = row.signature().scales();
        let within = |block| {
            set.iter()
                .copied()
                .filter(|k| k / scale.block == block)
                .collect()
        };
        (0..blocks).map(within).collect()
    };
    sets.into_iter().flat_map(split).collect()
}

fn permuted(case: &Case, sets: &[Vec<usize>], random: &mut Random) -> Case {
    let mut moved = case.clone();
    for set in sets {
        let mut places = set.clone();
        random.shuffle(&mut places);
        for (&from, &to) in set.iter().zip(&places) {
            (moved.a[to], moved.b[to]) = (case.a[from], case.b[from]);
        }
    }
    moved
}

#[test]
fn order_inside_a_block_is_irrelevant() {
    let moved_cases = AtomicUsize::new(0);
    for_every_row(1, 12, |row, case, kind, random| {
        let moved = permuted(case, &free_sets(row), random);
        moved_cases.fetch_add(usize::from(moved != *case), Ordering::Relaxed);
        let (d, other) = (case.run(&row.unit), moved.run(&row.unit));
        assert_eq!(d, other, "{} {kind:?}\n{case:?}\n{moved:?}", row.name);
    });
    assert!(moved_cases.into_inner() > 30_000);
}

#[test]
fn whole_groups_may_change_places_with_their_scales() {
    for_every_row(2, 12, |row, case, kind, random| {
        let (Some(scale), [(Dpa::GstFdpa(_), _)]) = (
            row.signature().scale,
            &dots(row.program(), row.signature().k)[..],
        ) else {
            return;
        };
        let mut places: Vec<usize> = (0..row.signature().scales()).collect();
        random.shuffle(&mut places);
        let mut moved = case.clone();
        for (from, &to) in places.iter().enumerate() {
            let (source, target) = (from * scale.block, to * scale.block);
            for i in 0..scale.block {
                moved.a[target + i] = case.a[source + i];
                moved.b[target + i] = case.b[source + i];
            }
            moved.scale_a[to] = case.scale_a[from];
            moved.scale_b[to] = case.scale_b[from];
        }
        let (d, other) = (case.run(&row.unit), moved.run(&row.unit));
        assert_eq!(d, other, "{} {kind:?} {case:?}", row.name);
    });
}

/// Swaps products of two places that the law does not let change.
fn forbidden_swaps(row: &Row) -> Vec<(usize, usize)> {
    let sets = free_sets(row);
    let firsts: Vec<usize> = sets.iter().filter_map(|set| set.first().copied()).collect();
    firsts.windows(2).map(|two| (two[0], two[1])).collect()
}

#[test]
fn order_across_blocks_is_seen() {
    let rows: Vec<Row> = modelled()
        .into_iter()
        .filter(|row| free_sets(row).len() > 1)
        .collect();
    assert!(rows.len() > 150, "{}", rows.len());
    let blind: Vec<&str> = rows
        .par_iter()
        .filter(|row| {
            let swaps = forbidden_swaps(row);
            let found = witness(row, 3, |case, random| {
                let (x, y) = swaps[random.below(swaps.len())];
                let mut moved = case.clone();
                moved.a.swap(x, y);
                moved.b.swap(x, y);
                moved.run(&row.unit) != case.run(&row.unit)
            });
            found.is_none()
        })
        .map(|row| &*row.name)
        .collect();
    assert!(blind.is_empty(), "no witness for {blind:#?}");
}

#[test]
fn parities_of_gtr_are_seen() {
    let is_gtr = |row: &Row| {
        let first = dots(row.program(), row.signature().k)[0].0;
        matches!(first, Dpa::GtrFdpa(_))
    };
    let rows: Vec<Row> = modelled().into_iter().filter(is_gtr).collect();
    assert!(!rows.is_empty());
    for row in rows {
        // Neighbours of one block, one even and one odd.
        let found = witness(&row, 4, |case, random| {
            let x = 2 * random.below(4);
            let mut moved = case.clone();
            moved.a.swap(x, x + 1);
            moved.b.swap(x, x + 1);
            moved.run(&row.unit) != case.run(&row.unit)
        });
        assert!(found.is_some(), "{}", row.name);
    }
}
