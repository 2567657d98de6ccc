//! Folds: what flags allow to be left out, turned round or fused, before instructions are chosen.
//!
//! LLVM's folds are those that its NVPTX backend shows on single expressions (`precision.md` §4). The source
//! document's are its own, errors included; the Tile dialect has no flags and folds nothing.

use super::flags::Fmf;
use super::graph::{Graph, Node, Op, Settings};
use super::policy::Policy;
use super::{Context, Note};
use crate::explain::number_word;

/// More rewrites than any expression needs; a bound against rules that undo each other.
const MOST: usize = 10_000;

/// Folds until nothing changes, and says which rules had a part in it.
pub(super) fn fold(graph: &mut Graph, context: &Context<'_>) -> Vec<Note> {
    if context.policy == Policy::Llvm {
        return super::combine::fold(graph, context);
    }
    let mut notes = Vec::new();
    let written = graph.clone();
    for _ in 0..MOST {
        let order = graph.order();
        let uses = graph.uses();
        let found = order.iter().find_map(|&index| {
            let mut folder = Folder {
                graph: &mut *graph,
                uses: &uses,
                context,
            };
            folder.graph.at(index);
            folder.at(index).map(|(node, note)| (index, node, note))
        });
        let Some((index, replacement, note)) = found else {
            break;
        };
        replace(graph, index, replacement);
        notes.push(note);
    }
    if context.policy == Policy::LibNvvm
        && let Some(reason) = unsettled(&written, graph, context)
    {
        notes.push(Note::open(Policy::LibNvvm, reason));
    }
    notes
}

/// Why what libNVVM makes of a function is not known, as it is written and as it was folded; `None` for forms in which it
/// was asked.
fn unsettled(written: &Graph, folded: &Graph, context: &Context<'_>) -> Option<&'static str> {
    let is_sign = |op: &Op| *op == Op::Neg || *op == Op::Call("abs".to_owned());
    let needed = |graph: &Graph| -> Vec<Node> {
        graph
            .order()
            .iter()
            .map(|&index| graph.nodes[index].clone())
            .collect()
    };
    let all = needed(written);
    let is_rounded =
        |node: &&Node| !matches!(node.op, Op::Parameter(_) | Op::Constant(_)) && !is_sign(&node.op);
    let rounded: Vec<&Node> = all.iter().filter(is_rounded).collect();
    let meets_zero = |it: &&Node| {
        let format = it.format;
        let zeros = [format.zero(false), format.zero(true)].map(|code| format.to_register(code));
        let is_zero = |&arg: &usize| matches!(written.nodes[arg].op, Op::Constant(word) if zeros.contains(&word));
        let flags = it.settings.flags;
        [Fmf::NNAN, Fmf::NINF, Fmf::NSZ]
            .iter()
            .any(|flag| flags.has(*flag))
            && it.args.iter().any(is_zero)
    };
    if rounded.iter().any(meets_zero) {
        return Some("which zero libNVVM makes of an operation with 0 that has flags is not known");
    }
    if rounded.len() < 2 {
        return None;
    }
    let has = |flag: Fmf| rounded.iter().any(|node| node.settings.flags.has(flag));
    if has(Fmf::REASSOC) || has(Fmf::ARCP) {
        return Some("libNVVM may regroup the function under reassoc and arcp");
    }
    let sums = rounded
        .iter()
        .any(|node| matches!(node.op, Op::Add | Op::Sub));
    if sums
        && all
            .iter()
            .any(|node| matches!(node.op, Op::Constant(_)) || is_sign(&node.op))
    {
        return Some(
            "libNVVM moves constants and signs through a function, and fuses what then fits",
        );
    }
    let node = |index: usize| &folded.nodes[index];
    let is_product =
        |&arg: &usize| node(arg).op == Op::Mul && node(arg).settings.rounding.is_none();
    let fuses = |node: &Node| {
        matches!(node.op, Op::Add | Op::Sub)
            && node.settings.rounding.is_none()
            && (context.fma || node.settings.flags.has(Fmf::CONTRACT))
            && node.args.iter().any(is_product)
    };
    needed(folded)
        .iter()
        .any(fuses)
        .then_some("the assembler may fuse a product and a difference that libNVVM leaves apart")
}

/// Lets everything that takes one operation's result take another's. No replacement takes what it replaces.
fn replace(graph: &mut Graph, old: usize, new: usize) {
    let args = graph.nodes.iter_mut().flat_map(|node| node.args.iter_mut());
    args.filter(|arg| **arg == old).for_each(|arg| *arg = new);
    if graph.root == old {
        graph.root = new;
    }
}

pub(super) struct Folder<'a> {
    graph: &'a mut Graph,
    pub(super) uses: &'a [usize],
    pub(super) context: &'a Context<'a>,
}

