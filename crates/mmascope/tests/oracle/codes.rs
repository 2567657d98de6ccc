//! Building codes of a format from sign, exponent and fraction, with integers only.

use mmascope::format::{Format, Specials};

use super::operand::{field_exponent, float, largest_finite};
use super::random::Random;

/// How the fraction of a made operand looks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fraction {
    Random,
    /// A power of two.
    Zero,
    Ones,
    /// 1 + one unit in the last place.
    One,
}

/// Exponents of the smallest subnormal and of the largest finite number.
pub(crate) fn exponents(format: &Format) -> (i32, i32) {
    let float = float(format);
    let subnormal_bits = if float.subnormals {
        float.fraction_bits as i32
    } else {
        0
    };
    let highest = field_exponent(&float, largest_finite(&float) >> float.fraction_bits);
    (field_exponent(&float, 0) - subnormal_bits, highest)
}

/// The word of ±1.fraction · 2^exponent: truncated below the smallest normal number, the largest
/// finite one where that is exceeded.
pub(crate) fn compose(format: &Format, negative: bool, exponent: i32, fraction: u64) -> u64 {
    let float = float(format);
    let smallest = field_exponent(&float, 0);
    let significand = (1 << float.fraction_bits) + fraction % (1 << float.fraction_bits);
    let exponent = exponent.min(smallest + 4000);
    let code = if exponent < smallest {
        let dropped = (smallest - exponent) as u32;
        if float.subnormals {
            significand.checked_shr(dropped).unwrap_or(0)
        } else {
            0
        }
    } else {
        let binade = (exponent - smallest) as u64 + u64::from(float.subnormals);
        (binade << float.fraction_bits) + (significand - (1 << float.fraction_bits))
    };
    signed(format, negative, code.min(largest_finite(&float)))
}

/// The word of a code without its sign, and that sign where the format can have it.
pub(crate) fn signed(format: &Format, negative: bool, code: u64) -> u64 {
    let no_minus_zero = float(format).specials == Specials::NegativeZeroNan && code == 0;
    let sign = u64::from(negative && format.signed && !no_minus_zero) << (format.bits - 1);
    (code | sign) << format.register.shift
}

pub(crate) fn number(
    random: &mut Random,
    format: &Format,
    negative: bool,
    exponent: i32,
    fraction: Fraction,
) -> u64 {
    let bits = match fraction {
        Fraction::Random => random.next(),
        Fraction::Zero => 0,
        Fraction::Ones => u64::MAX,
        Fraction::One => 1,
    };
    compose(format, negative, exponent, bits)
}

pub(crate) fn any_fraction(random: &mut Random) -> Fraction {
    match random.below(8) {
        0 | 1 => Fraction::Zero,
        2 => Fraction::Ones,
        3 => Fraction::One,
        _ => Fraction::Random,
    }
}

pub(crate) fn zero(random: &mut Random, format: &Format) -> u64 {
    signed(format, random.coin(), 0)
}

/// The largest finite number or the one before it.
pub(crate) fn near_maximum(random: &mut Random, format: &Format, negative: bool) -> u64 {
    signed(
        format,
        negative,
        largest_finite(&float(format)) - random.below(2),
    )
}

/// ∞ or a NaN with any payload, where the format has them; otherwise a large number.
pub(crate) fn special(random: &mut Random, format: &Format) -> u64 {
    let float = float(format);
    let largest = largest_finite(&float);
    let codes = 1_u64 << (float.exponent_bits + float.fraction_bits);
    if float.specials == Specials::NegativeZeroNan && random.coin() {
        return 1 << (format.bits - 1) << format.register.shift;
    }
    let above = codes - largest - 1;
    let code = match random.below(3) {
        _ if above == 0 => largest,
        0 => largest + 1 + random.below(above),
        _ => largest + 1,
    };
    signed(format, random.coin(), code)
}

/// Sixteen words of an accumulator: zeros, extremes, units with and without a last bit, ∞ and NaN.
pub(crate) fn chosen(format: &Format) -> [u64; 16] {
    let float = float(format);
    let largest = largest_finite(&float);
    let (lowest, highest) = exponents(format);
    let middle = (lowest.max(-40) - 5) / 5;
    [
        signed(format, false, 0),
        signed(format, true, 0),
        signed(format, false, 1),
        signed(format, true, 1),
        compose(format, true, field_exponent(&float, 0), u64::MAX),
        compose(format, false, 0, 0),
        compose(format, true, 0, 1),
        compose(format, true, middle, u64::MAX),
        compose(format, false, middle, 0x5555_5555_5555_5555),
        compose(format, true, 2 * middle, 1),
        compose(format, false, 5, u64::MAX),
        compose(format, true, (highest - 1).min(17), 0),
        signed(format, false, largest),
        signed(format, true, largest),
        signed(format, false, largest + 1),
        signed(format, true, largest + 2),
    ]
}
