//! Checks that the sums of a tree have as many bits as they are said to have, and that no two nodes are one exact sum.
//!
//! Several pairs of masks in one input show neither: pairs that meet in one exact sum look as if they met one after the other, and sums of
//! more bits keep what masks should absorb. For nodes v = (w, C) and w = (X, Y), masks on a leaf of X and one of C lose a unit on a
//! leaf of Y, unless v and w are one exact sum or w has more bits. One input asks this of many nodes. Masks of what holds another are
//! smaller, so that they do not absorb what the other leaves.

use super::Trouble;
use super::levels::{NEAR, term};
use super::meter::Meter;
use crate::tree::{Op, Term, Tree, power_of_two};

/// The last bit of M, and the unit, of the smallest masks; those of the next level are four times as large.
const LAST: f64 = 8.0;
const UNIT: f64 = NEAR * LAST;
/// Levels of masks in an input.
const LEVELS: i32 = 32;
/// The most inputs that ask of many nodes each.
const MOST_SHARED: usize = 256;
/// Nodes that are looked at on the way to what is asked below.
const MOST_BETWEEN: usize = 64;

/// One input.
struct Input {
    /// Leaves with +M, a unit, and −M, and the level of M: 0 is the largest.
    asked: Vec<([usize; 3], i32)>,
    /// Of every item of the tree, whether it has a leaf that is asked.
    is_asked: Vec<bool>,
    /// Of every item that is the node v of what is asked, the level.
    level: Vec<Option<i32>>,
}

/// Checks a tree of sums of so many bits, rounded to nearest: each of two terms.
pub(super) fn are_rounded(meter: &mut Meter<'_>, tree: &Tree, bits: i32) -> Result<(), Trouble> {
    let items = tree.leaves() + tree.nodes().len();
    let parents = tree.parents();
    let mut a_leaf: Vec<usize> = (0..tree.leaves()).collect();
    a_leaf.extend(tree.nodes().iter().map(|_| 0));
    let refused = |why: &str| Err(Trouble::no_tree(why.to_owned()));
    if tree.nodes().iter().any(|node| node.op != Op::Add) {
        return refused("fused sums are not rounded to nearest at every step");
    }
    let mut inputs: Vec<Input> = Vec::new();
    let mut alone = Vec::new();
    // Children come before their parents.
    for (at, node) in tree.nodes().iter().enumerate() {
        let v = tree.leaves() + at;
        a_leaf[v] = node.children.last().map_or(0, |&child| a_leaf[child]);
        for (place, &w) in node.children.iter().enumerate() {
            let Some(inner) = tree.inner(w) else { continue };
            let others = [&node.children[..place], &node.children[place + 1..]].concat();
            let room = |input: &Input| input.items(tree, &inner.children, &others);
            let mut found = inputs.iter().position(|input| room(input).is_some());
            if found.is_none() && inputs.len() < MOST_SHARED {
                inputs.push(Input {
                    asked: Vec::new(),
                    is_asked: vec![false; items],
                    level: vec![None; items],
                });
                found = Some(inputs.len() - 1);
            }
            let Some(at) = found else {
                let items = [inner.children[1], inner.children[0], others[0]];
                alone.push((items.map(|item| a_leaf[item]), 0));
                continue;
            };
            let Some((chosen, level)) = room(&inputs[at]) else {
                continue;
            };
            let input = &mut inputs[at];
            input.level[v] = Some(level);
            let leaves = chosen.map(|item| a_leaf[item]);
            input.asked.push((leaves, level));
            for mut item in leaves {
                while !std::mem::replace(&mut input.is_asked[item], true) && item != tree.root() {
                    item = parents[item];
                }
            }
        }
    }
    let products = meter.subject.products();
    let mask = 1.5 * power_of_two(bits - 1) * LAST;
    let as_terms = |asked: &[([usize; 3], i32)]| -> Vec<(usize, Term)> {
        let terms = asked.iter().flat_map(|(leaves, level)| {
            let scale = power_of_two(2 * (LEVELS - 1 - level));
            let values = [mask, UNIT, -mask].map(|value| term(products, value * scale));
            leaves.iter().copied().zip(values)
        });
        terms.collect()
    };
    let shared = inputs.iter().map(|input| as_terms(&input.asked));
    let alone = alone.iter().map(|leaves| as_terms(&[*leaves]));
    let asked: Vec<_> = shared.chain(alone).collect();
    let results = meter.evaluate_sparse(term(products, 0.0), &asked)?;
    match results.iter().all(|&result| result == 0.0) {
        true => Ok(()),
        false => refused("sums keep more than their format has"),
    }
}

impl Input {
    /// Items of the tree that have room for +M, the unit and −M, and the level, where the children of w and the other children of v
    /// are these. What is asked below must lie on the unit's side, and the unit must join it later.
    fn items(&self, tree: &Tree, inner: &[usize], others: &[usize]) -> Option<([usize; 3], i32)> {
        let is_free = |item: &usize| !self.is_asked[*item];
        let side = inner.iter().position(|item| !is_free(item)).unwrap_or(0);
        let mut rest = (0..inner.len()).filter(|&at| at != side);
        let plus = inner[rest.next()?];
        if !is_free(&plus) || !rest.all(|at| is_free(&inner[at])) || !others.iter().all(is_free) {
            return None;
        }
        let (unit, level) = match inner[side] {
            free if is_free(&free) => (free, 0),
            asked if self.level[asked].is_some() => return None,
            asked => {
                let children = &tree.inner(asked)?.children;
                let unit = *children.iter().find(|item| is_free(item))?;
                let below = *children.iter().find(|item| !is_free(item))?;
                (unit, self.level_below(tree, below)? + 1)
            }
        };
        (level < LEVELS).then_some(([plus, unit, others[0]], level))
    }

    /// The level of what is asked at an item or below it; `None` where that is in several parts or far below.
    fn level_below(&self, tree: &Tree, mut item: usize) -> Option<i32> {
        for _ in 0..MOST_BETWEEN {
            if let Some(level) = self.level[item] {
                return Some(level);
            }
            let children = &tree.inner(item)?.children;
            let mut asked = children.iter().filter(|&&child| self.is_asked[child]);
            let (Some(&below), None) = (asked.next(), asked.next()) else {
                return None;
            };
            item = below;
        }
        None
    }
}
