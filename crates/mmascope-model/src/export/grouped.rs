//! Blocks of sums on two grids: groups of terms on their own, then groups and c on a common one. Every code is a number.

use super::build::{Build, Scope};
use super::fused::carry;
use super::ir::{Expr, Function, Ty};
use super::numbers::{Number, Numbers};
use super::result::{Options, asks_for_zeros, rounder};
use super::rounding::{align, shift, shifted, signed};
use super::terms::record;
use crate::dpa::{Addends, GrFdpa, Output, TakenBits};
use crate::exact::Rounding;

/// Terms of one kind: their record, and what is known without their values.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) ty: Ty,
    /// Bits of the magnitude.
    bits: u32,
    /// A term is below 2^(exponent + above).
    above: u32,
}

impl Terms {
    fn new(build: &mut Build, bits: u32, above: u32) -> Self {
        let ty = Ty::Record(record(build, bits));
        Self { ty, bits, above }
    }

    /// A term: sign, magnitude, exponent and the place of its last bit.
    fn made(&self, negative: &Expr, magnitude: &Expr, exponent: &Expr, place: &Expr) -> Expr {
        let no = Expr::truth(false);
        let fields = vec![
            no.clone(),
            no.clone(),
            magnitude.is_zero(),
            negative.clone(),
            Expr::truth(true),
            exponent.clone(),
            place.clone(),
            magnitude.clone(),
        ];
        match self.ty.record() {
            Some(record) => Expr::made(record, fields),
            None => no,
        }
    }
}

/// Whether the unit takes a number for zero: its hidden bit is 0.
fn is_zero(x: &Number) -> Expr {
    x.significand()
        .less(&Expr::bits(1 << x.of.fraction, x.of.bits))
}

fn floor(build: &mut Build, step: &GrFdpa) -> Expr {
    build.constant(
        "E0",
        step.e0,
        "at or below this exponent everything is zero",
    )
}

/// The exponent of zeros.
fn of_zero(build: &mut Build, step: &GrFdpa) -> Expr {
    match step.e_z {
        None => floor(build, step),
        Some(_) => build.constant("EZ", step.zero_exponent(), "the exponent of a zero term"),
    }
}

/// The part of a significand that the multiplier takes, and the places that it has behind its first one.
fn taken(x: &Number, part: TakenBits) -> (Expr, u32) {
    let fraction = x.of.fraction;
    let last = part.last.unwrap_or(fraction).min(fraction);
    if last < part.first {
        return (Expr::bits(0, 1), 0);
    }
    let places = last - part.first;
    let moved = x.significand().right(&Expr::int((fraction - last) as i32));
    let ones = Expr::bits(u64::MAX >> (63 - places), x.of.bits);
    (moved.of_bits(&ones).to(&Ty::Bits(places + 1)), places)
}

/// The function of a product.
pub(super) fn product(
    build: &mut Build,
    step: &GrFdpa,
    a: &Numbers,
    b: &Numbers,
) -> (Function, Terms) {
    let of_zero = of_zero(build, step);
    let mut scope = Scope::default();
    let a = Number::new(a, scope.parameter("a", a.ty()));
    let b = Number::new(b, scope.parameter("b", b.ty()));
    let zero = scope.bind("is_zero", is_zero(&a).or(&is_zero(&b)));
    let ((own_a, places_a), (own_b, places_b)) = (taken(&a, step.a), taken(&b, step.b));
    let bits = places_a + places_b + 2;
    let terms = Terms::new(build, bits, 2);
    let ty = Ty::Bits(bits);
    let magnitude = scope.bind("magnitude", &own_a.to(&ty) * &own_b.to(&ty));
    let below = Expr::int((step.a.first + step.b.first) as i32);
    let exponent = &(&a.exponent() + &b.exponent()) - &below;
    let exponent = scope.bind("e", zero.choose(&of_zero, &exponent));
    let magnitude = zero.choose(&Expr::bits(0, bits), &magnitude);
    let place = &exponent - &Expr::int((places_a + places_b) as i32);
    let negative = a.negative().is_not(&b.negative());
    let value = terms.made(&negative, &magnitude, &exponent, &place);
    let comment = "The exact product of the parts that the multiplier takes; it is not normalised.";
    let function = scope.function("product", comment, value);
    (build.function(function), terms)
}

