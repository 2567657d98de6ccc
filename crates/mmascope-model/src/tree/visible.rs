//! Computes what masked inputs can see of a unit's own tree, so that revealing can be tested against it.
//!
//! Masks see which units are lost beside ±M. A step that aligns its terms to the largest loses
//! them when M and the unit lie further apart than it keeps bits; a step that sums exactly never
//! does. Where the formats cannot span that distance, the step's inside stays unresolved.

use super::{Node, Op, Tree};
use crate::dpa::{Dpa, Fused, General, GroupExponent, Operation, Unit};
use crate::error::Result;
use crate::format::Rounding;

/// How far apart mask and unit can be, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// log2(M / u) of the operands alone.
    pub span: i32,
    /// log2(M / u) between different scale blocks, when the unit has block scales.
    pub scaled: Option<i32>,
    /// Span from which a node that loses nothing is called exact.
    pub exact: i32,
}

/// The row's own tree as masks see it. `None` when there is no single tree: even and odd products
/// that are summed apart and then share c lose units in a way that no tree has.
///
/// # Errors
/// As [`super::Builder::build`].
pub fn visible(unit: &Unit, sight: &Sight) -> Result<Option<Tree>> {
    let signature = unit.signature();
    let format = unit.program().output().format;
    let Some(own) = Node::of_program(unit.program(), signature) else {
        return Ok(None);
    };
    let (mut bits, mut flatten, mut groups) = (0, false, false);
    for statement in &unit.program().statements {
        let Operation::Dot { algorithm, .. } = &statement.operation else {
            continue;
        };
        // M and units beside it are no M when what is lost makes the last bit odd.
        if statement.output.rounding == Rounding::Odd {
            return Ok(None);
        }
        let fused = match algorithm.general(&statement.output) {
            General::Fused(fused) => fused,
            General::AddMul(_) => continue,
            General::Grouped(_) | General::Semi(_) | General::Integer(_) => return Ok(None),
        };
        // What masks see of other steps of the model space is not worked out.
        if matches!(algorithm, Dpa::General(_)) && !is_exact(&fused) {
            return Ok(None);
        }
        let kept = |f: u32| f as i32 + 1;
        match (fused.f, fused.join, fused.groups) {
            (None, None, None) if fused.l == 1 => {}
            (None, None, None) => bits = bits.max(sight.exact),
            (Some(f), None, None) => bits = bits.max(kept(f)),
            (Some(_), Some((f, _)), None) => (bits, flatten) = (bits.max(kept(f)), true),
            (Some(f), None, Some(own)) if own.exponent == GroupExponent::Scales => {
                (bits, groups) = (bits.max(kept(f)), true);
            }
            _ => return Ok(None),
        }
    }
    let leaves = signature.k + 1;
    let all = |op| Node::Inner {
        op,
        format,
        children: (0..leaves).map(Node::Leaf).collect(),
    };
    if sight.span < bits || groups {
        // The operands alone do not show it; scales show which blocks share the step with c.
        let block = signature.scale.map_or(1, |scale| scale.block);
        let shown = sight.scaled.is_some_and(|span| span >= bits) && block < signature.k;
        if !shown {
            return Tree::of_node(&all(Op::Unresolved), leaves).map(Some);
        }
        let mut children: Vec<Node> = (0..signature.k)
            .step_by(block)
            .map(|first| Node::Inner {
                op: Op::Unresolved,
                format,
                children: (first..first + block).map(Node::Leaf).collect(),
            })
            .collect();
        children.push(Node::Leaf(signature.k));
        let root = Node::Inner {
            op: Op::Fused,
            format,
            children,
        };
        return Tree::of_node(&root, leaves).map(Some);
    }
    let own = if flatten { flat(&own) } else { own };
    Tree::of_node(&own, leaves).map(Some)
}

/// A fused sum of products that c joins afterwards is one step for masks: c is cut off at the
/// products' alignment.
fn flat(node: &Node) -> Node {
    let Node::Inner {
        op,
        format,
        children,
    } = node
    else {
        return node.clone();
    };
    let mut joined = Vec::new();
    for child in children.iter().map(flat) {
        match child {
            // The products' own sum: it has leaves only, and is not the step before this one.
            Node::Inner {
                op: Op::Fused,
                children,
                ..
            } if *op == Op::Fused && is_products(&children, node) => joined.extend(children),
            other => joined.push(other),
        }
    }
    Node::Inner {
        op: *op,
        format: *format,
        children: joined,
    }
}

/// Whether these are products only, in a node that also has something else.
fn is_products(children: &[Node], parent: &Node) -> bool {
    let leaves = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Leaf(_)));
    match parent {
        Node::Inner {
            children: siblings, ..
        } => leaves(children) && siblings.len() == 2 && !children.iter().any(is_c_in(siblings)),
        Node::Leaf(_) => false,
    }
}

/// Products and c never stand in the same inner fused node before this step.
fn is_c_in(siblings: &[Node]) -> impl Fn(&Node) -> bool + '_ {
    let largest = siblings.iter().map(largest_leaf).max();
    move |node| Some(largest_leaf(node)) == largest
}

fn largest_leaf(node: &Node) -> usize {
    match node {
        Node::Leaf(leaf) => *leaf,
        Node::Inner { children, .. } => children.iter().map(largest_leaf).max().unwrap_or(0),
    }
}

/// Whether a step of the model space sums exactly: masks see that.
fn is_exact(fused: &Fused) -> bool {
    fused.f.is_none() && fused.groups.is_none() && fused.join.is_none()
}
