//! The oracle: every output by the reference, one dot product after the other.

use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::gemm::Matrices;
use rayon::prelude::*;

/// D by [`Unit::dot`], step by step, each operand picked by its own index.
pub fn by_dots(unit: &Unit, matrices: &Matrices, modifiers: &Modifiers) -> Vec<u64> {
    let signature = unit.signature();
    let Matrices { m, n, k, .. } = *matrices;
    let blocks = signature.scales();
    let all_blocks = k / signature.k * blocks;
    let columns = |words: &[u64], rows: usize, j: usize| -> Vec<u64> {
        (0..rows).map(|i| words[i * n + j]).collect()
    };
    let later = Modifiers {
        negate_a: modifiers.negate_a,
        negate_b: modifiers.negate_b,
        ..Modifiers::default()
    };
    let columns: Vec<_> = (0..n)
        .map(|j| (columns(&matrices.b, k, j), columns(&matrices.scale_b, all_blocks, j)))
        .collect();
    (0..m * n)
        .into_par_iter()
        .map(|index| {
            let (i, j) = (index / n, index % n);
            let mut sum = matrices.c.as_ref().map_or(0, |c| c[index]);
            for step in 0..k / signature.k {
                let ks = step * signature.k..(step + 1) * signature.k;
                let scales = step * blocks..(step + 1) * blocks;
                let operands = Operands {
                    a: &matrices.a[i * k..(i + 1) * k][ks.clone()],
                    b: &columns[j].0[ks],
                    c: sum,
                    scale_a: &matrices.scale_a[i * all_blocks..(i + 1) * all_blocks][scales.clone()],
                    scale_b: &columns[j].1[scales],
                };
                let used = if step == 0 { modifiers } else { &later };
                sum = unit.dot(&operands, used).expect("operands fit");
            }
            sum
        })
        .collect()
}
