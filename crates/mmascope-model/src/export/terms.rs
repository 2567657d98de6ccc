//! Terms of fused sums: products, and values beside them.

use std::rc::Rc;

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Record, Ty};
use super::numbers::{self, Number, Numbers, flushed, narrowed, plus_zero};
use super::result::{self, Options};
use crate::dpa::{
    Codes, Fused, GroupExponent, Invalid, Nan, OperandChoice, Output, Terms, ZeroSign,
};
use crate::format::{Format, Overflow, Rounding};

/// What is known of terms without their values.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) record: Rc<Record>,
    /// Bits of the magnitude.
    pub(super) bits: u32,
    /// A term is below 2^(exponent + above).
    pub(super) above: u32,
    /// The least exponent, without those of scales.
    pub(super) least: i32,
    /// The least place that a last bit has, without those of scales.
    pub(super) low: i32,
    /// Every term is below 2^high, without scales.
    pub(super) high: i32,
    /// Fraction bits that scales add, and bits above the place of the exponent.
    pub(super) scale_fraction: u32,
    pub(super) scale_above: u32,
}

/// The functions of operands and products of a step.
pub(super) struct Products {
    /// From two numbers (and two scales) to a term.
    pub(super) function: Function,
    pub(super) shape: Shape,
}

/// The record of terms with so many bits.
pub(super) fn record(build: &mut Build, bits: u32) -> Rc<Record> {
    build.record(
        &format!("term{bits}"),
        "A term of a sum: magnitude · 2^place with a sign; it takes part in the alignment with its exponent where it is present.",
        vec![
            ("nan", Ty::Bool),
            ("infinite", Ty::Bool),
            ("zero", Ty::Bool),
            ("negative", Ty::Bool),
            ("present", Ty::Bool),
            ("exponent", Ty::Int),
            ("place", Ty::Int),
            ("magnitude", Ty::Bits(bits)),
        ],
    )
}

impl Shape {
    pub(super) fn ty(&self) -> Ty {
        Ty::Record(self.record.clone())
    }
}

/// An operand as a step takes it: after its flush, its zeros' sign and its rounding.
pub(super) fn operand(
    build: &mut Build,
    terms: &Terms,
    is_a: bool,
    number: Number,
) -> Result<Number, String> {
    let Number { of, mut expr } = number;
    let concerned = match terms.flush_of {
        OperandChoice::Both => true,
        OperandChoice::A => is_a,
        OperandChoice::B => !is_a,
    };
    if let Some(sign) = terms.flush_in.filter(|_| concerned) {
        expr = flushed(build, expr, &of, sign);
    }
    if terms.plus_zeros {
        expr = plus_zero(build, expr, &of);
    }
    let (expr, of) = match terms.operands {
        Some(to) => narrowed(build, expr, &of, to)?,
        None => (expr, of),
    };
    Ok(Number { of, expr })
}

/// c as the first block takes it.
pub(super) fn start(build: &mut Build, terms: &Terms, number: Number) -> Result<Number, String> {
    let Number { of, mut expr } = number;
    if let Some(sign) = terms.flush_c {
        expr = flushed(build, expr, &of, sign);
    }
    if terms.plus_zeros {
        expr = plus_zero(build, expr, &of);
    }
    let (expr, of) = match terms.round_c {
        Some(to) => narrowed(build, expr, &of, to)?,
        None => (expr, of),
    };
    Ok(Number { of, expr })
}

