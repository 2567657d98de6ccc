//! Additions and conversions of single values, as IEEE 754 does them.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use super::numbers::{Number, Numbers};
use super::result::{Options, asks_for_zeros, leading, rounder};
use super::rounding::add_two;
use crate::dpa::{FlushSign, Output};

/// A word of an output.
fn word(output: &Output, word: u64) -> Expr {
    Expr::bits(word, output.format.container().register.bits)
}

fn returned_specials(scope: &mut Scope, output: &Output, nan: &Expr, plus: &Expr, minus: &Expr) {
    scope.return_if(nan, word(output, output.nan_word()));
    scope.return_if(plus, word(output, output.infinity_word(false)));
    scope.return_if(minus, word(output, output.infinity_word(true)));
}

/// The function that adds two numbers and rounds; a subnormal sum is flushed so.
pub(super) fn add(
    build: &mut Build,
    x: &Numbers,
    y: &Numbers,
    output: &Output,
    flush: Option<FlushSign>,
) -> Result<Function, String> {
    let (add, record) = add_two(build, x.bits, y.bits, leading(output));
    let bits = match record.field("magnitude") {
        Some(Ty::Bits(bits)) => *bits,
        _ => 0,
    };
    let options = Options {
        sticky: true,
        flush,
    };
    let round = rounder(build, output, bits, options)?;
    let mut scope = Scope::default();
    let x = Number::new(x, scope.parameter("x", x.ty()));
    let y = Number::new(y, scope.parameter("y", y.ty()));
    let opposite = x.infinite().and(&y.infinite());
    let opposite = opposite.and(&x.negative().is_not(&y.negative()));
    let nan = x.nan().or(&y.nan()).or(&opposite);
    let of = |sign: &dyn Fn(&Number) -> Expr| {
        let own = |number: &Number| number.infinite().and(&sign(number));
        own(&x).or(&own(&y))
    };
    let plus = of(&|number| !&number.negative());
    let minus = of(&Number::negative);
    returned_specials(&mut scope, output, &nan, &plus, &minus);
    let magnitude = |number: &Number| {
        let nothing = Expr::bits(0, number.of.bits);
        number.zero().choose(&nothing, &number.significand())
    };
    let place = |number: &Number| &number.exponent() - &Expr::int(number.of.fraction as i32);
    let arguments = vec![
        x.negative(),
        magnitude(&x),
        place(&x),
        y.negative(),
        magnitude(&y),
        place(&y),
    ];
    let sum = scope.bind("sum", Expr::call(&add, arguments));
    let fields = ["negative", "magnitude", "exponent", "sticky"];
    let mut arguments: Vec<Expr> = fields.iter().map(|name| sum.field(name)).collect();
    if asks_for_zeros(output) {
        let both = x.zero().and(&y.zero()).and(&x.negative().is(&y.negative()));
        arguments.extend([both, x.negative()]);
    }
    let comment = format!("The sum of two numbers, rounded to {}.", output.format);
    let value = Expr::call(&round, arguments);
    Ok(build.function(scope.function("add", &comment, value)))
}

/// The function that rounds a number.
pub(super) fn convert(build: &mut Build, x: &Numbers, output: &Output) -> Result<Function, String> {
    let round = rounder(build, output, x.bits, Options::default())?;
    let mut scope = Scope::default();
    let x = Number::new(x, scope.parameter("x", x.ty()));
    let plus = x.infinite().and(&!&x.negative());
    returned_specials(&mut scope, output, &x.nan(), &plus, &x.infinite());
    let place = &x.exponent() - &Expr::int(x.of.fraction as i32);
    let mut arguments = vec![x.negative(), x.significand(), place];
    if asks_for_zeros(output) {
        arguments.extend([x.zero(), x.negative()]);
    }
    let comment = format!("The number, rounded to {}.", output.format);
    let value = Expr::call(&round, arguments);
    Ok(build.function(scope.function("convert", &comment, value)))
}

/// The sum of values, pair by pair or one after the other; `add` adds two and names the sum.
pub(super) fn sum_of_all(
    scope: &mut Scope,
    add: &mut dyn FnMut(&mut Scope, &Expr, &Expr, &str) -> Expr,
    mut values: Vec<Expr>,
    sequential: bool,
) -> Expr {
    let mut level = 0;
    while values.len() > 1 {
        level += 1;
        values = match sequential {
            true => {
                let sum = add(scope, &values[0], &values[1], &format!("sum{level}"));
                [vec![sum], values[2..].to_vec()].concat()
            }
            false => {
                let pairs = values.chunks(2).enumerate();
                let sums = pairs.map(|(place, two)| match two {
                    [x, y] => add(scope, x, y, &format!("sum{level}_{place}")),
                    _ => two[0].clone(),
                });
                sums.collect()
            }
        };
    }
    values.remove(0)
}
