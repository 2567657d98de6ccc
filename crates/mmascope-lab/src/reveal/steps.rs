//! Checks that no two nodes of a tree are one exact sum.
//!
//! Where +M, −M and a unit are terms of one exact sum, the unit is left. So pairs that meet in one exact sum look as if they met
//! one after the other when they share an input. For nodes v = (w, C) and w = (X, Y), masks on a leaf of X and one of C
//! lose a unit on a leaf of Y unless v and w are one sum. One input asks this of many nodes: what one leaves, 3/8 of the last bit
//! of M, makes a whole bit together with the next unit.

use super::Trouble;
use super::levels::term;
use super::meter::Meter;
use super::subject::Query;
use crate::tree::{Inner, Op, Term, Tree, power_of_two};

/// The last bit of M, and the unit.
const LAST: f64 = 8.0;
const UNIT: f64 = 3.0;

/// One input.
struct Input {
    /// Leaves with +M, a unit, and −M.
    asked: Vec<[usize; 3]>,
    /// Of every item of the tree, whether it has a leaf that is asked.
    is_asked: Vec<bool>,
    /// Of every item, whether it is the node v of what is asked.
    is_top: Vec<bool>,
}

/// Checks a tree of sums of so many bits, rounded to nearest.
pub(super) fn are_rounded(meter: &mut Meter<'_>, tree: &Tree, bits: i32) -> Result<(), Trouble> {
    let items = tree.leaves() + tree.nodes().len();
    let parents = tree.parents();
    let mut a_leaf: Vec<usize> = (0..tree.leaves()).collect();
    a_leaf.extend(tree.nodes().iter().map(|_| 0));
    let mut inputs: Vec<Input> = Vec::new();
    let mask = 1.5 * power_of_two(bits - 1) * LAST;
    let is_add = |node: &Inner| node.op == Op::Add;
    // Children come before their parents.
    for (at, node) in tree.nodes().iter().enumerate() {
        let v = tree.leaves() + at;
        a_leaf[v] = node.children.last().map_or(0, |&child| a_leaf[child]);
        for (place, &w) in node.children.iter().enumerate() {
            // Fused nodes keep more bits.
            let Some(inner) = tree.inner(w).filter(|inner| is_add(inner) && is_add(node)) else {
                continue;
            };
            let others = [&node.children[..place], &node.children[place + 1..]].concat();
            let room = |input: &Input| input.items(tree, &inner.children, &others);
            let place = inputs.iter().position(|input| room(input).is_some());
            let at = place.unwrap_or_else(|| {
                inputs.push(Input {
                    asked: Vec::new(),
                    is_asked: vec![false; items],
                    is_top: vec![false; items],
                });
                inputs.len() - 1
            });
            let Some(chosen) = room(&inputs[at]) else {
                continue;
            };
            let input = &mut inputs[at];
            input.is_top[v] = true;
            let leaves = chosen.map(|item| a_leaf[item]);
            input.asked.push(leaves);
            for mut item in leaves {
                while !std::mem::replace(&mut input.is_asked[item], true) && item != tree.root() {
                    item = parents[item];
                }
            }
        }
    }
    let products = meter.subject.products();
    let as_terms = |input: &Input| -> Vec<(usize, Term)> {
        let values = [mask, UNIT, -mask].map(|value| term(products, value));
        let asked = input
            .asked
            .iter()
            .flat_map(|leaves| leaves.iter().copied().zip(values));
        asked.collect()
    };
    let asked: Vec<_> = inputs.iter().map(as_terms).collect();
    let results = meter.evaluate_sparse(term(products, 0.0), &asked)?;
    // Wider sums keep these units too: the largest masks tell.
    let left = inputs
        .iter()
        .zip(results)
        .filter(|(_, result)| *result != 0.0);
    let left: Vec<Query> = left
        .flat_map(|(input, _)| &input.asked)
        .map(|&[plus, unit, minus]| Query {
            plus: Some(plus),
            minus: Some(minus),
            only: Some(unit),
        })
        .collect();
    let results = meter.measure(&meter.all_units(), &left)?;
    match results.iter().all(|&result| result == 0.0) {
        true => Ok(()),
        false => Err(Trouble::no_tree(
            "masks leave units of nodes that follow each other".to_owned(),
        )),
    }
}

impl Input {
    /// Items of the tree that have room for +M, the unit and −M, where the children of w and the other children of v are these.
    /// What is asked below must lie on the unit's side, and the unit must join it later.
    fn items(&self, tree: &Tree, inner: &[usize], others: &[usize]) -> Option<[usize; 3]> {
        let is_free = |item: &usize| !self.is_asked[*item];
        let side = inner.iter().position(|item| !is_free(item)).unwrap_or(0);
        let rest = (0..inner.len()).filter(|&at| at != side);
        let rest: Vec<usize> = rest.map(|at| inner[at]).collect();
        if !others.iter().chain(&rest).all(is_free) {
            return None;
        }
        let unit = match inner[side] {
            free if is_free(&free) => free,
            asked if self.is_top[asked] => return None,
            asked => *tree
                .inner(asked)?
                .children
                .iter()
                .find(|item| is_free(item))?,
        };
        Some([rest[0], unit, others[0]])
    }
}
