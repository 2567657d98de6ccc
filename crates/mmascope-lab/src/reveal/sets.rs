//! Builds trees from sets: the leaves that two masks absorb, and not only their number.
//!
//! A call can name them when every unit has a weight of its own, 2^k; where the range is short,
//! units are set one at a time. This tells exact nodes apart: there ±M cancel and the units of the
//! other children survive, which counts alone would turn into a wrong tree.

use std::collections::BTreeSet;

use super::meter::Meter;
use super::subject::{Query, Summation};
use super::{EXACT_SPAN, Trouble};
use crate::tree::{Builder, Op, Tree};

/// Nodes under construction.
pub(super) struct Forest {
    leaves: usize,
    nodes: Vec<(bool, Vec<usize>)>,
}

impl Forest {
    pub(crate) fn new(leaves: usize) -> Self {
        Self {
            leaves,
            nodes: Vec::new(),
        }
    }

    /// A new node.
    pub(super) fn join(&mut self, children: Vec<usize>) -> usize {
        self.nodes.push((false, children));
        self.leaves + self.nodes.len() - 1
    }

    /// A further child of a node.
    pub(super) fn push(&mut self, node: usize, child: usize) -> usize {
        self.nodes[node - self.leaves].1.push(child);
        node
    }

    /// Two parts of one node.
    pub(super) fn merge(&mut self, node: usize, other: usize) -> usize {
        let children = std::mem::take(&mut self.nodes[other - self.leaves].1);
        self.nodes[node - self.leaves].1.extend(children);
        node
    }

    /// The tree: two terms are added, more are fused, or exact where units survived, or
    /// unresolved where the masks are too close to the units to tell.
    pub(super) fn finish(self, root: usize, subject: &dyn Summation) -> Result<Tree, Trouble> {
        let survived = if subject.masks().span() >= EXACT_SPAN {
            Op::Exact
        } else {
            Op::Unresolved
        };
        let mut builder = Builder::new(self.leaves);
        for (keeps, children) in self.nodes {
            let op = match children.len() {
                0..=2 => Op::Add,
                _ if keeps => survived,
                _ => Op::Fused,
            };
            // An emptied part of a merged node stays unused.
            let children = if children.is_empty() {
                vec![0]
            } else {
                children
            };
            builder.node(op, subject.format(), children);
        }
        Ok(builder.build(root)?)
    }
}

/// The fate of the units that meet M.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing is left of them.
    Lost,
    /// Something else is: sums that round away from zero, or to odd, make more of them.
    Changed,
}

/// The tree from the lost leaves of chosen pairs.
pub(super) fn by_name(meter: &mut Meter<'_>) -> Result<Tree, Trouble> {
    whole(meter, Fate::Lost)
}

/// The tree from the leaves that chosen pairs change, whatever becomes of them: it is found under every
/// rounding, by one unit at a time.
pub(super) fn by_change(meter: &mut Meter<'_>) -> Result<Tree, Trouble> {
    whole(meter, Fate::Changed)
}

fn whole(meter: &mut Meter<'_>, fate: Fate) -> Result<Tree, Trouble> {
    let mut forest = Forest::new(meter.subject.leaves());
    let all: Vec<usize> = (0..meter.subject.leaves()).collect();
    let (root, _) = build(meter, &mut forest, &all, None, fate)?;
    forest.finish(root, meter.subject)
}

/// How many different weights a call can tell apart.
fn width(subject: &dyn Summation) -> usize {
    let masks = subject.masks();
    // Units of every weight must stay as far below M as the widest alignment reaches.
    let room = (masks.span() - EXACT_SPAN) / 2;
    (masks.counted.log2() as i32).min(room).clamp(1, 48) as usize
}

