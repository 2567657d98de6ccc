//! The oracle: every output by the reference, one dot product after the other.

use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::gemm::{Matrices, Matrix};
use rayon::prelude::*;

/// D by [`Unit::dot`], step by step, each operand picked by its own index.
pub(crate) fn by_dots(unit: &Unit, matrices: &Matrices, modifiers: &Modifiers) -> Vec<u64> {
    let signature = unit.signature();
    let (m, n, k) = (matrices.m(), matrices.n(), matrices.k());
    let blocks = signature.scales();
    let all_blocks = k / signature.k * blocks;
    let column = |matrix: Option<&Matrix>, rows: usize, j: usize| -> Vec<u64> {
        matrix.map_or(Vec::new(), |x| (0..rows).map(|i| x.at(0, i, j)).collect())
    };
    let row = |matrix: Option<&Matrix>, columns: usize, i: usize| -> Vec<u64> {
        matrix.map_or(Vec::new(), |x| {
            (0..columns).map(|j| x.at(0, i, j)).collect()
        })
    };
    let rows: Vec<_> = (0..m)
        .map(|i| {
            (
                row(Some(matrices.a()), k, i),
                row(matrices.scale_a(), all_blocks, i),
            )
        })
        .collect();
    let later = Modifiers {
        negate_a: modifiers.negate_a,
        negate_b: modifiers.negate_b,
        ..Modifiers::default()
    };
    let columns: Vec<_> = (0..n)
        .map(|j| {
            (
                column(Some(matrices.b()), k, j),
                column(matrices.scale_b(), all_blocks, j),
            )
        })
        .collect();
    (0..m * n)
        .into_par_iter()
        .map(|index| {
            let (i, j) = (index / n, index % n);
            let mut sum = matrices.c().map_or(0, |c| c.at(0, i, j));
            for step in 0..k / signature.k {
                let ks = step * signature.k..(step + 1) * signature.k;
                let scales = step * blocks..(step + 1) * blocks;
                let operands = Operands {
                    a: &rows[i].0[ks.clone()],
                    b: &columns[j].0[ks],
                    c: sum,
                    scale_a: &rows[i].1[scales.clone()],
                    scale_b: &columns[j].1[scales],
                };
                let used = if step == 0 { modifiers } else { &later };
                sum = unit.dot(&operands, used).expect("operands fit");
            }
            sum
        })
        .collect()
}
