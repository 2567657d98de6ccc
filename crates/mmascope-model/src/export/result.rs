//! Makes a result of an exact sum: rounding, range, the sign of zero, flushes.

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Ty};
use super::numbers::identifier;
use super::rounding::{shift, shifted};
use crate::dpa::{FlushSign, Output, Tininess, ZeroSign};
use crate::format::{Exact, Rounding};

/// What a rounding function takes beside sign, magnitude and exponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Whether something may lie below the magnitude.
    pub(super) sticky: bool,
    /// A flush of what is rounded, beside the output's own.
    pub(super) flush: Option<FlushSign>,
}

/// Whether the sign of a zero depends on the signs of the terms.
pub(super) fn asks_for_zeros(output: &Output) -> bool {
    matches!(
        output.zero,
        ZeroSign::Ieee | ZeroSign::Common | ZeroSign::CommonMinus
    )
}

/// An exponent far above every format's range.
const FAR: i32 = 5000;

/// The leading bits that decide a result of so many fraction bits.
pub(super) fn leading(output: &Output) -> u32 {
    output.format.float().map_or(0, |float| float.fraction_bits) + 4
}

/// The word of a result that is 0 exactly, by the signs of the terms.
fn zero_word(output: &Output, zeros: &Expr, zero_negative: &Expr, width: u32) -> Expr {
    let word = |negative| Expr::bits(output.zero_word(negative), width);
    let (plus, minus) = (word(false), word(true));
    let shared = |other: bool| {
        let other = if other { &minus } else { &plus };
        zeros.choose(&zero_negative.choose(&minus, &plus), other)
    };
    match output.zero {
        ZeroSign::Plus | ZeroSign::Exact => plus,
        ZeroSign::Minus | ZeroSign::ExactMinus => minus,
        ZeroSign::Ieee => shared(output.rounding == Rounding::Rd),
        ZeroSign::Common => shared(false),
        ZeroSign::CommonMinus => shared(true),
    }
}

