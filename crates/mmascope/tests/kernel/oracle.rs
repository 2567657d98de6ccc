//! The oracle: every output by the reference, one dot product after the other.

use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::gemm::{Matrices, Matrix};
use rayon::prelude::*;

/// A product's operands, each picked by its own index, and single steps of single outputs.
pub(crate) struct Dots<'a> {
    unit: &'a Unit,
    matrices: &'a Matrices,
    first: Modifiers,
    later: Modifiers,
    rows: Vec<[Vec<u64>; 2]>,
    columns: Vec<[Vec<u64>; 2]>,
}

/// One output.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) dots: &'a Dots<'a>,
    pub(crate) i: usize,
    pub(crate) j: usize,
}

impl<'a> Dots<'a> {
    pub(crate) fn new(unit: &'a Unit, matrices: &'a Matrices, modifiers: &Modifiers) -> Self {
        let k = matrices.k();
        let blocks = k / unit.signature().k * unit.signature().scales();
        let along_row = |matrix: Option<&Matrix>, length: usize, i: usize| -> Vec<u64> {
            matrix.map_or(Vec::new(), |x| {
                (0..length).map(|at| x.at(0, i, at)).collect()
            })
        };
        let along_column = |matrix: Option<&Matrix>, length: usize, j: usize| -> Vec<u64> {
            matrix.map_or(Vec::new(), |x| {
                (0..length).map(|at| x.at(0, at, j)).collect()
            })
        };
        let row = |i| {
            [
                along_row(Some(matrices.a()), k, i),
                along_row(matrices.scale_a(), blocks, i),
            ]
        };
        let column = |j| {
            [
                along_column(Some(matrices.b()), k, j),
                along_column(matrices.scale_b(), blocks, j),
            ]
        };
        Self {
            unit,
            matrices,
            first: *modifiers,
            later: Modifiers {
                negate_a: modifiers.negate_a,
                negate_b: modifiers.negate_b,
                ..Modifiers::default()
            },
            rows: (0..matrices.m()).map(row).collect(),
            columns: (0..matrices.n()).map(column).collect(),
        }
    }

    pub(crate) fn unit(&self) -> &'a Unit {
        self.unit
    }

    /// Rows of D.
    pub(crate) fn m(&self) -> usize {
        self.matrices.m()
    }

    /// K in steps.
    pub(crate) fn steps(&self) -> usize {
        self.matrices.k() / self.unit.signature().k
    }

    /// A function of every output, row by row.
    pub(crate) fn all(&self, function: impl Fn(Output<'_>) -> u64 + Sync) -> Vec<u64> {
        let n = self.matrices.n();
        (0..self.matrices.m() * n)
            .into_par_iter()
            .map(|index| {
                function(Output {
                    dots: self,
                    i: index / n,
                    j: index % n,
                })
            })
            .collect()
    }
}

impl Output<'_> {
    /// C's element; 0 without a C.
    pub(crate) fn c(&self) -> u64 {
        let c = self.dots.matrices.c();
        c.map_or(0, |c| c.at(0, self.i, self.j))
    }

    /// Steps one after the other from c, without what modifiers do to C.
    pub(crate) fn chain(&self, c: u64, steps: impl IntoIterator<Item = usize>) -> u64 {
        let later = &self.dots.later;
        steps
            .into_iter()
            .fold(c, |c, step| self.step(c, step, later))
    }

    /// Steps one after the other from C, to which the modifiers apply.
    pub(crate) fn chain_from_c(&self, steps: impl IntoIterator<Item = usize>) -> u64 {
        let mut steps = steps.into_iter();
        let first = steps.next().expect("a step");
        self.chain(self.step(self.c(), first, &self.dots.first), steps)
    }

    fn step(&self, c: u64, step: usize, modifiers: &Modifiers) -> u64 {
        let signature = self.dots.unit.signature();
        let (k, blocks) = (signature.k, signature.scales());
        let [a, scale_a] = &self.dots.rows[self.i];
        let [b, scale_b] = &self.dots.columns[self.j];
        let (ks, scales) = (step * k..(step + 1) * k, step * blocks..(step + 1) * blocks);
        let operands = Operands {
            a: &a[ks.clone()],
            b: &b[ks],
            c,
            scale_a: &scale_a[scales.clone()],
            scale_b: &scale_b[scales],
        };
        self.dots
            .unit
            .dot(&operands, modifiers)
            .expect("operands fit")
    }
}

/// D by the plain chain.
pub(crate) fn by_dots(unit: &Unit, matrices: &Matrices, modifiers: &Modifiers) -> Vec<u64> {
    let dots = Dots::new(unit, matrices, modifiers);
    let steps = dots.steps();
    dots.all(|output| output.chain_from_c(0..steps))
}