/// The function that multiplies two numbers as IEEE 754 does and rounds the product to a format, and what
/// its results are.
pub(super) fn rounded_product(
    build: &mut Build,
    a: &Numbers,
    b: &Numbers,
    (rounding, format, overflow): (Rounding, Format, Overflow),
    terms: &Terms,
    tininess: &Output,
) -> Result<(Function, Numbers), String> {
    let output = Output {
        format,
        rounding,
        overflow,
        nan: Nan::Any,
        zero: ZeroSign::Ieee,
        flush: None,
        ..*tininess
    };
    let round = result::rounder(build, &output, a.bits + b.bits, Options::default())?;
    let (read, of) = numbers::reader(build, &format.container(), Codes::Special);
    let mut scope = Scope::default();
    let a = Number::new(a, scope.parameter("a", a.ty()));
    let b = Number::new(b, scope.parameter("b", b.ty()));
    let product = Both::of(&mut scope, &a, &b);
    let fraction = (a.of.fraction + b.of.fraction) as i32;
    let place = &(&a.exponent() + &b.exponent()) - &Expr::int(fraction);
    let word = Ty::Bits(output.format.container().register.bits);
    let Ty::Bits(bits) = word else {
        return Err("it has no words".to_owned());
    };
    let arguments = vec![
        product.negative.clone(),
        product.magnitude(&a, &b),
        place,
        Expr::truth(true),
        product.negative.clone(),
    ];
    let finite = scope.bind("finite", Expr::call(&round, arguments));
    let nan = Expr::bits(output.nan_word(), bits);
    let infinity = |negative| Expr::bits(output.infinity_word(negative), bits);
    let infinity = product.negative.choose(&infinity(true), &infinity(false));
    let special = product.nan.choose(&nan, &infinity);
    let is_special = product.nan.or(&product.infinite);
    let word = scope.bind("word", is_special.choose(&special, &finite));
    let mut value = Expr::call(&read, vec![word]);
    if let Some(sign) = terms.flush_products {
        value = flushed(build, value, &of, sign);
    }
    let name = format!("product_in_{}", numbers::identifier(format.name));
    let comment = format!("The product, rounded to {format}.");
    let function = scope.function(&name, &comment, value);
    Ok((build.function(function), of))
}

/// What two operands make, whatever their sizes.
struct Both {
    negative: Expr,
    zero: Expr,
    nan: Expr,
    infinite: Expr,
}

impl Both {
    fn of(scope: &mut Scope, a: &Number, b: &Number) -> Self {
        let negative = scope.bind("negative", a.negative().is_not(&b.negative()));
        let zero = scope.bind("zero", a.zero().or(&b.zero()));
        let any_infinite = scope.bind("any_infinite", a.infinite().or(&b.infinite()));
        let nan = a.nan().or(&b.nan()).or(&any_infinite.and(&zero));
        let nan = scope.bind("nan", nan);
        let infinite = any_infinite.and(&!&nan);
        Self {
            negative,
            zero,
            nan,
            infinite,
        }
    }

    fn magnitude(&self, a: &Number, b: &Number) -> Expr {
        let bits = Ty::Bits(a.of.bits + b.of.bits);
        &a.significand().to(&bits) * &b.significand().to(&bits)
    }
}

