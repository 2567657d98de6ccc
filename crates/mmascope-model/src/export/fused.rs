//! Blocks of fused sums: special values, groups, alignment, the sum, its result.

mod finish;
mod groups;

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use super::numbers::{Number, Numbers};
use super::result::{asks_for_zeros, leading};
use super::rounding::{add_two, align, shift, shifted, signed};
use super::terms::{Shape, value};
use crate::dpa::{Fused, Invalid, Output, Sticky};
use crate::exact::Rounding;
use finish::{Total, finish};
use groups::{grouped, joined};

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
pub(super) fn carry(count: usize) -> u32 {
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
    if !step.c_outside_alignment {
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
    let is_far = match step.c_outside_alignment {
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
    if !step.c_outside_alignment {
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
