//! Rounding to multiples of powers of two, exact sums of two numbers.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Record, Ty};
use crate::format::Rounding;
use std::rc::Rc;

/// The function that divides a magnitude by 2^drop and rounds; `drop` is not negative.
///
/// With `sticky` it takes a further truth value: whether something lies below the magnitude.
pub(super) fn shift(
    build: &mut Build,
    rounding: Rounding,
    width: u32,
    sticky: bool,
) -> Result<Function, String> {
    let mut scope = Scope::default();
    let needs_sign = matches!(
        rounding,
        Rounding::Rnu | Rounding::Rnd | Rounding::Ru | Rounding::Rd
    );
    let ty = Ty::Bits(width);
    let negative = scope.parameter("negative", Ty::Bool);
    let magnitude = scope.parameter("magnitude", ty.clone());
    let drop = scope.parameter("drop", Ty::Int);
    let below = match sticky && rounding != Rounding::Rz {
        true => scope.parameter("sticky", Ty::Bool),
        false => Expr::truth(false),
    };
    let kept = magnitude.right(&drop);
    let kept = match rounding {
        Rounding::Rz => kept,
        _ => scope.bind("kept", kept),
    };
    let one = Expr::bits(1, width);
    let lost = |scope: &mut Scope| {
        let lost = kept.left(&drop).is_not(&magnitude).or(&below);
        scope.bind("inexact", lost)
    };
    let half = |scope: &mut Scope| {
        let place = scope.bind("half_place", &drop - &Expr::int(1));
        let upper = scope.bind("upper", magnitude.right(&place));
        let half = scope.bind("half", upper.is_odd());
        let more = upper.left(&place).is_not(&magnitude).or(&below);
        (half, scope.bind("more", more))
    };
    let odd = kept.is_odd();
    let grows = match rounding {
        Rounding::Rz => Expr::truth(false),
        Rounding::Ra => lost(&mut scope),
        Rounding::Ru => lost(&mut scope).and(&!&negative),
        Rounding::Rd => lost(&mut scope).and(&negative),
        Rounding::Odd => lost(&mut scope).and(&!&odd),
        Rounding::Rna => {
            let place = &drop - &Expr::int(1);
            scope.bind("half", magnitude.right(&place).is_odd())
        }
        Rounding::Rnz => {
            let (half, more) = half(&mut scope);
            half.and(&more)
        }
        Rounding::Rne => {
            let (half, more) = half(&mut scope);
            half.and(&more.or(&odd))
        }
        Rounding::Rno => {
            let (half, more) = half(&mut scope);
            half.and(&more.or(&!&odd))
        }
        Rounding::Rnu => {
            let (half, more) = half(&mut scope);
            half.and(&more.or(&!&negative))
        }
        Rounding::Rnd => {
            let (half, more) = half(&mut scope);
            half.and(&more.or(&negative))
        }
        Rounding::Stochastic { .. } => return Err("it rounds stochastically".to_owned()),
    };
    let value = match rounding {
        Rounding::Rz => kept,
        _ => &kept + &grows.choose(&one, &Expr::bits(0, width)),
    };
    let tail = if sticky && rounding != Rounding::Rz {
        "_sticky"
    } else {
        ""
    };
    let name = format!("shift_{rounding}{tail}");
    let words = crate::dpa::rounding_words(rounding);
    let mut comment = format!("magnitude / 2^drop, rounded {words}.");
    if !tail.is_empty() {
        comment += " `sticky` says that something lies below the magnitude.";
    }
    let mut function = scope.function(&name, &comment, value);
    if !needs_sign {
        function.parameters.retain(|(name, _)| name != "negative");
    }
    Ok(build.function(function))
}

/// A call of such a function.
pub(super) fn shifted(
    function: &Function,
    negative: &Expr,
    magnitude: &Expr,
    drop: &Expr,
    sticky: &Expr,
) -> Expr {
    let argument = |(name, _): &(String, Ty)| match &**name {
        "negative" => negative.clone(),
        "magnitude" => magnitude.clone(),
        "drop" => drop.clone(),
        _ => sticky.clone(),
    };
    let arguments = function.parameters.iter().map(argument);
    Expr::call(function, arguments.collect())
}

/// The number with a sign in two's complement, one bit longer.
pub(super) fn signed(negative: &Expr, magnitude: &Expr, width: u32) -> Expr {
    let wide = magnitude.to(&Ty::Signed(width));
    negative.choose(&-&wide, &wide)
}

