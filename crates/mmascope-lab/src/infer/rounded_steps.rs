//! Proposes chains of rounded sums for a tree of additions: a step sums its products by itself, then adds what was before.

use super::shapes;
use crate::dpa::{
    AddMul, Codes, Dpa, General, Operation, Program, Reading, Select, Signature, Start, Statement,
};
use crate::tree::Tree;

/// Products that are added to each other, in their order.
struct Sum {
    order: Vec<usize>,
    /// One after the other, or pairwise; not known of fewer than four.
    sequential: Option<bool>,
}

/// The program of one chain with the order of the tree; `None` where the tree has another form, or every step is one product.
pub(super) fn of_tree(tree: &Tree, signature: &Signature) -> Option<Program> {
    let k = signature.k;
    if tree.leaves() != k + 1 {
        return None;
    }
    let mut steps: Vec<Sum> = Vec::new();
    let mut node = k + tree.nodes().len();
    while node != k {
        let &[left, right] = &inner(tree, node)?.children[..] else {
            return None;
        };
        let (before, own) = match (holds_c(tree, left), holds_c(tree, right)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return None,
        };
        steps.push(sum(tree, own)?);
        node = before;
    }
    steps.reverse();
    let (last, whole) = steps.split_last()?;
    let p = steps[0].order.len();
    let sequential = steps.iter().find_map(|step| step.sequential)?;
    let equal = whole.iter().all(|step| step.order.len() == p) && last.order.len() <= p;
    let same = steps
        .iter()
        .all(|step| step.sequential.is_none_or(|own| own == sequential));
    if !equal || !same {
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

fn holds_c(tree: &Tree, child: usize) -> bool {
    let c = tree.leaves() - 1;
    match inner(tree, child) {
        Some(node) => node.children.iter().any(|&child| holds_c(tree, child)),
        None => child == c,
    }
}

/// The products below a node as one sum; `None` where they are added in another way.
fn sum(tree: &Tree, child: usize) -> Option<Sum> {
    let Some(node) = inner(tree, child) else {
        return Some(Sum {
            order: vec![child],
            sequential: None,
        });
    };
    let &[left, right] = &node.children[..] else {
        return None;
    };
    let (left, right) = (sum(tree, left)?, sum(tree, right)?);
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