/// The function that makes a result's register word of an exact sum of so many bits.
pub(super) fn rounder(
    build: &mut Build,
    output: &Output,
    width: u32,
    options: Options,
) -> Result<Function, String> {
    let format = output.format;
    let float = format
        .float()
        .filter(|float| format.signed && float.subnormals)
        .ok_or_else(|| format!("its result is {format}, which is no signed float"))?;
    let (fraction_bits, emin) = (float.fraction_bits as i32, float.emin());
    let word_bits = format.container().register.bits;
    let mut scope = Scope::default();
    let negative = scope.parameter("negative", Ty::Bool);
    let mut magnitude = scope.parameter("magnitude", Ty::Bits(width));
    let mut exponent = scope.parameter("exponent", Ty::Int);
    let mut sticky = match options.sticky {
        true => scope.parameter("sticky", Ty::Bool),
        false => Expr::truth(false),
    };
    let (zeros, zero_negative) = match asks_for_zeros(output) {
        true => (
            scope.parameter("all_zeros", Ty::Bool),
            scope.parameter("zero_negative", Ty::Bool),
        ),
        false => (Expr::truth(false), Expr::truth(false)),
    };
    let exact_zero = zero_word(output, &zeros, &zero_negative, word_bits);
    scope.return_if(&magnitude.is_zero(), exact_zero);
    let mut bits = width;
    let mut has_sticky = options.sticky;
    if width > 128 {
        bits = leading(output).max(64);
        scope.say("The leading bits decide, and whether anything lies below them.");
        let excess = &magnitude.length() - &Expr::int(bits as i32);
        let excess = scope.bind("excess", excess.larger(&Expr::int(0)));
        let upper = scope.bind("upper", magnitude.right(&excess));
        let lost = upper.left(&excess).is_not(&magnitude).or(&sticky);
        sticky = scope.bind("lost", lost);
        magnitude = scope.bind("leading", upper.to(&Ty::Bits(bits)));
        exponent = scope.bind("place", &exponent + &excess);
        has_sticky = true;
    }
    let round = shift(
        build,
        output.rounding,
        bits.max(fraction_bits as u32 + 2),
        has_sticky,
    )?;
    let wide = Ty::Bits(bits.max(fraction_bits as u32 + 2));
    let top = &(&exponent + &magnitude.length()) - &Expr::int(1);
    let top = scope.bind("top", top);
    let zero = |negative: &Expr| {
        let word = |negative| Expr::bits(output.zero_word(negative), word_bits);
        negative.choose(&word(true), &word(false))
    };
    let flushed_zero = |sign: FlushSign| match sign {
        FlushSign::Plus => zero(&Expr::truth(false)),
        FlushSign::Kept => zero(&negative),
    };
    if let (Some(sign), true) = (output.flush, output.tininess != Tininess::After) {
        let mut judged = top.clone();
        if output.tininess == Tininess::Unbounded {
            scope.say("The exponent that the result would have without a smallest one.");
            let drop = &(&top - &Expr::int(fraction_bits)) - &exponent;
            let drop = scope.bind("excess_bits", drop);
            let by = drop.larger(&Expr::int(0));
            let rounded = shifted(&round, &negative, &magnitude.to(&wide), &by, &sticky);
            let rounded = scope.bind("unbounded", rounded);
            let carries = Expr::int(fraction_bits + 1).less(&rounded.length());
            let carries = Expr::int(0).less(&drop).and(&carries);
            judged = &top + &carries.choose(&Expr::int(1), &Expr::int(0));
        }
        scope.say("A result below the smallest normal number becomes a zero.");
        scope.return_if(&judged.less(&Expr::int(emin)), flushed_zero(sign));
    }
    let beyond = |negative| Exact {
        negative,
        magnitude: 1,
        exponent: FAR,
        sticky: false,
    };
    let beyond = |negative| Expr::bits(output.finite_word(&beyond(negative)), word_bits);
    let overflow = negative.choose(&beyond(true), &beyond(false));
    let highest = emin + (1 << float.exponent_bits) + 1;
    scope.return_if(&Expr::int(highest).less(&top), overflow.clone());
    scope.say("The last place that is kept: that of a subnormal number at least.");
    let binade = scope.bind("binade", top.larger(&Expr::int(emin)));
    let drop = &(&binade - &Expr::int(fraction_bits)) - &exponent;
    let drop = scope.bind("drop", drop);
    let magnitude = magnitude.to(&wide);
    let moved = magnitude.left(&-&drop);
    let none = Expr::int(0);
    let kept = if has_sticky {
        let moved = scope.bind("moved", drop.less(&none).choose(&moved, &magnitude));
        shifted(&round, &negative, &moved, &drop.larger(&none), &sticky)
    } else {
        let dropped = shifted(&round, &negative, &magnitude, &drop, &sticky);
        none.less(&drop).choose(&dropped, &moved)
    };
    let code_bits = Ty::Bits(format.bits + 1);
    let kept = scope.bind("kept", kept.to(&code_bits));
    scope.say("Exponent and fraction are one number: a carry moves into the exponent by itself.");
    let field = (&binade - &Expr::int(emin)).to(&code_bits);
    let code = &field.left(&Expr::int(fraction_bits)) + &kept;
    let code = scope.bind("code", code);
    let most = Expr::bits(format.max_finite(false), format.bits + 1);
    scope.return_if(&most.less(&code), overflow);
    let after = output.flush.or(options.flush);
    if let Some(sign) = after {
        let hidden = Expr::bits(1 << fraction_bits, format.bits + 1);
        let is_subnormal = code.is_something().and(&code.less(&hidden));
        scope.return_if(&is_subnormal, flushed_zero(sign));
    }
    let rounded_to_zero = match output.zero {
        ZeroSign::Plus => zero(&Expr::truth(false)),
        ZeroSign::Minus => zero(&Expr::truth(true)),
        _ => zero(&negative),
    };
    scope.return_if(&code.is_zero(), rounded_to_zero);
    let sign_bit = 1_u64 << (format.bits - 1);
    let sign = negative.choose(&Expr::bits(sign_bit, word_bits), &Expr::bits(0, word_bits));
    let sign = sign.left(&Expr::int(format.register.shift as i32));
    let word = code.to(&Ty::Bits(word_bits));
    let word = word.left(&Expr::int(format.register.shift as i32));
    let value = word.with_bits(&sign);
    let name = format!("round_to_{}", identifier(format.name));
    let comment = format!(
        "The word of {format} of magnitude · 2^exponent, rounded {}.",
        crate::dpa::rounding_words(output.rounding)
    );
    Ok(build.function(scope.function(&name, &comment, value)))
}
