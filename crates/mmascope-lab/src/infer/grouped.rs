//! Proposes programs that sum groups of products first, within a step. Masks show such a step as a node whose children
//! are the groups' nodes.

use super::canonical_form;
use super::shapes::{self, Place, Step};
use crate::dpa::{
    Dpa, Fused, General, GroupExponent, Groups, Operation, Program, Signature, Source, Start,
};
use crate::format::Rounding;
use crate::tree::Tree;

/// Steps of equal groups, in the order in which they are taken.
struct Chain {
    order: Vec<usize>,
    /// Products of a step.
    step: usize,
    /// Products of a group.
    group: usize,
}

/// The tree as a chain, from the node that takes c up to the root.
fn chain(tree: &Tree, k: usize) -> Option<Chain> {
    let leaves = k + 1;
    if tree.leaves() != leaves {
        return None;
    }
    let inner = |child: usize| child.checked_sub(leaves).map(|index| &tree.nodes()[index]);
    let mut steps: Vec<Vec<usize>> = Vec::new();
    let mut group = None;
    let mut node = tree.nodes().last()?;
    loop {
        let mut products = Vec::new();
        let mut before = None;
        for &child in &node.children {
            match inner(child) {
                Some(own) if own.children.iter().all(|&leaf| leaf < k) => {
                    if *group.get_or_insert(own.children.len()) != own.children.len() {
                        return None;
                    }
                    products.extend(&own.children);
                }
                _ if child < k || before.is_some() => return None,
                _ => before = Some(child),
            }
        }
        steps.push(products);
        match inner(before?) {
            Some(next) => node = next,
            None => break,
        }
    }
    steps.reverse();
    let step = steps.first()?.len();
    let equal = steps.iter().all(|products| products.len() == step);
    (equal && step > 0).then(|| Chain {
        order: steps.concat(),
        step,
        group: group.unwrap_or(1),
    })
}

/// Programs with groups within the steps, for a tree that has that form.
pub(super) fn of_tree(tree: &Tree, signature: &Signature) -> Vec<Program> {
    let Some(chain) = chain(tree, signature.k) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for exponent in [GroupExponent::Products, GroupExponent::Own] {
        for f in [Some(24), None] {
            let groups = Some(Groups {
                g: chain.group as u32,
                strided: false,
                f,
                align: Rounding::Rz,
                exponent,
                drops_zero: false,
            });
            let step = Step::Fused(Fused {
                groups,
                ..Fused::plain(1, Some(24))
            });
            found.extend(shapes::chained(
                signature,
                step,
                &chain.order,
                chain.step,
                Place::First,
            ));
        }
    }
    found
}

/// The program in which a step's own sum, taken by an addition, becomes a group of that step. The sum is then not rounded
/// before the addition. `None` where no addition takes such a sum.
pub(super) fn absorbed(program: &Program) -> Option<Program> {
    let mut changed = program.clone();
    while let Some((sum, step)) = absorbable(&changed) {
        changed.statements[sum].operation = step;
        let own = sum - 1;
        changed = canonical_form::without_statement(&changed, own, Source::Zero);
    }
    (changed != *program).then_some(changed)
}

/// An addition of a step's own sum that the statement before it made, and the same as one step with groups.
fn absorbable(program: &Program) -> Option<(usize, Operation)> {
    let pairs = program.statements.windows(2).enumerate();
    pairs.rev().find_map(|(own, pair)| {
        let Operation::Dot {
            algorithm: Dpa::General(General::Fused(fused)),
            operands,
            over,
            from: Start::Product,
        } = &pair[0].operation
        else {
            return None;
        };
        let Operation::Add(left, right) = pair[1].operation else {
            return None;
        };
        let read = Source::Statement(own);
        let from = match (left == read, right == read) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        let groups = Groups {
            g: fused.l,
            strided: false,
            f: fused.f,
            align: fused.align,
            exponent: GroupExponent::Products,
            drops_zero: false,
        };
        let step = Fused {
            groups: Some(groups),
            ..Fused::plain(fused.l, None)
        };
        let operation = Operation::Dot {
            algorithm: Dpa::General(General::Fused(step)),
            operands: *operands,
            over: over.clone(),
            from: from.into(),
        };
        Some((own + 1, operation))
    })
}
