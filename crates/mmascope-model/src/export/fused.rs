//! Blocks of fused sums: special values, groups, alignment, the sum, its result.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use super::numbers::{Number, Numbers};
use super::result::{self, Options, asks_for_zeros, leading, rounder};
use super::rounding::{add_two, align, exact, shift, shifted, signed};
use super::terms::{Shape, record, value};
use crate::dpa::{Fused, GroupExponent, Groups, Invalid, Output, Sticky};
use crate::exact::Rounding;

/// An exponent below every one that occurs: that of a sum without terms.
const LOWEST: i32 = -16_000;

/// The terms of a block: how many products or groups, and what they are.
#[derive(Clone)]
struct Items {
    name: String,
    count: usize,
    shape: Shape,
}

impl Items {
    /// Does something with each term.
    fn each(&self, scope: &mut Scope, mut action: impl FnMut(&mut Scope, &Expr)) {
        let ty = self.shape.ty();
        if self.count == 1 {
            return action(scope, &Expr::name(&self.name, ty));
        }
        let name = match &*self.name {
            "terms" => "term",
            _ => "part",
        };
        scope.each("i", self.count, |scope, i| {
            let term = scope.bind(name, Expr::element(&self.name, &ty, i));
            action(scope, &term);
        });
    }
}

/// Bits that a count of terms adds to a sum.
fn carry(count: usize) -> u32 {
    count.next_power_of_two().ilog2()
}

/// The type of a block's terms: an array, or one term.
pub(super) fn terms_type(shape: &Shape, count: usize) -> Ty {
    match count {
        1 => shape.ty(),
        _ => Ty::Array(std::rc::Rc::new(shape.ty()), count),
    }
}

/// The function of a block of so many terms, `products` of them products: from terms and c to a word.
pub(super) fn block(
    build: &mut Build,
    step: &Fused,
    shape: &Shape,
    count: usize,
    products: usize,
    c: &Numbers,
    output: &Output,
) -> Result<Function, String> {
    let mut scope = Scope::default();
    scope.parameter("terms", terms_type(shape, count));
    let c = Number::new(c, scope.parameter("c", c.ty()));
    let mut items = Items {
        name: "terms".to_owned(),
        count,
        shape: shape.clone(),
    };
    specials(&mut scope, step, &items, &c, output);
    let zeros = zeros(&mut scope, &items, &c, output);
    // Exact sums in an exact sum are one.
    let is_one = step.f.is_none() && step.join.is_none();
    if let Some(groups) = step.groups.filter(|groups| !is_one || groups.f.is_some()) {
        let places = match products == count {
            true => count.max(step.l as usize),
            false => count,
        };
        items = grouped(build, &mut scope, &groups, &items, places)?;
    }
    if let Some((f, rounding)) = step.join {
        items = joined(build, &mut scope, (f, rounding), &items)?;
    }
    let value = match (step.f, step.f_c) {
        (Some(f), Some(f_c)) => {
            aligned(build, &mut scope, step, (f, f_c), &items, &c, output, zeros)?
        }
        _ => exactly(build, &mut scope, step, &items, &c, output, zeros)?,
    };
    let comment = match count {
        1 => "One product and c, summed.".to_owned(),
        _ => format!("{count} terms and c, summed."),
    };
    Ok(build.function(scope.function("block", &comment, value)))
}

/// A word of an output.
fn word(output: &Output, word: u64) -> Expr {
    Expr::bits(word, output.format.container().register.bits)
}

fn specials(scope: &mut Scope, step: &Fused, items: &Items, c: &Number, output: &Output) {
    scope.say("NaN and infinities are decided before any sum.");
    let plus_of = |x: &Expr| x.field("infinite").and(&!&x.field("negative"));
    let minus_of = |x: &Expr| x.field("infinite").and(&x.field("negative"));
    let nan = scope.variable("any_nan", c.nan());
    let plus = scope.variable("any_plus", plus_of(&c.expr));
    let minus = scope.variable("any_minus", minus_of(&c.expr));
    items.each(scope, |scope, term| {
        scope.set("any_nan", nan.or(&term.field("nan")));
        scope.set("any_plus", plus.or(&plus_of(term)));
        scope.set("any_minus", minus.or(&minus_of(term)));
    });
    let opposite = match step.specials.opposite {
        Invalid::Plus => word(output, output.infinity_word(false)),
        Invalid::Minus => word(output, output.infinity_word(true)),
        _ => word(output, output.nan_word()),
    };
    let not_a_number = word(output, output.nan_word());
    scope.return_if(&nan, not_a_number);
    scope.return_if(&plus.and(&minus), opposite);
    scope.return_if(&plus, word(output, output.infinity_word(false)));
    scope.return_if(&minus, word(output, output.infinity_word(true)));
}

