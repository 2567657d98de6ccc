//! Sums before the sum: groups of products, and what is joined before c.

use std::rc::Rc;

use super::{Items, LOWEST, carry, largest, sum_on_grid, terms_type};
use crate::dpa::{GroupExponent, Groups};
use crate::exact::Rounding;
use crate::export::build::{Build, Scope};
use crate::export::ir::{Expr, Function, Record, Ty};
use crate::export::terms::{Shape, record};

/// The sums of groups, as terms.
pub(super) fn grouped(
    build: &mut Build,
    scope: &mut Scope,
    groups: &Groups,
    items: &Items,
    places: usize,
) -> Result<Items, String> {
    let g = groups.g as usize;
    let whole = places.div_ceil(g);
    let count = match groups.strided {
        true => whole,
        false => items.count.div_ceil(g),
    };
    let each = match groups.strided {
        true => places.div_ceil(whole),
        false => g.min(items.count),
    };
    let (function, shape) = group(build, groups, &items.shape, each)?;
    let ty = items.shape.ty();
    // Places behind the last term are empty.
    let padded = count * each;
    let source = if padded == items.count {
        items.name.clone()
    } else {
        scope.array("places", &ty, padded);
        let empty = empty(&items.shape);
        scope.each("i", padded, |scope, i| scope.put("places", i, empty));
        if items.count == 1 {
            let only = Expr::name(&items.name, ty.clone());
            scope.put("places", &Expr::int(0), only);
        } else {
            scope.each("i", items.count, |scope, i| {
                scope.put("places", i, Expr::element(&items.name, &ty, i));
            });
        }
        "places".to_owned()
    };
    scope.say("Groups are summed by themselves first.");
    if count > 1 {
        scope.array("sums", &shape.ty(), count);
    }
    let member = |j: &Expr, i: &Expr| match groups.strided {
        true => &Expr::times(i, whole) + j,
        false => &Expr::times(j, each) + i,
    };
    let one = |scope: &mut Scope, j: &Expr| {
        let terms = match (padded, each) {
            (1, _) => Expr::name(&source, ty.clone()),
            (_, 1) => scope.bind(
                "own",
                Expr::element(&source, &ty, &member(j, &Expr::int(0))),
            ),
            _ => {
                let own = scope.array("own", &ty, each);
                scope.each("i", each, |scope, i| {
                    scope.put("own", i, Expr::element(&source, &ty, &member(j, i)));
                });
                own
            }
        };
        Expr::call(&function, vec![terms])
    };
    if count > 1 {
        scope.each("j", count, |scope, j| {
            let sum = one(scope, j);
            scope.put("sums", j, sum);
        });
    } else {
        let sum = one(scope, &Expr::int(0));
        scope.named("sums", sum);
    }
    Ok(Items {
        name: "sums".to_owned(),
        count,
        shape,
    })
}

/// A term that takes no part.
fn empty(shape: &Shape) -> Expr {
    let no = Expr::truth(false);
    let fields = vec![
        no.clone(),
        no.clone(),
        Expr::truth(true),
        no.clone(),
        no,
        Expr::int(0),
        Expr::int(0),
        Expr::bits(0, shape.bits),
    ];
    Expr::made(&shape.record, fields)
}

/// A sum as a term.
fn sum_term(
    build: &mut Build,
    sum: &Expr,
    present: Expr,
    exponent: Expr,
    place: Expr,
) -> (Expr, Rc<Record>) {
    let magnitude = sum.magnitude();
    let Ty::Bits(bits) = magnitude.ty else {
        return (magnitude, record(build, 1));
    };
    let record = record(build, bits);
    let no = Expr::truth(false);
    let negative = sum.less(&Expr::zero(sum.ty.clone()));
    let fields = vec![
        no.clone(),
        no.clone(),
        no,
        negative,
        present,
        exponent,
        place,
        magnitude,
    ];
    (Expr::made(&record, fields), record)
}

