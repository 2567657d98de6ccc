//! Proposes programs that sum groups of products first, within a step. Masks show such a step as a node whose children
//! are the groups' nodes.

use super::canonical_form;
use super::shapes::{self, Place, Step};
use crate::dpa::{
    Dpa, Fused, General, GroupExponent, Groups, Operation, Program, Reading, Select, Signature,
    Source, Start, Statement,
};
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
                f,
                exponent,
                ..Groups::exact(chain.group as u32)
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
    let grouped = |fused: Fused| Fused {
        groups: Some(Groups {
            f: fused.f,
            align: fused.align,
            ..Groups::exact(fused.l)
        }),
        ..Fused::plain(fused.l, None)
    };
    all_taken(program, true, grouped)
}

/// The programs in which what such an addition adds to a step's own sum takes part in the step, as one more term: where few
/// bits are kept between steps, masks show both alike. c may be added by itself all the same.
pub(super) fn continued(program: &Program) -> impl Iterator<Item = Program> {
    let all = all_taken(program, true, |fused| fused);
    let but_c = all_taken(program, false, |fused| fused);
    let but_c = but_c.filter(|other| all.as_ref() != Some(other));
    all.into_iter().chain(but_c)
}

/// The program with this step in place of every step's own sum and its addition, perhaps to c; `None` where no addition takes
/// such a sum.
fn all_taken(program: &Program, of_c: bool, step: impl Fn(Fused) -> Fused) -> Option<Program> {
    let mut changed = program.clone();
    while let Some((sum, operation)) = taken(&changed, of_c, &step) {
        changed.statements[sum].operation = operation;
        let own = sum - 1;
        changed = canonical_form::without_statement(&changed, own, Source::Zero);
    }
    (changed != *program).then_some(changed)
}

/// The last addition of a step's own sum that the statement before it made, and both as one step.
fn taken(
    program: &Program,
    of_c: bool,
    step: impl Fn(Fused) -> Fused,
) -> Option<(usize, Operation)> {
    let places = 1..program.statements.len();
    places
        .rev()
        .find_map(|sum| Some((sum, taken_at(program, sum, of_c, &step)?)))
}

/// The addition at this place as one step with the sum that the statement before it made; `None` where it adds no such sum.
fn taken_at(
    program: &Program,
    sum: usize,
    of_c: bool,
    step: impl Fn(Fused) -> Fused,
) -> Option<Operation> {
    let own = sum - 1;
    let (fused, operands, products) = own_sum(&program.statements[own])?;
    let Operation::Add(left, right) = program.statements[sum].operation else {
        return None;
    };
    let read = Source::Statement(own);
    let from = match (left == read, right == read) {
        (true, false) => right,
        (false, true) => left,
        _ => return None,
    };
    if from == Source::C && !of_c {
        return None;
    }
    Some(Operation::Dot {
        algorithm: Dpa::General(General::Fused(step(fused))),
        operands,
        over: Select::List(products.to_vec()),
        from: from.into(),
    })
}

/// The programs in which one such addition is part of the step.
pub(super) fn continued_once(program: &Program) -> impl Iterator<Item = Program> {
    (1..program.statements.len()).filter_map(|sum| {
        let mut changed = program.clone();
        changed.statements[sum].operation = taken_at(program, sum, true, |fused| fused)?;
        Some(canonical_form::without_statement(
            &changed,
            sum - 1,
            Source::Zero,
        ))
    })
}

/// A step of products alone: the step, what it reads of operands, and its products.
fn own_sum(statement: &Statement) -> Option<(Fused, Reading, &[usize])> {
    match &statement.operation {
        Operation::Dot {
            algorithm: Dpa::General(General::Fused(fused)),
            operands,
            over: Select::List(products),
            from: Start::Product,
        } => Some((*fused, *operands, products)),
        _ => None,
    }
}

/// The programs in which steps of products alone that one addition takes are groups of one step.
pub(super) fn gathered(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for exponent in [GroupExponent::Products, GroupExponent::Own] {
        for f in [Some(24), None] {
            let mut changed = program.clone();
            while let Some((sum, operation, groups)) = gatherable(&changed, exponent, f) {
                changed.statements[sum].operation = operation;
                for own in groups.into_iter().rev() {
                    changed = canonical_form::without_statement(&changed, own, Source::Zero);
                }
            }
            if changed != *program {
                found.push(changed);
            }
        }
    }
    found
}

/// A sum of equal steps of products alone, the same as one step of groups, and the statements that make the groups.
fn gatherable(
    program: &Program,
    exponent: GroupExponent,
    f: Option<u32>,
) -> Option<(usize, Operation, Vec<usize>)> {
    let statements = program.statements.iter().enumerate();
    statements.rev().find_map(|(sum, statement)| {
        let sources = match &statement.operation {
            Operation::Add(left, right) => vec![*left, *right],
            Operation::Join { over, of, .. } if over.is_empty() => of.clone(),
            _ => return None,
        };
        let place = |source: &Source| match source {
            Source::Statement(place) => Some(*place),
            _ => None,
        };
        let mut groups: Vec<usize> = sources.iter().map(place).collect::<Option<_>>()?;
        groups.sort_unstable();
        let steps = groups.iter().map(|&own| own_sum(&program.statements[own]));
        let steps: Vec<_> = steps.collect::<Option<_>>()?;
        let (fused, operands, first) = *steps.first()?;
        let plain = fused.groups.is_none_or(|own| own.g == fused.l);
        let equal = |own: &(Fused, Reading, &[usize])| own.2.len() == first.len();
        if !plain || first.len() != fused.l as usize || !steps.iter().all(equal) {
            return None;
        }
        let products: Vec<usize> = steps.iter().flat_map(|own| own.2).copied().collect();
        let step = Fused {
            groups: Some(Groups {
                f,
                exponent,
                ..Groups::exact(fused.l)
            }),
            ..Fused::plain(products.len() as u32, Some(24))
        };
        let operation = Operation::Dot {
            algorithm: Dpa::General(General::Fused(step)),
            operands,
            over: Select::List(products),
            from: Start::Product,
        };
        Some((sum, operation, groups))
    })
}