/// The function that brings a term to a grid: magnitude · 2^up as a signed number of so many bits, rounded
/// where `up` is negative.
pub(super) fn align(
    build: &mut Build,
    rounding: Rounding,
    from: u32,
    to: u32,
) -> Result<Function, String> {
    let round = shift(build, rounding, from, false)?;
    let wide = from.max(to);
    let mut scope = Scope::default();
    let negative = scope.parameter("negative", Ty::Bool);
    let magnitude = scope.parameter("magnitude", Ty::Bits(from));
    let up = scope.parameter("up", Ty::Int);
    let larger = magnitude.to(&Ty::Bits(wide)).left(&up);
    let smaller = shifted(&round, &negative, &magnitude, &-&up, &Expr::truth(false));
    let is_up = Expr::int(0).at_most(&up);
    let on_grid = is_up.choose(&larger, &smaller.to(&Ty::Bits(wide)));
    let on_grid = scope.bind("on_grid", on_grid.to(&Ty::Bits(to)));
    let value = signed(&negative, &on_grid, to + 1);
    let name = format!("align_{rounding}");
    let words = crate::dpa::rounding_words(rounding);
    let comment =
        format!("A term in units of the grid, rounded {words}: magnitude · 2^up with its sign.");
    Ok(build.function(scope.function(&name, &comment, value)))
}

/// An exact number: `magnitude · 2^exponent`, longer by less than any bit where it is sticky.
pub(super) fn exact(build: &mut Build, width: u32) -> Rc<Record> {
    build.record(
        &format!("exact{width}"),
        "A sum: magnitude · 2^exponent with a sign; sticky says that something lies below the last bit.",
        vec![
            ("negative", Ty::Bool),
            ("magnitude", Ty::Bits(width)),
            ("exponent", Ty::Int),
            ("sticky", Ty::Bool),
        ],
    )
}

/// The function that adds two numbers of so many bits exactly, with at least so many leading bits and one
/// that says whether there are more.
pub(super) fn add_two(build: &mut Build, x: u32, y: u32, leading: u32) -> (Function, Rc<Record>) {
    let window = x.max(y).max(leading) + 4;
    let record = exact(build, window);
    let (bits, wide) = (Ty::Bits(window), Ty::Signed(window));
    let mut scope = Scope::default();
    let names = ["x", "y"];
    let terms = names.map(|name| {
        let width = if name == "x" { x } else { y };
        let negative = scope.parameter(&format!("{name}_negative"), Ty::Bool);
        let magnitude = scope.parameter(&format!("{name}_magnitude"), Ty::Bits(width));
        let exponent = scope.parameter(&format!("{name}_exponent"), Ty::Int);
        (negative, magnitude, exponent)
    });
    scope.say("The number whose leading bit is higher moves to the top of a window.");
    let [x, y] = &terms;
    let tops = terms
        .each_ref()
        .map(|(_, magnitude, exponent)| exponent + &magnitude.length());
    let [x_top, y_top] = tops;
    let x_is_large =
        y.1.is_zero()
            .or(&x.1.is_something().and(&y_top.at_most(&x_top)));
    let x_is_large = scope.bind("x_is_large", x_is_large);
    let larger = |large: bool, scope: &mut Scope| {
        let name = if large { "large" } else { "small" };
        let (one, other) = if large { (x, y) } else { (y, x) };
        let pick = |a: &Expr, b: &Expr| x_is_large.choose(a, b);
        let negative = scope.bind(&format!("{name}_negative"), pick(&one.0, &other.0));
        let magnitude = pick(&one.1.to(&bits), &other.1.to(&bits));
        let magnitude = scope.bind(&format!("{name}_magnitude"), magnitude);
        let exponent = scope.bind(&format!("{name}_exponent"), pick(&one.2, &other.2));
        (negative, magnitude, exponent)
    };
    let large = larger(true, &mut scope);
    let small = larger(false, &mut scope);
    let room = &Expr::int(window as i32 - 2) - &large.1.length();
    let room = scope.bind("room", room);
    let exponent = scope.bind("exponent", &large.2 - &room);
    let top = scope.bind("top", large.1.left(&room));
    scope.say("The other one moves beside it; what falls below the window is remembered.");
    let down = scope.bind("down", &exponent - &small.2);
    let is_down = scope.bind("is_down", Expr::int(0).less(&down));
    let kept = is_down.choose(&small.1.right(&down), &small.1.left(&-&down));
    let kept = scope.bind("kept", kept);
    let lost = is_down.and(&kept.left(&down).is_not(&small.1));
    let sticky = scope.bind("sticky", lost);
    let same = large.0.is(&small.0);
    let zero = Expr::zero(wide.clone());
    let rest = sticky.choose(&Expr::bits(1, window), &Expr::bits(0, window));
    let top_signed = top.to(&wide);
    let kept_signed = kept.to(&wide);
    let apart = &(&top_signed - &kept_signed) - &rest.to(&wide);
    let sum = same.choose(&(&top_signed + &kept_signed), &apart);
    let sum = scope.bind("sum", sum);
    let negative = large.0.is_not(&sum.less(&zero));
    let value = Expr::made(&record, vec![negative, sum.magnitude(), exponent, sticky]);
    let comment = "The exact sum of two numbers, magnitude · 2^exponent each.";
    let function = scope.function("add_exactly", comment, value);
    (build.function(function), record)
}
