//! Removes what LLVM removes from a function before it chooses instructions: equal operations, and operations whose
//! result is one of their operands or a constant.

use super::flags::Fmf;
use super::graph::{Graph, Op, Settings};
use super::policy::Policy;
use super::{Note, constant};
use crate::explain::number_word;

pub(super) const COMES_BACK: &str = "a number that was widened and comes back is itself";

/// What stands for an operation, and what is said about it.
type Found = Option<(usize, &'static str, &'static str)>;

/// Simplifies a graph, and says which rules had a part in it.
pub(super) fn simplify(graph: &mut Graph) -> Vec<Note> {
    let needed = graph.order();
    let old = graph.clone();
    graph.nodes.clear();
    let mut simplifier = Simplifier {
        graph,
        is_open: false,
    };
    let mut notes = Vec::new();
    let mut made = vec![usize::MAX; old.nodes.len()];
    let mut say = |rule: &str, text: &str| {
        let note = Note::fold(Policy::Llvm, rule, text);
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for (index, node) in old.nodes.iter().enumerate() {
        if !needed.contains(&index) {
            continue;
        }
        let args: Vec<usize> = node.args.iter().map(|&arg| made[arg]).collect();
        simplifier.graph.format = node.format;
        made[index] = match simplifier.known(&node.op, &args, node.settings) {
            Some((known, rule, text)) => {
                say(rule, text);
                known
            }
            None => match simplifier.same(&node.op, &args, node.settings) {
                Some(same) => {
                    if !args.is_empty() {
                        say("equal", "equal operations are one, with the flags of both");
                    }
                    same
                }
                None => simplifier.graph.add(node.op.clone(), args, node.settings),
            },
        };
    }
    simplifier.graph.root = made[old.root];
    if simplifier.is_open {
        notes.push(Note::open(
            Policy::Llvm,
            "a constant NaN or infinity meets a flag that excludes it: any result is allowed",
        ));
    }
    notes
}

struct Simplifier<'a> {
    graph: &'a mut Graph,
    /// Whether flags exclude what comes for certain.
    is_open: bool,
}

