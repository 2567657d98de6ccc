//! The units that survive masks, worked out from the steps of a row alone: no tree, no numbers.
//!
//! A sum is how many times M it holds and which leaves' units. A rounded sum that holds M has lost
//! its units; a truncated step loses the units of all its terms as soon as one of them holds M; an
//! exact step loses none until it is rounded.

use std::collections::BTreeSet;

use mmascope::dpa::{Dpa, Operation, Source, Unit};
use mmascope::tree::{Op, Tree};

#[derive(Clone, Default)]
struct Sum {
    masks: i32,
    units: BTreeSet<usize>,
}

impl Sum {
    fn exact(terms: &[Self]) -> Self {
        Self {
            masks: terms.iter().map(|term| term.masks).sum(),
            units: terms.iter().flat_map(|term| term.units.clone()).collect(),
        }
    }

    fn rounded(mut self) -> Self {
        if self.masks != 0 {
            self.units.clear();
        }
        self
    }

    fn truncated(terms: &[Self]) -> Self {
        let mut sum = Self::exact(terms);
        if terms.iter().any(|term| term.masks != 0) {
            sum.units.clear();
        }
        sum
    }
}

/// The leaves whose units are left with +M at leaf i and −M at leaf j; `None` for steps that masks
/// do not see as one (groups with scales, parities summed apart).
pub(crate) fn left(unit: &Unit, i: usize, j: usize) -> Option<BTreeSet<usize>> {
    let k = unit.signature().k;
    let leaf = |leaf: usize| Sum {
        masks: i32::from(leaf == i) - i32::from(leaf == j),
        units: BTreeSet::from([leaf].map(|leaf| {
            if leaf == i || leaf == j {
                usize::MAX
            } else {
                leaf
            }
        })),
    };
    let mut values: Vec<Sum> = Vec::new();
    for statement in &unit.program().statements {
        let read = |source: &Source| match source {
            Source::C => leaf(k),
            Source::Zero => Sum::default(),
            Source::Statement(index) => values[*index].clone(),
        };
        let value = match &statement.operation {
            Operation::Dot {
                algorithm,
                over,
                from,
                ..
            } => {
                let mut sum = from
                    .source()
                    .map_or_else(Sum::default, |source| read(&source));
                for block in over.indices(k).chunks(algorithm.block()) {
                    let products = block.iter().map(|&k| leaf(k));
                    sum = match algorithm {
                        Dpa::TFdpa(_) | Dpa::StFdpa(_) | Dpa::TrFdpa(_) => {
                            Sum::truncated(&products.chain([sum]).collect::<Vec<_>>())
                        }
                        Dpa::FmaChain(_) | Dpa::EFdpa(_) => {
                            Sum::exact(&products.chain([sum]).collect::<Vec<_>>()).rounded()
                        }
                        Dpa::FtzAddMul(_) => {
                            let mut level: Vec<Sum> = products.collect();
                            while level.len() > 1 {
                                level = level
                                    .chunks(2)
                                    .map(|two| Sum::exact(two).rounded())
                                    .collect();
                            }
                            level.push(sum);
                            Sum::exact(&level).rounded()
                        }
                        Dpa::GstFdpa(_)
                        | Dpa::GtrFdpa(_)
                        | Dpa::GrFdpa(_)
                        | Dpa::SemiFma(_)
                        | Dpa::IntDot(_)
                        | Dpa::General(_) => return None,
                    };
                }
                sum
            }
            Operation::Add(left, right) => Sum::exact(&[read(left), read(right)]).rounded(),
            Operation::Convert(source) => read(source).rounded(),
            Operation::Negate(source) => read(source),
            Operation::Join { .. } => return None,
        };
        values.push(value);
    }
    let mut units = values.pop()?.units;
    units.remove(&usize::MAX);
    Some(units)
}

/// The same as a tree foretells it.
pub(crate) fn left_by_tree(tree: &Tree, i: usize, j: usize) -> BTreeSet<usize> {
    let parents = tree.parents();
    let path = |leaf: usize| {
        let mut path = vec![leaf];
        while path.last() != Some(&tree.root()) {
            path.push(parents[path[path.len() - 1]]);
        }
        path
    };
    let (mut from_i, mut from_j) = (path(i), path(j));
    let mut meeting = tree.root();
    while from_i.last() == from_j.last() {
        meeting = from_i.pop().expect("two leaves part");
        from_j.pop();
    }
    let keeps = tree.inner(meeting).is_some_and(|node| node.op == Op::Exact);
    let lost: BTreeSet<usize> = match keeps {
        true => [from_i, from_j]
            .iter()
            .flat_map(|path| tree.leaves_below(path[path.len() - 1]))
            .collect(),
        false => tree.leaves_below(meeting).into_iter().collect(),
    };
    (0..tree.leaves())
        .filter(|leaf| !lost.contains(leaf))
        .collect()
}
