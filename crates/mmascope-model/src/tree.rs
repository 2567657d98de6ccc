//! Summation trees: which terms are added together, in which node.
//!
//! [`Node`] is the small nested form in which a program states its own order; [`Tree`] is the value
//! that is revealed, compared, drawn, executed and exported, flat and free of recursion because an
//! order over 16,384 terms may be as deep.

mod compare;
mod draw;
mod execute;
mod export;
mod facts;
mod html;
mod pattern;
mod read;
mod value;
mod visible;
mod write;

pub use compare::TreeDifference;
pub use draw::FOLD_ABOVE;
pub use execute::decode;
pub use execute::encode;
pub use execute::power_of_two;
pub use execute::round;
pub use execute::{Arithmetic, FusedSum, Term, Truncated};
pub use export::TreeLanguage;
pub use facts::TreeFacts;
pub use value::MAX_LEAVES;
pub use value::{Builder, Inner, Tree, TreeStatistics};
pub use visible::{Sight, visible};
pub use write::{NESTED_LEVELS, TreeForm};

use std::collections::HashSet;
use std::fmt::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::dpa::{AddMul, Dpa, General, Operation, Output, Program, Signature, Source};
use crate::error::{Error, Result};
use crate::format::Format;

/// A node of a summation tree. Leaf k is the product `a_k·b_k`; leaf K is c.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A summand, by its number.
    Leaf(usize),
    /// An operation over its children, which are ordered by smallest leaf.
    Inner {
        /// What kind of operation.
        op: Op,
        /// Format of the node's result.
        format: Format,
        /// Operands.
        children: Vec<Node>,
    },
}

/// What an inner node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A rounded addition of two terms.
    Add,
    /// A fused multiply-add: one product joins a sum.
    Fma,
    /// Several terms aligned, truncated and summed in one step.
    Fused,
    /// Several terms summed without any loss.
    Exact,
    /// Terms that share a node as far as anyone can see; what is inside is not known.
    Unresolved,
}

impl Op {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Fma => "fma",
            Self::Fused => "fused",
            Self::Exact => "exact",
            Self::Unresolved => "unresolved",
        }
    }

    /// The operation of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        const ALL: [Op; 5] = [Op::Add, Op::Fma, Op::Fused, Op::Exact, Op::Unresolved];
        ALL.into_iter()
            .find(|op| op.name() == name)
            .ok_or_else(|| Error::unknown("operation", name, ALL.map(Op::name)))
    }
}

impl Node {
    /// The tree of a program. Products that are summed in parts stand where their first parts do. `None` when
    /// nothing is summed, or parts are summed in another grouping: a tree has each product once.
    #[must_use]
    pub fn of_program(program: &Program, signature: &Signature) -> Option<Self> {
        let k = signature.k;
        let mut seen = HashSet::new();
        let mut values: Vec<Option<Self>> = Vec::new();
        for statement in &program.statements {
            let read = |source: Source| match source {
                Source::C => Some(Self::Leaf(k)),
                Source::Zero => None,
                Source::Statement(index) => values[index].clone(),
            };
            let format = statement.output.format;
            let value = match &statement.operation {
                // The lower parts of products are added in the same order: a leaf stands where the
                // first part that has it does.
                Operation::Dot { over, from, .. }
                    if over.indices(k).iter().all(|&k| seen.contains(&k)) =>
                {
                    from.source().and_then(read)
                }
                Operation::Dot { over, .. }
                    if over.indices(k).iter().any(|&k| seen.contains(&k)) =>
                {
                    return None;
                }
                Operation::Dot {
                    algorithm,
                    over,
                    from,
                    ..
                } => dot(
                    algorithm,
                    &over.indices(k),
                    from.source().and_then(read),
                    &statement.output,
                ),
                Operation::Add(left, right) => {
                    join(Op::Add, format, read(*left).into_iter().chain(read(*right)))
                }
                // A sum's order does not depend on its sign.
                Operation::Convert(source) | Operation::Negate(source) => read(*source),
                Operation::Join { over, of, .. } => {
                    let values = of.iter().filter_map(|&source| read(source));
                    let leaves = over.iter().map(|&k| Self::Leaf(k));
                    join(Op::Fused, format, leaves.chain(values))
                }
            };
            if let Operation::Dot { over, .. } = &statement.operation {
                seen.extend(over.indices(k));
            }
            values.push(value);
        }
        values.pop().flatten()
    }

    /// Number of the smallest leaf below this node.
    fn smallest(&self) -> usize {
        match self {
            Self::Leaf(leaf) => *leaf,
            Self::Inner { children, .. } => children.first().map_or(usize::MAX, Self::smallest),
        }
    }

    /// The tree as indented text; runs of leaves are folded. `k` is the number of c's leaf.
    #[must_use]
    pub fn text(&self, k: usize) -> String {
        let mut out = String::new();
        self.write(k, "", "", &mut out);
        out
    }

