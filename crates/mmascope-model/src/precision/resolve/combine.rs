//! Folds a function as LLVM does: its own form is simplified first, then operations are combined one by one, the result
//! before its operands, until nothing changes.
//!
//! Order decides which of several possible folds happens, so it is kept as LLVM has it.

mod fused;
mod negated;
mod products;
mod sums;

use std::collections::HashSet;

use super::flags::Fmf;
use super::graph::{Graph, Node, Op, Settings};
use super::policy::Policy;
use super::{Context, Note, constant, simplify};
use crate::explain::number_word;

/// More steps than any expression needs; a bound against rules that undo each other.
const MOST: usize = 100_000;

/// Folds a graph as LLVM does, and says which rules had a part in it.
pub(super) fn fold(graph: &mut Graph, context: &Context<'_>) -> Vec<Note> {
    let mut notes = simplify::simplify(graph);
    let mut combiner = Combiner {
        graph,
        context,
        notes: Vec::new(),
        uses: Vec::new(),
        open: Vec::new(),
        seen: HashSet::new(),
        settings: Settings::default(),
        is_late: false,
        is_open: false,
    };
    combiner.build();
    combiner.run();
    combiner.is_late = true;
    combiner.run();
    combiner.is_open |=
        is_open_in_narrow_types(combiner.graph) || has_product_of_zero(combiner.graph);
    if combiner.is_open {
        notes.push(Note::open(
            Policy::Llvm,
            "LLVM may combine further under the flags: this order is one of those allowed",
        ));
    }
    for note in combiner.notes {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Whether LLVM's choice is not known for a type of 16 bits: quotients and roots are done in f32 there, and which of the
/// conversions between two of them `contract` leaves out, or whether a difference takes over the sign of a quotient of a
/// constant, depends on the order in which it comes to them.
fn is_open_in_narrow_types(graph: &Graph) -> bool {
    let node = |index: usize| &graph.nodes[index];
    let is_wide = |node: &Node| match &node.op {
        Op::Div => true,
        Op::Call(name) => name == "sqrt",
        _ => false,
    };
    let narrow = graph
        .order()
        .into_iter()
        .map(node)
        .filter(|node| node.format.bits <= 16);
    narrow.into_iter().any(|it| {
        let contracts = |arg: &Node| {
            it.settings.flags.has(Fmf::CONTRACT) || arg.settings.flags.has(Fmf::CONTRACT)
        };
        let mut args = it.args.iter().map(|&arg| node(arg));
        let is_constant = |node: &Node| matches!(node.op, Op::Constant(_));
        match it.op {
            Op::Sub => args.any(|arg| arg.op == Op::Div && is_constant(node(arg.args[0]))),
            _ => is_wide(it) && args.any(|arg| is_wide(arg) && contracts(arg)),
        }
    })
}

/// Whether a product with 0 is left that has flags: LLVM folds it where it can show of the other factor that the flags suffice.
fn has_product_of_zero(graph: &Graph) -> bool {
    graph.order().into_iter().any(|index| {
        let node = &graph.nodes[index];
        let format = node.format;
        let zeros = [format.zero(false), format.zero(true)];
        let mut args = node.args.iter();
        let is_zero = |&arg: &usize| {
            zeros
                .iter()
                .any(|&code| graph.is_word(arg, format.to_register(code)))
        };
        node.op == Op::Mul && node.settings.flags != Fmf::NONE && args.any(is_zero)
    })
}

/// What one step gives: the operation that stands for the one looked at, with what is said about it.
pub(super) type Found = Option<(usize, &'static str, &'static str)>;

struct Combiner<'a> {
    graph: &'a mut Graph,
    context: &'a Context<'a>,
    notes: Vec<Note>,
    /// How often each operation's result is taken.
    uses: Vec<usize>,
    /// The operations to look at, the next one last.
    open: Vec<usize>,
    /// The operations that were looked at.
    seen: HashSet<usize>,
    /// What the operation that is looked at asks for: what is made from it asks for the same.
    settings: Settings,
    /// Whether this is the second time, when no new constants are made.
    is_late: bool,
    /// Whether a choice depended on an order that LLVM may not keep.
    is_open: bool,
}

impl Combiner<'_> {
    /// Makes the operations anew, one after another, as LLVM makes its own graph from a function's text.
    fn build(&mut self) {
        let nodes = std::mem::take(&mut self.graph.nodes);
        let old = Graph {
            nodes,
            ..self.graph.clone()
        };
        let needed: HashSet<usize> = old.order().into_iter().collect();
        let mut made: Vec<usize> = Vec::new();
        for (index, node) in old.nodes.iter().enumerate() {
            if !needed.contains(&index) {
                made.push(usize::MAX);
                continue;
            }
            let args: Vec<usize> = node.args.iter().map(|&arg| made[arg]).collect();
            self.graph.format = node.format;
            made.push(self.make(node.op.clone(), &args, node.settings));
        }
        self.graph.root = made[old.root];
        self.count();
    }

    fn run(&mut self) {
        self.open = (0..self.graph.nodes.len()).collect();
        self.seen.clear();
        for _ in 0..MOST {
            let Some(index) = self.open.pop() else {
                break;
            };
            self.count();
            if self.uses.get(index).is_none_or(|count| *count == 0) {
                continue;
            }
            self.seen.insert(index);
            let args = self.graph.nodes[index].args.clone();
            for arg in args {
                if !self.seen.contains(&arg) && !self.open.contains(&arg) {
                    self.open.push(arg);
                }
            }
            self.settings = self.graph.nodes[index].settings;
            self.graph.at(index);
            if let Some((result, rule, text)) = self.combine(index) {
                self.say(rule, text);
                if result != index {
                    self.replace(index, result);
                }
            }
        }
    }

    fn say(&mut self, rule: &str, text: &str) {
        let note = Note::fold(Policy::Llvm, rule, text);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn combine(&mut self, index: usize) -> Found {
        match self.op(index) {
            Op::Add => self.sum(index),
            Op::Sub => self.difference(index),
            Op::Mul => self.product(index),
            Op::Div => self.quotient(index),
            Op::Fma => self.fused(index),
            Op::Neg => self.sign(index),
            Op::Convert => {
                let value = self.graph.widened(self.args(index)[0])?;
                Some((value, "widened", simplify::COMES_BACK))
            }
            // |-x| is |x| only where it is made, so that a negation that comes later stays.
            Op::Call(name) if name == "abs" => {
                let inner = self.args(index)[0];
                let twice = self.op(inner) == Op::Call(name);
                twice.then_some((inner, "absolute-value", "|(|x|)| is |x|"))
            }
            _ => None,
        }
    }

    /// Counts the uses; the function's result is one.
    fn count(&mut self) {
        self.uses = self.graph.uses();
        if let Some(root) = self.uses.get_mut(self.graph.root) {
            *root += 1;
        }
    }

    /// The operation; one that asks for a rounding of its own is like a call, which nothing folds.
    fn op(&self, index: usize) -> Op {
        let node = &self.graph.nodes[index];
        if node.settings.rounding.is_some() {
            return Op::Call(String::new());
        }
        node.op.clone()
    }

    fn is_root(&self, index: usize) -> bool {
        matches!(self.op(index), Op::Call(name) if name == "sqrt")
    }

    fn args(&self, index: usize) -> Vec<usize> {
        self.graph.nodes[index].args.clone()
    }

    fn flags(&self, index: usize) -> Fmf {
        self.graph.nodes[index].settings.flags
    }

    fn has(&self, index: usize, flags: &[Fmf]) -> bool {
        flags.iter().all(|flag| self.flags(index).has(*flag))
    }

    /// The operands of an operation of this kind.
    fn pair(&self, index: usize, op: &Op) -> Option<(usize, usize)> {
        (self.op(index) == *op).then(|| {
            let args = &self.graph.nodes[index].args;
            (args[0], args[1])
        })
    }

    fn used_once(&self, index: usize) -> bool {
        self.uses.get(index).is_none_or(|count| *count == 1)
    }

    fn constant(&self, index: usize) -> Option<u64> {
        match self.graph.nodes[index].op {
            Op::Constant(word) => Some(word),
            _ => None,
        }
    }

    fn word(&self, text: &str) -> u64 {
        number_word("constant", text, &self.graph.format, true).unwrap_or(0)
    }

    fn is(&self, index: usize, text: &str) -> bool {
        self.graph.is_word(index, self.word(text))
    }

    fn is_zero(&self, index: usize) -> bool {
        self.is(index, "0") || self.is(index, "-0")
    }

    fn number(&mut self, text: &str) -> usize {
        let word = self.word(text);
        self.make(Op::Constant(word), &[], Settings::default())
    }

    /// An operation made from the one that is looked at, with its flags.
    fn derived(&mut self, op: Op, args: &[usize]) -> usize {
        self.make(op, args, self.settings)
    }

    /// An operation, or the one that is known to be the same.
    fn make(&mut self, op: Op, args: &[usize], settings: Settings) -> usize {
        let mut args = args.to_vec();
        if settings.rounding.is_none()
            && let Some(known) = self.immediate(&op, &mut args, settings)
        {
            return known;
        }
        let same = (0..self.graph.nodes.len()).find(|&index| {
            let node = &self.graph.nodes[index];
            node.op == op
                && node.format == self.graph.format
                && node.args == args
                && node.settings.rounding == settings.rounding
                && node.settings.flush == settings.flush
        });
        match same {
            Some(index) => {
                let is_dead = self.uses.get(index) == Some(&0);
                let node = &mut self.graph.nodes[index];
                node.settings.flags = if is_dead {
                    settings.flags
                } else {
                    node.settings.flags.join(settings.flags)
                };
                index
            }
            None => self.graph.add(op, args, settings),
        }
    }

    /// What making an operation gives at once: constants, and operands that stay as they are.
    fn immediate(&mut self, op: &Op, args: &mut [usize], settings: Settings) -> Option<usize> {
        if !args.is_empty() {
            let words: Option<Vec<u64>> = args.iter().map(|&arg| self.constant(arg)).collect();
            let from = self.graph.nodes[args[0]].format;
            if let Some(words) = words
                && let Some(word) = constant::computed(&self.graph.format, &from, op, &words)
            {
                return Some(self.make(Op::Constant(word), &[], Settings::default()));
            }
        }
        match op {
            Op::Add | Op::Mul
                if self.constant(args[0]).is_some() && self.constant(args[1]).is_none() =>
            {
                args.swap(0, 1);
            }
            Op::Neg if self.op(args[0]) == Op::Neg => return Some(self.args(args[0])[0]),
            Op::Call(name) if name == "abs" && self.op(args[0]) == Op::Neg => {
                let inner = self.args(args[0])[0];
                return Some(self.make(op.clone(), &[inner], settings));
            }
            _ => {}
        }
        match op {
            Op::Add if self.is(args[1], "-0") => Some(args[0]),
            Op::Sub if self.is(args[1], "0") => Some(args[0]),
            Op::Mul | Op::Div if self.is(args[1], "1") => Some(args[0]),
            Op::Mul
                if self.is_zero(args[1])
                    && settings.flags.has(Fmf::NNAN)
                    && settings.flags.has(Fmf::NSZ) =>
            {
                Some(self.number("0"))
            }
            _ => None,
        }
    }

    /// Lets everything that takes one operation's result take another's; operations that become equal are one.
    fn replace(&mut self, old: usize, new: usize) {
        let mut open = vec![(old, new)];
        while let Some((old, new)) = open.pop() {
            if old == new {
                continue;
            }
            self.count();
            let mut changed = Vec::new();
            for (index, node) in self.graph.nodes.iter_mut().enumerate() {
                let mut takes = false;
                for arg in node.args.iter_mut().filter(|arg| **arg == old) {
                    *arg = new;
                    takes = true;
                }
                if takes && self.uses.get(index).is_some_and(|count| *count > 0) {
                    changed.push(index);
                }
            }
            if self.graph.root == old {
                self.graph.root = new;
            }
            self.count();
            for &user in &changed {
                let twin = (0..self.graph.nodes.len()).find(|&other| {
                    let (a, b): (&Node, &Node) =
                        (&self.graph.nodes[user], &self.graph.nodes[other]);
                    other != user
                        && self.uses[other] > 0
                        && a.op == b.op
                        && a.format == b.format
                        && a.args == b.args
                        && a.settings.rounding == b.settings.rounding
                        && a.settings.flush == b.settings.flush
                });
                if let Some(twin) = twin {
                    let flags = self.flags(user).join(self.flags(twin));
                    self.graph.nodes[twin].settings.flags = flags;
                    open.push((user, twin));
                }
            }
            let users = (0..self.graph.nodes.len())
                .filter(|&user| self.uses[user] > 0 && self.graph.nodes[user].args.contains(&new));
            let users: Vec<usize> = users.chain([new]).collect();
            for user in users {
                if !self.open.contains(&user) {
                    self.open.push(user);
                }
            }
        }
    }
}
