//! What each node does: its format, and whether it takes a product before rounding.
//!
//! Directed inputs with three terms that are not 0 ask each node. 1 + 2^-30 − 1 is 2^-30 where the
//! first sum is kept in f64 and 0 in f32; (1 + ε)² − (1 + 2ε) is ε² where the product is not
//! rounded by itself.

use super::meter::Meter;
use crate::error::Result;
use crate::format::{F32, F64, Format};
use crate::tree::{Inner, Op, Term, Tree, power_of_two};

/// Inputs evaluated at once; each has a term for every leaf.
const AT_ONCE: usize = 64;

/// The tree with the node types that were measured.
pub(super) fn find(meter: &mut Meter<'_>, tree: &Tree) -> Result<Tree> {
    let subject = &*meter.subject;
    let (operands, format) = (subject.operand_format(), subject.format());
    if operands != format || format != F32 && format != F64 {
        return Ok(tree.clone());
    }
    let formats = formats(meter, tree, format)?;
    let fused = if meter.subject.products() {
        fused_products(meter, tree, format)?
    } else {
        vec![false; tree.leaves()]
    };
    let leaves = tree.leaves();
    let mut nodes: Vec<Inner> = Vec::new();
    let mut numbers: Vec<usize> = (0..leaves).collect();
    // Products that are rounded by themselves before the node that would fuse them.
    for (index, node) in tree.nodes().iter().enumerate() {
        let mut children: Vec<usize> = node.children.iter().map(|&child| numbers[child]).collect();
        let fused_here = node
            .children
            .iter()
            .filter(|&&c| c < leaves && fused[c])
            .count();
        let is_product = |&c: &usize| c < leaves && meter.subject.is_product(c);
        let last_leaf = node.children.iter().rposition(is_product);
        let op = match (node.op, node.children.len(), fused_here) {
            (Op::Add, 2, 1) => {
                if last_leaf.is_some_and(|at| !fused[node.children[at]]) {
                    // The other product is the fused one: the last is rounded first.
                    let at = last_leaf.unwrap_or(0);
                    nodes.push(Inner {
                        op: Op::Add,
                        format: formats[index],
                        children: vec![children[at]],
                    });
                    children[at] = leaves + nodes.len() - 1;
                }
                Op::Fma
            }
            (Op::Add, 2, 2) => Op::Exact,
            (op, _, _) => op,
        };
        nodes.push(Inner {
            op,
            format: formats[index],
            children,
        });
        numbers.push(leaves + nodes.len() - 1);
    }
    let mut builder = crate::tree::Builder::new(leaves);
    let mut root = 0;
    for node in nodes {
        root = builder.node(node.op, node.format, node.children);
    }
    builder.build(root)
}

/// Evaluates inputs that are zero but for a few leaves, and calls `take` with each result.
fn ask(
    meter: &mut Meter<'_>,
    questions: &[(usize, Vec<(usize, Term)>)],
    mut take: impl FnMut(usize, f64),
) -> Result<()> {
    let zero = if meter.subject.products() {
        Term::Product(0.0, 0.0)
    } else {
        Term::Value(0.0)
    };
    let mut inputs = vec![vec![zero; meter.subject.leaves()]; AT_ONCE.min(questions.len())];
    for chunk in questions.chunks(AT_ONCE) {
        for (input, (_, terms)) in inputs.iter_mut().zip(chunk) {
            for &(leaf, term) in terms {
                input[leaf] = term;
            }
        }
        let results = meter.evaluate(&inputs[..chunk.len()])?;
        for ((item, _), result) in chunk.iter().zip(results) {
            take(*item, result);
        }
        for (input, (_, terms)) in inputs.iter_mut().zip(chunk) {
            for &(leaf, _) in terms {
                input[leaf] = zero;
            }
        }
    }
    Ok(())
}

/// Format of each node.
fn formats(meter: &mut Meter<'_>, tree: &Tree, format: Format) -> Result<Vec<Format>> {
    let mut formats = vec![format; tree.nodes().len()];
    if format == F64 {
        return Ok(formats);
    }
    let products = meter.subject.products();
    let term = |value: f64| {
        if products {
            Term::Product(value, 1.0)
        } else {
            Term::Value(value)
        }
    };
    let (firsts, parents) = (tree.firsts(), tree.parents());
    let mut questions = Vec::new();
    for (index, node) in tree.nodes().iter().enumerate() {
        let item = tree.leaves() + index;
        let Some(parent) = tree.inner(parents[item]).filter(|_| item != tree.root()) else {
            continue;
        };
        let Some(&outside) = parent.children.iter().find(|&&child| child != item) else {
            continue;
        };
        let [left, right, ..] = node.children[..] else {
            continue;
        };
        let terms = vec![
            (firsts[left], term(1.0)),
            (firsts[right], term(power_of_two(-30))),
            (firsts[outside], term(-1.0)),
        ];
        questions.push((index, terms));
    }
    ask(meter, &questions, |index, result| {
        if result == power_of_two(-30) {
            formats[index] = F64;
        }
    })?;
    // The root hands its result back in f32, so only its children can tell: it kept their digits.
    if let Some(root) = tree.nodes().len().checked_sub(1) {
        let children = tree.nodes()[root].children.iter();
        let mut inner = children.filter_map(|child| child.checked_sub(tree.leaves()));
        if inner.any(|child| formats[child] == F64) {
            formats[root] = F64;
        }
    }
    Ok(formats)
}

/// Which leaves' products enter their node without being rounded.
fn fused_products(meter: &mut Meter<'_>, tree: &Tree, format: Format) -> Result<Vec<bool>> {
    let epsilon = power_of_two(if format == F64 { -27 } else { -12 });
    let (firsts, parents) = (tree.firsts(), tree.parents());
    let mut questions = Vec::new();
    for leaf in (0..tree.leaves()).filter(|&leaf| meter.subject.is_product(leaf)) {
        let Some(node) = tree.inner(parents[leaf]) else {
            continue;
        };
        let Some(&other) = node.children.iter().find(|&&child| child != leaf) else {
            continue;
        };
        let terms = vec![
            (leaf, Term::Product(1.0 + epsilon, 1.0 + epsilon)),
            (firsts[other], Term::Product(-(1.0 + 2.0 * epsilon), 1.0)),
        ];
        questions.push((leaf, terms));
    }
    let mut fused = vec![false; tree.leaves()];
    ask(meter, &questions, |leaf, result| {
        fused[leaf] = result == epsilon * epsilon;
    })?;
    Ok(fused)
}
