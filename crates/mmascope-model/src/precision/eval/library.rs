//! Functions of the device library: correctly rounded, with the largest error that is documented.

use num_bigint::{BigInt, Sign};

use super::approximate::{self, Approximation};
use super::function;
use super::interval::{Interval, code};
use super::plan::Plan;
use super::table::{Bound, Documented, Functions};
use super::{Enclosure, Evaluator};
use crate::format::{Class, Exact, Format, Overflow, Rounding, Unpacked};
use crate::precision::resolve::accurate;

/// The result that an error bound in units of the last place leaves.
fn within(plan: &Plan<'_>, value: &Interval, ulps: u32) -> Enclosure {
    let text = format!("{ulps} ulp of the rounded result (tests of the vendor, no proof)");
    let documented = Documented {
        bound: &Bound::UlpsOfRounded(ulps),
        text: &text,
        power: None,
    };
    approximate::enclose(&plan.style, value, &documented)
}

impl Evaluator<'_> {
    /// A call; `None` where no value is known.
    pub(super) fn library(&self, plan: &Plan<'_>, words: &[u64]) -> Option<Enclosure> {
        let (function, ulps) = accurate(plan.symbol)?;
        let style = &plan.style;
        let &[word] = words else {
            let &[x, y] = words else { return None };
            let [base, exponent] = [x, y].map(|word| style.decode(word));
            return (function == "pow" && style.format.name == "f32")
                .then(|| power(plan, &base, &exponent, ulps));
        };
        let functions = Functions::default();
        let approximation = Approximation {
            functions: &functions,
            target: self.target,
            name: "",
            function,
            style: *style,
        };
        let value = style.decode(word);
        let special =
            value.class != Class::Finite || (value.negative && function.starts_with("log"));
        if special {
            return Some(approximation.of(word));
        }
        let exact = value.exact()?;
        // The series have 320 places: too few for the smallest and the largest f64.
        let top = i64::from(exact.magnitude.ilog2()) + i64::from(exact.exponent);
        if style.format.name != "f32" && !(-100..64).contains(&top) {
            return None;
        }
        let value = approximate::value(function, &exact, &style.format);
        Some(within(plan, &value, ulps))
    }
}

/// Whether a number is an integer, and whether it is odd.
fn parity(value: &Unpacked) -> Option<bool> {
    let exact = value.exact()?;
    if exact.magnitude == 0 {
        return Some(false);
    }
    let place = i64::from(exact.magnitude.trailing_zeros()) + i64::from(exact.exponent);
    (place >= 0).then_some(place == 0)
}

/// `x^y`. The special cases are those of C (annex F) that the vendor's documentation of `powf` lists.
fn power(plan: &Plan<'_>, x: &Unpacked, y: &Unpacked, ulps: u32) -> Enclosure {
    let format = plan.style.format;
    let known = |word: u64| Enclosure::known(plan.style.result(word));
    let infinity = |negative| known(format.to_register(format.infinity(negative, Overflow::Ieee)));
    let zero = |negative| known(format.to_register(format.zero(negative)));
    let one = || {
        let code = code(&BigInt::from(1), 0, &format, Rounding::Rne);
        known(format.to_register(code))
    };
    let is_one = |value: &Unpacked| {
        let exact = value.exact();
        exact.is_some_and(|exact| {
            exact.magnitude.is_power_of_two()
                && i64::from(exact.magnitude.trailing_zeros()) + i64::from(exact.exponent) == 0
        })
    };
    if y.class == Class::Zero || (is_one(x) && !x.negative) {
        return one();
    }
    if x.class == Class::Nan || y.class == Class::Nan {
        return known(plan.style.nan());
    }
    if y.class == Class::Infinite {
        if is_one(x) {
            return one();
        }
        let grows = x.class == Class::Infinite || above_one(x);
        return if grows == y.negative {
            zero(false)
        } else {
            infinity(false)
        };
    }
    let odd = parity(y) == Some(true);
    let negative = x.negative && odd;
    match x.class {
        Class::Zero if y.negative => return infinity(negative),
        Class::Zero => return zero(negative),
        Class::Infinite if y.negative => return zero(negative),
        Class::Infinite => return infinity(negative),
        _ if x.negative && parity(y).is_none() => return known(plan.style.nan()),
        _ => {}
    }
    let (Some(base), Some(exponent)) = (x.exact(), y.exact()) else {
        return known(plan.style.nan());
    };
    let value = snapped(magnitude(
        &Exact {
            negative: false,
            ..base
        },
        &exponent,
        &format,
    ));
    let value = if negative { value.negated() } else { value };
    within(plan, &value, ulps)
}

fn above_one(value: &Unpacked) -> bool {
    value.exact().is_some_and(|exact| {
        exact.magnitude > 0 && i64::from(exact.magnitude.ilog2()) + i64::from(exact.exponent) >= 0
    })
}

/// `x^y` for a positive x: 2 to the power of y times the logarithm.
fn magnitude(x: &Exact, y: &Exact, format: &Format) -> Interval {
    let logarithm = approximate::value("lg2", x, format);
    let product = Interval::point(y).times(&logarithm);
    // Exponents that decide the result by themselves are cut.
    let limit = BigInt::from(1 << 12);
    let whole = product.at(0);
    let bounded = if whole.low > limit {
        Interval::of(limit, 0)
    } else if whole.high < -&limit {
        Interval::of(-limit, 0)
    } else {
        product
    };
    match approximate::integer(&bounded) {
        Some(exponent) => Interval::of(BigInt::from(1), exponent),
        None => function::exp2(&bounded),
    }
}

/// A number of few bits that a tight interval holds is the value itself: powers that are exact, among them the halves
/// between two results.
fn snapped(value: Interval) -> Interval {
    const BITS: u64 = 96;
    let bits = value.low.bits();
    if bits <= BITS || value.low.sign() == Sign::Minus {
        return value;
    }
    let cut = bits - BITS;
    let number: BigInt = (((&value.low >> (cut - 1)) + 1_u32) >> 1_u32) << cut;
    if value.low <= number && number <= value.high {
        Interval::of(number, value.scale)
    } else {
        value
    }
}
