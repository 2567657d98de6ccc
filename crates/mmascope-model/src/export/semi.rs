//! The multiply-add that keeps three bits below its significand, on words of f32.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use crate::dpa::{Output, SemiFma, SemiNan, ZeroSign};

const INFINITY: u64 = 0x7f80_0000;
const QUIET: u64 = 0x7fc0_0000;
const SIGNALLING: u64 = 0x7f80_0001;
const FRACTION: u64 = 0x7f_ffff;
const HIDDEN: u64 = 0x80_0000;
/// The exponent field of ∞ and NaN.
const ONES: i32 = 255;
/// Bits of a product with its three bits below, and of a sum.
const PRODUCT: u32 = 28;
const SUM: u32 = 29;

fn word(value: u64) -> Expr {
    Expr::bits(value, 32)
}

/// A word's sign, exponent field and significand, which is 0 where the field is.
struct Fields {
    word: Expr,
    negative: Expr,
    exponent: Expr,
    significand: Expr,
}

impl Fields {
    fn of(scope: &mut Scope, name: &str) -> Self {
        let own = scope.parameter(name, Ty::Bits(32));
        let negative = own.right(&Expr::int(31)).is_something();
        let negative = scope.named(&format!("{name}_negative"), negative);
        let field = own.right(&Expr::int(23)).of_bits(&word(0xff));
        let exponent = scope.named(&format!("{name}_exponent"), field.to(&Ty::Int));
        let whole = own.of_bits(&word(FRACTION)).with_bits(&word(HIDDEN));
        let whole = exponent.is(&Expr::int(0)).choose(&word(0), &whole);
        let significand = scope.named(&format!("{name}_significand"), whole.to(&Ty::Bits(24)));
        Self {
            word: own,
            negative,
            exponent,
            significand,
        }
    }

    fn is_top(&self) -> Expr {
        self.exponent.is(&Expr::int(ONES))
    }

    fn is_infinite(&self) -> Expr {
        let hidden = Expr::bits(HIDDEN, 24);
        self.is_top().and(&self.significand.is(&hidden))
    }

    fn is_nan(&self) -> Expr {
        let hidden = Expr::bits(HIDDEN, 24);
        self.is_top().and(&self.significand.is_not(&hidden))
    }
}

fn signed_word(negative: &Expr, value: u64) -> Expr {
    negative.choose(&word(1 << 31 | value), &word(value))
}

/// The function that shifts to the right; what is lost sets the last bit, unless nothing is left.
fn shifted(build: &mut Build) -> Function {
    let ty = Ty::Bits(PRODUCT);
    let mut scope = Scope::default();
    let value = scope.parameter("value", ty.clone());
    let places = scope.parameter("places", Ty::Int);
    let kept = scope.bind("kept", value.right(&places));
    let lost = kept.left(&places).is_not(&value).and(&kept.is_something());
    let last = lost.choose(&Expr::number(1, &ty), &Expr::number(0, &ty));
    let comment = "value / 2^places; what is lost sets the last bit, unless nothing is left.";
    let function = scope.function("shift_semi_sticky", comment, kept.with_bits(&last));
    build.function(function)
}

