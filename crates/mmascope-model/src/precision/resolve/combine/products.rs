//! Products and quotients.

use super::{Combiner, Found};
use crate::precision::resolve::constant;
use crate::precision::resolve::flags::Fmf;
use crate::precision::resolve::graph::{Op, Settings};

const REGROUPED: &str = "sums and products are regrouped under reassoc";

impl Combiner<'_> {
    pub(super) fn product(&mut self, index: usize) -> Found {
        let (x, y) = self.pair(index, &Op::Mul)?;
        let is_constant = self.constant(y).is_some();
        if self.constant(x).is_some() && !is_constant {
            return Some((self.derived(Op::Mul, &[y, x]), "order", "x*y is y*x"));
        }
        if self.has(index, &[Fmf::REASSOC]) {
            if is_constant
                && let Some((a, c)) = self.pair(x, &Op::Mul)
                && self.constant(c).is_some()
                && self.constant(a).is_none()
            {
                let factor = self.derived(Op::Mul, &[c, y]);
                return Some((self.derived(Op::Mul, &[a, factor]), "reassoc", REGROUPED));
            }
            if let Some((a, b)) = self.pair(x, &Op::Add)
                && a == b
                && self.used_once(x)
            {
                let two = self.number("2");
                let factor = self.derived(Op::Mul, &[two, y]);
                return Some((self.derived(Op::Mul, &[a, factor]), "reassoc", REGROUPED));
            }
        }
        if self.is(y, "2") {
            return Some((self.derived(Op::Add, &[x, x]), "double", "x*2 is x+x"));
        }
        if self.is(y, "-1") {
            // Under a flush the difference is flushed and the negation would not be.
            let made = if self.context.keeps_subnormals(&self.graph.format) {
                self.derived(Op::Neg, &[x])
            } else {
                let zero = self.number("-0");
                self.derived(Op::Sub, &[zero, x])
            };
            return Some((made, "unit-factor", "x*(-1) is -x"));
        }
        if let Some((nx, ny)) = self.both(x, y) {
            let made = self.derived(Op::Mul, &[nx, ny]);
            return Some((made, "moved-sign", "(-x)*(-y) is x*y"));
        }
        self.distributed(index, x, y)
    }

    /// (a+1)*b is a*b+b, where no infinity comes.
    fn distributed(&mut self, index: usize, x: usize, y: usize) -> Found {
        let sum = if self.op(x) == Op::Add { x } else { y };
        if !self.has(sum, &[Fmf::NINF]) || !self.has(index, &[Fmf::CONTRACT]) {
            return None;
        }
        for op in [Op::Add, Op::Sub] {
            for (sum, factor) in [(x, y), (y, x)] {
                let Some((a, b)) = self.pair(sum, &op) else {
                    continue;
                };
                let is_difference = op == Op::Sub;
                // The factor, whether it is negated, and whether what is added is.
                let found = if is_difference && self.is(a, "1") {
                    Some((b, true, false))
                } else if is_difference && self.is(a, "-1") {
                    Some((b, true, true))
                } else if self.is(b, "1") {
                    Some((a, false, is_difference))
                } else if self.is(b, "-1") {
                    Some((a, false, !is_difference))
                } else {
                    None
                };
                let Some((mut first, is_negated, subtracts)) = found else {
                    continue;
                };
                if is_negated {
                    first = self.derived(Op::Neg, &[first]);
                }
                let last = if subtracts {
                    self.derived(Op::Neg, &[factor])
                } else {
                    factor
                };
                // The sum may have been fused itself before.
                self.is_open |= self.pair(first, &Op::Mul).is_some();
                let made = self.derived(Op::Fma, &[first, factor, last]);
                return Some((
                    made,
                    "contract",
                    "(a+1)*b is fma(a,b,b): the product carries contract and the sum is not infinite",
                ));
            }
        }
        None
    }

    pub(super) fn quotient(&mut self, index: usize) -> Found {
        let (x, y) = self.pair(index, &Op::Div)?;
        if let Some(found) = self.repeated_divisor(index, x, y) {
            return Some(found);
        }
        if let Some(word) = self.constant(y)
            && let Some((reciprocal, exact)) = constant::reciprocal(&self.graph.format, word)
            && (exact || self.has(index, &[Fmf::ARCP]))
        {
            let factor = self.make(Op::Constant(reciprocal), &[], Settings::default());
            let made = self.derived(Op::Mul, &[x, factor]);
            return Some(if exact {
                (
                    made,
                    "exact-reciprocal",
                    "x/c is x*(1/c) where 1/c is exact",
                )
            } else {
                (made, "arcp", "x/c is x times the rounded 1/c")
            });
        }
        if self.has(index, &[Fmf::NSZ, Fmf::REASSOC]) && self.is_root(y) && self.args(y)[0] == x {
            return Some((y, "reassoc", "x/sqrt(x) is sqrt(x)"));
        }
        let (nx, ny) = self.both(x, y)?;
        let made = self.derived(Op::Div, &[nx, ny]);
        Some((made, "moved-sign", "(-x)/(-y) is x/y"))
    }

    /// Several quotients by one divisor are products with its reciprocal.
    fn repeated_divisor(&mut self, index: usize, x: usize, y: usize) -> Found {
        if self.is_late || !self.has(index, &[Fmf::ARCP]) || self.is(x, "1") || self.is(x, "-1") {
            return None;
        }
        let users: Vec<usize> = (0..self.graph.nodes.len())
            .filter(|&user| {
                self.uses.get(user).is_some_and(|count| *count > 0)
                    && self.pair(user, &Op::Div).is_some_and(|(_, by)| by == y)
                    && self.has(user, &[Fmf::ARCP])
            })
            .filter(|&user| {
                let own_root = self.is_root(y) && self.args(y)[0] == self.args(user)[0];
                !(own_root && self.has(user, &[Fmf::REASSOC, Fmf::NSZ]))
            })
            .collect();
        if users.len() < 2 {
            return None;
        }
        let one = self.number("1");
        let reciprocal = self.derived(Op::Div, &[one, y]);
        let mut own = index;
        for user in users {
            let numerator = self.args(user)[0];
            let made = if numerator == one {
                reciprocal
            } else {
                self.derived(Op::Mul, &[numerator, reciprocal])
            };
            if user == index {
                own = made;
            } else if user != made {
                self.replace(user, made);
            }
        }
        Some((
            own,
            "arcp",
            "several quotients by x are products with one 1/x",
        ))
    }
}
