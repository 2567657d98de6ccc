//! Proposes chains of rounded sums for a tree of additions: a step sums its products by itself, then adds what was before.

use super::shapes::{self, Writer};
use crate::dpa::{
    AddMul, Dpa, General, Operation, Program, Reading, Select, Signature, Source, Start,
};
use crate::tree::Tree;

/// A sum has no more levels: steps have no more products.
const MOST_LEVELS: usize = 256;
/// With so many steps a chain among others is seen: a pairwise sum looks like one of two.
const STEPS: usize = 3;

/// Products that are added to each other, in their order.
struct Sum {
    order: Vec<usize>,
    /// One after the other, or pairwise; not known of fewer than four.
    sequential: Option<bool>,
}

/// The program of one chain with the order of the tree; `None` where the tree has another form, or every step is one product. Two or
/// three products are added pairwise and one after the other alike.
pub(super) fn of_tree(tree: &Tree, signature: &Signature) -> Option<Program> {
    let k = signature.k;
    if tree.leaves() != k + 1 {
        return None;
    }
    let parents = tree.parents();
    let mut steps: Vec<Sum> = Vec::new();
    // From c, which is the last leaf, to the root.
    let mut before = k;
    while before != tree.root() {
        let node = parents[before];
        let own = match inner(tree, node)?.children[..] {
            [left, right] if left == before => right,
            [left, _] => left,
            _ => return None,
        };
        steps.push(sum(tree, own, MOST_LEVELS)?);
        before = node;
    }
    let (last, whole) = steps.split_last()?;
    let p = steps[0].order.len();
    let equal = whole.iter().all(|step| step.order.len() == p) && last.order.len() <= p;
    if p == 1 || !equal {
        return None;
    }
    let mut writer = Writer::new(signature, shapes::Step::Rounded);
    write(&mut writer, steps, Start::C)?;
    writer.finish()
}

/// Writes a chain of these sums; `None` where they are not added in the same way.
fn write(writer: &mut Writer, steps: Vec<Sum>, from: Start) -> Option<Source> {
    let p = u32::try_from(steps.first()?.order.len()).ok()?;
    let mut known = steps.iter().filter_map(|step| step.sequential);
    let sequential = known.next().unwrap_or(false);
    if !known.all(|own| own == sequential) {
        return None;
    }
    let algorithm = AddMul {
        sequential,
        ..AddMul::plain(p)
    };
    Some(writer.push(Operation::Dot {
        algorithm: Dpa::General(General::AddMul(algorithm)),
        operands: Reading::WHOLE,
        over: Select::List(steps.into_iter().flat_map(|step| step.order).collect()),
        from,
    }))
}

/// The program of several such chains that are added to each other and c; `None` where the tree has another form.
pub(super) fn added(tree: &Tree, signature: &Signature) -> Option<Program> {
    let k = signature.k;
    let mut writer = Writer::new(signature, shapes::Step::Rounded);
    if tree.leaves() != k + 1 {
        return None;
    }
    added_below(tree, tree.root(), k, MOST_LEVELS, &mut writer)?;
    writer.finish()
}

/// Writes what a node adds.
fn added_below(
    tree: &Tree,
    node: usize,
    k: usize,
    levels: usize,
    writer: &mut Writer,
) -> Option<Source> {
    if node == k {
        return Some(Source::C);
    }
    let chain = chain(tree, node).filter(|steps| !steps.iter().any(|step| step.order.contains(&k)));
    if let Some(sum) = chain.and_then(|steps| write(writer, steps, Start::Product)) {
        return Some(sum);
    }
    let levels = levels.checked_sub(1)?;
    let &[left, right] = &inner(tree, node)?.children[..] else {
        return None;
    };
    let left = added_below(tree, left, k, levels, writer)?;
    let right = added_below(tree, right, k, levels, writer)?;
    Some(writer.push(Operation::Add(left, right)))
}

/// What is below a node as a chain of equal sums, each added to those before it; `None` where that is added in another way.
fn chain(tree: &Tree, node: usize) -> Option<Vec<Sum>> {
    let mut steps: Vec<Sum> = Vec::new();
    let mut rest = node;
    loop {
        let p = steps.last().map(|step| step.order.len());
        let whole = p.and_then(|p| sum(tree, rest, MOST_LEVELS).filter(|sum| sum.order.len() == p));
        if let Some(first) = whole {
            steps.push(first);
            break;
        }
        let &[left, right] = &inner(tree, rest)?.children[..] else {
            return None;
        };
        // The step is what has as many products as the others, or fewer than the rest; of two alike the second.
        let step = |child: usize| {
            let own = sum(tree, child, MOST_LEVELS)?;
            (own.order.len() > 1 && p.is_none_or(|p| own.order.len() == p)).then_some(own)
        };
        let (own, before) = match (step(right), step(left)) {
            (Some(own), Some(other)) if other.order.len() < own.order.len() => (other, right),
            (Some(own), _) => (own, left),
            (None, Some(own)) => (own, right),
            (None, None) => return None,
        };
        steps.push(own);
        rest = before;
    }
    steps.reverse();
    (steps.len() >= STEPS).then_some(steps)
}

fn inner(tree: &Tree, child: usize) -> Option<&crate::tree::Inner> {
    tree.nodes().get(child.checked_sub(tree.leaves())?)
}

/// The products below a node as one sum; `None` where they are added in another way.
fn sum(tree: &Tree, child: usize, levels: usize) -> Option<Sum> {
    let Some(node) = inner(tree, child) else {
        return Some(Sum {
            order: vec![child],
            sequential: None,
        });
    };
    let &[left, right] = &node.children[..] else {
        return None;
    };
    let levels = levels.checked_sub(1)?;
    let (left, right) = (sum(tree, left, levels)?, sum(tree, right, levels)?);
    let (longer, shorter) = match left.order.len() < right.order.len() {
        true => (right, left),
        false => (left, right),
    };
    // Pairwise sums of other lengths than powers of two take the largest such power first.
    let (many, few) = (longer.order.len(), shorter.order.len());
    let is_one_by_one = few == 1 && longer.sequential != Some(false);
    let in_pairs = |sum: &Sum| sum.sequential != Some(true);
    let is_pairwise = many.is_power_of_two() && in_pairs(&longer) && in_pairs(&shorter);
    let sequential = match (is_one_by_one, is_pairwise) {
        (true, true) => None,
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) => return None,
    };
    Some(Sum {
        order: [longer.order, shorter.order].concat(),
        sequential,
    })
}
