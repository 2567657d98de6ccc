//! Elementary functions on exact numbers, as intervals: series over integers with an accounted rest.
//!
//! Everything is fixed point with [`PLACES`] places. Each operation that rounds is outward, and each series is
//! widened by a bound of what it leaves out.

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};

use super::interval::Interval;

/// Places after the binary point. The smallest f32 is 2^-149 and the longest run of equal bits that a rounding of
/// these functions meets is far below 100, so that 320 places decide every rounding.
pub(super) const PLACES: i64 = 320;

fn fixed(number: i64) -> Interval {
    Interval::of(BigInt::from(number), 0).at(-PLACES)
}

fn times(x: &Interval, y: &Interval) -> Interval {
    x.times(y).at(-PLACES)
}

/// An interval of one unit in the last place around a value: what a series leaves out.
fn rest() -> Interval {
    Interval::of(BigInt::from(4), -PLACES)
}

/// `atanh(1/n)` for an integer n.
fn atanh_reciprocal(n: i64) -> Interval {
    let square = n * n;
    let mut power = fixed(1).over(&Interval::of(BigInt::from(n), 0), -PLACES);
    let mut sum = power.clone();
    for odd in (3..).step_by(2) {
        power = power.over(&Interval::of(BigInt::from(square), 0), -PLACES);
        let term = power.over(&Interval::of(BigInt::from(odd), 0), -PLACES);
        sum = sum.plus(&term);
        if term.high.bits() <= 1 {
            break;
        }
    }
    sum.widened(&rest())
}

/// `atan(1/n)` for an integer n.
fn atan_reciprocal(n: i64) -> Interval {
    let square = n * n;
    let mut power = fixed(1).over(&Interval::of(BigInt::from(n), 0), -PLACES);
    let mut sum = power.clone();
    for (index, odd) in (3..).step_by(2).enumerate() {
        power = power.over(&Interval::of(BigInt::from(square), 0), -PLACES);
        let term = power.over(&Interval::of(BigInt::from(odd), 0), -PLACES);
        sum = if index % 2 == 0 {
            sum.plus(&term.negated())
        } else {
            sum.plus(&term)
        };
        if term.high.bits() <= 1 {
            break;
        }
    }
    sum.widened(&rest())
}

/// ln 2 = 18 atanh(1/26) − 2 atanh(1/4801) + 8 atanh(1/8749).
static LN_2: LazyLock<Interval> = LazyLock::new(|| {
    let part =
        |factor: i64, n: i64| Interval::of(BigInt::from(factor), 0).times(&atanh_reciprocal(n));
    part(18, 26)
        .plus(&part(-2, 4801))
        .plus(&part(8, 8749))
        .at(-PLACES)
});

/// π/2 = 8 atan(1/5) − 2 atan(1/239) (Machin).
static HALF_PI: LazyLock<Interval> = LazyLock::new(|| {
    let part =
        |factor: i64, n: i64| Interval::of(BigInt::from(factor), 0).times(&atan_reciprocal(n));
    part(8, 5).plus(&part(-2, 239)).at(-PLACES)
});

/// `e^x` for |x| ≤ 1.
fn exponential_series(x: &Interval) -> Interval {
    let (mut term, mut sum) = (fixed(1), fixed(1));
    for n in 1.. {
        term = times(&term, x).over(&Interval::of(BigInt::from(n), 0), -PLACES);
        sum = sum.plus(&term);
        if term.high.bits() <= 2 && term.low.bits() <= 2 {
            break;
        }
    }
    // The terms left out are together below the last one.
    sum.widened(&rest())
}

/// `2^x`. The exponent is split into an integer and the rest.
pub(super) fn exp2(x: &Interval) -> Interval {
    let x = x.at(-PLACES);
    let whole = &x.low >> PLACES as u64;
    let fraction = Interval {
        low: &x.low - (&whole << PLACES as u64),
        high: &x.high - (&whole << PLACES as u64),
        scale: -PLACES,
    };
    let mut power = exponential_series(&times(&fraction, &LN_2));
    power.scale += i64::try_from(whole).unwrap_or(i64::MAX / 4);
    power
}