/// For every leaf j of `set` but the pivot: which leaves of `universe` are lost with masks there.
fn lost(
    meter: &mut Meter<'_>,
    pivot: usize,
    set: &[usize],
    universe: &[usize],
    fate: Fate,
) -> Result<Vec<BTreeSet<usize>>, Trouble> {
    let width = width(meter.subject);
    let mut lost: Vec<BTreeSet<usize>> = set.iter().map(|&j| BTreeSet::from([pivot, j])).collect();
    let unclear = |j: usize, result: f64| {
        // A mask that stays in the sum makes a number of dozens of digits.
        let left = match result.abs() < 1e15 {
            true => result.to_string(),
            false => format!("{result:e}"),
        };
        Trouble::no_tree(format!(
            "masks at leaves {pivot} and {j} leave {left} units of distinct weights"
        ))
    };
    if width < 4 || fate == Fate::Changed {
        let mut queries = Vec::new();
        for &j in set {
            for &k in universe.iter().filter(|&&k| k != pivot && k != j) {
                queries.push(Query {
                    plus: Some(pivot),
                    minus: Some(j),
                    only: Some(k),
                });
            }
        }
        let results = meter.measure(&meter.all_units(), &queries)?;
        let mut asked = queries.iter().zip(results);
        for (at, &j) in set.iter().enumerate() {
            let count = universe.iter().filter(|&&k| k != pivot && k != j).count();
            for (query, result) in asked.by_ref().take(count) {
                match (query.only, result) {
                    (_, 1.0) => {}
                    (Some(k), result) if result == 0.0 || fate == Fate::Changed => {
                        lost[at].insert(k);
                    }
                    _ => return Err(unclear(j, result)),
                }
            }
        }
        return Ok(lost);
    }
    let queries: Vec<Query> = set
        .iter()
        .map(|&j| Query {
            plus: Some(pivot),
            minus: Some(j),
            only: None,
        })
        .collect();
    for chunk in universe.chunks(width) {
        let mut units = vec![0.0; meter.subject.leaves()];
        for (bit, &leaf) in chunk.iter().enumerate() {
            units[leaf] = (1_u64 << bit) as f64;
        }
        let results = meter.measure(&units, &queries)?;
        for ((&j, result), lost) in set.iter().zip(results).zip(&mut lost) {
            if result.fract() != 0.0 || !(0.0..(1_u64 << width) as f64).contains(&result) {
                return Err(unclear(j, result));
            }
            let left = result as u64;
            for (bit, &leaf) in chunk.iter().enumerate() {
                if left >> bit & 1 == 0 {
                    lost.insert(leaf);
                }
            }
        }
    }
    Ok(lost)
}

/// The item over `set`, and whether its top node has further children outside: `outer`, one of
/// their leaves, is lost there too.
fn build(
    meter: &mut Meter<'_>,
    forest: &mut Forest,
    set: &[usize],
    outer: Option<usize>,
    fate: Fate,
) -> Result<(usize, bool), Trouble> {
    let (&pivot, others) = match set.split_first() {
        Some((first, [])) => return Ok((*first, false)),
        Some(split) => split,
        None => return Err(Trouble::no_tree("an empty set of leaves".to_owned())),
    };
    let universe: Vec<usize> = set.iter().copied().chain(outer).collect();
    let lost = lost(meter, pivot, others, &universe, fate)?;
    let wrong = |j: usize| {
        Trouble::no_tree(format!(
            "the leaves lost with masks at {pivot} and {j} nest in no tree"
        ))
    };
    let mut rest: Vec<(usize, BTreeSet<usize>)> = others.iter().copied().zip(lost).collect();
    let (mut item, mut inside, mut joined) = (pivot, BTreeSet::from([pivot]), false);
    while let Some(nearest) = rest.iter().map(|(_, lost)| lost.len()).min() {
        let (j, lost) = rest
            .iter()
            .find(|(_, lost)| lost.len() == nearest)
            .cloned()
            .unwrap_or_default();
        let outside = outer.is_some_and(|outer| lost.contains(&outer));
        if joined || !inside.is_subset(&lost) {
            return Err(wrong(j));
        }
        let is_here = |k: &usize| !inside.contains(k) && Some(*k) != outer;
        let child: BTreeSet<usize> = lost.iter().copied().filter(is_here).collect();
        let apart: Vec<_> = rest
            .iter()
            .filter(|(k, lost)| !child.contains(k) && lost.is_disjoint(&child))
            .cloned()
            .collect();
        // Every leaf of a child loses the same leaves.
        let same = |child: &BTreeSet<usize>, lost: &BTreeSet<usize>| {
            rest.iter()
                .filter(|(k, _)| child.contains(k))
                .all(|(_, own)| own == lost)
        };
        if !same(&child, &lost) {
            return Err(wrong(j));
        }
        let leaves: Vec<usize> = child.iter().copied().collect();
        let (below, open) = build(meter, forest, &leaves, Some(pivot), fate)?;
        if apart.is_empty() {
            item = if open {
                forest.push(below, item)
            } else {
                forest.join(vec![item, below])
            };
            joined = outside;
        } else {
            // Units of other children survive: this node loses nothing.
            if open || outside {
                return Err(wrong(j));
            }
            let mut children = vec![item, below];
            let mut done = child.clone();
            for (k, own) in &apart {
                if done.contains(k) {
                    continue;
                }
                let sibling: BTreeSet<usize> = own.difference(&inside).copied().collect();
                if !inside.is_subset(own) || !same(&sibling, own) || !sibling.is_disjoint(&done) {
                    return Err(wrong(*k));
                }
                let leaves: Vec<usize> = sibling.iter().copied().collect();
                let (below, open) = build(meter, forest, &leaves, Some(pivot), fate)?;
                if open {
                    return Err(wrong(*k));
                }
                children.push(below);
                done.extend(sibling);
            }
            inside.extend(&done);
            item = forest.join(children);
            forest.keeps(item);
        }
        inside.extend(child);
        rest.retain(|(k, _)| !inside.contains(k));
    }
    Ok((item, joined))
}

impl Forest {
    /// Marks a node in which units survive.
    fn keeps(&mut self, node: usize) {
        self.nodes[node - self.leaves].0 = true;
    }
}