/// The function that makes a term of two operands, as a fused step takes them.
pub(super) fn products(
    build: &mut Build,
    step: &Fused,
    a: &Numbers,
    b: &Numbers,
    scales: Option<&Numbers>,
    output: &Output,
) -> Result<Products, String> {
    let mut scope = Scope::default();
    let a = Number::new(a, scope.parameter("a", a.ty()));
    let b = Number::new(b, scope.parameter("b", b.ty()));
    let scales = scales.map(|of| {
        let scale = |scope: &mut Scope, name: &str| Number::new(of, scope.parameter(name, of.ty()));
        [scale(&mut scope, "scale_a"), scale(&mut scope, "scale_b")]
    });
    let mut read = |scope: &mut Scope, is_a: bool, number: Number| {
        let name = if is_a { "x" } else { "y" };
        let before = format!("{:?}", number.expr);
        let number = operand(build, &step.terms, is_a, number)?;
        let expr = match format!("{:?}", number.expr) == before {
            true => number.expr,
            false => scope.bind(name, number.expr),
        };
        Ok::<Number, String>(Number { expr, ..number })
    };
    let a = read(&mut scope, true, a)?;
    let b = read(&mut scope, false, b)?;
    if let Some((rounding, format)) = step.terms.products {
        return rounded(build, scope, step, (rounding, format), [&a, &b], output);
    }
    let both = Both::of(&mut scope, &a, &b);
    let mut bits = a.of.bits + b.of.bits;
    let mut magnitude = both.magnitude(&a, &b);
    let mut above = a.of.above() + b.of.above();
    let mut exponent = &a.exponent() + &b.exponent();
    let mut scale_exponent = Expr::int(0);
    let mut fraction = (a.of.fraction + b.of.fraction) as i32;
    let mut scale_nan = Expr::truth(false);
    let (mut scale_fraction, mut scale_above) = (0, 0);
    if let Some([x, y]) = &scales {
        scale_exponent = scope.bind("scale_exponent", &x.exponent() + &y.exponent());
        exponent = &exponent + &scale_exponent;
        scale_nan = x.nan().or(&y.nan());
        if x.of.fraction > 0 {
            bits += x.of.bits + y.of.bits;
            let wide = Ty::Bits(bits);
            let scale = &x.significand().to(&wide) * &y.significand().to(&wide);
            magnitude = &magnitude.to(&wide) * &scale;
            scale_fraction = x.of.fraction + y.of.fraction;
            fraction += scale_fraction as i32;
            scale_above = 2;
            above += scale_above;
        }
    }
    let mut exponent = scope.bind("exponent", exponent);
    let mut magnitude = scope.bind("magnitude", magnitude);
    let place = scope.bind("place", &exponent - &Expr::int(fraction));
    let (mut nan, mut infinite) = (both.nan.or(&scale_nan), both.infinite.and(&!&scale_nan));
    let mut special_negative = both.negative.clone();
    let rule = step.specials.zero_times_infinity;
    if rule != Invalid::Nan {
        let invalid = (!&a.nan())
            .and(&!&b.nan())
            .and(&a.infinite().or(&b.infinite()));
        let invalid = scope.bind("invalid", invalid.and(&both.zero.or(&scale_nan)));
        nan = nan.and(&!&invalid);
        match rule {
            Invalid::Zero => {
                magnitude = invalid.choose(&Expr::bits(0, bits), &magnitude);
                infinite = infinite.and(&!&invalid);
            }
            _ => infinite = infinite.or(&invalid),
        }
        let sign = match rule {
            Invalid::Plus => Expr::truth(false),
            Invalid::Minus => Expr::truth(true),
            _ => both.negative.clone(),
        };
        special_negative = invalid.choose(&sign, &both.negative);
    }
    let top = &(&place + &magnitude.length()) - &Expr::int(1);
    if let Some(limit) = step.product_limit {
        let finite = (!&nan).and(&!&infinite).and(&magnitude.is_something());
        let over = finite.and(&Expr::int(limit).at_most(&top));
        infinite = scope.bind("infinite", infinite.or(&over));
    }
    let present = (!&nan).and(&!&infinite).and(&magnitude.is_something());
    if step.normalised {
        exponent = scope.bind("leading", top);
        above = 1;
    }
    if step
        .groups
        .is_some_and(|groups| groups.exponent == GroupExponent::Scales)
    {
        exponent = scale_exponent;
    }
    let (low, high) = (a.of.low + b.of.low, a.of.high + b.of.high);
    let own = (a.of.fraction + b.of.fraction) as i32;
    let shape = Shape {
        record: record(build, bits),
        bits,
        above,
        least: if step.normalised { low - own } else { low },
        low: low - own,
        high: high + (a.of.above() + b.of.above()) as i32,
        scale_fraction,
        scale_above,
    };
    let fields = vec![
        nan,
        infinite,
        both.zero,
        special_negative,
        present,
        exponent,
        place,
        magnitude,
    ];
    let value = Expr::made(&shape.record, fields);
    let function = scope.function("product", "The exact product of two operands.", value);
    Ok(Products {
        function: build.function(function),
        shape,
    })
}

