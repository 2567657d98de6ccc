//! Random and well-known orders, recovered by every algorithm.

use rayon::prelude::*;

use super::simulated::{Random, Simulated, chain, pairwise, permuted, strided};
use mmascope::reveal::{Algorithm, RevealOptions, reveal};
use mmascope::tree::{Builder, Tree};

const LARGE: [Algorithm; 5] = [
    Algorithm::Basic,
    Algorithm::Fprev,
    Algorithm::FprevNarrow,
    Algorithm::Pivot,
    Algorithm::Distinct,
];

fn found(tree: &Tree, algorithm: Algorithm, seed: u64) -> Tree {
    let mut subject = Simulated::new(tree.clone());
    let options = RevealOptions {
        algorithm,
        seed,
        verify: false,
        ..RevealOptions::default()
    };
    let report = reveal(&mut subject, &options).expect("a simulated subject does not fail");
    assert!(
        report.holds(),
        "{algorithm:?} on {tree}: {}",
        report.verdict()
    );
    report.tree
}

fn check(tree: &Tree, algorithms: &[Algorithm], seed: u64) {
    for &algorithm in algorithms {
        let found = found(tree, algorithm, seed);
        assert_eq!(found, *tree, "{algorithm:?}: {:?}", found.difference(tree));
    }
}

/// Trees of random numbers of leaves, each recovered by every algorithm.
fn check_many(seed: u64, count: usize, leaves: std::ops::Range<usize>, exact: bool) {
    let mut random = Random(seed);
    let trees: Vec<Tree> = (0..count)
        .map(|_| {
            let leaves = leaves.start + random.below(leaves.len());
            random.tree(leaves, exact)
        })
        .collect();
    trees
        .par_iter()
        .enumerate()
        .for_each(|(seed, tree)| check(tree, &LARGE, seed as u64));
}

#[test]
fn small_random_trees_by_every_algorithm() {
    check_many(1, 10_000, 2..65, false);
}

#[test]
fn exact_nodes_are_named_and_never_a_wrong_tree() {
    check_many(2, 10_000, 2..65, true);
}

#[test]
fn the_naive_algorithm_up_to_six() {
    let mut random = Random(3);
    for seed in 0..60 {
        let tree = random.tree(2 + seed % 5, false);
        check(&tree, &[Algorithm::Naive], seed as u64);
    }
    // Seven are refused.
    let mut subject = Simulated::new(random.tree(7, false));
    let options = RevealOptions {
        algorithm: Algorithm::Naive,
        ..RevealOptions::default()
    };
    assert!(reveal(&mut subject, &options).is_err());
}

#[test]
fn large_random_trees() {
    check_many(4, 200, 128..513, false);
}

#[test]
fn large_random_trees_with_exact_nodes() {
    check_many(5, 50, 128..513, true);
}

#[test]
fn well_known_orders() {
    let mut random = Random(5);
    for leaves in [2, 3, 8, 33, 64, 200] {
        let ascending: Vec<usize> = (0..leaves).collect();
        let descending: Vec<usize> = (0..leaves).rev().collect();
        let mut shuffled = ascending.clone();
        for last in (1..leaves).rev() {
            shuffled.swap(last, random.below(last + 1));
        }
        let mut builder = Builder::new(leaves);
        let root = pairwise(&mut builder, ascending.clone());
        let balanced = builder.build(root).expect("every leaf stands once");
        // A comb: pairs of neighbours, chained.
        let mut builder = Builder::new(leaves);
        let format = mmascope::format::F32;
        let teeth: Vec<usize> = ascending
            .chunks(2)
            .map(|two| match two {
                [left, right] => builder.node(mmascope::tree::Op::Add, format, vec![*left, *right]),
                _ => two[0],
            })
            .collect();
        let comb = teeth[1..].iter().fold(teeth[0], |sum, &tooth| {
            builder.node(mmascope::tree::Op::Add, format, vec![sum, tooth])
        });
        let comb = builder.build(comb).expect("every leaf stands once");
        let strided = strided(leaves, leaves.min(8));
        let trees = [
            chain(&ascending),
            chain(&descending),
            chain(&shuffled),
            balanced,
            comb,
            strided,
        ];
        for tree in &trees {
            check(tree, &LARGE, 1);
            check(&permuted(tree, &shuffled), &LARGE, 1);
        }
    }
}

/// An accumulator of 8 bits counts to 256 only; algorithm 5 and ours go on in parts.
#[test]
fn narrow_accumulators() {
    let mut random = Random(6);
    for seed in 0..20 {
        let leaves = 300 + random.below(300);
        let tree = if seed < 4 {
            chain(&(0..leaves).collect::<Vec<_>>())
        } else {
            random.tree(leaves, false)
        };
        for algorithm in [Algorithm::FprevNarrow, Algorithm::Pivot] {
            let mut subject = Simulated::new(tree.clone());
            subject.bits = 8;
            let options = RevealOptions {
                algorithm,
                verify: false,
                ..RevealOptions::default()
            };
            let report = reveal(&mut subject, &options).expect("a simulated subject");
            assert_eq!(report.tree, tree, "{algorithm:?} {}", report.verdict());
        }
    }
}

/// Our measurements: sequential orders of either direction cost about n.
#[test]
fn right_to_left_costs_no_more_than_three_times_sequential() {
    let cost = |order: Vec<usize>| {
        let mut subject = Simulated::new(chain(&order));
        let options = RevealOptions {
            verify: false,
            ..RevealOptions::default()
        };
        reveal(&mut subject, &options)
            .expect("a simulated subject")
            .measurements
    };
    let (forward, backward) = (cost((0..2000).collect()), cost((0..2000).rev().collect()));
    assert!(
        forward <= 2_002 && backward <= 3 * forward,
        "{forward} {backward}"
    );
}
