//! Subjects made from a known tree: they sum as the tree says.

use mmascope::format::{F32, Format};
use mmascope::reveal::{Masks, Query, Summation};
use mmascope::tree::{Builder, Op, Term, Tree};

/// A subject that follows a tree of add, fused and exact nodes over f32 masks.
pub(crate) struct Simulated {
    pub(crate) tree: Tree,
    values: Vec<f64>,
    pub(crate) capacity: usize,
    /// Significant bits of every node's result.
    pub(crate) bits: i32,
    /// What the masks take these bits to be, where that is wrong.
    pub(crate) said: Option<i32>,
    /// Whether results are rounded toward zero.
    pub(crate) truncates: bool,
}

impl Simulated {
    pub(crate) fn new(tree: Tree) -> Self {
        let values = vec![0.0; tree.leaves() + tree.nodes().len()];
        Self {
            tree,
            values,
            capacity: 1,
            bits: 24,
            said: None,
            truncates: false,
        }
    }

    /// A number cut to the accumulator's bits, as an addition in it would do.
    fn rounded(&self, value: f64) -> f64 {
        if self.bits == 24 && !self.truncates {
            return f64::from(value as f32);
        }
        if value == 0.0 {
            return 0.0;
        }
        let unit = f64::from(value.abs().log2().floor() as i32 - self.bits + 1).exp2();
        match self.truncates {
            true => (value / unit).trunc() * unit,
            false => (value / unit).round_ties_even() * unit,
        }
    }

    fn sum(&mut self) -> f64 {
        let leaves = self.tree.leaves();
        for index in 0..self.tree.nodes().len() {
            let node = &self.tree.nodes()[index];
            let values = node.children.iter().map(|&child| self.values[child]);
            let sum = match node.op {
                // A fused node cuts every term off 25 bits below the largest.
                Op::Fused => {
                    let largest = values
                        .clone()
                        .fold(0.0_f64, |most, value| most.max(value.abs()));
                    if largest == 0.0 {
                        0.0
                    } else {
                        let grid = f64::from(largest.log2().floor() as i32 - 25).exp2();
                        values.map(|value| (value / grid).trunc() * grid).sum()
                    }
                }
                // Masks first, then the rest, of which all are whole numbers: exact for what the tests put in.
                Op::Exact => {
                    let large = 2.0_f64.powi(90);
                    let masks: f64 = values.clone().filter(|v| v.abs() >= large).sum();
                    let rest = values.filter(|v| v.abs() < large).map(|v| v as i128);
                    masks + rest.sum::<i128>() as f64
                }
                _ => values.sum(),
            };
            self.values[leaves + index] = self.rounded(sum);
        }
        self.values[self.tree.root()]
    }
}

impl Summation for Simulated {
    fn name(&self) -> &str {
        "simulated"
    }

    fn leaves(&self) -> usize {
        self.tree.leaves()
    }

    fn format(&self) -> Format {
        F32
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn masks(&self) -> Masks {
        Masks {
            counted: f64::from(self.said.unwrap_or(self.bits)).exp2(),
            ..Masks::of(F32)
        }
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> mmascope::Result<Vec<f64>> {
        let large = Masks::of(F32).large;
        let results = queries.iter().map(|query| {
            for (leaf, &unit) in units.iter().enumerate() {
                self.values[leaf] = match query.only {
                    Some(only) => f64::from(u8::from(only == leaf)),
                    None => unit,
                };
            }
            for (leaf, value) in [(query.plus, large), (query.minus, -large)] {
                if let Some(leaf) = leaf {
                    self.values[leaf] = value;
                }
            }
            self.sum()
        });
        Ok(results.collect())
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> mmascope::Result<Vec<f64>> {
        let results = inputs.iter().map(|terms| {
            for (leaf, term) in terms.iter().enumerate() {
                self.values[leaf] = match *term {
                    Term::Value(value) => value,
                    Term::Product(a, b) => a * b,
                };
            }
            self.sum()
        });
        Ok(results.collect())
    }
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    /// A random order: joins 2 to 5 random parts until one is left.
    pub(crate) fn tree(&mut self, leaves: usize, exact: bool) -> Tree {
        let mut builder = Builder::new(leaves);
        let mut parts: Vec<usize> = (0..leaves).collect();
        // Some trees are mostly deep, some mostly flat, some binary.
        let (deep, most) = (self.below(3), [2, 2, 3, 5][self.below(4)]);
        while parts.len() > 1 {
            let count = (2 + self.below(most - 1)).min(parts.len());
            let mut children = Vec::new();
            for turn in 0..count {
                let at = match (deep, turn) {
                    (0, 0) => parts.len() - 1,
                    _ => self.below(parts.len()),
                };
                children.push(parts.swap_remove(at));
            }
            let op = match count {
                2 => Op::Add,
                _ if exact && self.below(2) == 0 => Op::Exact,
                _ => Op::Fused,
            };
            parts.push(builder.node(op, F32, children));
        }
        builder.build(parts[0]).expect("every leaf stands once")
    }
}

/// A tree in which leaf `order[i]` stands where leaf i stood.
pub(crate) fn permuted(tree: &Tree, order: &[usize]) -> Tree {
    let leaves = tree.leaves();
    tree.map(|_, node| {
        let mut node = node.clone();
        for child in &mut node.children {
            if *child < leaves {
                *child = order[*child];
            }
        }
        node
    })
    .expect("a permutation")
}

/// A chain over the leaves in this order.
pub(crate) fn chain(order: &[usize]) -> Tree {
    let mut builder = Builder::new(order.len());
    let mut sum = order[0];
    for &leaf in &order[1..] {
        sum = builder.node(Op::Add, F32, vec![sum, leaf]);
    }
    builder.build(sum).expect("every leaf stands once")
}

/// Neighbours joined pairwise, level by level.
pub(crate) fn pairwise(builder: &mut Builder, mut level: Vec<usize>) -> usize {
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|two| match *two {
                [left, right] => builder.node(Op::Add, F32, vec![left, right]),
                _ => two[0],
            })
            .collect();
    }
    level[0]
}

/// `ways` strided lanes, each sequential, combined pairwise.
pub(crate) fn strided(leaves: usize, ways: usize) -> Tree {
    let mut builder = Builder::new(leaves);
    let lanes: Vec<usize> = (0..ways)
        .map(|lane| {
            (lane + ways..leaves).step_by(ways).fold(lane, |sum, leaf| {
                builder.node(Op::Add, F32, vec![sum, leaf])
            })
        })
        .collect();
    let root = pairwise(&mut builder, lanes);
    builder.build(root).expect("every leaf stands once")
}
