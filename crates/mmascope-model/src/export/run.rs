//! Makes a module of a unit's program: the statements, their order, and the function `dot`.

mod join;
mod nan;
mod sum;

use std::rc::Rc;

use super::add_mul;
use super::build::{Build, Scope};
use super::fused;
use super::grouped;
use super::ieee;
use super::ir::{Expr, Function, Module, Ty};
use super::numbers::{self, Number, Numbers, part, promoted, reader, widened};
use super::terms;
use crate::dpa::{
    AddMul, Addends, Codes, Dpa, Fused, General, GrFdpa, Nan, Operation, Output, Program, Reading,
    Signature, Source, Start, Statement, Unit,
};
use crate::format::Format;

/// What the statements of a program share.
struct Writer<'a> {
    build: Build,
    scope: Scope,
    program: &'a Program,
    signature: &'a Signature,
}

/// The module of a unit, without its heading.
pub(super) fn module(unit: &Unit) -> Result<Module, String> {
    let (program, signature) = (unit.program(), unit.signature());
    let mut writer = Writer {
        build: Build::default(),
        scope: Scope::default(),
        program,
        signature,
    };
    let Signature {
        a, b, c, k, scale, ..
    } = *signature;
    let words = |format: Format, count: usize| {
        let word = Ty::Bits(format.register.bits);
        Ty::Array(Rc::new(word), count)
    };
    writer.scope.parameter("a", words(a, k));
    writer.scope.parameter("b", words(b, k));
    writer.scope.parameter("c", Ty::Bits(c.register.bits));
    if let Some(scale) = scale {
        let float = scale.format.float();
        if float.is_some_and(|float| float.fraction_bits == 0 && float.subnormals) {
            let format = scale.format;
            return Err(format!(
                "its scales in {format} have a zero and no fraction"
            ));
        }
        let count = signature.scales();
        writer
            .scope
            .parameter("scale_a", words(scale.format, count));
        writer
            .scope
            .parameter("scale_b", words(scale.format, count));
    }
    let mut last = Expr::bits(0, 1);
    for (index, statement) in program.statements.iter().enumerate() {
        last = writer.statement(index, statement)?;
    }
    if let Nan::Operand(_) = program.output().nan {
        last = writer.passed_nan(last)?;
    }
    let comment = match scale {
        Some(_) => {
            "One element of D from a row of A, a column of B, c and the scales of their blocks."
        }
        None => "One element of D from a row of A, a column of B and c.",
    };
    let dot = writer.scope.function("dot", comment, last);
    writer.build.function(dot);
    Ok(writer.build.module)
}

/// How the terms of a statement are made and summed.
enum Sum {
    Fused(Fused, terms::Products),
    AddMul(AddMul, Function, Numbers),
    Grouped(GrFdpa, Function, grouped::Terms),
}

