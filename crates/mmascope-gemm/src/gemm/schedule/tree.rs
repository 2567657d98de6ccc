//! The summation tree that a schedule and a unit give one output.

use super::plan::Extent;
use super::{CEntry, MultiplyAdd, ReductionOrder, Schedule, Split};
use crate::dpa::Unit;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::tree::{Builder, MAX_LEAVES, Node, Op, Tree};

/// Which output of which product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPlace {
    /// Rows of D.
    pub m: usize,
    /// Columns of D.
    pub n: usize,
    /// Products of an output; a multiple of the unit's K.
    pub k: usize,
    /// Row of the output.
    pub i: usize,
    /// Column of the output.
    pub j: usize,
}

impl OutputPlace {
    /// The one output of a product with m = n = 1.
    #[must_use]
    pub fn single(k: usize) -> Self {
        Self {
            m: 1,
            n: 1,
            k,
            i: 0,
            j: 0,
        }
    }
}

impl Schedule {
    /// The tree of one output: leaf k is the product of that number, leaf K is C, which is no leaf
    /// where β = 0 leaves it out.
    ///
    /// Scales, α and β are factors and no nodes: a promotion or epilogue by fused multiply-add is a
    /// node `fma`, else `add`. The final conversion is no node either.
    ///
    /// # Errors
    /// [`Error::Argument`] when K is no multiple of the unit's, the output lies outside, the
    /// schedule has more parts than K has steps, or nothing is summed.
    pub fn tree(&self, unit: &Unit, output: &OutputPlace) -> Result<Tree> {
        let OutputPlace { m, n, k, i, j } = *output;
        let native = unit.signature().k;
        if self.emulation.is_some() {
            return Err(Error::Argument(
                "the schedule: under emulate= an element of A has several parts, so that its products are no leaves \
                 of one tree"
                    .into(),
            ));
        }
        if k == 0 || k % native != 0 || i >= m || j >= n {
            return Err(Error::Argument(format!(
                "output [{i}, {j}] of {m} × {n} with K = {k}: K must be a multiple of {native}, \
                 and the output within D"
            )));
        }
        if k >= MAX_LEAVES {
            return Err(Error::Argument(format!(
                "K = {k}: trees of 1 to {} products are supported",
                MAX_LEAVES - 1
            )));
        }
        let extent = Extent {
            batch: 1,
            m,
            n,
            steps: k / native,
        };
        let own = Node::of_program(unit.program(), unit.signature());
        let own = own.ok_or_else(|| Error::Argument("the unit sums nothing".into()))?;
        let c_is_read = match self.c {
            CEntry::First => true,
            CEntry::Epilogue { scalar, beta, .. } => !scalar.is_zero(beta),
        };
        let mut growth = Growth {
            builder: Builder::new(k + usize::from(c_is_read)),
            own,
            native,
        };
        let c = c_is_read.then_some(k);
        let sequence = self.order.sequence(extent.steps)?;
        let (index, count) = self.region_of(&extent, i, j);
        let parts = self.parts(index, count, extent.steps)?;
        let mut sums = Vec::new();
        for (number, part) in parts.into_iter().enumerate() {
            let start = c.filter(|_| number == 0 && self.c == CEntry::First);
            sums.extend(self.part_tree(&mut growth, &sequence[part], start));
        }
        let mut root = self.reduced_tree(&mut growth, sums);
        if let (CEntry::Epilogue { scalar, by, .. }, Some(c)) = (self.c, c) {
            root = growth.sum(by, scalar.format(), root, Some(c));
        }
        let root = root.ok_or_else(|| Error::Argument("nothing is summed".into()))?;
        growth.builder.build(root)
    }

    fn region_of(&self, extent: &Extent, i: usize, j: usize) -> (usize, usize) {
        let (rows, columns) = match self.split {
            Split::StreamK { rows, columns, .. } => (rows, columns),
            _ => return (0, 1),
        };
        let across = extent.n.div_ceil(columns);
        (
            i / rows * across + j / columns,
            extent.m.div_ceil(rows) * across,
        )
    }

    fn part_tree(
        &self,
        growth: &mut Growth,
        steps: &[usize],
        start: Option<usize>,
    ) -> Option<usize> {
        let Some(promotion) = self.promotion else {
            return growth.chain(steps, start);
        };
        let by = promotion
            .scale
            .map_or(MultiplyAdd::MulAdd, |scale| scale.by);
        let mut outer = start;
        for group in steps.chunks(promotion.steps) {
            let inner = growth.chain(group, None);
            outer = growth.sum(by, promotion.scalar.format(), outer, inner);
        }
        outer
    }

    fn reduced_tree(&self, growth: &mut Growth, mut sums: Vec<usize>) -> Option<usize> {
        let Some(reduction) = self.reduction() else {
            return sums.pop();
        };
        let format = reduction.scalar.format();
        let mut add = |x, y| growth.builder.node(Op::Add, format, vec![x, y]);
        match reduction.order {
            ReductionOrder::Ascending => sums.into_iter().reduce(&mut add),
            ReductionOrder::Descending => sums.into_iter().rev().reduce(&mut add),
            ReductionOrder::Pairwise => {
                while sums.len() > 1 {
                    sums = sums
                        .chunks(2)
                        .map(|pair| match *pair {
                            [x, y] => add(x, y),
                            _ => pair[0],
                        })
                        .collect();
                }
                sums.pop()
            }
        }
    }
}

/// A tree being built from the unit's own.
struct Growth {
    builder: Builder,
    own: Node,
    native: usize,
}

impl Growth {
    /// The unit's tree for every step, each sum being the next one's c.
    fn chain(&mut self, steps: &[usize], start: Option<usize>) -> Option<usize> {
        let own = self.own.clone();
        steps
            .iter()
            .fold(start, |sum, &step| self.planted(&own, step, sum))
    }

    /// A node of the unit's own tree, with the leaves of a step, and c for its last leaf.
    fn planted(&mut self, node: &Node, step: usize, c: Option<usize>) -> Option<usize> {
        match node {
            Node::Leaf(leaf) if *leaf == self.native => c,
            Node::Leaf(leaf) => Some(step * self.native + leaf),
            Node::Inner {
                op,
                format,
                children,
            } => {
                let children: Vec<usize> = children
                    .iter()
                    .filter_map(|child| self.planted(child, step, c))
                    .collect();
                match children[..] {
                    [] => None,
                    [only] => Some(only),
                    _ => Some(self.builder.node(*op, *format, children)),
                }
            }
        }
    }

    /// Two sums added; one alone is itself.
    fn sum(
        &mut self,
        by: MultiplyAdd,
        format: Format,
        x: Option<usize>,
        y: Option<usize>,
    ) -> Option<usize> {
        let op = match by {
            MultiplyAdd::Fma => Op::Fma,
            MultiplyAdd::MulAdd => Op::Add,
        };
        match (x, y) {
            (Some(x), Some(y)) => Some(self.builder.node(op, format, vec![x, y])),
            (one, other) => one.or(other),
        }
    }
}