    fn write(&self, k: usize, first: &str, rest: &str, out: &mut String) {
        match self {
            Self::Leaf(leaf) => {
                let _ = writeln!(out, "{first}{}", leaf_range(*leaf, *leaf, k));
            }
            Self::Inner {
                op,
                format,
                children,
            } => {
                let _ = writeln!(
                    out,
                    "{first}{} {format}, {} terms",
                    op.name(),
                    children.len()
                );
                let items = fold_runs(children);
                for (index, item) in items.iter().enumerate() {
                    let last = index + 1 == items.len();
                    let (branch, below) = if last {
                        ("└ ", "  ")
                    } else {
                        ("├ ", "│ ")
                    };
                    let (branch, below) = (format!("{rest}{branch}"), format!("{rest}{below}"));
                    match item {
                        Item::Run(low, high) => {
                            let _ = writeln!(out, "{branch}{}", leaf_range(*low, *high, k));
                        }
                        Item::Node(node) => node.write(k, &branch, &below, out),
                    }
                }
            }
        }
    }
}

enum Item<'a> {
    Run(usize, usize),
    Node(&'a Node),
}

/// Consecutive leaves with consecutive numbers become one item.
fn fold_runs(children: &[Node]) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for child in children {
        match (child, items.last_mut()) {
            (Node::Leaf(leaf), Some(Item::Run(_, high))) if *high + 1 == *leaf => *high = *leaf,
            (Node::Leaf(leaf), _) => items.push(Item::Run(*leaf, *leaf)),
            (node, _) => items.push(Item::Node(node)),
        }
    }
    items
}

fn leaf_range(low: usize, high: usize, k: usize) -> String {
    match (low == high, high == k) {
        (true, true) => "c".to_owned(),
        (true, false) => format!("p{low}"),
        (false, true) if low + 1 == k => format!("p{low}, c"),
        (false, true) => format!("p{low} … p{}, c", high - 1),
        (false, false) if low + 1 == high => format!("p{low}, p{high}"),
        (false, false) => format!("p{low} … p{high}"),
    }
}

/// An inner node over terms; a single term is itself.
fn join(op: Op, format: Format, terms: impl IntoIterator<Item = Node>) -> Option<Node> {
    let mut children: Vec<Node> = terms.into_iter().collect();
    children.sort_by_key(Node::smallest);
    if children.len() < 2 {
        children.pop()
    } else {
        Some(Node::Inner {
            op,
            format,
            children,
        })
    }
}

fn dot(algorithm: &Dpa, order: &[usize], start: Option<Node>, output: &Output) -> Option<Node> {
    let step = algorithm.general(output);
    let blocks = order.chunks(algorithm.block());
    blocks.fold(start, |sum, block| {
        general(&step, block, sum, output.format)
    })
}

/// One block of a step of the model space.
fn general(step: &General, block: &[usize], sum: Option<Node>, format: Format) -> Option<Node> {
    let leaves = block.iter().map(|&k| Node::Leaf(k));
    match step {
        General::AddMul(AddMul { sequential, .. }) => {
            let mut level: Vec<Node> = leaves.collect();
            while level.len() > 1 && *sequential {
                let rest = level.split_off(2);
                level = join(Op::Add, format, level)
                    .into_iter()
                    .chain(rest)
                    .collect();
            }
            while level.len() > 1 {
                level = level
                    .chunks(2)
                    .filter_map(|two| join(Op::Add, format, two.iter().cloned()))
                    .collect();
            }
            join(Op::Add, format, level.into_iter().chain(sum))
        }
        General::Integer(_) => join(Op::Exact, format, leaves.chain(sum)),
        General::Semi(_) => join(Op::Fma, format, sum.into_iter().chain(leaves)),
        General::Grouped(step) => {
            let groups = block
                .chunks(step.g as usize)
                .filter_map(|group| join(Op::Fused, format, group.iter().map(|&k| Node::Leaf(k))));
            join(Op::Fused, format, groups.chain(sum))
        }
        General::Fused(fused) => {
            let op = |f: Option<u32>| if f.is_some() { Op::Fused } else { Op::Exact };
            let is_exact = fused.f.is_none() && fused.groups.is_none() && fused.join.is_none();
            if fused.l == 1 && is_exact {
                return join(Op::Fma, format, sum.into_iter().chain(leaves));
            }
            let terms: Vec<Node> = match fused.groups {
                None if fused.join.is_some() => {
                    join(Op::Fused, format, leaves).into_iter().collect()
                }
                None => leaves.collect(),
                Some(groups) => {
                    let g = groups.g as usize;
                    let places = match groups.strided {
                        true => block.len().max(fused.l as usize),
                        false => block.len(),
                    };
                    let count = places.div_ceil(g);
                    (0..count)
                        .filter_map(|j| {
                            let own = (0..block.len()).filter(|i| {
                                if groups.strided {
                                    i % count == j
                                } else {
                                    i / g == j
                                }
                            });
                            join(op(groups.f), format, own.map(|i| Node::Leaf(block[i])))
                        })
                        .collect()
                }
            };
            join(op(fused.f), format, terms.into_iter().chain(sum))
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Leaf(leaf) => serializer.serialize_u64(*leaf as u64),
            Self::Inner {
                op,
                format,
                children,
            } => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("op", op.name())?;
                map.serialize_entry("type", format.name)?;
                map.serialize_entry("children", children)?;
                map.end()
            }
        }
    }
}