/// `e^x`.
pub(super) fn exp(x: &Interval) -> Interval {
    exp2(&x.at(-PLACES).over(&LN_2, -PLACES))
}

/// `log2 x` for x > 0.
pub(super) fn log2(x: &Interval) -> Interval {
    ln(x).over(&LN_2, -PLACES)
}

/// `ln x` for x > 0: the exponent times ln 2, and 2 atanh((m−1)/(m+1)) of the significand in [¾, 1½).
pub(super) fn ln(x: &Interval) -> Interval {
    let mut top = x.low.bits() as i64 - 1;
    let mut significand = Interval {
        scale: -top,
        ..x.clone()
    };
    if (&significand.low << 1_u32) >= (BigInt::from(3) << top as u64) {
        significand.scale -= 1;
        top += 1;
    }
    let one = Interval::of(BigInt::from(1), 0);
    let quotient = significand
        .plus(&one.negated())
        .over(&significand.plus(&one), -PLACES);
    let square = times(&quotient, &quotient);
    let (mut power, mut sum) = (quotient.clone(), quotient);
    for odd in (3..).step_by(2) {
        power = times(&power, &square);
        let term = power.over(&Interval::of(BigInt::from(odd), 0), -PLACES);
        sum = sum.plus(&term);
        if term.high.bits() <= 2 && term.low.bits() <= 2 {
            break;
        }
    }
    let significand = Interval::of(BigInt::from(2), 0).times(&sum.widened(&rest()));
    let exponent = Interval::of(BigInt::from(top + x.scale), 0);
    exponent.times(&LN_2).plus(&significand).at(-PLACES)
}

/// `sin x` and `cos x`.
pub(super) fn sine_and_cosine(x: &Interval) -> (Interval, Interval) {
    let x = x.at(-PLACES);
    let twice = (&x.low << 1_u32) / &HALF_PI.low;
    let quarter: BigInt = (twice + 1) >> 1_u32;
    let turns = Interval::of(quarter.clone(), 0).times(&HALF_PI).at(-PLACES);
    let reduced = x.plus(&turns.negated());
    let square = times(&reduced, &reduced);
    let series = |first: Interval, mut n: i64| -> Interval {
        let (mut term, mut sum) = (first.clone(), first);
        loop {
            let divisor = Interval::of(BigInt::from((n + 1) * (n + 2)), 0);
            term = times(&term, &square).over(&divisor, -PLACES).negated();
            sum = sum.plus(&term);
            n += 2;
            if term.high.bits() <= 2 && term.low.bits() <= 2 {
                break sum.widened(&rest());
            }
        }
    };
    let (sine, cosine) = (series(reduced, 1), series(fixed(1), 0));
    // Two's complement: of negative numbers too.
    let four: BigInt = quarter & BigInt::from(3);
    match u32::try_from(four).unwrap_or(0) {
        0 => (sine, cosine),
        1 => (cosine, sine.negated()),
        2 => (sine.negated(), cosine.negated()),
        _ => (cosine.negated(), sine),
    }
}

/// `tanh x` for x that is not 0.
pub(super) fn tanh(x: &Interval) -> Interval {
    // Beyond 512 the result is 1 to more places than are kept.
    let limit = BigInt::from(512);
    let whole = x.at(0);
    if whole.low > limit || whole.high < -&limit {
        let one = if x.low.sign() == Sign::Minus {
            fixed(-1)
        } else {
            fixed(1)
        };
        return one.widened(&rest());
    }
    let twice = Interval::of(BigInt::from(2), 0).times(x);
    let power = exp(&twice);
    let one = Interval::of(BigInt::from(1), 0);
    power.plus(&one.negated()).over(&power.plus(&one), -PLACES)
}