/// The functions of terms that are operands themselves.
pub(super) fn addends(
    build: &mut Build,
    step: &GrFdpa,
    a: &Numbers,
    b: &Numbers,
) -> ([Function; 2], Terms) {
    let of_zero = of_zero(build, step);
    let bits = a.bits.max(b.bits);
    let terms = Terms::new(build, bits, 1);
    let mut own = |name: &str, of: &Numbers, negated: bool| {
        let mut scope = Scope::default();
        let x = Number::new(of, scope.parameter("x", of.ty()));
        let zero = scope.bind("is_zero", is_zero(&x));
        let significand = x.significand().to(&Ty::Bits(bits));
        let magnitude = zero.choose(&Expr::bits(0, bits), &significand);
        let exponent = scope.bind("e", zero.choose(&of_zero, &x.exponent()));
        let place = &exponent - &Expr::int(of.fraction as i32);
        let negative = match negated {
            true => !&x.negative(),
            false => x.negative(),
        };
        let value = terms.made(&negative, &magnitude, &exponent, &place);
        let function = scope.function(name, "An operand as a term of the sum.", value);
        build.function(function)
    };
    let is_difference = step.terms == Addends::Difference;
    let functions = [own("addend", a, false), own("addend", b, is_difference)];
    (functions, terms)
}

/// The largest exponent of terms.
fn largest(scope: &mut Scope, name: &str, items: &(String, Terms, usize), from: Expr) -> Expr {
    let (array, terms, count) = items;
    let largest = scope.variable(name, from);
    each(scope, array, terms, *count, |scope, term| {
        scope.set(name, largest.larger(&term.field("exponent")));
    });
    largest
}

/// Does something with each term of an array, or with one term.
fn each(
    scope: &mut Scope,
    array: &str,
    terms: &Terms,
    count: usize,
    mut action: impl FnMut(&mut Scope, &Expr),
) {
    if count == 1 {
        return action(scope, &Expr::name(array, terms.ty.clone()));
    }
    let name = array.strip_suffix('s').unwrap_or(array);
    scope.each("i", count, |scope, i| {
        let term = scope.bind(name, Expr::element(array, &terms.ty, i));
        action(scope, &term);
    });
}

/// The type of so many terms.
fn ty_of(terms: &Terms, count: usize) -> Ty {
    match count {
        1 => terms.ty.clone(),
        _ => Ty::Array(std::rc::Rc::new(terms.ty.clone()), count),
    }
}

/// The function of a group of so many terms.
fn group(
    build: &mut Build,
    step: &GrFdpa,
    terms: &Terms,
    count: usize,
) -> Result<(Function, Terms), String> {
    let floor = floor(build, step);
    let f_g = build.constant("FG", step.f_g as i32, "fraction bits of a group's grid");
    let bits = step.f_g + terms.above + 1;
    let align = align(build, step.align_g, terms.bits, bits)?;
    let width = bits + 1 + carry(count);
    let sums = Terms::new(build, width, terms.above + carry(count) + 1);
    let mut scope = Scope::default();
    scope.parameter("terms", ty_of(terms, count));
    let items = ("terms".to_owned(), terms.clone(), count);
    let exponent = match count {
        1 => scope.bind("e", Expr::name("terms", terms.ty.clone()).field("exponent")),
        _ => {
            let first = Expr::element("terms", &terms.ty, &Expr::int(0));
            let first = scope.bind("first", first).field("exponent");
            largest(&mut scope, "e", &items, first)
        }
    };
    let none = Expr::bits(0, width);
    let nothing = sums.made(&Expr::truth(false), &none, &floor, &floor);
    scope.return_if(&exponent.at_most(&floor), nothing);
    let grid = scope.bind("grid", &exponent - &f_g);
    let sum = scope.variable("sum", Expr::zero(Ty::Signed(width)));
    each(&mut scope, "terms", terms, count, |scope, term| {
        let up = &term.field("place") - &grid;
        let own = Expr::call(
            &align,
            vec![term.field("negative"), term.field("magnitude"), up],
        );
        scope.set("sum", &sum + &own.to(&Ty::Signed(width)));
    });
    let negative = sum.less(&Expr::zero(Ty::Signed(width)));
    let value = sums.made(&negative, &sum.magnitude(), &exponent, &grid);
    let comment = "Terms on the grid of the largest exponent among them, summed.";
    let function = scope.function("group", comment, value);
    Ok((build.function(function), sums))
}