impl Writer<'_> {
    /// The name under which a statement's value stands.
    fn value_name(&self, index: usize) -> String {
        match self.program.statements.len() {
            1 => "d".to_owned(),
            _ => format!(
                "value_{}",
                numbers::identifier(&self.program.statements[index].name)
            ),
        }
    }

    fn statement(&mut self, index: usize, statement: &Statement) -> Result<Expr, String> {
        let Statement {
            operation, output, ..
        } = statement;
        if self.program.statements.len() > 1 {
            self.scope
                .say(&format!("{}:", statement_text(self.program, index)));
        }
        let value = match operation {
            Operation::Dot {
                algorithm,
                operands,
                over,
                from,
            } => {
                let order = over.indices(self.signature.k);
                self.run(index, algorithm, operands, &order, *from, output)?
            }
            Operation::Add(left, right) => {
                let (left, right) = (self.source(*left, output)?, self.source(*right, output)?);
                let add = ieee::add(&mut self.build, &left.of, &right.of, output, None)?;
                Expr::call(&add, vec![left.expr, right.expr])
            }
            Operation::Convert(source) => {
                let value = self.source(*source, output)?;
                let convert = ieee::convert(&mut self.build, &value.of, output)?;
                Expr::call(&convert, vec![value.expr])
            }
            Operation::Negate(source) => {
                let value = self.source(*source, output)?.negated();
                let convert = ieee::convert(&mut self.build, &value.of, output)?;
                Expr::call(&convert, vec![value.expr])
            }
            Operation::Join {
                algorithm,
                over,
                of,
            } => self.join(index, algorithm, over, of, output)?,
        };
        Ok(match self.program.statements.len() {
            1 => self.scope.bind("d", value),
            _ => self.scope.named(&self.value_name(index), value),
        })
    }

    /// A value that a statement reads, as a number under a name.
    fn source(&mut self, source: Source, output: &Output) -> Result<Number, String> {
        self.source_as(source, output, Codes::Special)
    }

    /// The same, whose codes mean what `codes` says.
    fn source_as(
        &mut self,
        source: Source,
        output: &Output,
        codes: Codes,
    ) -> Result<Number, String> {
        let (name, format, word) = match source {
            Source::C => {
                let format = self.signature.c;
                let word = Expr::name("c", Ty::Bits(format.register.bits));
                ("number_of_c".to_owned(), format, word)
            }
            Source::Zero => {
                let of = Numbers::of(&mut self.build, &output.format.container());
                return Ok(Number::new(&of, of.zero(&Expr::truth(false))));
            }
            Source::Statement(index) => {
                let format = self.program.statements[index].output.format.container();
                let word = Expr::name(&self.value_name(index), Ty::Bits(format.register.bits));
                (
                    format!("number_of_{}", self.value_name(index)),
                    format,
                    word,
                )
            }
        };
        let (read, of) = reader(&mut self.build, &format, codes);
        if !self.scope.has(&name) {
            self.scope.named(&name, Expr::call(&read, vec![word]));
        }
        let expr = Expr::name(&name, of.ty());
        Ok(Number::new(&of, expr))
    }

    /// The functions that read an operand as a statement does.
    fn reading(&mut self, reading: &Reading, is_a: bool) -> Result<(Function, Numbers), String> {
        let (format, own) = match is_a {
            true => (self.signature.a, reading.a),
            false => (self.signature.b, reading.b),
        };
        let (read, of) = reader(&mut self.build, &format, self.program.codes);
        if reading.widened.is_none() && own == crate::dpa::Part::Whole {
            return Ok((read, of));
        }
        let mut scope = Scope::default();
        let word = scope.parameter("word", Ty::Bits(format.register.bits));
        let mut expr = scope.bind("number", Expr::call(&read, vec![word]));
        let mut numbers = of;
        if let Some(format) = reading.widened {
            let (wide, of) = widened(&mut self.build, expr, &numbers, &format);
            expr = scope.bind("wide", wide);
            numbers = of;
        }
        let value = part(&mut self.build, expr, &numbers, own);
        let name = format!("{}_as_taken", read.name);
        let comment = format!("The word of {format} as the number that takes part.");
        let function = scope.function(&name, &comment, value);
        Ok((self.build.function(function), numbers))
    }

    fn sum(
        &mut self,
        algorithm: &Dpa,
        output: &Output,
        a: &Numbers,
        b: &Numbers,
        scales: Option<&Numbers>,
    ) -> Result<Sum, String> {
        match algorithm.general(output) {
            General::Fused(step) => {
                let products = terms::products(&mut self.build, &step, a, b, scales, output)?;
                Ok(Sum::Fused(step, products))
            }
            General::AddMul(step) => {
                let (product, of) = add_mul::product(&mut self.build, &step, a, b, output)?;
                Ok(Sum::AddMul(step, product, of))
            }
            General::Integer(_) => Err("integers are summed elsewhere".to_owned()),
            General::Grouped(step) => {
                let (product, terms) = grouped::product(&mut self.build, &step, a, b);
                Ok(Sum::Grouped(step, product, terms))
            }
            General::Semi(_) => Err("it is computed on words".to_owned()),
        }
    }

    /// Whether the block scales take part in a statement.
    fn scales(&mut self) -> Option<(Function, Numbers)> {
        let scale = self.signature.scale?;
        Some(reader(&mut self.build, &scale.format, Codes::Special))
    }

    /// The statements of a run over some k.
    fn run(
        &mut self,
        index: usize,
        algorithm: &Dpa,
        operands: &Reading,
        order: &[usize],
        from: Start,
        output: &Output,
    ) -> Result<Expr, String> {
        if let General::Integer(step) = algorithm.general(output) {
            return Ok(self.integers(&step, order, from, output));
        }
        if let General::Semi(step) = algorithm.general(output) {
            return self.multiply_adds(&step, operands, order, from, output);
        }
        let (read_a, of_a) = self.reading(operands, true)?;
        let (read_b, of_b) = self.reading(operands, false)?;
        if let General::Grouped(step) = algorithm.general(output) {
            let numbers_only = |statement: &Statement| match &statement.operation {
                Operation::Dot { algorithm, .. } => algorithm.knows_numbers_only(),
                _ => false,
            };
            if !self.program.statements.iter().all(numbers_only) {
                return Err("some of its steps take every code for a number, others do not".into());
            }
            if step.terms != Addends::Product {
                let reads = [(read_a, of_a), (read_b, of_b)];
                return self.addends(&step, reads, from, output);
            }
        }
        let scales = self.scales();
        let of_scales = scales.as_ref().map(|(_, of)| of);
        let sum = self.sum(algorithm, output, &of_a, &of_b, of_scales)?;
        let (product, ty) = match &sum {
            Sum::Fused(_, products) => (products.function.clone(), products.shape.ty()),
            Sum::AddMul(_, product, of) => (product.clone(), of.ty()),
            Sum::Grouped(_, product, terms) => (product.clone(), terms.ty.clone()),
        };
        let suffix = match self.program.statements.len() {
            1 => String::new(),
            _ => format!(
                "_{}",
                numbers::identifier(&self.program.statements[index].name)
            ),
        };
        let n = order.len();
        // One product is computed in the function's own scope, beside those of other statements.
        let of_one = if n == 1 { suffix.as_str() } else { "" };
        let k_of: Box<dyn Fn(&Expr) -> Expr> = if order.iter().copied().eq(0..n) {
            Box::new(Expr::clone)
        } else {
            let table = self.build.table(&format!("order{suffix}"), order);
            Box::new(move |i| Expr::entry(&table, i))
        };
        let (a, b, scale) = (self.signature.a, self.signature.b, self.signature.scale);
        let term = |scope: &mut Scope, i: &Expr| {
            let k = k_of(i);
            let word =
                |scope: &mut Scope, name: &str, format: Format, read: &Function, k: &Expr| {
                    let word = Expr::element(name, &Ty::Bits(format.register.bits), k);
                    scope.bind(&format!("{name}_k{of_one}"), Expr::call(read, vec![word]))
                };
            let mut arguments = vec![
                word(scope, "a", a, &read_a, &k),
                word(scope, "b", b, &read_b, &k),
            ];
            if let (Some(scale), Some((read, _))) = (scale, &scales) {
                let block = match scale.block {
                    1 => k,
                    block => Expr::over(&k, block),
                };
                arguments.push(word(scope, "scale_a", scale.format, read, &block));
                arguments.push(word(scope, "scale_b", scale.format, read, &block));
            }
            Expr::call(&product, arguments)
        };
        let terms_name = format!("terms{suffix}");
        if n == 0 {
            return Ok(Expr::zero(Ty::Bits(
                output.format.container().register.bits,
            )));
        }
        let length = algorithm.block().min(n);
        let array = |scope: &mut Scope| {
            scope.array(&terms_name, &ty, n);
            scope.each("i", n, |scope, i| {
                let value = term(scope, i);
                scope.put(&terms_name, i, value);
            });
        };
        // What the first block begins with, and what the others begin with.
        let container = output.format.container();
        // To sums on grids every code is a number.
        let codes = match &sum {
            Sum::Grouped(..) => Codes::Numbers,
            _ => Codes::Special,
        };
        let (read_result, results) = reader(&mut self.build, &container, codes);
        let first = match from.source() {
            Some(source) => {
                let number = self.source_as(source, output, codes)?;
                let name = format!("start{suffix}");
                let number = match &sum {
                    Sum::Fused(Fused { terms, .. }, _) | Sum::AddMul(AddMul { terms, .. }, ..) => {
                        terms::start(&mut self.build, terms, number)?
                    }
                    Sum::Grouped(..) => number,
                };
                let expr = self.scope.bind(&name, number.expr);
                Some(Number { expr, ..number })
            }
            None => None,
        };
        if n <= length {
            if n == 1 {
                let value = term(&mut self.scope, &Expr::int(0));
                self.scope.named(&terms_name, value);
            } else {
                array(&mut self.scope);
            }
            let own = match n {
                1 => Expr::name(&terms_name, ty.clone()),
                _ => Expr::name(&terms_name, Ty::Array(Rc::new(ty.clone()), n)),
            };
            return match (&sum, first) {
                (Sum::AddMul(step, _, of), None) => {
                    let block = add_mul::first_block(&mut self.build, step, of, n, output)?;
                    Ok(Expr::call(&block, vec![own]))
                }
                (_, first) => {
                    let first = match first {
                        Some(first) => first,
                        None => self.nothing(&sum, &terms_name, n, output, &suffix)?,
                    };
                    let block = self.block(&sum, n, &first.of, output)?;
                    Ok(Expr::call(&block, vec![own, first.expr]))
                }
            };
        }
        array(&mut self.scope);
        let (whole, rest) = (n / length, n % length);
        let word = Ty::Bits(container.register.bits);
        let name = format!("sum{suffix}");
        let mut done = 0;
        let (common, beginning) = match (&sum, first) {
            (Sum::AddMul(step, _, of), None) => {
                // The first group has no c.
                let block = add_mul::first_block(&mut self.build, step, of, length, output)?;
                let own = self.own(
                    &terms_name,
                    &ty,
                    &Expr::int(0),
                    length,
                    length,
                    &format!("first{suffix}"),
                );
                let first = Expr::call(&block, vec![own]);
                let first = self.scope.bind(&format!("first_sum{suffix}"), first);
                done = 1;
                (results.clone(), Expr::call(&read_result, vec![first]))
            }
            (_, first) => {
                let first = match first {
                    Some(first) => first,
                    None => self.nothing(&sum, &terms_name, n, output, &suffix)?,
                };
                let common = first.of.with(&mut self.build, &results);
                let expr = promoted(&mut self.build, first.expr, &first.of, &common);
                (common, expr)
            }
        };
        let accumulator = format!("accumulator{suffix}");
        let total = self.scope.variable(&accumulator, beginning);
        let sum_word = self.scope.variable(&name, Expr::zero(word));
        if whole > done {
            let block = self.block(&sum, length, &common, output)?;
            let convert = |build: &mut Build, value: Expr| {
                let number = Expr::call(&read_result, vec![value]);
                promoted(build, number, &results, &common)
            };
            let next = convert(&mut self.build, sum_word.clone());
            let mut inner = Scope::default();
            let j = Expr::name("j", Ty::Int);
            let from = match done {
                0 => j.clone(),
                done => &j + &Expr::int(done as i32),
            };
            let own = own(
                &mut inner,
                &terms_name,
                &ty,
                &from,
                length,
                length,
                &format!("own{suffix}"),
            );
            inner.set(&name, Expr::call(&block, vec![own, total.clone()]));
            inner.set(&accumulator, next);
            self.scope
                .each("j", whole - done, |scope, _| scope.append(inner));
        }
        if rest == 0 {
            return Ok(sum_word);
        }
        self.scope.say("The last block is shorter.");
        let block = self.block(&sum, rest, &common, output)?;
        let own = self.own(
            &terms_name,
            &ty,
            &Expr::int(whole as i32),
            length,
            rest,
            &format!("last{suffix}"),
        );
        Ok(Expr::call(&block, vec![own, total]))
    }

    fn own(
        &mut self,
        terms: &str,
        ty: &Ty,
        block: &Expr,
        length: usize,
        count: usize,
        name: &str,
    ) -> Expr {
        own(&mut self.scope, terms, ty, block, length, count, name)
    }

    /// The function of a block.
    fn block(
        &mut self,
        sum: &Sum,
        count: usize,
        c: &Numbers,
        output: &Output,
    ) -> Result<Function, String> {
        match sum {
            Sum::Fused(step, products) => {
                let shape = &products.shape;
                fused::block(&mut self.build, step, shape, count, count, c, output)
            }
            Sum::AddMul(step, _, of) => add_mul::block(&mut self.build, step, of, count, c, output),
            Sum::Grouped(step, _, terms) => {
                grouped::block(&mut self.build, step, terms, count, c, output)
            }
        }
    }

    /// The zero with which a run without c begins: that of its first product's sign.
    fn nothing(
        &mut self,
        sum: &Sum,
        terms: &str,
        count: usize,
        output: &Output,
        suffix: &str,
    ) -> Result<Number, String> {
        let Sum::Fused(_, products) = sum else {
            return Err("it begins with a product".to_owned());
        };
        let container = output.format.container();
        let of = Numbers::of(&mut self.build, &container);
        let ty = products.shape.ty();
        let first = match count {
            1 => Expr::name(terms, ty),
            _ => {
                let first = Expr::element(terms, &ty, &Expr::int(0));
                self.scope.bind(&format!("first_term{suffix}"), first)
            }
        };
        self.scope
            .say("There is no c: the first block begins with a zero of its first product's sign.");
        let has_minus = output.zero_word(true) != output.zero_word(false);
        let negative = match has_minus {
            true => first.field("negative"),
            false => Expr::truth(false),
        };
        let expr = self
            .scope
            .bind(&format!("nothing{suffix}"), of.zero(&negative));
        Ok(Number::new(&of, expr))
    }
}

/// Some of the terms: one of them, or an array of them.
fn own(
    scope: &mut Scope,
    terms: &str,
    ty: &Ty,
    block: &Expr,
    length: usize,
    count: usize,
    name: &str,
) -> Expr {
    let first = Expr::times(block, length);
    if count == 1 {
        return scope.bind(name, Expr::element(terms, ty, &first));
    }
    let array = scope.array(name, ty, count);
    scope.each("i", count, |scope, i| {
        scope.put(name, i, Expr::element(terms, ty, &(&first + i)));
    });
    array
}

/// A statement in the notation.
fn statement_text(program: &Program, index: usize) -> String {
    let text = program.to_string();
    let statements: Vec<&str> = text.split(" ; ").collect();
    let skipped = statements.len().saturating_sub(program.statements.len());
    statements
        .get(index + skipped)
        .map_or_else(String::new, |text| (*text).to_owned())
}