/// The function that sums a group of terms.
fn group(
    build: &mut Build,
    groups: &Groups,
    shape: &Shape,
    count: usize,
) -> Result<(Function, Shape), String> {
    let mut scope = Scope::default();
    scope.parameter("terms", terms_type(shape, count));
    let items = Items {
        name: "terms".to_owned(),
        count,
        shape: shape.clone(),
    };
    let mut present = scope.variable("present", Expr::truth(false));
    items.each(&mut scope, |scope, term| {
        scope.set("present", present.or(&term.field("present")));
    });
    let exponent = largest(&mut scope, "exponent", &items, Expr::int(LOWEST));
    let exponent = present.choose(&exponent, &Expr::int(0));
    let exponent = scope.bind("largest", exponent);
    let by_scales = groups.exponent == GroupExponent::Scales;
    let more = carry(count);
    let (sum, place, mut above) = match groups.f {
        Some(f) => {
            let grid = scope.bind("grid", &exponent - &Expr::int(f as i32));
            let bits = f + shape.above + 1;
            let on_grid = (bits, groups.align);
            let (sum, _) = sum_on_grid(build, &mut scope, "sum", &items, &grid, on_grid)?;
            (sum, grid, shape.above + 1 + more)
        }
        None => {
            // With scales, places are those of the scales and a few fixed ones.
            let lowest = shape.low - shape.scale_fraction as i32;
            let grid = match by_scales {
                true => &exponent + &Expr::int(lowest),
                false => Expr::int(shape.low),
            };
            let grid = scope.bind("grid", grid);
            let bits = (shape.high - lowest) as u32 + shape.scale_above;
            let (sum, _) = sum_on_grid(
                build,
                &mut scope,
                "sum",
                &items,
                &grid,
                (bits, Rounding::Rz),
            )?;
            (sum, grid, shape.above + more)
        }
    };
    if by_scales {
        above = shape.high.max(0) as u32 + shape.scale_above + more + 1;
    }
    if groups.drops_zero {
        present = present.and(&sum.is_something());
    }
    let exponent = match groups.exponent {
        GroupExponent::Own => {
            present = present.and(&sum.is_something());
            above = 1;
            let length = scope.bind("length", sum.magnitude().length());
            &(&place + &length) - &Expr::int(1)
        }
        _ => exponent,
    };
    let (value, record) = sum_term(build, &sum, present, exponent, place);
    let bits = value_bits(&sum);
    let low = match groups.f {
        Some(f) => shape.least - f as i32,
        None => shape.low,
    };
    let least = match groups.exponent {
        GroupExponent::Own => low,
        _ => shape.least,
    };
    let shape = Shape {
        record,
        bits,
        above,
        low,
        least,
        high: shape.high + more as i32 + 1,
        scale_fraction: 0,
        scale_above: 0,
    };
    let comment = "The sum of a group of terms.";
    let function = scope.function("group_sum", comment, value);
    Ok((build.function(function), shape))
}

fn value_bits(sum: &Expr) -> u32 {
    match sum.ty {
        Ty::Signed(width) => width,
        _ => 0,
    }
}

/// All terms on one grid below the largest exponent, as one term.
pub(super) fn joined(
    build: &mut Build,
    scope: &mut Scope,
    (f, rounding): (u32, Rounding),
    items: &Items,
) -> Result<Items, String> {
    scope.say("The sums are joined on a grid below the largest exponent, before c.");
    let mut any = Expr::truth(false);
    if items.count == 1 {
        items.each(scope, |_, term| any = term.field("present"));
    } else {
        any = scope.variable("any_present", any);
        items.each(scope, |scope, term| {
            scope.set("any_present", any.or(&term.field("present")));
        });
    }
    let exponent = largest(scope, "joined_exponent", items, Expr::int(LOWEST));
    let grid = scope.bind("joined_grid", &exponent - &Expr::int(f as i32));
    let bits = f + items.shape.above + 1;
    let (sum, width) = sum_on_grid(build, scope, "joined_sum", items, &grid, (bits, rounding))?;
    let (term, record) = sum_term(build, &sum, any, exponent, grid);
    scope.named("joined", term);
    let more = carry(items.count) as i32 + 1;
    Ok(Items {
        name: "joined".to_owned(),
        count: 1,
        shape: Shape {
            record,
            bits: width,
            above: items.shape.above + more as u32,
            low: items.shape.least - f as i32,
            least: items.shape.least,
            high: items.shape.high + more,
            scale_fraction: 0,
            scale_above: 0,
        },
    })
}
