//! Statements that are no runs over products of floats: sums of integers, and of operands themselves.

use super::Writer;
use crate::dpa::{Beyond, Codes, Dpa, GrFdpa, IntDot, Output, Reading, SemiFma, Source, Start};
use crate::export::build::Scope;
use crate::export::grouped;
use crate::export::integer::Integers;
use crate::export::ir::{Expr, Function, Ty};
use crate::export::numbers::Numbers;
use crate::export::semi;

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

    /// A sum or a difference of an operand pair and c: K is 1.
    pub(super) fn addends(
        &mut self,
        step: &GrFdpa,
        reads: [(Function, Numbers); 2],
        from: Start,
        output: &Output,
    ) -> Result<Expr, String> {
        let [(read_a, of_a), (read_b, of_b)] = reads;
        let (functions, terms) = grouped::addends(&mut self.build, step, &of_a, &of_b);
        let source = from.source().ok_or("it begins with a product")?;
        let c = self.source_as(source, output, Codes::Numbers)?;
        self.scope.array("terms", &terms.ty, 2);
        let operands = [
            ("a", self.signature.a, read_a),
            ("b", self.signature.b, read_b),
        ];
        for (place, ((name, format, read), term)) in operands.into_iter().zip(functions).enumerate()
        {
            let word = Expr::element(name, &Ty::Bits(format.register.bits), &Expr::int(0));
            let number = self
                .scope
                .bind(&format!("number_of_{name}"), Expr::call(&read, vec![word]));
            let value = Expr::call(&term, vec![number]);
            self.scope.put("terms", &Expr::int(place as i32), value);
        }
        let block = grouped::block(&mut self.build, step, &terms, 2, &c.of, output)?;
        let all = Expr::name("terms", Ty::Array(std::rc::Rc::new(terms.ty.clone()), 2));
        Ok(Expr::call(&block, vec![all, c.expr]))
    }

    /// Multiply-adds of f32 words, one after the other.
    pub(super) fn multiply_adds(
        &mut self,
        step: &SemiFma,
        operands: &Reading,
        order: &[usize],
        from: Start,
        output: &Output,
    ) -> Result<Expr, String> {
        if *operands != Reading::WHOLE {
            return Err(format!(
                "{} reads parts of operands",
                Dpa::from(*step).name()
            ));
        }
        let word = Ty::Bits(output.format.container().register.bits);
        let start = match from.source().ok_or("it begins with a product")? {
            Source::C => Expr::name("c", word.clone()),
            Source::Zero => Expr::zero(word.clone()),
            Source::Statement(index) => Expr::name(&self.value_name(index), word.clone()),
        };
        let function = semi::multiply_add(&mut self.build, step, output);
        let n = order.len();
        let k_of = (!order.iter().copied().eq(0..n)).then(|| self.build.table("order", order));
        let next = |sum: Expr, index: &Expr| {
            let k = match &k_of {
                Some(table) => Expr::entry(table, index),
                None => index.clone(),
            };
            let [a, b] = ["a", "b"].map(|name| Expr::element(name, &word, &k));
            Expr::call(&function, vec![a, b, sum])
        };
        if n == 1 {
            return Ok(next(start, &Expr::int(0)));
        }
        let sum = self.scope.variable("sum", start);
        self.scope
            .each("i", n, |scope, i| scope.set("sum", next(sum.clone(), i)));
        Ok(sum)
    }
}
