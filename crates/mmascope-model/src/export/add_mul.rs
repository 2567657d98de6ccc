//! Blocks of rounded products and rounded additions.

use super::build::{Build, Scope};
use super::ieee::{add, convert, sum_of_all};
use super::ir::{Expr, Function, Ty};
use super::numbers::{Number, Numbers, promoted, reader};
use super::terms::{operand, rounded_product};
use crate::dpa::{AddMul, Codes, Output};
use crate::format::Overflow;

/// The function that makes a rounded product of two operands.
pub(super) fn product(
    build: &mut Build,
    step: &AddMul,
    a: &Numbers,
    b: &Numbers,
    output: &Output,
) -> Result<(Function, Numbers), String> {
    let mut scope = Scope::default();
    let a = Number::new(a, scope.parameter("a", a.ty()));
    let b = Number::new(b, scope.parameter("b", b.ty()));
    let a = operand(build, &step.terms, true, a)?;
    let b = operand(build, &step.terms, false, b)?;
    let to = match step.terms.products {
        Some((rounding, format)) => (rounding, format, Overflow::Ieee),
        None => (output.rounding, output.format, output.overflow),
    };
    let (multiply, of) = rounded_product(build, &a.of, &b.of, to, &step.terms, output)?;
    let a = scope.bind("x", a.expr);
    let b = scope.bind("y", b.expr);
    let value = Expr::call(&multiply, vec![a, b]);
    let comment = "The rounded product of two operands.";
    let function = scope.function("product", comment, value);
    Ok((build.function(function), of))
}

/// The steps of a group of so many products, in a scope with the array `products`; gives their sum.
fn group(
    build: &mut Build,
    scope: &mut Scope,
    step: &AddMul,
    of: &Numbers,
    count: usize,
    output: &Output,
) -> Result<Number, String> {
    if count == 1 {
        return Ok(Number::new(of, Expr::name("products", of.ty())));
    }
    let (read, results) = reader(build, &output.format.container(), Codes::Special);
    let common = of.with(build, &results);
    let sum = add(build, &common, &common, output, step.flush_sums)?;
    let values: Vec<Expr> = (0..count)
        .map(|place| {
            let value = Expr::element("products", &of.ty(), &Expr::int(place as i32));
            let value = scope.bind(&format!("p{place}"), value);
            match of.record == common.record {
                true => value,
                false => {
                    let value = promoted(build, value, of, &common);
                    scope.bind(&format!("q{place}"), value)
                }
            }
        })
        .collect();
    let mut add = |scope: &mut Scope, x: &Expr, y: &Expr, name: &str| {
        let word = Expr::call(&sum, vec![x.clone(), y.clone()]);
        let sum = Expr::call(&read, vec![word]);
        let sum = promoted(build, sum, &results, &common);
        scope.bind(name, sum)
    };
    let total = sum_of_all(scope, &mut add, values, step.sequential);
    Ok(Number::new(&common, total))
}

/// The type of a block's products.
pub(super) fn products_type(of: &Numbers, count: usize) -> Ty {
    match count {
        1 => of.ty(),
        _ => Ty::Array(std::rc::Rc::new(of.ty()), count),
    }
}

/// The function of a block: from products and c to a word.
pub(super) fn block(
    build: &mut Build,
    step: &AddMul,
    of: &Numbers,
    count: usize,
    c: &Numbers,
    output: &Output,
) -> Result<Function, String> {
    let mut scope = Scope::default();
    scope.parameter("products", products_type(of, count));
    let c = Number::new(c, scope.parameter("c", c.ty()));
    let total = group(build, &mut scope, step, of, count, output)?;
    let add = add(build, &c.of, &total.of, output, step.flush_sums)?;
    let value = Expr::call(&add, vec![c.expr, total.expr]);
    let comment = "Rounded products, added to each other and then to c, rounded each time.";
    Ok(build.function(scope.function("block", comment, value)))
}

/// The function of a first block without c: from products to a word.
pub(super) fn first_block(
    build: &mut Build,
    step: &AddMul,
    of: &Numbers,
    count: usize,
    output: &Output,
) -> Result<Function, String> {
    let mut scope = Scope::default();
    scope.parameter("products", products_type(of, count));
    let total = group(build, &mut scope, step, of, count, output)?;
    let convert = convert(build, &total.of, output)?;
    let value = Expr::call(&convert, vec![total.expr]);
    let comment = "Rounded products, added to each other.";
    Ok(build.function(scope.function("first_block", comment, value)))
}
