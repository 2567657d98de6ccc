//! Proposes chains of rounded sums for a tree of additions: a step sums its products by itself, then adds what was before.

use super::shapes;
use crate::dpa::{
    AddMul, Codes, Dpa, General, Operation, Program, Reading, Select, Signature, Start, Statement,
};
use crate::tree::Tree;

/// A sum has no more levels: steps have no more products.
const MOST_LEVELS: usize = 256;

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
    let sequential = steps.iter().find_map(|step| step.sequential);
    let sequential = sequential.unwrap_or(false);
    let equal = whole.iter().all(|step| step.order.len() == p) && last.order.len() <= p;
    let same = steps
        .iter()
        .all(|step| step.sequential.is_none_or(|own| own == sequential));
    if p == 1 || !equal || !same {
        return None;
    }
    let algorithm = AddMul {
        sequential,
        ..AddMul::plain(u32::try_from(p).ok()?)
    };
    Some(Program {
        codes: Codes::Special,
        statements: vec![Statement {
            name: "d".to_owned(),
            operation: Operation::Dot {
                algorithm: Dpa::General(General::AddMul(algorithm)),
                operands: Reading::WHOLE,
                over: Select::List(steps.into_iter().flat_map(|step| step.order).collect()),
                from: Start::C,
            },
            output: shapes::output(signature, shapes::Step::Rounded),
        }],
    })
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
