//! The report of `reveal`: the tree, its cost, and how far it is verified.

use serde_json::{Map, Value, json};

use super::subject::Summation;
use crate::error::Result;
use crate::format::Format;
use crate::tree::{Arithmetic, Builder, Op, Tree};

/// The kind of summation that a subject is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nature {
    /// One tree, whatever the values.
    Tree,
    /// Masks fit no single tree, for this reason.
    NoSingleTree(String),
    /// The same input gives different results.
    Nondeterministic(String),
    /// The order depends on the values.
    ValueDependent(String),
    /// The sum is exact, or the order has no influence on it.
    OrderIndependent(String),
    /// Rounding errors are carried along and added back (Kahan and the like).
    Compensated(String),
}

impl Nature {
    /// The name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::NoSingleTree(_) => "no-single-tree",
            Self::Nondeterministic(_) => "nondeterministic",
            Self::ValueDependent(_) => "value-dependent",
            Self::OrderIndependent(_) => "order-independent",
            Self::Compensated(_) => "compensated",
        }
    }

    /// Why, in words; empty for a tree.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Tree => "",
            Self::NoSingleTree(reason)
            | Self::Nondeterministic(reason)
            | Self::ValueDependent(reason)
            | Self::OrderIndependent(reason)
            | Self::Compensated(reason) => reason,
        }
    }
}

/// The comparison of a tree with its subject on random data.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verified {
    /// Random inputs; 0 when the tree cannot be executed.
    pub trials: usize,
    /// Inputs on which tree and subject differ.
    pub mismatches: usize,
    /// With which arithmetic the nodes were executed, in words.
    pub arithmetic: String,
    /// The same as a value, to execute and export the tree with; `None` when it was not replayed.
    pub chosen: Option<Arithmetic>,
    /// The smallest input found on which they differ, and what was expected: in words.
    pub counter_example: Option<String>,
}

/// The outcome of revealing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Revelation {
    /// The subject as the user named it.
    pub subject: String,
    /// Names of the leaves.
    pub leaves: Vec<String>,
    /// Format of operands.
    pub operands: Format,
    /// Format of results.
    pub format: Format,
    /// The number of leaves that are products; they come first.
    pub products: usize,
    /// The tree; one unresolved node when there is none.
    pub tree: Tree,
    /// The kind of subject.
    pub nature: Nature,
    /// Calls of the subject that the algorithm made.
    pub calls: u64,
    /// Masked inputs that the algorithm measured.
    pub measurements: u64,
    /// Calls with choosing masks, checks, node types and verification.
    pub all_calls: u64,
    /// Inputs with choosing masks, checks, node types and verification.
    pub all_measurements: u64,
    /// Comparison on random data.
    pub verified: Verified,
    /// Leaves whose order is not known, set by set.
    pub unresolved: Vec<Vec<usize>>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl Revelation {
    pub(super) fn of_tree(subject: &dyn Summation, tree: Tree, notes: Vec<String>) -> Self {
        let unresolved = tree.nodes().iter().enumerate();
        let unresolved = unresolved
            .filter(|(_, node)| node.op == Op::Unresolved)
            .map(|(index, _)| tree.leaves_below(tree.leaves() + index))
            .collect();
        Self {
            subject: subject.name().to_owned(),
            leaves: (0..tree.leaves())
                .map(|leaf| subject.leaf_name(leaf))
                .collect(),
            operands: subject.operand_format(),
            format: subject.format(),
            products: (0..tree.leaves())
                .filter(|&leaf| subject.is_product(leaf))
                .count(),
            tree,
            nature: Nature::Tree,
            calls: 0,
            measurements: 0,
            all_calls: 0,
            all_measurements: 0,
            verified: Verified::default(),
            unresolved,
            notes: notes.into_iter().chain(subject.remarks()).collect(),
        }
    }

    pub(super) fn without_tree(subject: &dyn Summation, nature: Nature) -> Result<Self> {
        let leaves = subject.leaves();
        let mut builder = Builder::new(leaves);
        let root = builder.node(Op::Unresolved, subject.format(), (0..leaves).collect());
        let mut report = Self::of_tree(subject, builder.build(root)?, Vec::new());
        report.nature = nature;
        Ok(report)
    }

    /// The closing line: `verified over n trials`, or what is wrong.
    #[must_use]
    pub fn verdict(&self) -> String {
        let Verified {
            trials,
            mismatches,
            arithmetic,
            ..
        } = &self.verified;
        match (&self.nature, trials, mismatches) {
            (Nature::Tree, 0, _) => format!("checked by masks only: {arithmetic}"),
            (Nature::Tree, _, 0) if arithmetic.is_empty() => {
                format!("verified over {trials} trials")
            }
            (Nature::Tree, _, 0) => format!("verified over {trials} trials ({arithmetic})"),
            (Nature::Tree, _, _) => {
                format!("not verified: {mismatches} of {trials} trials differ ({arithmetic})")
            }
            (nature, _, _) => format!("{}: {}", nature.name(), nature.reason()),
        }
    }

    /// Whether the tree stands: there is one, and no trial contradicts it.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.nature == Nature::Tree && self.verified.mismatches == 0
    }

    /// The report as `reveal --json` gives it, without the tree: nested deeper than JSON
    /// libraries write, it is inserted as text in place of the value of `tree`.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let fused = self.verified.chosen.and_then(|chosen| chosen.fused);
        let value = json!({
            "subject": self.subject,
            "n": self.tree.leaves(),
            "leaves": self.leaves,
            "tree": null,
            "calls": self.calls,
            "measurements": self.measurements,
            "all_calls": self.all_calls,
            "all_measurements": self.all_measurements,
            "verified": {
                "trials": self.verified.trials,
                "mismatches": self.verified.mismatches,
                "arithmetic": self.verified.arithmetic,
                "counter_example": self.verified.counter_example,
            },
            "unresolved": self.unresolved,
            "nature": self.nature.name(),
            "reason": self.nature.reason(),
            "pattern": self.tree.pattern(),
            "operands": self.operands.name,
            "fused_bits": fused.map(|fused| fused.bits),
            "fused_rounding": fused.map(|fused| fused.rounding.to_string()),
            "rounding": self.verified.chosen.map(|chosen| chosen.rounding.to_string()),
            "format": self.format.name,
            "products": self.products,
            "notes": self.notes,
        });
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}