impl Simplifier<'_> {
    /// An operation that gives the same, whose flags become those that both have.
    fn same(&mut self, op: &Op, args: &[usize], settings: Settings) -> Option<usize> {
        let turned: Vec<usize> = args.iter().rev().copied().collect();
        let commutes = matches!(op, Op::Add | Op::Mul);
        let found = self.graph.nodes.iter().position(|node| {
            node.op == *op
                && node.format == self.graph.format
                && (node.args == args || commutes && node.args == turned)
                && node.settings.rounding == settings.rounding
                && node.settings.flush == settings.flush
        })?;
        let node = &mut self.graph.nodes[found];
        node.settings.flags = node.settings.flags.join(settings.flags);
        Some(found)
    }

    fn pair(&self, index: usize, op: &Op) -> Option<(usize, usize)> {
        let node = &self.graph.nodes[index];
        (node.op == *op && node.settings.rounding.is_none()).then(|| (node.args[0], node.args[1]))
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

    /// What an operation is the negative of: a negation, or a difference from −0 (from any zero, where its sign does
    /// not matter).
    fn negated(&self, index: usize) -> Option<usize> {
        let node = &self.graph.nodes[index];
        if node.op == Op::Neg {
            return Some(node.args[0]);
        }
        let (x, y) = self.pair(index, &Op::Sub)?;
        let unsigned = node.settings.flags.has(Fmf::NSZ) && self.is(x, "0");
        (self.is(x, "-0") || unsigned).then_some(y)
    }

    fn constant(&mut self, word: u64) -> usize {
        let op = Op::Constant(word);
        let format = self.graph.format;
        let mut nodes = self.graph.nodes.iter();
        let known = nodes.position(|node| node.op == op && node.format == format);
        known.unwrap_or_else(|| self.graph.add(op, Vec::new(), Settings::default()))
    }

    fn value(&self, index: usize) -> Option<u64> {
        match self.graph.nodes[index].op {
            Op::Constant(word) => Some(word),
            _ => None,
        }
    }

    fn is_infinite(&self, index: usize) -> bool {
        self.value(index)
            .is_some_and(|word| constant::is_infinite(&self.graph.format, word))
    }

    /// Whether flags exclude an operand, or what a quotient by zero gives.
    fn excludes(&self, op: &Op, args: &[usize], flags: Fmf) -> bool {
        let format = &self.graph.format;
        let (nnan, ninf) = (flags.has(Fmf::NNAN), flags.has(Fmf::NINF));
        let excluded = args.iter().filter_map(|&arg| self.value(arg)).any(|word| {
            nnan && constant::is_nan(format, word) || ninf && constant::is_infinite(format, word)
        });
        let by_zero = *op == Op::Div && self.is_zero(args[1]);
        excluded || by_zero && nnan && (ninf || self.is_zero(args[0]))
    }

    /// A NaN among the operands of an operation, which is its result.
    fn nan_among(&self, op: &Op, args: &[usize]) -> Option<usize> {
        if !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Fma) {
            return None;
        }
        let is_nan = |arg: usize| {
            self.value(arg)
                .is_some_and(|word| constant::is_nan(&self.graph.format, word))
        };
        args.iter().copied().find(|&arg| is_nan(arg))
    }

    /// Whether a result is a number by its flags or its form.
    fn is_never_nan(&self, index: usize) -> bool {
        let node = &self.graph.nodes[index];
        match &node.op {
            Op::Constant(word) => !constant::is_nan(&self.graph.format, *word),
            _ if node.settings.flags.has(Fmf::NNAN) => true,
            Op::Neg => self.is_never_nan(node.args[0]),
            Op::Call(name) if name == "abs" => self.is_never_nan(node.args[0]),
            Op::Mul => node.args[0] == node.args[1] && self.is_never_nan(node.args[0]),
            _ => false,
        }
    }

    /// Whether a result is never less than zero; −0 and NaN are not.
    fn is_never_negative(&self, index: usize, depth: usize) -> bool {
        let node = &self.graph.nodes[index];
        let both = |it: &Self| {
            node.args
                .iter()
                .all(|&arg| it.is_never_negative(arg, depth + 1))
        };
        match &node.op {
            _ if depth > 6 => false,
            Op::Constant(word) => word >> (self.graph.format.register.bits - 1) == 0,
            Op::Call(name) => name == "abs" || name == "sqrt",
            Op::Mul => node.args[0] == node.args[1] || both(self),
            Op::Add => both(self),
            _ => false,
        }
    }

    /// Whether a result is not infinite by its flags or its form.
    fn is_never_infinite(&self, index: usize) -> bool {
        let node = &self.graph.nodes[index];
        match &node.op {
            Op::Constant(word) => !constant::is_infinite(&self.graph.format, *word),
            _ if node.settings.flags.has(Fmf::NINF) => true,
            Op::Neg => self.is_never_infinite(node.args[0]),
            Op::Call(name) if name == "abs" => self.is_never_infinite(node.args[0]),
            _ => false,
        }
    }

    /// Whether the sign bit of a result is clear for certain.
    fn is_positive(&self, index: usize) -> bool {
        let node = &self.graph.nodes[index];
        match &node.op {
            Op::Call(name) if name == "abs" => true,
            Op::Mul if node.args.iter().all(|&arg| self.is_positive(arg)) => true,
            _ => {
                self.is_never_nan(index)
                    && self.is_never_negative(index, 0)
                    && self.is_never_negative_zero(index, 0)
            }
        }
    }

    fn number(&mut self, text: &str) -> usize {
        let word = self.word(text);
        self.constant(word)
    }

    /// Whether a result is never −0.
    fn is_never_negative_zero(&self, index: usize, depth: usize) -> bool {
        let node = &self.graph.nodes[index];
        if depth > 6 {
            return false;
        }
        match &node.op {
            Op::Constant(word) => *word != self.word("-0"),
            Op::Call(name) if name == "abs" => true,
            Op::Call(name) if name == "sqrt" => {
                node.settings.flags.has(Fmf::NSZ)
                    || self.is_never_negative_zero(node.args[0], depth + 1)
            }
            Op::Mul => {
                node.args[0] == node.args[1] || node.args.iter().all(|&arg| self.is_positive(arg))
            }
            Op::Add => node
                .args
                .iter()
                .any(|&arg| self.is_never_negative_zero(arg, depth + 1)),
            Op::Sub => {
                let is_other = matches!(self.graph.nodes[node.args[1]].op,
                    Op::Constant(word) if word != self.word("0"));
                is_other || self.is_never_negative_zero(node.args[0], depth + 1)
            }
            _ => false,
        }
    }

    fn known(&mut self, op: &Op, args: &[usize], settings: Settings) -> Found {
        if settings.rounding.is_some() || args.is_empty() {
            return None;
        }
        self.is_open |= self.excludes(op, args, settings.flags);
        let words: Option<Vec<u64>> = args.iter().map(|&arg| self.value(arg)).collect();
        if let Some(words) = words
            && let Some(word) = constant::computed(
                &self.graph.format,
                &self.graph.nodes[args[0]].format,
                op,
                &words,
            )
        {
            let made = self.constant(word);
            return Some((made, "constant", "an operation on constants is a constant"));
        }
        let flags = settings.flags;
        if let Some(nan) = self.nan_among(op, args) {
            return Some((nan, "constant", "an operation on NaN is NaN"));
        }
        match (op, args) {
            (Op::Neg, &[x]) => {
                let value = self.negated(x)?;
                Some((value, "double-negation", "-(-x) is x"))
            }
            (Op::Convert, &[x]) => {
                let value = self.graph.widened(x)?;
                Some((value, "widened", COMES_BACK))
            }
            (Op::Call(name), &[x]) if name == "abs" => {
                let is_positive = self.is_positive(x);
                is_positive.then_some((
                    x,
                    "absolute-value",
                    "|x| is x where the sign of x is clear",
                ))
            }
            (Op::Add, &[x, y]) => self.sum(x, y, flags),
            (Op::Sub, &[x, y]) => self.difference(x, y, flags),
            (Op::Mul, &[x, y]) => self.product(x, y, flags),
            (Op::Div, &[x, y]) => self.quotient(x, y, flags),
            _ => None,
        }
    }

    fn sum(&mut self, x: usize, y: usize, flags: Fmf) -> Found {
        for (zero, other) in [(y, x), (x, y)] {
            let vanishes = self.is(zero, "-0")
                || self.is(zero, "0")
                    && (flags.has(Fmf::NSZ) || self.is_never_negative_zero(other, 0));
            if vanishes {
                return Some((other, "zero-term", "a zero is left out of a sum"));
            }
        }
        if flags.has(Fmf::NNAN) {
            if let Some(infinity) = [x, y].into_iter().find(|&term| self.is_infinite(term)) {
                return Some((infinity, "nnan", "x+∞ is ∞ where no NaN comes"));
            }
            let opposite = |it: &Self, a: usize, b: usize| {
                it.negated(a) == Some(b)
                    || it
                        .pair(a, &Op::Sub)
                        .is_some_and(|(zero, value)| it.is_zero(zero) && value == b)
            };
            if opposite(self, x, y) || opposite(self, y, x) {
                let zero = self.number("0");
                return Some((zero, "nnan", "x-x is +0 where no NaN and no infinity comes"));
            }
        }
        if flags.has(Fmf::NSZ) && flags.has(Fmf::REASSOC) {
            for (difference, term) in [(x, y), (y, x)] {
                if let Some((a, b)) = self.pair(difference, &Op::Sub)
                    && b == term
                {
                    return Some((a, "reassoc", "(x-y)+y is x"));
                }
            }
        }
        None
    }

    fn difference(&mut self, x: usize, y: usize, flags: Fmf) -> Found {
        let unsigned = flags.has(Fmf::NSZ);
        let vanishes =
            self.is(y, "0") || self.is(y, "-0") && (unsigned || self.is_never_negative_zero(x, 0));
        if vanishes {
            return Some((x, "zero-term", "a zero is left out of a difference"));
        }
        if self.is(x, "-0")
            && let Some(value) = self.negated(y)
        {
            return Some((value, "double-negation", "-(-x) is x"));
        }
        if self.is_zero(x) && unsigned {
            let value = match self.pair(y, &Op::Sub) {
                Some((zero, value)) if self.is_zero(zero) => Some(value),
                _ => self.negated(y),
            };
            if let Some(value) = value {
                return Some((value, "double-negation", "-(-x) is x"));
            }
        }
        if flags.has(Fmf::NNAN) && self.is_infinite(x) {
            return Some((x, "nnan", "x+∞ is ∞ where no NaN comes"));
        }
        if flags.has(Fmf::NNAN) && self.is_infinite(y) {
            let sign = 1 << (self.graph.format.register.bits - 1);
            let word = self.value(y)? ^ sign;
            return Some((self.constant(word), "nnan", "x+∞ is ∞ where no NaN comes"));
        }
        if x == y && flags.has(Fmf::NNAN) {
            let zero = self.number("0");
            return Some((zero, "nnan", "x-x is +0 where no NaN and no infinity comes"));
        }
        if unsigned && flags.has(Fmf::REASSOC) {
            if let Some((a, b)) = self.pair(y, &Op::Sub)
                && a == x
            {
                return Some((b, "reassoc", "x-(x-y) is y"));
            }
            if let Some((a, b)) = self.pair(x, &Op::Add)
                && (a == y || b == y)
            {
                let left = if b == y { a } else { b };
                return Some((left, "reassoc", "(x+y)-y is x"));
            }
        }
        None
    }

    fn product(&mut self, x: usize, y: usize, flags: Fmf) -> Found {
        for (factor, other) in [(y, x), (x, y)] {
            if self.is(factor, "1") {
                return Some((other, "unit-factor", "x*1 is x"));
            }
            if !self.is_zero(factor) {
                continue;
            }
            let is_number = flags.has(Fmf::NNAN) || self.is_never_nan(other);
            let is_finite = flags.has(Fmf::NINF) || self.is_never_infinite(other);
            if is_number && is_finite && !flags.has(Fmf::NSZ) {
                let is_magnitude = |it: &Self, value: usize| match &it.graph.nodes[value].op {
                    Op::Call(name) if name == "abs" => true,
                    Op::Call(name) => name == "sqrt" && it.is_positive(value),
                    _ => false,
                };
                if is_magnitude(self, other) {
                    return Some((factor, "zero-factor", "x*0 is 0 where x is finite"));
                }
                if self.graph.nodes[other].op == Op::Neg
                    && is_magnitude(self, self.graph.nodes[other].args[0])
                {
                    let zero = self.number(if self.is(factor, "0") { "-0" } else { "0" });
                    return Some((zero, "zero-factor", "x*0 is 0 where x is finite"));
                }
            }
            if flags.has(Fmf::NSZ) && (flags.has(Fmf::NNAN) || is_number && is_finite) {
                let zero = self.number("0");
                return Some((
                    zero,
                    "nnan",
                    "x*0 is 0 where no NaN comes and its sign does not matter",
                ));
            }
        }
        let root = self.graph.nodes[x].op == Op::Call("sqrt".to_owned());
        let loose = [Fmf::REASSOC, Fmf::NNAN, Fmf::NSZ]
            .iter()
            .all(|flag| flags.has(*flag));
        if x == y && root && loose {
            let value = self.graph.nodes[x].args[0];
            return Some((value, "reassoc", "sqrt(x)*sqrt(x) is x"));
        }
        None
    }

    fn quotient(&mut self, x: usize, y: usize, flags: Fmf) -> Found {
        if self.is(y, "1") {
            return Some((x, "unit-factor", "x/1 is x"));
        }
        if !flags.has(Fmf::NNAN) {
            return None;
        }
        if self.is_zero(x) && flags.has(Fmf::NSZ) {
            let zero = self.number("0");
            return Some((
                zero,
                "nnan",
                "0/x is 0 where no NaN comes and its sign does not matter",
            ));
        }
        if x == y {
            let one = self.number("1");
            return Some((one, "nnan", "x/x is 1 where no NaN comes"));
        }
        if flags.has(Fmf::REASSOC)
            && let Some((a, b)) = self.pair(x, &Op::Mul)
            && (a == y || b == y)
        {
            let left = if b == y { a } else { b };
            return Some((left, "reassoc", "x*y/y is x"));
        }
        // Only a difference from zero counts here, no negation.
        let from_zero = |it: &Self, a: usize, b: usize| {
            it.pair(a, &Op::Sub)
                .is_some_and(|(zero, value)| it.is_zero(zero) && value == b)
        };
        if from_zero(self, x, y) || from_zero(self, y, x) {
            let one = self.number("-1");
            return Some((one, "nnan", "-x/x is -1 where no NaN comes"));
        }
        None
    }
}