/// Whether all terms are zeros of c's sign, where the result asks.
fn zeros(scope: &mut Scope, items: &Items, c: &Number, output: &Output) -> Option<[Expr; 2]> {
    if !asks_for_zeros(output) {
        return None;
    }
    let all = scope.variable("all_zeros", c.zero());
    let sign = scope.bind("c_negative", c.negative());
    items.each(scope, |scope, term| {
        let same = term.field("negative").is(&sign);
        scope.set("all_zeros", all.and(&term.field("zero")).and(&same));
    });
    Some([all, sign])
}

/// The largest exponent of terms that are present.
fn largest(scope: &mut Scope, name: &str, items: &Items, floor: Expr) -> Expr {
    let largest = scope.variable(name, floor);
    items.each(scope, |scope, term| {
        let more = largest.larger(&term.field("exponent"));
        scope.set(name, term.field("present").choose(&more, &largest));
    });
    largest
}

/// The sum of terms on a grid.
fn sum_on_grid(
    build: &mut Build,
    scope: &mut Scope,
    name: &str,
    items: &Items,
    grid: &Expr,
    (bits, rounding): (u32, Rounding),
) -> Result<(Expr, u32), String> {
    let align = align(build, rounding, items.shape.bits, bits)?;
    let width = bits + 1 + carry(items.count);
    let sum = scope.variable(name, Expr::zero(Ty::Signed(width)));
    items.each(scope, |scope, term| {
        let none = Expr::bits(0, items.shape.bits);
        let magnitude = term
            .field("present")
            .choose(&term.field("magnitude"), &none);
        let up = &term.field("place") - grid;
        let own = Expr::call(&align, vec![term.field("negative"), magnitude, up]);
        scope.set(name, &sum + &own.to(&Ty::Signed(width)));
    });
    Ok((sum, width))
}

