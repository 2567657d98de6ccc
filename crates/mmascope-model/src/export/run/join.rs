//! Statements that sum values and products together.

use super::Writer;
use crate::dpa::{Dpa, General, Output, Reading, Source};
use crate::export::build::Scope;
use crate::export::fused;
use crate::export::ir::{Expr, Ty};
use crate::export::terms::{self, Shape};
use crate::format::Format;

impl Writer<'_> {
    /// Values and some products in one sum.
    pub(super) fn join(
        &mut self,
        index: usize,
        algorithm: &Dpa,
        over: &[usize],
        of: &[Source],
        output: &Output,
    ) -> Result<Expr, String> {
        let General::Fused(step) = algorithm.general(output) else {
            return Err(format!("it joins values by {}", algorithm.name()));
        };
        let mut values = Vec::new();
        for source in &of[1..] {
            values.push(self.source(*source, output)?);
        }
        let (read_a, of_a) = self.reading(&Reading::WHOLE, true)?;
        let (read_b, of_b) = self.reading(&Reading::WHOLE, false)?;
        let products = match over {
            [] => None,
            _ if self.signature.scale.is_some() => {
                return Err("it joins scaled products and values".to_owned());
            }
            _ => Some(terms::products(
                &mut self.build,
                &step,
                &of_a,
                &of_b,
                None,
                output,
            )?),
        };
        let widest = values.iter().map(|value| value.of.bits);
        let bits = widest
            .chain(products.as_ref().map(|own| own.shape.bits))
            .max();
        let bits = bits.unwrap_or(1);
        let mut shape: Option<Shape> = None;
        let mut include = |own: &Shape| {
            shape = Some(match shape.take() {
                None => own.clone(),
                Some(all) => Shape {
                    above: all.above.max(own.above),
                    least: all.least.min(own.least),
                    low: all.low.min(own.low),
                    high: all.high.max(own.high),
                    ..all
                },
            });
        };
        let mut made = Vec::new();
        for value in &values {
            let (function, own) = terms::value(&mut self.build, &value.of, bits);
            include(&own);
            made.push(Expr::call(&function, vec![value.expr.clone()]));
        }
        let mut longer = None;
        if let Some(products) = &products {
            let record = terms::record(&mut self.build, bits);
            let own = Shape {
                record: record.clone(),
                bits,
                ..products.shape.clone()
            };
            include(&own);
            let mut scope = Scope::default();
            let x = scope.parameter("x", products.shape.ty());
            let mut fields: Vec<Expr> = record
                .fields
                .iter()
                .map(|(name, _)| x.field(name))
                .collect();
            if let Some(last) = fields.last_mut() {
                *last = last.to(&Ty::Bits(bits));
            }
            let value = Expr::made(&record, fields);
            let comment = "The same term with a longer magnitude.";
            longer = Some(
                self.build
                    .function(scope.function("longer_term", comment, value)),
            );
        }
        let Some(mut shape) = shape else {
            return Err("it joins one value alone".to_owned());
        };
        shape.record = terms::record(&mut self.build, bits);
        let count = over.len() + values.len();
        let name = format!("joined_{}", self.value_name(index));
        let mut all = Vec::new();
        if let (Some(products), Some(longer)) = (&products, &longer) {
            for &k in over {
                let k_expr = Expr::int(k as i32);
                let word = |name: &str, format: Format| {
                    Expr::element(name, &Ty::Bits(format.register.bits), &k_expr)
                };
                let x = Expr::call(&read_a, vec![word("a", self.signature.a)]);
                let y = Expr::call(&read_b, vec![word("b", self.signature.b)]);
                let term = Expr::call(&products.function, vec![x, y]);
                all.push(Expr::call(longer, vec![term]));
            }
        }
        all.extend(made);
        let own = match count {
            1 => self.scope.named(&name, all.remove(0)),
            _ => {
                let array = self.scope.array(&name, &shape.ty(), count);
                for (place, term) in all.into_iter().enumerate() {
                    self.scope.put(&name, &Expr::int(place as i32), term);
                }
                array
            }
        };
        let start = self.source(of[0], output)?;
        let start = terms::start(&mut self.build, &step.terms, start)?;
        let start_name = format!("start_{}", self.value_name(index));
        let expr = self.scope.bind(&start_name, start.expr);
        let products = over.len();
        let block = fused::block(
            &mut self.build,
            &step,
            &shape,
            count,
            products,
            &start.of,
            output,
        )?;
        Ok(Expr::call(&block, vec![own, expr]))
    }
}
