//! A K of n blocks equals n chained calls of a unit of one block (§1), the last one may be short.

use mmascope::dpa::{Scale, Signature, Unit};

use super::operands::{Case, KINDS, Random};
use super::rows::{Row, adds_products, modelled, only_algorithm};

/// The row's arithmetic with another K; a chained c comes in the result's format.
fn with_k(row: &Row, k: usize, first: bool) -> Unit {
    let signature = row.signature();
    let c = if first {
        signature.c
    } else {
        row.program().output().format.container()
    };
    let signature = Signature { k, c, ..*signature };
    Unit::new(signature, row.program().clone()).expect("any K that fits the scale blocks")
}

fn in_links(row: &Row, case: &Case, l: usize) -> u64 {
    let scale_block = row.signature().scale.map_or(l, |Scale { block, .. }| block);
    let mut c = case.c;
    for start in (0..case.a.len()).step_by(l) {
        let end = case.a.len().min(start + l);
        let scales = |of: &[u64]| match of {
            [] => Vec::new(),
            _ => of[start / scale_block..end.div_ceil(scale_block)].to_vec(),
        };
        let link = Case {
            a: case.a[start..end].to_vec(),
            b: case.b[start..end].to_vec(),
            c,
            scale_a: scales(&case.scale_a),
            scale_b: scales(&case.scale_b),
        };
        c = link.run(&with_k(row, end - start, start == 0));
    }
    c
}

#[test]
fn k_of_n_blocks_is_n_chained_calls() {
    let mut tested = 0;
    for row in modelled() {
        let Some(algorithm) = only_algorithm(row.program()) else {
            continue; // Lowered instructions: their statements are tested by what they are.
        };
        if !adds_products(row.program()) {
            continue; // Such a unit has one K: 1.
        }
        tested += 1;
        let l = algorithm.block();
        let short = match row.signature().scale {
            Some(scale) => scale.block.min(l),
            None => l.div_ceil(2),
        };
        let mut random = Random::seeded(&row.name, 30);
        for k in [l, 2 * l, 3 * l, 2 * l + short, row.signature().k] {
            let unit = with_k(&row, k, true);
            for kind in KINDS {
                for _ in 0..2 {
                    let case = Case::random(unit.signature(), kind, &mut random);
                    let (whole, links) = (case.run(&unit), in_links(&row, &case, l));
                    assert_eq!(whole, links, "{} k={k} {kind:?} {case:?}", row.name);
                }
            }
        }
    }
    assert!(tested > 500, "{tested}");
}
