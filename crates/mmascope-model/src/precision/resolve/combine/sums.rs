//! Sums and differences.

use super::{Combiner, Found};
use crate::precision::resolve::flags::Fmf;
use crate::precision::resolve::graph::Op;

const REGROUPED: &str = "sums and products are regrouped under reassoc";
const NEGATED_TERM: &str = "x+(-y) is x-y";

impl Combiner<'_> {
    pub(super) fn sum(&mut self, index: usize) -> Found {
        let (x, y) = self.pair(index, &Op::Add)?;
        if self.constant(x).is_some() && self.constant(y).is_none() {
            return Some((self.derived(Op::Add, &[y, x]), "order", "x+y is y+x"));
        }
        let flags = self.flags(index);
        if let Some(negative) = self.cheaper(y) {
            let made = self.derived(Op::Sub, &[x, negative]);
            return Some((made, "negated-term", NEGATED_TERM));
        }
        if let Some(negative) = self.cheaper(x) {
            let made = self.derived(Op::Sub, &[y, negative]);
            return Some((made, "negated-term", "(-x)+y is y-x"));
        }
        for (product, other) in [(x, y), (y, x)] {
            if let Some((factor, two)) = self.pair(product, &Op::Mul)
                && self.used_once(product)
                && self.is(two, "-2")
            {
                let double = self.derived(Op::Add, &[factor, factor]);
                let made = self.derived(Op::Sub, &[other, double]);
                return Some((made, "double", "x*2 is x+x"));
            }
        }
        if flags.has(Fmf::REASSOC)
            && flags.has(Fmf::NSZ)
            && !self.is_late
            && let Some(made) = self.regrouped(x, y)
        {
            return Some((made, "reassoc", REGROUPED));
        }
        if let Some(found) = self.contracted_sum(index, x, y) {
            return Some(found);
        }
        let unsigned = flags.has(Fmf::NSZ) || self.ignores_sign_of_zero(index);
        (self.is(y, "0") && unsigned).then_some((x, "zero-term", "a zero is left out of a sum"))
    }

    /// Constants that are added together, and sums of one number that become a product.
    fn regrouped(&mut self, x: usize, y: usize) -> Option<usize> {
        if let (Some(_), Some((a, c))) = (self.constant(y), self.pair(x, &Op::Add))
            && self.constant(c).is_some()
        {
            let constant = self.derived(Op::Add, &[c, y]);
            return Some(self.derived(Op::Add, &[a, constant]));
        }
        if self.constant(x).is_some() || self.constant(y).is_some() {
            return None;
        }
        for (product, other) in [(x, y), (y, x)] {
            let Some((a, c)) = self.pair(product, &Op::Mul) else {
                continue;
            };
            if self.constant(c).is_none() || self.constant(a).is_some() {
                continue;
            }
            let more = if a == other {
                "1"
            } else if self.pair(other, &Op::Add) == Some((a, a)) {
                "2"
            } else {
                continue;
            };
            let more = self.number(more);
            let factor = self.derived(Op::Add, &[c, more]);
            return Some(self.derived(Op::Mul, &[a, factor]));
        }
        for (double, other) in [(x, y), (y, x)] {
            if self.pair(double, &Op::Add) == Some((other, other)) && self.constant(other).is_none()
            {
                let three = self.number("3");
                return Some(self.derived(Op::Mul, &[other, three]));
            }
        }
        let (a, b) = self.pair(x, &Op::Add)?;
        if a == b && self.pair(y, &Op::Add) == Some((a, a)) {
            let four = self.number("4");
            return Some(self.derived(Op::Mul, &[a, four]));
        }
        None
    }

    pub(super) fn difference(&mut self, index: usize) -> Found {
        let (x, y) = self.pair(index, &Op::Sub)?;
        let flags = self.flags(index);
        let unsigned = flags.has(Fmf::NSZ) || self.ignores_sign_of_zero(index);
        if self.is(y, "0") || self.is(y, "-0") && unsigned {
            return Some((x, "zero-term", "a zero is left out of a difference"));
        }
        if x == y && flags.has(Fmf::NNAN) {
            let zero = self.number("0");
            return Some((zero, "nnan", "x-x is +0 where no NaN and no infinity comes"));
        }
        if flags.has(Fmf::REASSOC)
            && flags.has(Fmf::NSZ)
            && let Some((a, b)) = self.pair(y, &Op::Add)
            && (a == x || b == x)
        {
            let rest = if a == x { b } else { a };
            return Some((self.derived(Op::Neg, &[rest]), "reassoc", "x-(x+y) is -y"));
        }
        if let Some((negative, _)) = self.negative(y, 0) {
            self.is_open |= matches!(self.op(y), Op::Add | Op::Sub | Op::Fma)
                && (self.has(index, &[Fmf::CONTRACT]) || self.has(y, &[Fmf::CONTRACT]));
            let made = self.derived(Op::Add, &[x, negative]);
            return Some((made, "negated-term", "x-(-y) is x+y"));
        }
        if let Some(found) = self.contracted_difference(index, x, y) {
            return Some(found);
        }
        // Under a flush the difference is flushed and the negation would not be.
        let unsigned = flags.has(Fmf::NSZ) || self.ignores_sign_of_zero(index);
        if !self.context.keeps_subnormals(&self.graph.format)
            || !(self.is(x, "-0") || self.is(x, "0") && unsigned)
        {
            return None;
        }
        let said = if self.is(x, "-0") {
            ("difference-from-zero", "-0-x is -x")
        } else {
            ("nsz", "0-x is -x where the sign of zero does not matter")
        };
        Some((self.derived(Op::Neg, &[y]), said.0, said.1))
    }

    /// Whether everything that takes a result gives the same for 0 and −0.
    fn ignores_sign_of_zero(&self, index: usize) -> bool {
        if index == self.graph.root || self.uses.get(index).is_none_or(|count| *count > 2) {
            return false;
        }
        let users = (0..self.graph.nodes.len()).filter(|&user| {
            self.uses.get(user).is_some_and(|count| *count > 0)
                && self.graph.nodes[user].args.contains(&index)
        });
        users.into_iter().all(|user| match self.op(user) {
            Op::Call(name) => name == "abs",
            Op::Add | Op::Sub => self
                .args(user)
                .into_iter()
                .any(|arg| self.constant(arg).is_some() && !self.is_zero(arg)),
            _ => false,
        })
    }
}
