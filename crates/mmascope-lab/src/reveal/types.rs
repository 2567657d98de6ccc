//! Finds the type of each node: its format, and whether it takes a product before rounding.
//!
//! Directed inputs with three terms that are not 0 ask each node. 2^15 + 2^-15 − 2^15 is 2^-15 where
//! the first sum is kept in f64 and 0 in f32; (1 + ε)² − (1 + ε) is ε + ε² where the product is not
//! rounded by itself, and ε where it is. All questions of a kind have the same second factors as far
//! as the operands allow, so that a matrix product answers many at once.

use super::meter::Meter;
use crate::error::Result;
use crate::format::{F32, F64, Format};
use crate::tree::{Inner, Op, Term, Tree, power_of_two, round};

/// Inputs evaluated at once; each has a term for every leaf.
const AT_ONCE: usize = 64;

/// The tree with the node types that were measured.
pub(super) fn find(meter: &mut Meter<'_>, tree: &Tree) -> Result<Tree> {
    let subject = &*meter.subject;
    let (operands, format) = (subject.operand_format(), subject.format());
    let mut formats = formats(meter, tree, operands, format)?;
    // Sums of narrow numbers that are kept in f32 are rounded once more when they leave: by a node of one term.
    let leaves_rounded = !meter.subject.products()
        && format.bits <= 16
        && formats.len() > 1
        && formats.contains(&F32);
    if leaves_rounded && let Some(root) = formats.last_mut() {
        *root = F32;
    }
    // Where results have twice the digits of operands, products in their range are exact.
    let is_wide = operands == F32 || operands == F64;
    let is_rounded = match (operands.float(), format.float()) {
        (Some(own), Some(result)) => result.fraction_bits < 2 * own.fraction_bits + 1,
        _ => false,
    };
    let fused = if meter.subject.products() && (is_wide || is_rounded) {
        fused_products(meter, tree, operands)?
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
    if leaves_rounded {
        root = builder.node(Op::Add, format, vec![root]);
    }
    builder.build(root)
}

/// Evaluates inputs that are zero (times `factor`) but for a few leaves, and calls `take` with each
/// result.
fn ask(
    meter: &mut Meter<'_>,
    questions: &[(usize, Vec<(usize, Term)>)],
    factor: f64,
    mut take: impl FnMut(usize, f64),
) -> Result<()> {
    let zero = if meter.subject.products() {
        Term::Product(0.0, factor)
    } else {
        Term::Value(0.0)
    };
    for chunk in questions.chunks(AT_ONCE) {
        let inputs: Vec<Vec<(usize, Term)>> = chunk.iter().map(|(_, it)| it.clone()).collect();
        let results = meter.evaluate_sparse(zero, &inputs)?;
        for ((item, _), result) in chunk.iter().zip(results) {
            take(*item, result);
        }
    }
    Ok(())
}

/// Format of each node: f64 where it keeps as much, otherwise that of the results.
fn formats(
    meter: &mut Meter<'_>,
    tree: &Tree,
    operands: Format,
    format: Format,
) -> Result<Vec<Format>> {
    let is_sum = !meter.subject.products();
    if is_sum && operands == format && format.bits <= 16 && format.float().is_some() {
        return narrow_formats(meter, tree, format);
    }
    let can_say = [8, 7, -7, -8].map(power_of_two);
    let can_ask = can_say.iter().all(|&x| round(operands, x) == x);
    let is_double = operands == F64 && format == F64;
    if is_double || !can_ask || format != F32 && format != F64 {
        return Ok(vec![format; tree.nodes().len()]);
    }
    let mut formats = vec![F32; tree.nodes().len()];
    let products: Vec<bool> = (0..tree.leaves())
        .map(|leaf| meter.subject.is_product(leaf))
        .collect();
    let is_wide = operands == F32 || operands == F64;
    let term = |leaf: usize, sign: f64, exponent: i32| {
        let half = if is_wide { exponent } else { exponent / 2 };
        let rest = exponent - half;
        if products[leaf] {
            (
                leaf,
                Term::Product(sign * power_of_two(half), power_of_two(rest)),
            )
        } else {
            (leaf, Term::Value(sign * power_of_two(exponent)))
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
            term(firsts[left], 1.0, 15),
            term(firsts[right], 1.0, -15),
            term(firsts[outside], -1.0, 15),
        ];
        questions.push((index, terms));
    }
    ask(meter, &questions, 1.0, |index, result| {
        if result == power_of_two(-15) {
            formats[index] = F64;
        }
    })?;
    // The root hands its result back in its format; where that is f32 only its children can tell: it
    // kept their digits.
    if format == F64 {
        formats
            .iter_mut()
            .rev()
            .take(1)
            .for_each(|root| *root = F64);
    } else if let Some(root) = tree.nodes().len().checked_sub(1) {
        let children = tree.nodes()[root].children.iter();
        let mut inner = children.filter_map(|child| child.checked_sub(tree.leaves()));
        if inner.any(|child| formats[child] == F64) {
            formats[root] = F64;
        }
    }
    Ok(formats)
}

/// Format of each node over narrow numbers: f32 where it keeps more digits than they have, otherwise theirs. (The
/// root's result is narrow whatever it kept, so the root is taken for one of them.)
fn narrow_formats(meter: &mut Meter<'_>, tree: &Tree, format: Format) -> Result<Vec<Format>> {
    let mut formats = vec![format; tree.nodes().len()];
    // Neighbours that are further apart than the numbers have digits, and nearer than those of f32.
    let apart = format
        .float()
        .map_or(0, |float| float.fraction_bits as i32 / 2 + 2);
    let products: Vec<bool> = (0..tree.leaves())
        .map(|leaf| meter.subject.is_product(leaf))
        .collect();
    let term = |leaf: usize, value: f64| match products[leaf] {
        true => (leaf, Term::Product(value, 1.0)),
        false => (leaf, Term::Value(value)),
    };
    let (firsts, parents) = (tree.firsts(), tree.parents());
    let (large, small) = (power_of_two(apart), power_of_two(-apart));
    let mut questions = Vec::new();
    for (index, node) in tree.nodes().iter().enumerate() {
        let item = tree.leaves() + index;
        let parent = tree.inner(parents[item]).filter(|_| item != tree.root());
        let outside = parent.and_then(|it| it.children.iter().find(|&&child| child != item));
        if let (Some(&outside), Op::Add, [left, right]) = (outside, node.op, &node.children[..]) {
            let terms = vec![
                term(firsts[*left], large),
                term(firsts[*right], small),
                term(firsts[outside], -large),
            ];
            questions.push((index, terms));
        }
    }
    ask(meter, &questions, 1.0, |index, result| {
        if result == small {
            formats[index] = F32;
        }
    })?;
    Ok(formats)
}

/// Finds the leaves whose products enter their node without being rounded.
fn fused_products(meter: &mut Meter<'_>, tree: &Tree, operands: Format) -> Result<Vec<bool>> {
    let epsilon = power_of_two(match operands.float() {
        _ if operands == F64 => -27,
        // The last digit of an operand: no format of fewer than twice its digits has the product.
        Some(float) if operands != F32 => -(float.fraction_bits as i32),
        _ => -12,
    });
    // The remainder must be a number of the results' format: ε + ε², or where that is narrower than the
    // operands ε², with second factors that differ.
    let is_narrowed = meter.subject.format() != operands;
    let (least, factor, other_term) = if is_narrowed {
        (0.0, 1.0, Term::Product(-(1.0 + 2.0 * epsilon), 1.0))
    } else {
        (epsilon, 1.0 + epsilon, Term::Product(-1.0, 1.0 + epsilon))
    };
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
            (firsts[other], other_term),
        ];
        questions.push((leaf, terms));
    }
    let mut fused = vec![false; tree.leaves()];
    ask(meter, &questions, factor, |leaf, result| {
        fused[leaf] = result == least + epsilon * epsilon;
    })?;
    Ok(fused)
}