/// The function that brings a number to the common grid, and from there to the coarser one.
fn to_grid(
    build: &mut Build,
    step: &GrFdpa,
    (bits, above): (u32, u32),
    rounding: Rounding,
) -> Result<(Function, u32), String> {
    let to = step.f + above + 1;
    let fine = align(build, rounding, bits, to)?;
    let Some(by) = step.f2.map(|f2| step.f - f2).filter(|&by| by > 0) else {
        return Ok((fine, to + 1));
    };
    let coarse = shift(build, rounding, to + 1, false)?;
    let mut scope = Scope::default();
    let negative = scope.parameter("negative", Ty::Bool);
    let magnitude = scope.parameter("magnitude", Ty::Bits(bits));
    let up = scope.parameter("up", Ty::Int);
    let on_fine = Expr::call(&fine, vec![negative.clone(), magnitude, up]);
    let on_fine = scope.bind("on_fine", on_fine.magnitude());
    let by = Expr::int(by as i32);
    let kept = shifted(&coarse, &negative, &on_fine, &by, &Expr::truth(false));
    let kept = scope.bind("on_coarse", kept);
    let back = kept.to(&Ty::Bits(to + 2)).left(&by);
    let back = scope.bind("back", back);
    let value = signed(&negative, &back, to + 3);
    let comment = "A term in units of the grid, rounded to the coarser grid as well.";
    let function = scope.function("align_twice", comment, value);
    Ok((build.function(function), to + 3))
}