/// The sums of groups, as terms.
fn grouped(
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
) -> (Expr, std::rc::Rc<super::ir::Record>) {
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
fn joined(
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

/// Sums on a grid of F bits below the largest exponent.
#[allow(clippy::too_many_arguments)]
fn aligned(
    build: &mut Build,
    scope: &mut Scope,
    step: &Fused,
    (f, f_c): (u32, u32),
    items: &Items,
    c: &Number,
    output: &Output,
    zeros: Option<[Expr; 2]>,
) -> Result<Expr, String> {
    let (f_name, comment) = ("F", "fraction bits kept in the alignment");
    let f_const = build.constant(f_name, f as i32, comment);
    let f_c_const = match f_c == f {
        true => f_const.clone(),
        false => build.constant("FC", f_c as i32, "fraction bits of c in the alignment"),
    };
    let floor = match step.e0 {
        Some(e0) => build.constant("E0", e0, "floor of the alignment exponent"),
        None => Expr::int(LOWEST),
    };
    scope.say("The largest exponent, to which all terms are aligned.");
    let exponent = largest(scope, "e", items, floor);
    let c_present = (!&c.zero()).and(&!&c.nan()).and(&!&c.infinite());
    let c_present = scope.bind("c_present", c_present);
    if !step.apart {
        let more = exponent.larger(&c.exponent());
        scope.set("e", c_present.choose(&more, &exponent));
    }
    let grid = scope.bind("grid", &exponent - &f_const);
    let c_grid = match f == f_c {
        true => grid.clone(),
        false => scope.bind("c_grid", &exponent - &f_c_const),
    };
    scope.say("Each term on the grid; their sum is exact.");
    let bits = f + items.shape.above + 1;
    let on_grid = (bits, step.align);
    let (sum, width) = sum_on_grid(build, scope, "sum", items, &grid, on_grid)?;
    let fine = f.max(f_c);
    let total_width = width.max(f_c + c.of.above() + 3) + (fine - f).max(fine - f_c) + 2;
    let wide = Ty::Signed(total_width);
    let mut own = c_present.clone();
    if let Some(far) = step.drop_c {
        scope.say("A c far below counts as 0.");
        let near = (&exponent - &Expr::int(far as i32)).at_most(&c.exponent());
        own = scope.bind("c_counts", own.and(&near));
    }
    let c_place = &c.exponent() - &Expr::int(c.of.fraction as i32);
    let c_place = scope.bind("c_place", c_place);
    let none = Expr::bits(0, c.of.bits);
    let c_magnitude = scope.bind("c_magnitude", own.choose(&c.significand(), &none));
    let is_far = match step.apart {
        true => scope.bind("c_is_above", own.and(&exponent.less(&c.exponent()))),
        false => Expr::truth(false),
    };
    let near = is_far.choose(&none, &c_magnitude);
    let align_c = align(build, step.align_c, c.of.bits, f_c + c.of.above() + 1)?;
    let up = &c_place - &c_grid;
    let c_units = Expr::call(&align_c, vec![c.negative(), near, up]);
    let finer = |units: Expr, by: u32| units.to(&wide).left(&Expr::int(by as i32));
    let total = &finer(sum.clone(), fine - f) + &finer(c_units, fine - f_c);
    let total = scope.bind("total", total);
    let place = match f >= f_c {
        true => grid.clone(),
        false => c_grid.clone(),
    };
    let lost = match step.sticky {
        Sticky::None => Expr::truth(false),
        _ => {
            scope.say("Whether something fell off below the grid.");
            let lost = scope.variable("lost", Expr::truth(false));
            items.each(scope, |scope, term| {
                let down = grid_below(&term.field("magnitude"), &(&grid - &term.field("place")));
                let down = term.field("present").and(&down);
                scope.set("lost", lost.or(&down));
            });
            let down = &c_grid - &c_place;
            let of_c = grid_below(&c_magnitude, &down);
            scope.bind("any_lost", lost.or(&of_c))
        }
    };
    let negative = total.less(&Expr::zero(wide.clone()));
    let negative = scope.bind("negative", negative);
    let magnitude = scope.bind("magnitude", total.magnitude());
    let exact = Total {
        negative,
        magnitude,
        place,
        sticky: Expr::truth(false),
        bits: total_width,
    };
    let near = finish(build, scope, step, exact, &lost, output, &zeros)?;
    if !step.apart {
        return Ok(near);
    }
    // c may lie so far above that the products are only a remainder.
    let near = scope.bind("near", near);
    let fine_bits = f_c + c.of.above() + 1;
    let keeps = match step.align_c {
        Rounding::Rz => c.of.bits,
        _ => c.of.bits + 1,
    };
    let round = shift(build, step.align_c, c.of.bits, false)?;
    let down = scope.bind("c_down", &c_grid - &c_place);
    let is_down = Expr::int(0).less(&down);
    let dropped = shifted(
        &round,
        &c.negative(),
        &c_magnitude,
        &down,
        &Expr::truth(false),
    );
    let far = is_down.choose(&dropped, &c_magnitude).to(&Ty::Bits(keeps));
    let far_place = is_down.choose(&c_grid, &c_place);
    let leading = leading(output)
        .max(step.f2.unwrap_or(0) + 4)
        .max(fine_bits.min(80));
    let (add, record) = add_two(build, width, keeps, leading);
    let sum_negative = sum.less(&Expr::zero(Ty::Signed(width)));
    let arguments = vec![
        sum_negative,
        sum.magnitude(),
        grid,
        c.negative(),
        far,
        far_place,
    ];
    let both = scope.bind("both", Expr::call(&add, arguments));
    let bits = match record.field("magnitude") {
        Some(Ty::Bits(bits)) => *bits,
        _ => 0,
    };
    let exact = Total {
        negative: both.field("negative"),
        magnitude: both.field("magnitude"),
        place: both.field("exponent"),
        sticky: both.field("sticky"),
        bits,
    };
    if let Sticky::Bit(_) = step.sticky {
        return Err("it has grid=products and a sticky bit below the grid".to_owned());
    }
    let far = finish(build, scope, step, exact, &lost, output, &zeros)?;
    Ok(is_far.choose(&far, &near))
}

/// Whether a magnitude has bits below so many places.
fn grid_below(magnitude: &Expr, down: &Expr) -> Expr {
    let kept = magnitude.right(down).left(down);
    Expr::int(0).less(down).and(&kept.is_not(magnitude))
}

/// An exact sum before it becomes a result.
struct Total {
    negative: Expr,
    magnitude: Expr,
    place: Expr,
    sticky: Expr,
    bits: u32,
}

/// An exact sum of everything.
fn exactly(
    build: &mut Build,
    scope: &mut Scope,
    step: &Fused,
    items: &Items,
    c: &Number,
    output: &Output,
    zeros: Option<[Expr; 2]>,
) -> Result<Expr, String> {
    let (to_term, c_shape) = value(build, &c.of, c.of.bits);
    let c_term = scope.bind("c_term", Expr::call(&to_term, vec![c.expr.clone()]));
    let none = Expr::bits(0, c.of.bits);
    let c_magnitude = c_term
        .field("present")
        .choose(&c_term.field("magnitude"), &none);
    let total = if items.count == 1 {
        let leading = leading(output).max(step.f2.unwrap_or(0) + 4);
        let (add, record) = add_two(build, items.shape.bits, c.of.bits, leading);
        let term = Expr::name(&items.name, items.shape.ty());
        let nothing = Expr::bits(0, items.shape.bits);
        let magnitude = term
            .field("present")
            .choose(&term.field("magnitude"), &nothing);
        let arguments = vec![
            term.field("negative"),
            magnitude,
            term.field("place"),
            c_term.field("negative"),
            c_magnitude,
            c_term.field("place"),
        ];
        let sum = scope.bind("sum", Expr::call(&add, arguments));
        let bits = match record.field("magnitude") {
            Some(Ty::Bits(bits)) => *bits,
            _ => 0,
        };
        Total {
            negative: sum.field("negative"),
            magnitude: sum.field("magnitude"),
            place: sum.field("exponent"),
            sticky: sum.field("sticky"),
            bits,
        }
    } else {
        scope.say("Every number that occurs is a whole multiple of 2^PLACE, so the sum is exact.");
        let low = items.shape.low.min(c_shape.low);
        let high = items.shape.high.max(c_shape.high);
        let place = build.constant("PLACE", low, "the last place of an exact sum");
        let bits = (high - low) as u32;
        let width = bits + 2 + carry(items.count + 1);
        let unit = |negative: Expr, magnitude: Expr, own: &Expr| {
            let magnitude = magnitude.to(&Ty::Bits(bits)).left(&(own - &place));
            signed(&negative, &magnitude, width)
        };
        let c_units = unit(
            c_term.field("negative"),
            c_magnitude,
            &c_term.field("place"),
        );
        let sum = scope.variable("sum", c_units);
        items.each(scope, |scope, term| {
            let nothing = Expr::bits(0, items.shape.bits);
            let magnitude = term
                .field("present")
                .choose(&term.field("magnitude"), &nothing);
            let own = unit(term.field("negative"), magnitude, &term.field("place"));
            scope.set("sum", &sum + &own);
        });
        let negative = sum.less(&Expr::zero(Ty::Signed(width)));
        Total {
            negative: scope.bind("negative", negative),
            magnitude: scope.bind("magnitude", sum.magnitude()),
            place,
            sticky: Expr::truth(false),
            bits: width,
        }
    };
    finish(
        build,
        scope,
        step,
        total,
        &Expr::truth(false),
        output,
        &zeros,
    )
}

/// What a sum becomes: the bits that remember a loss, F2 bits, the result's format.
fn finish(
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
    let mut has_sticky = !matches!(*sticky.node, super::ir::Node::Truth(false));
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
    debug_assert!(result::asks_for_zeros(output) == zeros.is_some());
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