/// Products that are rounded to a format before they are added.
fn rounded(
    build: &mut Build,
    mut scope: Scope,
    step: &Fused,
    (rounding, format): (Rounding, Format),
    [a, b]: [&Number; 2],
    output: &Output,
) -> Result<Products, String> {
    let to = (rounding, format, Overflow::Ieee);
    let (multiply, of) = rounded_product(build, &a.of, &b.of, to, &step.terms, output)?;
    let own = Both::of(&mut scope, a, b);
    let product = Expr::call(&multiply, vec![a.expr.clone(), b.expr.clone()]);
    let product = Number::new(&of, scope.bind("rounded", product));
    let rule = step.specials.zero_times_infinity;
    // What 0·∞ is, an operand or a limit says, not the rounding.
    let invalid = (!&a.nan())
        .and(&!&b.nan())
        .and(&a.infinite().or(&b.infinite()));
    let invalid = scope.bind("invalid", invalid.and(&own.zero));
    let (sign, instead) = match rule {
        Invalid::Nan => (product.negative(), (Expr::truth(true), Expr::truth(false))),
        Invalid::Plus => (Expr::truth(false), (Expr::truth(false), Expr::truth(true))),
        Invalid::Minus => (Expr::truth(true), (Expr::truth(false), Expr::truth(true))),
        Invalid::Signed => (
            own.negative.clone(),
            (Expr::truth(false), Expr::truth(true)),
        ),
        Invalid::Zero => (
            own.negative.clone(),
            (Expr::truth(false), Expr::truth(false)),
        ),
    };
    // What an operand makes of it stays, also where the format has no ∞ or no NaN.
    let has_nan = scope.bind("has_nan", a.nan().or(&b.nan()));
    let is_given = has_nan.or(&a.infinite()).or(&b.infinite());
    let is_given = scope.bind("is_given", is_given);
    let nan = is_given.choose(&has_nan, &product.nan());
    let infinite = is_given.choose(&!&has_nan, &product.infinite());
    let own_sign = is_given.choose(&own.negative, &product.negative());
    let nan = invalid.choose(&instead.0, &nan);
    let mut infinite = invalid.choose(&instead.1, &infinite);
    let mut negative = invalid.choose(&sign, &own_sign);
    let mut nan = scope.bind("is_nan", nan);
    if let Some(limit) = step.product_limit {
        let magnitude = own.magnitude(a, b);
        let fraction = (a.of.fraction + b.of.fraction) as i32;
        let place = &(&a.exponent() + &b.exponent()) - &Expr::int(fraction + 1);
        let top = &place + &magnitude.length();
        let is_number = (!&own.nan).and(&!&own.infinite).and(&!&own.zero);
        let over = is_number.and(&Expr::int(limit).at_most(&top));
        let over = scope.bind("over", over);
        infinite = infinite.or(&over);
        nan = nan.and(&!&over);
        negative = over.choose(&own.negative, &negative);
    }
    let infinite = scope.bind("is_infinite", infinite);
    let is_special = nan.or(&infinite).or(&invalid);
    let magnitude = product.significand();
    let present = (!&is_special).and(&!&product.zero());
    let shape = Shape {
        record: record(build, of.bits),
        bits: of.bits,
        above: of.above(),
        least: of.low,
        low: of.low - of.fraction as i32,
        high: of.high + of.above() as i32,
        scale_fraction: 0,
        scale_above: 0,
    };
    let zero = invalid.or(&product.zero());
    let place = &product.exponent() - &Expr::int(of.fraction as i32);
    let fields = vec![
        nan,
        infinite,
        zero,
        negative,
        present,
        product.exponent(),
        place,
        magnitude,
    ];
    let value = Expr::made(&shape.record, fields);
    let comment = format!("The product of two operands, rounded to {format}.");
    let function = scope.function("product", &comment, value);
    Ok(Products {
        function: build.function(function),
        shape,
    })
}

/// The function that makes a term of a number, as c and other values take part in a sum.
pub(super) fn value(build: &mut Build, of: &Numbers, bits: u32) -> (Function, Shape) {
    let shape = Shape {
        record: record(build, bits),
        bits,
        above: of.above(),
        least: of.low,
        low: of.low - of.fraction as i32,
        high: of.high + of.above() as i32,
        scale_fraction: 0,
        scale_above: 0,
    };
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    let is_special = x.nan().or(&x.infinite());
    let present = (!&is_special).and(&!&x.zero());
    let fields = vec![
        x.nan(),
        x.infinite(),
        x.zero(),
        x.negative(),
        present,
        x.exponent(),
        &x.exponent() - &Expr::int(of.fraction as i32),
        x.significand().to(&Ty::Bits(bits)),
    ];
    let value = Expr::made(&shape.record, fields);
    let function = scope.function("value_term", "A value as a term.", value);
    (build.function(function), shape)
}