/// The function of a block of so many terms: from terms and c to a word.
pub(super) fn block(
    build: &mut Build,
    step: &GrFdpa,
    terms: &Terms,
    count: usize,
    c: &Numbers,
    output: &Output,
) -> Result<Function, String> {
    let per_group = match step.terms {
        Addends::Product => step.g as usize,
        Addends::Sum | Addends::Difference => 2 * step.g as usize,
    };
    let (whole, rest) = (count / per_group, count % per_group);
    let groups = count.div_ceil(per_group);
    let floor = floor(build, step);
    let f = build.constant(
        "F",
        step.f as i32,
        "fraction bits of the grid of groups and c",
    );
    let mut scope = Scope::default();
    scope.parameter("terms", ty_of(terms, count));
    let c = Number::new(c, scope.parameter("c", c.ty()));
    let sums = sums_of_groups(
        build,
        &mut scope,
        step,
        terms,
        (count, per_group, whole, rest),
    )?;
    scope.say("The largest exponent of groups and c.");
    let items = ("parts".to_owned(), sums.clone(), groups);
    let exponent = largest(&mut scope, "e", &items, floor.clone());
    let c_counts = scope.bind("c_counts", !&is_zero(&c));
    let more = exponent.larger(&c.exponent());
    scope.set("e", c_counts.choose(&more, &exponent));
    let word_bits = output.format.container().register.bits;
    let nothing = Expr::bits(output.zero_word(false), word_bits);
    scope.return_if(&exponent.at_most(&floor), nothing);
    let grid = scope.bind("grid", &exponent - &f);
    let (align, width) = to_grid(build, step, (sums.bits, sums.above), step.align)?;
    let (align_c, width_c) = to_grid(build, step, (c.of.bits, 1), step.align_c)?;
    let fault = step.fault.map_or(0, |places| places + 2);
    let width = (width.max(width_c) + 1 + carry(groups + 1)).max(fault);
    let ty = Ty::Signed(width);
    let significand = c_counts.choose(&c.significand(), &Expr::bits(0, c.of.bits));
    let up = &(&c.exponent() - &Expr::int(c.of.fraction as i32)) - &grid;
    let own = Expr::call(&align_c, vec![c.negative(), significand, up]);
    let sum = scope.variable("sum", own.to(&ty));
    each(&mut scope, "parts", &sums, groups, |scope, term| {
        let up = &term.field("place") - &grid;
        let own = Expr::call(
            &align,
            vec![term.field("negative"), term.field("magnitude"), up],
        );
        scope.set("sum", &sum + &own.to(&ty));
    });
    let mut total = sum;
    if let Some(places) = step.fault {
        scope.say("A fault of the unit: a sum of -1 counts higher.");
        let minus_one = -&Expr::number(1, &ty);
        let minus_one = scope.named("minus_one", minus_one);
        let higher = scope.named("higher", -&Expr::number(1 << places, &ty));
        total = scope.named("total", total.is(&minus_one).choose(&higher, &total));
    }
    let negative = total.less(&Expr::zero(ty));
    let round = rounder(build, output, width, Options::default())?;
    let mut arguments = vec![negative, total.magnitude(), grid];
    if asks_for_zeros(output) {
        arguments.extend([Expr::truth(false), Expr::truth(false)]);
    }
    let value = Expr::call(&round, arguments);
    let comment = "Groups of terms and c, summed.";
    Ok(build.function(scope.function("block", comment, value)))
}

/// The array `parts` of the groups of a block.
fn sums_of_groups(
    build: &mut Build,
    scope: &mut Scope,
    step: &GrFdpa,
    terms: &Terms,
    (count, per_group, whole, rest): (usize, usize, usize, usize),
) -> Result<Terms, String> {
    if whole + usize::from(rest > 0) == 1 {
        let (of_group, sums) = group(build, step, terms, count)?;
        let all = Expr::name("terms", ty_of(terms, count));
        scope.named("parts", Expr::call(&of_group, vec![all]));
        return Ok(sums);
    }
    let (of_group, sums) = group(build, step, terms, per_group)?;
    scope.array("parts", &sums.ty, whole + usize::from(rest > 0));
    scope.each("j", whole, |scope, j| {
        let first = Expr::times(j, per_group);
        let own = part(scope, terms, &first, per_group, "own");
        scope.put("parts", j, Expr::call(&of_group, vec![own]));
    });
    if rest > 0 {
        let (of_rest, short) = group(build, step, terms, rest)?;
        let first = Expr::int((whole * per_group) as i32);
        let own = part(scope, terms, &first, rest, "last");
        let last = scope.bind("last_sum", Expr::call(&of_rest, vec![own]));
        let magnitude = last.field("magnitude").to(&Ty::Bits(sums.bits));
        let (exponent, place) = (last.field("exponent"), last.field("place"));
        debug_assert!(short.bits <= sums.bits);
        let wide = sums.made(&last.field("negative"), &magnitude, &exponent, &place);
        scope.put("parts", &Expr::int(whole as i32), wide);
    }
    Ok(sums)
}

/// Some of the terms, as an array or as one.
fn part(scope: &mut Scope, terms: &Terms, first: &Expr, count: usize, name: &str) -> Expr {
    if count == 1 {
        return scope.bind(name, Expr::element("terms", &terms.ty, first));
    }
    let array = scope.array(name, &terms.ty, count);
    scope.each("i", count, |scope, i| {
        scope.put(name, i, Expr::element("terms", &terms.ty, &(first + i)));
    });
    array
}
