//! Rounding to a format: two neighbouring codes, and their exact distances to the value.

use std::cmp::Ordering;

use mmascope::format::{Float, Format, Overflow, Rounding, Specials};

use super::exact::Dyadic;
use super::integer::Integer;
use super::operand::{field_exponent, float, formula, largest_finite};

/// What a rounding gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounded {
    /// A finite code without its sign.
    Finite(u64),
    Infinite,
    Nan,
}

/// Rounds a finite value as if exponents were unbounded, then looks at the range.
///
/// The two neighbouring codes are constructed, decoded again to prove that they enclose the value,
/// and chosen between by their exact distances.
pub(crate) fn round(
    format: &Format,
    value: &Dyadic,
    rounding: Rounding,
    overflow: Overflow,
) -> Rounded {
    if value.is_zero() {
        return Rounded::Finite(0);
    }
    let float = float(format);
    let (negative, magnitude) = (value.is_negative(), value.magnitude());
    let largest = largest_finite(&float);
    let largest_exponent = field_exponent(&float, largest >> float.fraction_bits);
    let exponent = magnitude.logarithm();
    if exponent > largest_exponent + 1 {
        return out_of_range(&float, negative, rounding, overflow);
    }
    let lower = lower_code(&float, &magnitude);
    let at = |code: u64| {
        let (significand, unit) = formula(&float, code);
        Dyadic::new(i128::from(significand), unit)
    };
    let (below, above) = (at(lower), at(lower + 1));
    let (left, right) = (magnitude.subtract(&below), above.subtract(&magnitude));
    assert!(
        !left.is_negative() && right.sign() == Ordering::Greater,
        "not enclosed: {value:?}"
    );
    let chosen = if left.is_zero() {
        lower
    } else {
        let odd = lower % 2 == 1;
        let away = match (rounding, left.cmp(&right)) {
            (Rounding::Rz, _) => false,
            (Rounding::Ra, _) => true,
            (Rounding::Ru, _) => !negative,
            (Rounding::Rd, _) => negative,
            (Rounding::Odd, _) => !odd,
            (_, Ordering::Less) => false,
            (_, Ordering::Greater) => true,
            (Rounding::Rne, _) => odd,
            (Rounding::Rno, _) => !odd,
            (Rounding::Rna, _) => true,
            (Rounding::Rnz, _) => false,
            (Rounding::Rnu, _) => !negative,
            (Rounding::Rnd, _) => negative,
            (other, _) => panic!("no rule for {other:?}"),
        };
        lower + u64::from(away)
    };
    if chosen > largest {
        return out_of_range(&float, negative, rounding, overflow);
    }
    Rounded::Finite(chosen)
}

/// The code of the largest value of the format, its range extended, that is not above `magnitude`.
fn lower_code(float: &Float, magnitude: &Dyadic) -> u64 {
    let smallest_normal = 1 - float.bias;
    let exponent = magnitude.logarithm().max(smallest_normal);
    let (units, _) = magnitude.floor_in(exponent - float.fraction_bits as i32);
    let Integer::Small(units) = units else {
        panic!("a significand longer than a word")
    };
    // Each binade has 2^fraction_bits codes; the hidden bit of `units` is the step to the first.
    ((exponent - smallest_normal) as u64) * (1 << float.fraction_bits) + units as u64
}

/// What a value beyond the largest finite number becomes.
fn out_of_range(float: &Float, negative: bool, rounding: Rounding, overflow: Overflow) -> Rounded {
    let largest = Rounded::Finite(largest_finite(float));
    let infinite = match float.specials {
        Specials::Ieee => Rounded::Infinite,
        Specials::AllOnesNan | Specials::NegativeZeroNan => Rounded::Nan,
        Specials::None => largest,
    };
    match overflow {
        Overflow::Infinity => infinite,
        // IEEE 754 §7.4; rounding to odd never rounds away from a finite number that is odd.
        Overflow::Ieee => match rounding {
            Rounding::Rz | Rounding::Odd => largest,
            Rounding::Rd if !negative => largest,
            Rounding::Ru if negative => largest,
            _ => infinite,
        },
        other => panic!("the oracle has no policy {other:?}"),
    }
}