/// The function of x · y + z.
pub(super) fn multiply_add(build: &mut Build, step: &SemiFma, output: &Output) -> Function {
    let shift = shifted(build);
    let int = Expr::int;
    // Zeros are +0 unless the signs are asked for.
    let has_minus = output.zero != ZeroSign::Plus;
    let zero_of = |negative: &Expr| match has_minus {
        true => signed_word(negative, 0),
        false => word(0),
    };
    let mut scope = Scope::default();
    let [x, y, z] = ["x", "y", "z"].map(|name| Fields::of(&mut scope, name));
    let negative = scope.named("negative", x.negative.is_not(&y.negative));
    let zero = scope.named("zero", zero_of(&negative.and(&z.negative)));
    scope.say("The product with three bits below 24, the last one sticky; it is not normalised.");
    let long = Ty::Bits(48);
    let product = scope.named(
        "product",
        &x.significand.to(&long) * &y.significand.to(&long),
    );
    let ones = Expr::bits((1 << 20) - 1, 48);
    let lost = product.of_bits(&ones).is_something();
    let narrow = Ty::Bits(PRODUCT);
    let one = |truth: &Expr, ty: &Ty| truth.choose(&Expr::number(1, ty), &Expr::number(0, ty));
    let kept = product
        .right(&int(20))
        .to(&narrow)
        .with_bits(&one(&lost, &narrow));
    let kept = scope.named("kept_product", kept);
    let e = scope.named("e", &(&x.exponent + &y.exponent) - &int(127));
    let own = scope.named("addend", z.significand.to(&narrow).left(&int(3)));

    scope.say("NaN and infinities, of operands or of the product by itself.");
    let operand = scope.named("has_top", x.is_top().or(&y.is_top()));
    let is_beyond = int(ONES).at_most(&e);
    let special = scope.named("is_special", operand.or(&z.is_top()).or(&is_beyond));
    let times_zero =
        |one: &Fields, other: &Fields| one.is_infinite().and(&other.significand.is_zero());
    let invalid = x.is_nan().or(&y.is_nan());
    let invalid = invalid.or(&times_zero(&x, &y)).or(&times_zero(&y, &x));
    let opposite = z.is_infinite().and(&z.negative.is_not(&negative));
    let infinity = signed_word(&negative, INFINITY);
    let infinite = z.is_infinite().choose(&z.word, &infinity);
    // Where a NaN leaks, it takes bits of the sum: the word without them.
    let (leaks, nan) = match step.nan {
        SemiNan::Quiet => {
            let is_nan = invalid.or(&z.is_nan()).or(&opposite.and(&operand));
            scope.return_if(&special, is_nan.choose(&word(QUIET), &infinite));
            (Expr::truth(false), word(0))
        }
        SemiNan::Leaks => {
            let of_product = scope.named(
                "is_invalid",
                invalid.or(&opposite.and(&operand.or(&is_beyond))),
            );
            let is_nan = scope.named("is_nan", of_product.or(&z.is_nan()));
            scope.return_if(&special.and(&!&is_nan), infinite);
            let leaks = scope.named("leaks", special.and(&is_nan));
            let sign = of_product.choose(&negative, &z.negative);
            let nan = scope.named("nan", signed_word(&sign, SIGNALLING));
            (leaks, nan)
        }
    };
    let unless_nan = |other: &Expr| leaks.choose(&nan, other);
    let bounded = is_beyond.choose(&int(ONES), &e);
    let nothing = kept.is_zero().or(&e.less(&int(0)));
    let nothing = scope.named("has_no_product", nothing);
    let alone = own.is_something().choose(&z.word, &zero);
    scope.return_if(&nothing.and(&!&leaks), alone);
    let (m, e) = match leaks.is_false() {
        true => (kept, bounded),
        false => (
            scope.named("m", nothing.choose(&Expr::bits(0, PRODUCT), &kept)),
            scope.named("own_e", nothing.choose(&int(0), &bounded)),
        ),
    };
    let e = scope.bind("product_e", e);

    scope.say("Both on the grid of the larger exponent; their sum.");
    let top = scope.named("top", e.larger(&z.exponent));
    let m = scope.named("on_grid", Expr::call(&shift, vec![m, &top - &e]));
    let c = scope.named(
        "addend_on_grid",
        Expr::call(&shift, vec![own, &top - &z.exponent]),
    );
    let product_leads = scope.named("product_leads", c.at_most(&m));
    let sign = scope.named("sign", product_leads.choose(&negative, &z.negative));
    let wide = Ty::Bits(SUM);
    let (m, c) = (m.to(&wide), c.to(&wide));
    let apart = product_leads.choose(&(&m - &c), &(&c - &m));
    let sum = negative.is(&z.negative).choose(&(&m + &c), &apart);
    let sum = scope.named("sum", sum);
    scope.return_if(&sum.is_zero(), unless_nan(&zero));

    scope.say("The sum, normalised and rounded to nearest even.");
    let tiny = scope.named("tiny", zero_of(&sign));
    let places = scope.named("length_beyond", &sum.length() - &int(27));
    let exponent = scope.named("sum_exponent", &top + &places);
    let beyond = int(ONES).at_most(&exponent);
    scope.return_if(&beyond, unless_nan(&signed_word(&sign, INFINITY)));
    let (places, exponent) = match step.rounds_tiny {
        true => {
            let is_tiny = scope.named("is_tiny", exponent.at_most(&int(0)));
            let more = is_tiny.choose(&(&places + &int(1)), &places);
            let least = is_tiny.choose(&int(0), &exponent);
            (scope.named("places", more), scope.named("field", least))
        }
        false => {
            scope.return_if(&exponent.less(&int(0)), unless_nan(&tiny));
            (places, exponent)
        }
    };
    let bits_of = |mask: &Expr| sum.of_bits(mask).is_something();
    let mask = |bits: u64| Expr::bits(bits, SUM);
    let lost = match step.drops_bit {
        true => bits_of(&mask(1)),
        false => bits_of(&places.is(&int(1)).choose(&mask(1), &mask(3))),
    };
    let shorter = sum.right(&places).with_bits(&one(&lost, &wide));
    let is_long = int(0).less(&places);
    let normal = is_long.choose(&shorter, &sum.left(&-&places));
    let normal = scope.named("normal", normal);
    let fraction = normal
        .right(&int(3))
        .to(&Ty::Bits(32))
        .of_bits(&word(FRACTION));
    let code = &exponent.to(&Ty::Bits(32)).left(&int(23)) + &fraction;
    let code = scope.named("code", code);
    let rest = normal.of_bits(&mask(7));
    let rest = &rest + &one(&code.is_odd(), &wide);
    let rounded = &code + &one(&mask(4).less(&rest), &Ty::Bits(32));
    let rounded = scope.named("rounded", rounded);
    let is_small = rounded.less(&word(HIDDEN));
    scope.return_if(&is_small, unless_nan(&tiny));
    let value = unless_nan(&signed_word(&sign, 0)).with_bits(&rounded);
    let comment = "x * y + z of f32 words, as the vector unit computes it.";
    let function = scope.function("multiply_add", comment, value);
    build.function(function)
}
