//! The statement of a unit that sums integers.

use super::Writer;
use crate::dpa::{Beyond, IntDot, Output, Source, Start};
use crate::export::build::Scope;
use crate::export::integer::Integers;
use crate::export::ir::{Expr, Ty};

impl Writer<'_> {
    /// A sum over some k. A program that sums integers has one statement, which reads its operands as they are.
    pub(super) fn integers(
        &mut self,
        step: &IntDot,
        order: &[usize],
        from: Start,
        output: &Output,
    ) -> Expr {
        let (a, b) = (self.signature.a, self.signature.b);
        let (c, n) = (output.format, order.len());
        // Sums that wrap are the same wherever they do.
        let length = match step.beyond {
            Beyond::Wraps => n,
            Beyond::Saturates => (step.l as usize).min(n),
        };
        let of = Integers::new(&mut self.build, step, [&a, &b, &c], length);
        let k_of = (!order.iter().copied().eq(0..n)).then(|| self.build.table("order", order));
        let register = Ty::Bits(c.register.bits);
        let start = match from.source() {
            Some(Source::C) => Expr::name("c", register),
            _ => Expr::zero(register),
        };
        let [read_a, read_b, read_c] = of.read.clone();
        let integer = |word: Expr| Expr::call(&read_c, vec![word]).to(&of.sum);
        let term = |index: &Expr| {
            let k = match &k_of {
                Some(table) => Expr::entry(table, index),
                None => index.clone(),
            };
            let a = Expr::element("a", &Ty::Bits(a.register.bits), &k);
            let b = Expr::element("b", &Ty::Bits(b.register.bits), &k);
            let pair = vec![Expr::call(&read_a, vec![a]), Expr::call(&read_b, vec![b])];
            Expr::call(&of.term, pair).to(&of.sum)
        };
        let total = self.scope.variable("total", integer(start));
        // Whole blocks, and a last one that may be shorter.
        let before = n.saturating_sub(1) / length.max(1);
        let last = n - before * length;
        let scope = &mut self.scope;
        let add = |scope: &mut Scope, index: &Expr| scope.set("total", &total + &term(index));
        if before > 0 {
            scope.say("The sum is brought to the accumulator after every block.");
            scope.each("j", before, |scope, j| {
                let first = Expr::times(j, length);
                scope.each("i", length, |scope, i| add(scope, &(&first + i)));
                let word = Expr::call(&of.brought, vec![total.clone()]);
                scope.set("total", integer(word));
            });
        }
        let first = Expr::int((n - last) as i32);
        scope.each("i", last, |scope, i| add(scope, &(&first + i)));
        Expr::call(&of.brought, vec![total])
    }
}
