//! Operations and what they take: the form in which expressions and functions are folded and lowered.

use std::fmt;
use std::str::FromStr;

use super::flags::Fmf;
use crate::error::{Error, Result, quoted};
use crate::format::Format;

/// A rounding that one operation asks for by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// To nearest even.
    Rn,
    /// Toward zero.
    Rz,
    /// Toward −∞.
    Rm,
    /// Toward +∞.
    Rp,
    /// The approximation.
    Approx,
    /// The full-range approximation.
    Full,
}

/// Names of the modes: PTX's, then the Tile dialect's.
const MODES: &[(&str, Mode)] = &[
    ("rn", Mode::Rn),
    ("rz", Mode::Rz),
    ("rm", Mode::Rm),
    ("rp", Mode::Rp),
    ("approx", Mode::Approx),
    ("full", Mode::Full),
    ("nearest_even", Mode::Rn),
    ("zero", Mode::Rz),
    ("negative_inf", Mode::Rm),
    ("positive_inf", Mode::Rp),
    ("rne", Mode::Rn),
];

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = MODES.iter().find(|(known, _)| *known == name);
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            let names: Vec<&str> = MODES.iter().map(|(known, _)| *known).collect();
            Error::Argument(format!(
                "unknown rounding '{}'; allowed: {}",
                quoted(name),
                names.join(", ")
            ))
        })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MODES.iter().find(|(_, mode)| mode == self);
        out.write_str(name.map_or("", |(name, _)| name))
    }
}

/// What one operation asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Its fast-math flags.
    pub(super) flags: Fmf,
    /// Its own rounding, if it has one.
    pub(super) rounding: Option<Mode>,
    /// Whether it asks for a flush of subnormals by itself.
    pub(super) flush: bool,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The input of that number.
    Parameter(usize),
    /// A register word.
    Constant(u64),
    /// −x.
    Neg,
    /// x + y.
    Add,
    /// x − y.
    Sub,
    /// x · y.
    Mul,
    /// x / y.
    Div,
    /// x · y + z, rounded once.
    Fma,
    /// x in the type of the operation, wider or rounded to nearest even.
    Convert,
    /// A function by its short name (`sqrt`) or a library's symbol (`__nv_sinf`, `llvm.nvvm.sqrt.rn.f`).
    Call(String),
}

/// An operation with its operands, which stand before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// What it does.
    pub(super) op: Op,
    /// Its operands.
    pub(super) args: Vec<usize>,
    /// What it asks for.
    pub(super) settings: Settings,
    /// The type of its result, and of its operands but for a conversion.
    pub(super) format: Format,
}

/// Operations that lead to one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Graph {
    /// The type of what is added or looked at now; every operation keeps its own.
    pub(super) format: Format,
    /// The names of the inputs.
    pub(super) parameters: Vec<String>,
    /// The operations; operands stand before what takes them.
    pub(super) nodes: Vec<Node>,
    /// The result.
    pub(super) root: usize,
}

impl Graph {
    /// An empty graph, to which operations of a type are added.
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            parameters: Vec::new(),
            nodes: Vec::new(),
            root: 0,
        }
    }

    /// Adds an operation and gives its number.
    pub(super) fn add(&mut self, op: Op, args: Vec<usize>, settings: Settings) -> usize {
        let format = self.format;
        self.nodes.push(Node {
            op,
            args,
            settings,
            format,
        });
        self.nodes.len() - 1
    }

    /// The input of that name, new or known.
    pub(super) fn parameter(&mut self, name: &str) -> usize {
        let number = match self.parameters.iter().position(|known| known == name) {
            Some(number) => number,
            None => {
                self.parameters.push(name.to_owned());
                self.parameters.len() - 1
            }
        };
        let known = self
            .nodes
            .iter()
            .position(|node| node.op == Op::Parameter(number));
        known.unwrap_or_else(|| self.add(Op::Parameter(number), Vec::new(), Settings::default()))
    }

    /// How often each operation's result is taken, by operations that the result needs.
    pub(super) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        let mut needed = vec![false; self.nodes.len()];
        let mut open = vec![self.root];
        while let Some(index) = open.pop() {
            if std::mem::replace(&mut needed[index], true) {
                continue;
            }
            for &arg in &self.nodes[index].args {
                uses[arg] += 1;
                open.push(arg);
            }
        }
        uses
    }

    /// The operations that the result needs, operands first.
    pub(super) fn order(&self) -> Vec<usize> {
        let (mut order, mut done) = (Vec::new(), vec![false; self.nodes.len()]);
        let mut open = vec![(self.root, false)];
        while let Some((index, ready)) = open.pop() {
            if done[index] {
                continue;
            }
            if ready {
                done[index] = true;
                order.push(index);
                continue;
            }
            open.push((index, true));
            let args = self.nodes[index].args.iter().rev();
            open.extend(args.map(|&arg| (arg, false)));
        }
        order
    }

    /// Takes up the type of an operation: what is added or looked at from now on has it.
    pub(super) fn at(&mut self, index: usize) {
        self.format = self.nodes[index].format;
    }

    /// What an operation widened from the type that is looked at now: rounded back, it is itself.
    pub(super) fn widened(&self, index: usize) -> Option<usize> {
        let node = &self.nodes[index];
        let value = (node.op == Op::Convert).then(|| node.args[0])?;
        let own = self.nodes[value].format;
        (own == self.format && node.format.bits > own.bits).then_some(value)
    }

    /// Whether an operation is this constant.
    pub(super) fn is_word(&self, index: usize, word: u64) -> bool {
        self.nodes[index].op == Op::Constant(word)
    }
}
