//! Exact sums of integers, which the accumulator's bits wrap or its range clamps.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use super::numbers::{code, identifier};
use crate::dpa::{Beyond, IntDot, IntPair};
use crate::format::Format;

/// The integers that a sum passes through.
pub(super) struct Integers {
    /// Reads a word of a, of b, and of the accumulator.
    pub(super) read: [Function; 3],
    /// What a pair gives to the sum.
    pub(super) term: Function,
    /// The accumulator's word of a sum.
    pub(super) brought: Function,
    /// The type of sums: they never leave it.
    pub(super) sum: Ty,
}

impl Integers {
    /// The functions of sums of so many pairs and an accumulator.
    pub(super) fn new(
        build: &mut Build,
        step: &IntDot,
        [a, b, c]: [&Format; 3],
        count: usize,
    ) -> Self {
        // A product and its sign; a bit for each doubling of the number of terms; room for the accumulator.
        let product = a.bits + b.bits + 2;
        let doublings = usize::BITS - count.leading_zeros();
        let width = (product + doublings).max(c.bits + 2) + 2;
        let read = [a, b, c].map(|format| reader(build, format));
        Self {
            term: term(build, step, [&read[0], &read[1]], product),
            brought: brought(build, step, c, width),
            read,
            sum: Ty::Signed(width),
        }
    }
}

/// The function that decodes a word of an integer format.
fn reader(build: &mut Build, format: &Format) -> Function {
    let mut scope = Scope::default();
    let word = scope.parameter("word", Ty::Bits(format.register.bits));
    let code = code(&mut scope, format, word);
    let signed = Ty::Signed(format.bits + 1);
    let value = match format.signed {
        true => {
            // The sign's bit counts minus its place.
            let half = power_of_two(format.bits - 1, &code.ty);
            let rest = &half - &Expr::number(1, &code.ty);
            let rest = scope.named("rest", code.of_bits(&rest).to(&signed));
            let place = power_of_two(format.bits - 1, &signed);
            let below = scope.named("below", &rest - &place);
            half.at_most(&code).choose(&below, &rest)
        }
        false => code.to(&signed),
    };
    let name = format!("integer_of_{}", identifier(format.name));
    let comment = format!("The integer that a word of {format} is.");
    let function = scope.function(&name, &comment, value);
    build.function(function)
}

/// 2^exponent.
fn power_of_two(exponent: u32, ty: &Ty) -> Expr {
    match exponent {
        ..63 => Expr::number(1 << exponent, ty),
        _ => Expr::number(1, ty).left(&Expr::int(exponent as i32)),
    }
}

/// The function of a pair.
fn term(build: &mut Build, step: &IntDot, [a, b]: [&Function; 2], width: u32) -> Function {
    let mut scope = Scope::default();
    let a = scope.parameter("a", a.value.ty.clone());
    let b = scope.parameter("b", b.value.ty.clone());
    let ty = Ty::Signed(width);
    let (name, comment, value) = match step.pair {
        IntPair::Product => ("product", "The exact product.", &a.to(&ty) * &b.to(&ty)),
        IntPair::Differ => (
            "difference",
            "1 where the bits differ.",
            a.is_not(&b)
                .choose(&Expr::number(1, &ty), &Expr::number(0, &ty)),
        ),
    };
    let function = scope.function(name, comment, value);
    build.function(function)
}

/// The function that brings a sum to the accumulator.
fn brought(build: &mut Build, step: &IntDot, format: &Format, width: u32) -> Function {
    let ty = Ty::Signed(width);
    let mut scope = Scope::default();
    let mut sum = scope.parameter("sum", ty.clone());
    let one = Expr::number(1, &ty);
    let comment = match step.beyond {
        Beyond::Wraps => format!("The lower {} bits of a sum: {format}.", format.bits),
        Beyond::Saturates => {
            let (magnitude, zero) = (
                format.bits - u32::from(format.signed),
                Expr::zero(ty.clone()),
            );
            let most = scope.named("most", &power_of_two(magnitude, &ty) - &one);
            let least = match format.signed {
                true => scope.named("least", &-&most - &one),
                false => scope.named("least", zero),
            };
            let raised = sum.less(&least).choose(&least, &sum);
            let raised = scope.named("raised", raised);
            sum = scope.named("kept", most.less(&raised).choose(&most, &raised));
            format!("The number of {format} that is nearest to a sum.")
        }
    };
    // A multiple of the accumulator's span makes the sum positive: its lower bits are two's complement.
    let moved = scope.named(
        "moved",
        (&sum + &power_of_two(width - 2, &ty)).to(&Ty::Bits(width)),
    );
    let ones = &power_of_two(format.bits, &Ty::Bits(width)) - &Expr::number(1, &Ty::Bits(width));
    let ones = scope.named("ones", ones);
    let register = Ty::Bits(format.register.bits);
    let code = moved.of_bits(&ones).to(&register);
    let value = code.left(&Expr::int(format.register.shift as i32));
    let function = scope.function("brought", &comment, value);
    build.function(function)
}
