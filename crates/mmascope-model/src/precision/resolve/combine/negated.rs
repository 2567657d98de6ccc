//! Negations: whether an operation's negative is as cheap as the operation.

use super::{Combiner, Found};
use crate::precision::resolve::flags::Fmf;
use crate::precision::resolve::graph::Op;

/// What a negative costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// Less than the operation.
    Cheaper,
    /// As much.
    Neutral,
}

/// Deepest search for something whose negative is cheap.
const DEEPEST: usize = 6;

impl Combiner<'_> {
    /// The negative of an operation's result without a negation, where there is one.
    pub(super) fn negative(&mut self, index: usize, depth: usize) -> Option<(usize, Cost)> {
        if self.op(index) == Op::Neg {
            return Some((self.args(index)[0], Cost::Cheaper));
        }
        if depth > DEEPEST || (!self.used_once(index) && self.constant(index).is_none()) {
            return None;
        }
        let settings = self.graph.nodes[index].settings;
        let unsigned = settings.flags.has(Fmf::NSZ);
        let args = self.args(index);
        let cheapest = |x: Option<(usize, Cost)>, y: Option<(usize, Cost)>| match (x, y) {
            (Some((x, cost)), y) if y.is_none_or(|(_, other)| cost <= other) => {
                Some((true, x, cost))
            }
            (_, Some((y, cost))) => Some((false, y, cost)),
            _ => None,
        };
        match self.op(index) {
            Op::Constant(word) => {
                let sign = 1 << (self.graph.format.register.bits - 1);
                let is_known = |it: &Self| {
                    let found = (0..it.graph.nodes.len())
                        .find(|&other| it.graph.is_word(other, word ^ sign));
                    found.is_some_and(|other| it.uses.get(other).is_some_and(|count| *count > 0))
                };
                if !self.used_once(index) && !is_known(self) {
                    return None;
                }
                Some((self.derived(Op::Constant(word ^ sign), &[]), Cost::Neutral))
            }
            Op::Add if unsigned => {
                let (x, y) = (args[0], args[1]);
                let (nx, ny) = (self.negative(x, depth + 1), self.negative(y, depth + 1));
                let (first, negated, cost) = cheapest(nx, ny)?;
                let rest = if first { y } else { x };
                Some((self.make(Op::Sub, &[negated, rest], settings), cost))
            }
            Op::Sub if unsigned => {
                if self.is_zero(args[0]) {
                    return Some((args[1], Cost::Cheaper));
                }
                let turned = self.make(Op::Sub, &[args[1], args[0]], settings);
                Some((turned, Cost::Neutral))
            }
            op @ (Op::Mul | Op::Div) => {
                let (x, y) = (args[0], args[1]);
                let (nx, ny) = (self.negative(x, depth + 1), self.negative(y, depth + 1));
                let (first, negated, cost) = cheapest(nx, ny)?;
                if first {
                    return Some((self.make(op, &[negated, y], settings), cost));
                }
                // x*2 is going to be x+x.
                if op == Op::Mul && self.is(y, "2") {
                    return None;
                }
                Some((self.make(op, &[x, negated], settings), cost))
            }
            Op::Fma if unsigned => {
                let (x, y) = (args[0], args[1]);
                let (nz, third) = self.negative(args[2], depth + 1)?;
                let (nx, ny) = (self.negative(x, depth + 1), self.negative(y, depth + 1));
                let (first, negated, cost) = cheapest(nx, ny)?;
                let args = if first {
                    [negated, y, nz]
                } else {
                    [x, negated, nz]
                };
                Some((self.make(Op::Fma, &args, settings), cost.min(third)))
            }
            Op::Convert => {
                let own = self.graph.format;
                self.graph.at(args[0]);
                let found = self.negative(args[0], depth + 1);
                self.graph.format = own;
                let (inner, cost) = found?;
                Some((self.make(Op::Convert, &[inner], settings), cost))
            }
            Op::Call(name) if name == "sin" => {
                let (inner, cost) = self.negative(args[0], depth + 1)?;
                Some((self.make(Op::Call(name), &[inner], settings), cost))
            }
            _ => None,
        }
    }

    /// The negative, where it costs less than what it is the negative of.
    pub(super) fn cheaper(&mut self, index: usize) -> Option<usize> {
        match self.negative(index, 0) {
            Some((negative, Cost::Cheaper)) => Some(negative),
            _ => None,
        }
    }

    /// The negatives of both factors, where one of them is cheaper.
    pub(super) fn both(&mut self, x: usize, y: usize) -> Option<(usize, usize)> {
        let (nx, first) = self.negative(x, 0)?;
        let (ny, second) = self.negative(y, 0)?;
        if first != Cost::Cheaper && second != Cost::Cheaper {
            return None;
        }
        let is_open =
            |it: &Self, index: usize| it.op(index) != Op::Neg && it.has(index, &[Fmf::CONTRACT]);
        self.is_open |= is_open(self, x) || is_open(self, y);
        Some((nx, ny))
    }

    /// A negation.
    pub(super) fn sign(&mut self, index: usize) -> Found {
        let inner = self.args(index)[0];
        if let Some((negative, _)) = self.negative(inner, 0) {
            self.is_open |= self.op(inner) == Op::Sub && self.has(inner, &[Fmf::CONTRACT]);
            return Some(match self.op(inner) {
                Op::Neg => (negative, "double-negation", "-(-x) is x"),
                Op::Sub => (
                    negative,
                    "nsz",
                    "-(x-y) is y-x where the sign of zero does not matter",
                ),
                _ => (
                    negative,
                    "moved-sign",
                    "a negation moves into what it negates, where that costs nothing",
                ),
            });
        }
        // The negation's own flag counts too.
        let (x, y) = self.pair(inner, &Op::Sub)?;
        if self.has(index, &[Fmf::NSZ]) && self.used_once(inner) {
            let turned = self.derived(Op::Sub, &[y, x]);
            return Some((
                turned,
                "nsz",
                "-(x-y) is y-x where the sign of zero does not matter",
            ));
        }
        None
    }
}
