//! The naive algorithm: lists every tree, and asks random masked inputs until one tree is left.

use super::Trouble;
use super::meter::Meter;
use super::nature::Foretold;
use super::random::Random;
use super::subject::Query;
use crate::tree::{Builder, Op, Tree};

/// The most leaves it takes: 6 leaves have 2,752 orders, 7 have 39,208.
pub(super) const MOST_LEAVES: usize = 6;

/// A tree without types.
#[derive(Clone)]
enum Shape {
    Leaf(usize),
    Node(Vec<Shape>),
}

/// Every order of these leaves.
fn shapes(leaves: &[usize]) -> Vec<Shape> {
    if let [leaf] = leaves {
        return vec![Shape::Leaf(*leaf)];
    }
    let mut found = Vec::new();
    for parts in partitions(leaves) {
        if parts.len() < 2 {
            continue;
        }
        let mut partial: Vec<Vec<Shape>> = vec![Vec::new()];
        for part in &parts {
            let choices = shapes(part);
            partial = partial
                .iter()
                .flat_map(|chosen| {
                    choices
                        .iter()
                        .map(move |choice| [&chosen[..], std::slice::from_ref(choice)].concat())
                })
                .collect();
        }
        found.extend(partial.into_iter().map(Shape::Node));
    }
    found
}

/// Every way to split a set into parts.
fn partitions(leaves: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let Some((&first, rest)) = leaves.split_first() else {
        return vec![Vec::new()];
    };
    let mut found = Vec::new();
    for parts in partitions(rest) {
        for at in 0..parts.len() {
            let mut with = parts.clone();
            with[at].push(first);
            found.push(with);
        }
        let mut alone = parts;
        alone.push(vec![first]);
        found.push(alone);
    }
    found
}

fn add(builder: &mut Builder, shape: &Shape, meter: &Meter<'_>) -> usize {
    match shape {
        Shape::Leaf(leaf) => *leaf,
        Shape::Node(children) => {
            let children: Vec<usize> = children.iter().map(|c| add(builder, c, meter)).collect();
            let op = if children.len() > 2 {
                Op::Fused
            } else {
                Op::Add
            };
            builder.node(op, meter.subject.format(), children)
        }
    }
}

pub(super) fn naive(meter: &mut Meter<'_>, random: &mut Random) -> Result<Tree, Trouble> {
    let leaves = meter.subject.leaves();
    let all: Vec<usize> = (0..leaves).collect();
    let mut candidates = Vec::new();
    for shape in shapes(&all) {
        let mut builder = Builder::new(leaves);
        let root = add(&mut builder, &shape, meter);
        let tree = builder.build(root)?;
        candidates.push((Foretold::new(&tree), tree));
    }
    // Random pairs; after all of them have been asked, equal candidates can not be told apart.
    let mut pairs: Vec<(usize, usize)> = all
        .iter()
        .flat_map(|&i| (i + 1..leaves).map(move |j| (i, j)))
        .collect();
    random.shuffle(&mut pairs);
    let units = meter.all_units();
    for (i, j) in pairs {
        let query = Query {
            plus: Some(i),
            minus: Some(j),
            only: None,
        };
        let result = meter.measure(&units, &[query])?[0];
        candidates.retain(|(foretold, _)| foretold.result(&units, &query) == result);
        if candidates.len() == 1 {
            break;
        }
    }
    match candidates.pop() {
        Some((_, tree)) if candidates.is_empty() => Ok(tree),
        _ => Err(Trouble::no_tree("no order fits, or several do".to_owned())),
    }
}
