//! Contraction: a product and a sum as one fused operation, and what becomes of fused operations.

use super::{Combiner, Found};
use crate::precision::resolve::flags::Fmf;
use crate::precision::resolve::graph::Op;

const CONTRACT: &str = "a*b+c is one fma: both operations carry contract";
const REGROUPED: &str = "sums and products are regrouped under reassoc";

impl Combiner<'_> {
    fn may_fuse(&self, product: usize) -> Option<(usize, usize)> {
        let pair = self.pair(product, &Op::Mul)?;
        self.has(product, &[Fmf::CONTRACT]).then_some(pair)
    }

    fn uses_of(&self, index: usize) -> usize {
        self.uses.get(index).copied().unwrap_or(1)
    }

    fn is_fused(&self, index: usize) -> bool {
        self.op(index) == Op::Fma
    }

    pub(super) fn contracted_sum(&mut self, index: usize, x: usize, y: usize) -> Found {
        if !self.has(index, &[Fmf::CONTRACT]) {
            return None;
        }
        let (mut x, mut y) = (x, y);
        // Of two products the one with fewer uses is fused.
        if self.may_fuse(x).is_some()
            && self.may_fuse(y).is_some()
            && self.uses_of(x) > self.uses_of(y)
        {
            (x, y) = (y, x);
        }
        for (product, addend) in [(x, y), (y, x)] {
            if let Some((a, b)) = self.may_fuse(product) {
                self.is_open |= product == addend;
                return Some((self.derived(Op::Fma, &[a, b, addend]), "contract", CONTRACT));
            }
        }
        if !self.has(index, &[Fmf::REASSOC]) {
            return None;
        }
        // fma(a, b, c*d) + e is fma(a, b, fma(c, d, e)).
        let (outer, addend) = [(x, y), (y, x)]
            .into_iter()
            .find(|(fused, _)| self.is_fused(*fused) && self.used_once(*fused))?;
        let mut inner = outer;
        while self.is_fused(inner) && self.used_once(inner) {
            let last = self.args(inner)[2];
            if let Some((c, d)) = self.pair(last, &Op::Mul)
                && self.used_once(last)
            {
                let made = self.derived(Op::Fma, &[c, d, addend]);
                self.replace(last, made);
                return Some((outer, "reassoc", REGROUPED));
            }
            inner = last;
        }
        None
    }

    pub(super) fn contracted_difference(&mut self, index: usize, x: usize, y: usize) -> Found {
        if !self.has(index, &[Fmf::CONTRACT]) {
            return None;
        }
        let (left, right) = (self.may_fuse(x), self.may_fuse(y));
        let right_first = left.is_some() && right.is_some() && self.uses_of(x) > self.uses_of(y);
        let made = match (left, right) {
            (Some((a, b)), _) if !right_first => {
                let negated = self.derived(Op::Neg, &[y]);
                self.derived(Op::Fma, &[a, b, negated])
            }
            (_, Some((a, b))) => {
                let negated = self.derived(Op::Neg, &[a]);
                self.derived(Op::Fma, &[negated, b, x])
            }
            _ => {
                let inner = (self.op(x) == Op::Neg).then(|| self.args(x)[0]);
                if let Some((a, b)) = inner.and_then(|inner| self.may_fuse(inner)) {
                    let (first, last) = (self.derived(Op::Neg, &[a]), self.derived(Op::Neg, &[y]));
                    self.derived(Op::Fma, &[first, b, last])
                } else {
                    return self.regrouped_difference(index, x, y);
                }
            }
        };
        Some((made, "contract", CONTRACT))
    }

    /// A difference of a fused operation whose addend is a product.
    fn regrouped_difference(&mut self, index: usize, x: usize, y: usize) -> Found {
        if !self.has(index, &[Fmf::REASSOC]) {
            return None;
        }
        let product = |it: &Self, fused: usize| {
            let last = (it.is_fused(fused) && it.used_once(fused)).then(|| it.args(fused)[2])?;
            it.has(last, &[Fmf::REASSOC])
                .then(|| it.may_fuse(last))
                .flatten()
                .map(|pair| (last, pair))
        };
        if let Some((last, (c, d))) = product(self, x)
            && self.used_once(last)
        {
            let args = self.args(x);
            let negated = self.derived(Op::Neg, &[y]);
            let inner = self.derived(Op::Fma, &[c, d, negated]);
            let made = self.derived(Op::Fma, &[args[0], args[1], inner]);
            return Some((made, "reassoc", REGROUPED));
        }
        if let Some((_, (c, d))) = product(self, y)
            && self.has(index, &[Fmf::NSZ])
        {
            let args = self.args(y);
            let negated = self.derived(Op::Neg, &[c]);
            let inner = self.derived(Op::Fma, &[negated, d, x]);
            let negated = self.derived(Op::Neg, &[args[0]]);
            let made = self.derived(Op::Fma, &[negated, args[1], inner]);
            return Some((made, "reassoc", REGROUPED));
        }
        None
    }

    pub(super) fn fused(&mut self, index: usize) -> Found {
        let args = self.args(index);
        let (x, y, z) = (args[0], args[1], args[2]);
        if let Some((nx, ny)) = self.both(x, y) {
            self.is_open |=
                self.has(index, &[Fmf::NSZ]) && matches!(self.op(z), Op::Add | Op::Sub | Op::Fma);
            let made = self.derived(Op::Fma, &[nx, ny, z]);
            return Some((made, "moved-sign", "(-x)*(-y) is x*y"));
        }
        let zero = self.is_zero(x) || self.is_zero(y);
        if zero && self.has(index, &[Fmf::NNAN, Fmf::NINF, Fmf::NSZ]) {
            return Some((z, "nnan", "0*x+y is y where no NaN and no infinity comes"));
        }
        for (one, other) in [(x, y), (y, x)] {
            if self.is(one, "1") {
                let made = self.derived(Op::Add, &[other, z]);
                return Some((made, "unit-factor", "1*x+y is x+y"));
            }
        }
        if self.constant(x).is_some() && self.constant(y).is_none() {
            return Some((self.derived(Op::Fma, &[y, x, z]), "order", "x*y is y*x"));
        }
        let reassoc = self.has(index, &[Fmf::REASSOC]);
        let is_constant = self.constant(y).is_some();
        if reassoc && is_constant {
            if let Some((a, c)) = self.pair(z, &Op::Mul)
                && a == x
                && self.constant(c).is_some()
            {
                let sum = self.derived(Op::Add, &[y, c]);
                return Some((self.derived(Op::Mul, &[x, sum]), "reassoc", REGROUPED));
            }
            if let Some((a, c)) = self.pair(x, &Op::Mul)
                && self.constant(c).is_some()
            {
                self.is_open = true;
                let factor = self.derived(Op::Mul, &[y, c]);
                return Some((self.derived(Op::Fma, &[a, factor, z]), "reassoc", REGROUPED));
            }
        }
        if is_constant {
            if self.is(y, "-1") {
                let negated = self.derived(Op::Neg, &[x]);
                let made = self.derived(Op::Add, &[z, negated]);
                return Some((made, "unit-factor", "(-1)*x+y is y-x"));
            }
            if self.op(x) == Op::Neg {
                self.is_open |= self.has(index, &[Fmf::NSZ])
                    && matches!(self.op(z), Op::Add | Op::Sub | Op::Fma);
                let inner = self.args(x)[0];
                let negated = self.derived(Op::Neg, &[y]);
                let made = self.derived(Op::Fma, &[inner, negated, z]);
                return Some((made, "moved-sign", "(-x)*c is x*(-c)"));
            }
        }
        if reassoc && is_constant {
            let more = if x == z {
                Some("1")
            } else {
                let negated = self.op(z) == Op::Neg && self.args(z)[0] == x;
                negated.then_some("-1")
            };
            if let Some(more) = more {
                let more = self.number(more);
                let factor = self.derived(Op::Add, &[y, more]);
                return Some((self.derived(Op::Mul, &[x, factor]), "reassoc", REGROUPED));
            }
        }
        let negative = self.cheaper(index)?;
        let made = self.derived(Op::Neg, &[negative]);
        Some((
            made,
            "nsz",
            "fma(-a,b,-c) is -fma(a,b,c) where the sign of zero does not matter",
        ))
    }
}