pub(super) type Fold = Option<(usize, Note)>;

impl Folder<'_> {
    fn at(&mut self, index: usize) -> Fold {
        match self.context.policy {
            Policy::Seed => self.seed(index),
            Policy::Llvm | Policy::LibNvvm => {
                let folded = self
                    .signs(index)
                    .or_else(|| self.units(index))
                    .or_else(|| self.groups(index));
                folded
                    .or_else(|| self.reciprocals(index))
                    .or_else(|| self.contract(index))
            }
            Policy::CudaTile => self.contract(index),
        }
    }

    pub(super) fn node(&self, index: usize) -> &Node {
        &self.graph.nodes[index]
    }

    /// The two operands of an operation of this kind.
    pub(super) fn pair(&self, index: usize, op: &Op) -> Option<(usize, usize)> {
        let node = self.node(index);
        (node.op == *op).then(|| (node.args[0], node.args[1]))
    }

    pub(super) fn negated(&self, index: usize) -> Option<usize> {
        let node = self.node(index);
        (node.op == Op::Neg).then(|| node.args[0])
    }

    pub(super) fn make(&mut self, op: Op, args: &[usize], settings: Settings) -> usize {
        self.graph.add(op, args.to_vec(), settings)
    }

    fn word(&self, text: &str) -> u64 {
        number_word("constant", text, &self.graph.format, true).unwrap_or(0)
    }

    fn is(&self, index: usize, text: &str) -> bool {
        self.graph.is_word(index, self.word(text))
    }

    fn constant(&mut self, text: &str) -> usize {
        let word = self.word(text);
        self.make(Op::Constant(word), &[], Settings::default())
    }

    pub(super) fn note(&self, rule: &str, text: &str) -> Note {
        Note::fold(self.context.policy, rule, text)
    }

    /// Whether nothing but flags decides about an operation: it asks for no rounding of its own.
    pub(super) fn plain(&self, index: usize) -> bool {
        self.node(index).settings.rounding.is_none()
    }

    /// Double negations, differences of negated numbers, differences from zero.
    fn signs(&mut self, index: usize) -> Fold {
        let settings = self.node(index).settings;
        let flags = settings.flags;
        if let Some(inner) = self.negated(index) {
            if let Some(value) = self.negated(inner) {
                return Some((value, self.note("double-negation", "-(-x) is x")));
            }
            let (x, y) = self.pair(inner, &Op::Sub)?;
            // Which of the two operations must not care for the sign of zero: LLVM asks the negation.
            if flags.has(Fmf::NSZ) && self.uses[inner] == 1 && self.plain(inner) {
                let inner = self.node(inner).settings;
                let turned = self.make(Op::Sub, &[y, x], inner);
                return Some((
                    turned,
                    self.note(
                        "nsz",
                        "-(x-y) is y-x where the sign of zero does not matter",
                    ),
                ));
            }
            return None;
        }
        if !self.plain(index) {
            return None;
        }
        if let Some((x, y)) = self.pair(index, &Op::Add) {
            if let Some(value) = self.negated(y) {
                let turned = self.make(Op::Sub, &[x, value], settings);
                return Some((turned, self.note("negated-term", "x+(-y) is x-y")));
            }
            let value = self.negated(x)?;
            let turned = self.make(Op::Sub, &[y, value], settings);
            return Some((turned, self.note("negated-term", "(-x)+y is y-x")));
        }
        let (x, y) = self.pair(index, &Op::Sub)?;
        if let Some(value) = self.negated(y) {
            let turned = self.make(Op::Add, &[x, value], settings);
            return Some((turned, self.note("negated-term", "x-(-y) is x+y")));
        }
        if !self.context.keeps_subnormals(&self.graph.format) {
            return self.vanishing(x, y, flags);
        }
        if self.is(x, "-0") {
            let negated = self.make(Op::Neg, &[y], settings);
            return Some((negated, self.note("difference-from-zero", "-0-x is -x")));
        }
        if self.is(x, "0") && flags.has(Fmf::NSZ) {
            let negated = self.make(Op::Neg, &[y], settings);
            return Some((
                negated,
                self.note("nsz", "0-x is -x where the sign of zero does not matter"),
            ));
        }
        self.vanishing(x, y, flags)
    }

    /// A difference of equal numbers.
    fn vanishing(&mut self, x: usize, y: usize, flags: Fmf) -> Fold {
        if x != y || !flags.has(Fmf::NNAN) {
            return None;
        }
        let zero = self.constant("0");
        Some((
            zero,
            self.note("nnan", "x-x is +0 where no NaN and no infinity comes"),
        ))
    }

    /// Terms and factors of 0, 1, −1 and 2.
    fn units(&mut self, index: usize) -> Fold {
        if !self.plain(index) {
            return None;
        }
        let settings = self.node(index).settings;
        let flags = settings.flags;
        if let Some((x, y)) = self.pair(index, &Op::Add) {
            let other = |term: usize| if term == x { y } else { x };
            let zero = [y, x]
                .into_iter()
                .find(|&term| self.is(term, "-0") || (self.is(term, "0") && flags.has(Fmf::NSZ)))?;
            return Some((
                other(zero),
                self.note("zero-term", "a zero is left out of a sum"),
            ));
        }
        if let Some((x, y)) = self.pair(index, &Op::Sub) {
            let vanishes = self.is(y, "0") || (self.is(y, "-0") && flags.has(Fmf::NSZ));
            return vanishes.then(|| {
                (
                    x,
                    self.note("zero-term", "a zero is left out of a difference"),
                )
            });
        }
        if let Some((x, y)) = self.pair(index, &Op::Mul) {
            for (factor, other) in [(y, x), (x, y)] {
                if self.is(factor, "1") {
                    return Some((other, self.note("unit-factor", "x*1 is x")));
                }
                if self.is(factor, "-1") {
                    let zero = self.constant("-0");
                    let negated = self.make(Op::Sub, &[zero, other], settings);
                    return Some((negated, self.note("unit-factor", "x*(-1) is -0-x")));
                }
                if self.is(factor, "2") {
                    let sum = self.make(Op::Add, &[other, other], settings);
                    return Some((sum, self.note("double", "x*2 is x+x")));
                }
                if self.is(factor, "0") && flags.has(Fmf::NNAN) && flags.has(Fmf::NSZ) {
                    return Some((
                        factor,
                        self.note(
                            "nnan",
                            "x*0 is 0 where no NaN comes and its sign does not matter",
                        ),
                    ));
                }
            }
            return None;
        }
        let (x, y) = self.pair(index, &Op::Div)?;
        if self.is(y, "1") {
            return Some((x, self.note("unit-factor", "x/1 is x")));
        }
        if x == y && flags.has(Fmf::NNAN) {
            let one = self.constant("1");
            return Some((one, self.note("nnan", "x/x is 1 where no NaN comes")));
        }
        None
    }

    /// Sums from which a term is taken again: `reassoc` and `nsz` together.
    fn groups(&mut self, index: usize) -> Fold {
        let flags = self.node(index).settings.flags;
        if !flags.has(Fmf::REASSOC) || !self.plain(index) {
            return None;
        }
        let nsz = flags.has(Fmf::NSZ);
        if let Some((x, y)) = self.pair(index, &Op::Mul) {
            let root = |node: &Node| node.op == Op::Call("sqrt".to_owned());
            if x == y && root(self.node(x)) && flags.has(Fmf::NNAN) && nsz {
                let value = self.node(x).args[0];
                return Some((value, self.note("reassoc", "sqrt(x)*sqrt(x) is x")));
            }
            return None;
        }
        if !nsz {
            return None;
        }
        let settings = self.node(index).settings;
        if let Some((x, y)) = self.pair(index, &Op::Sub) {
            if let Some((a, b)) = self.pair(x, &Op::Add) {
                // (a+b)-b, (a+b)-a
                if b == y || a == y {
                    let left = if b == y { a } else { b };
                    return Some((left, self.note("reassoc", "(x+y)-y is x")));
                }
            }
            if let Some((a, b)) = self.pair(y, &Op::Add)
                && (a == x || b == x)
            {
                let left = if a == x { b } else { a };
                let negated = self.make(Op::Neg, &[left], settings);
                return Some((negated, self.note("reassoc", "x-(x+y) is -y")));
            }
            return None;
        }
        let (x, y) = self.pair(index, &Op::Add)?;
        for (difference, term) in [(x, y), (y, x)] {
            if let Some((a, b)) = self.pair(difference, &Op::Sub)
                && b == term
            {
                return Some((a, self.note("reassoc", "(x-y)+y is x")));
            }
        }
        None
    }

    /// Divisions by constants and repeated divisors.
    fn reciprocals(&mut self, index: usize) -> Fold {
        let (x, divisor) = self.pair(index, &Op::Div)?;
        if !self.plain(index) {
            return None;
        }
        let settings = self.node(index).settings;
        if let Op::Constant(word) = self.node(divisor).op {
            let (reciprocal, exact) = super::constant::reciprocal(&self.graph.format, word)?;
            if !exact && !settings.flags.has(Fmf::ARCP) {
                return None;
            }
            let factor = self.make(Op::Constant(reciprocal), &[], Settings::default());
            let product = self.make(Op::Mul, &[x, factor], settings);
            let note = if exact {
                self.note("exact-reciprocal", "x/c is x*(1/c) where 1/c is exact")
            } else {
                self.note("arcp", "x/c is x times the rounded 1/c")
            };
            return Some((product, note));
        }
        if self.is(x, "1") || !settings.flags.has(Fmf::ARCP) {
            return None;
        }
        let order = self.graph.order();
        let same = order.into_iter().filter(|&other| {
            self.pair(other, &Op::Div)
                .is_some_and(|(_, by)| by == divisor)
                && self.node(other).settings.flags.has(Fmf::ARCP)
        });
        let same: Vec<usize> = same.collect();
        // One of them decides about the flags of all: the last.
        if same.len() < 2 || same.last() != Some(&index) {
            return None;
        }
        let one = self.constant("1");
        let reciprocal = self.make(Op::Div, &[one, divisor], settings);
        let mut product = None;
        for other in same {
            let (numerator, _) = self.pair(other, &Op::Div)?;
            if other == index {
                product = Some(self.make(Op::Mul, &[numerator, reciprocal], settings));
            } else {
                self.graph.nodes[other] = Node {
                    op: Op::Mul,
                    args: vec![numerator, reciprocal],
                    settings,
                    format: self.graph.format,
                };
            }
        }
        Some((
            product?,
            self.note("arcp", "several quotients by x are products with one 1/x"),
        ))
    }

    /// The source document's own folds.
    fn seed(&mut self, index: usize) -> Fold {
        let settings = self.node(index).settings;
        let flags = settings.flags;
        if let Some((x, y)) = self.pair(index, &Op::Sub)
            && flags.has(Fmf::NSZ)
        {
            if x == y {
                let zero = self.constant("0");
                return Some((zero, self.note("nsz", "x-x is 0 under nsz").deviating(1)));
            }
            if self.is(x, "0") {
                let negated = self.make(Op::Neg, &[y], settings);
                return Some((negated, self.note("nsz", "0-x is -x under nsz")));
            }
        }
        if let Some((x, y)) = self.pair(index, &Op::Div)
            && flags.has(Fmf::ARCP)
            && !self.is(x, "1")
        {
            let one = self.constant("1");
            let reciprocal = self.make(Op::Div, &[one, y], settings);
            let product = self.make(Op::Mul, &[x, reciprocal], settings);
            return Some((product, self.note("arcp", "a/b is a*(1/b) under arcp")));
        }
        let fold = self.contract(index)?;
        Some((fold.0, fold.1.deviating(3)))
    }
}
