//! Compares two trees and describes the differences.

use std::fmt;

use super::Tree;

/// How two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeDifference {
    /// They sum different numbers of leaves.
    Leaves(usize, usize),
    /// The order is the same; `nodes` nodes differ in operation or type, the first being this.
    Kinds {
        /// How many nodes differ.
        nodes: usize,
        /// The first of them, in words.
        first: String,
    },
    /// The orders differ.
    Order {
        /// Leaves 0 to `same` − 1 are summed in the same order in both.
        same: usize,
        /// Pattern of the first tree's remaining leaves.
        left: String,
        /// Pattern of the second tree's remaining leaves.
        right: String,
    },
}

impl Tree {
    /// What differs from `other`; `None` when nothing does.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<TreeDifference> {
        if self == other {
            return None;
        }
        if self.leaves() != other.leaves() {
            return Some(TreeDifference::Leaves(self.leaves(), other.leaves()));
        }
        let same_order = self.nodes().len() == other.nodes().len()
            && self
                .nodes()
                .iter()
                .zip(other.nodes())
                .all(|(left, right)| left.children == right.children);
        if same_order {
            let differing = || {
                let pairs = self.nodes().iter().zip(other.nodes());
                pairs.filter(|(left, right)| left != right)
            };
            let first = differing().next().map(|(left, right)| {
                let kind = |node: &super::Inner| format!("{} {}", node.op.name(), node.format);
                let item = self
                    .nodes()
                    .iter()
                    .position(|node| std::ptr::eq(node, left))
                    .unwrap_or(0);
                let leaf = self.firsts()[self.leaves() + item];
                format!("{} against {} above leaf {leaf}", kind(left), kind(right))
            });
            return Some(TreeDifference::Kinds {
                nodes: differing().count(),
                first: first.unwrap_or_default(),
            });
        }
        // Equality of the orders restricted to the first leaves is monotone in their number.
        let format = self.nodes().last().map_or(crate::format::F32, |n| n.format);
        let (mine, theirs) = (self.shape(format), other.shape(format));
        let equal = |leaves: usize| {
            mine.restricted(|leaf| leaf < leaves) == theirs.restricted(|leaf| leaf < leaves)
        };
        let (mut low, mut high) = (1, self.leaves());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if equal(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        // Two leaves can only be added in one way: nothing to say about them.
        let same = if low <= 2 { 0 } else { low };
        let pattern = |tree: &Self| {
            let rest = tree.restricted(|leaf| leaf >= same);
            rest.map_or_else(String::new, |rest| rest.pattern())
        };
        let (left, right) = (pattern(self), pattern(other));
        let irregular = left.starts_with("irregular") || right.starts_with("irregular");
        if left == right || irregular && self.is_named() && other.is_named() {
            return Some(TreeDifference::Order {
                same: 0,
                left: self.pattern(),
                right: other.pattern(),
            });
        }
        Some(TreeDifference::Order { same, left, right })
    }
}

impl fmt::Display for TreeDifference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaves(left, right) => write!(out, "{left} leaves against {right}"),
            Self::Kinds { nodes, first } => write!(
                out,
                "the same order; {nodes} nodes differ in operation or type, first {first}"
            ),
            Self::Order {
                same: 0,
                left,
                right,
            } => write!(out, "{left} against {right}"),
            Self::Order { same, left, right } => {
                let last = same - 1;
                write!(out, "same up to leaf {last}, then {left} against {right}")
            }
        }
    }
}
