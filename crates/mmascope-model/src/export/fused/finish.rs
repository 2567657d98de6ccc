//! Finishes an exact sum: bits that remember a loss, F2 bits, the result's format.

use crate::dpa::{Fused, Output, Sticky};
use crate::exact::Rounding;
use crate::export::build::{Build, Scope};
use crate::export::ir::{Expr, Function, Node, Ty};
use crate::export::result::{Options, asks_for_zeros, rounder};
use crate::export::rounding::{exact, shift, shifted};

/// An exact sum before it becomes a result.
pub(super) struct Total {
    pub(super) negative: Expr,
    pub(super) magnitude: Expr,
    pub(super) place: Expr,
    pub(super) sticky: Expr,
    pub(super) bits: u32,
}

/// What a sum becomes: the bits that remember a loss, F2 bits, the result's format.
pub(super) fn finish(
    build: &mut Build,
    scope: &mut Scope,
    step: &Fused,
    total: Total,
    lost: &Expr,
    output: &Output,
    zeros: &Option<[Expr; 2]>,
) -> Result<Expr, String> {
    let Total {
        negative,
        mut magnitude,
        mut place,
        mut sticky,
        mut bits,
    } = total;
    match step.sticky {
        Sticky::None => {}
        Sticky::Kept => sticky = sticky.or(&lost.and(&magnitude.is_something())),
        Sticky::Bit(below) => {
            let wide = Ty::Bits(bits + below);
            let longer = magnitude.to(&wide).left(&Expr::int(below as i32));
            let one = lost.and(&magnitude.is_something());
            let one = one.choose(&Expr::bits(1, bits + below), &Expr::zero(wide));
            magnitude = scope.bind("longer", &longer + &one);
            place = scope.bind("longer_place", &place - &Expr::int(below as i32));
            bits += below;
        }
    }
    let mut has_sticky = !matches!(*sticky.node, Node::Truth(false));
    if let Some(f2) = step.f2 {
        if bits > 128 {
            return Err(format!("it rounds a sum of {bits} bits to F2={f2} bits"));
        }
        let narrow = narrow(build, step.floor, (bits, has_sticky), f2 as i32, output)?;
        let mut arguments = vec![negative.clone(), magnitude, place];
        if has_sticky {
            arguments.push(sticky);
        }
        let name = match scope.has("kept_sum") {
            true => "kept_far_sum",
            false => "kept_sum",
        };
        let rounded = scope.bind(name, Expr::call(&narrow, arguments));
        magnitude = rounded.field("magnitude");
        place = rounded.field("exponent");
        sticky = rounded.field("sticky");
        bits = bits.max(f2 + 3);
        has_sticky = false;
    }
    let options = Options {
        sticky: has_sticky,
        flush: None,
    };
    let round = rounder(build, output, bits, options)?;
    let mut arguments = vec![negative, magnitude, place];
    if has_sticky {
        arguments.push(sticky);
    }
    if let Some(zeros) = zeros {
        arguments.extend(zeros.clone());
    }
    debug_assert!(asks_for_zeros(output) == zeros.is_some());
    Ok(Expr::call(&round, arguments))
}

/// The function that rounds a sum to F2 bits of its own exponent.
fn narrow(
    build: &mut Build,
    rounding: Rounding,
    (bits, has_sticky): (u32, bool),
    f2: i32,
    output: &Output,
) -> Result<Function, String> {
    let wide = bits.max(f2 as u32 + 3);
    let record = exact(build, wide);
    let round = shift(build, rounding, wide, has_sticky)?;
    let f2_const = build.constant("F2", f2, "fraction bits kept of the sum");
    let smallest = output.format.float().map_or(0, |float| float.emin());
    let mut scope = Scope::default();
    let negative = scope.parameter("negative", Ty::Bool);
    let magnitude = scope.parameter("magnitude", Ty::Bits(bits));
    let place = scope.parameter("place", Ty::Int);
    let sticky = match has_sticky {
        true => scope.parameter("sticky", Ty::Bool),
        false => Expr::truth(false),
    };
    let magnitude = magnitude.to(&Ty::Bits(wide));
    let top = &(&place + &magnitude.length()) - &Expr::int(1);
    let top = scope.bind("top", top.larger(&Expr::int(smallest)));
    let grid = scope.bind("grid", &top - &f2_const);
    let drop = scope.bind("drop", &grid - &place);
    let none = Expr::int(0);
    let is_coarser = none.less(&drop);
    let nothing = magnitude.is_zero();
    let value = if has_sticky {
        // A sum that ends above the grid, and is longer by less than any bit, is rounded at the grid too.
        let up = (&Expr::int(1) - &drop).larger(&none);
        let up = scope.bind("up", up);
        let moved = scope.bind("moved", magnitude.left(&up));
        let drop = scope.bind("moved_drop", &drop + &up);
        let kept = shifted(&round, &negative, &moved, &drop, &sticky);
        let changes = scope.bind("changes", is_coarser.or(&sticky).and(&!&nothing));
        let magnitude = changes.choose(&kept, &magnitude);
        let place = changes.choose(&grid, &place);
        Expr::made(
            &record,
            vec![negative, magnitude, place, Expr::truth(false)],
        )
    } else {
        let kept = shifted(&round, &negative, &magnitude, &drop, &sticky);
        let changes = scope.bind("changes", is_coarser.and(&!&nothing));
        let magnitude = changes.choose(&kept, &magnitude);
        let place = changes.choose(&grid, &place);
        Expr::made(
            &record,
            vec![negative, magnitude, place, Expr::truth(false)],
        )
    };
    let comment = "The sum, rounded to F2 bits below its leading bit where it has more.";
    Ok(build.function(scope.function("keep", comment, value)))
}
