//! Approximate functions: the special inputs exactly, known primitives by composition, enclosures for the rest.
//!
//! `precision.md` §2.4 has the special inputs and the guaranteed errors, §2.5 how each instruction is composed.

use num_bigint::BigInt;

use super::exact::{self, Style};
use super::function;
use super::interval::{Interval, code};
use super::table::{Bound, Documented, Functions};
use super::{Enclosure, order};
use crate::format::{Class, Exact, F32, F64, Format, Overflow, Rounding, Unpacked};
use crate::precision::legal::Target;

/// The upper word of an f64.
const UPPER: u64 = 0xffff_ffff_0000_0000;
/// The NaN of the gross f64 approximations.
const GROSS_NAN: u64 = 0x7fff_ffff_0000_0000;

/// One approximate instruction on one input.
pub(super) struct Approximation<'a> {
    pub(super) functions: &'a Functions,
    pub(super) target: Target,
    /// The instruction's name.
    pub(super) name: &'a str,
    /// The function: `rcp`, `rsqrt`, `sqrt`, `lg2`, `ex2`, `sin`, `cos`, `tanh`, or a library's.
    pub(super) function: &'a str,
    pub(super) style: Style,
}

impl Approximation<'_> {
    /// The result for one input word.
    pub(super) fn of(&self, word: u64) -> Enclosure {
        let format = self.style.format;
        // Of a gross f64 approximation's operand the upper word alone reaches the unit.
        let word = if self.is_gross() { word & UPPER } else { word };
        let word = self.style.operand(word);
        let x = self.style.decode(word);
        if let Some(result) = self.special(&x, word) {
            return Enclosure::known(match result {
                GROSS_NAN if format == F64 => result,
                _ => self.style.result(result),
            });
        }
        if let Some(result) = self.composed(word) {
            return Enclosure::known(self.style.result(result));
        }
        let Some(exact) = x.exact() else {
            return Enclosure::known(self.style.nan());
        };
        let value = value(self.function, &exact, &format);
        let documented = self.functions.bound(self.name, &Interval::point(&exact));
        let mut result = enclose(&self.style, &value, &documented);
        if self.is_gross() {
            // Its result has no lower word.
            result.out &= UPPER;
        }
        result
    }

    /// Whether only upper words of f64 are read and written.
    fn is_gross(&self) -> bool {
        self.name.ends_with("approx.ftz.f64")
    }

    /// A NaN of which the unit sees ∞, because its payload is in the lower word alone.
    pub(super) fn is_unseen_nan(&self, word: u64) -> bool {
        let class = |word: u64| self.style.decode(word).class;
        self.is_gross() && class(word) == Class::Nan && class(word & UPPER) == Class::Infinite
    }

    /// Results that the vendor's documentation states exactly.
    fn special(&self, x: &Unpacked, word: u64) -> Option<u64> {
        let format = self.style.format;
        let nan = if self.is_gross() {
            GROSS_NAN
        } else {
            self.style.nan()
        };
        let infinity =
            |negative: bool| format.to_register(format.infinity(negative, Overflow::Ieee));
        let zero = |negative: bool| format.to_register(format.zero(negative));
        let one = |negative: bool| {
            let code = code(
                &BigInt::from(if negative { -1 } else { 1 }),
                0,
                &format,
                Rounding::Rne,
            );
            format.to_register(code)
        };
        if x.class == Class::Nan {
            return Some(nan);
        }
        let (is_zero, is_infinite) = (x.class == Class::Zero, x.class == Class::Infinite);
        let subnormal = x.class == Class::Finite && x.significand >> x.fraction_bits == 0;
        match self.function {
            "rcp" if is_zero => Some(infinity(x.negative)),
            "rcp" if is_infinite => Some(zero(x.negative)),
            "rsqrt" if is_zero => Some(infinity(x.negative)),
            "sqrt" if is_zero => Some(zero(x.negative)),
            "lg2" | "log" | "log2" | "log10" if is_zero => Some(infinity(true)),
            "sqrt" | "rsqrt" | "lg2" | "log" | "log2" | "log10" if x.negative => Some(nan),
            "rsqrt" if is_infinite => Some(zero(false)),
            "sqrt" | "lg2" | "log" | "log2" | "log10" if is_infinite => Some(infinity(false)),
            "ex2" | "exp" | "exp2" | "exp10" if is_zero => Some(one(false)),
            "ex2" | "exp" | "exp2" | "exp10" if is_infinite => Some(if x.negative {
                zero(false)
            } else {
                infinity(false)
            }),
            "sin" | "cos" | "tan" if is_infinite => Some(nan),
            "sin" | "tan" if is_zero => Some(zero(x.negative)),
            "cos" if is_zero => Some(one(false)),
            "tanh" if is_infinite => Some(one(x.negative)),
            "tanh" if is_zero => Some(zero(x.negative)),
            // Subnormal inputs pass through the unit's hyperbolic tangent.
            "tanh" if subnormal && self.name.starts_with("tanh.approx") => Some(word),
            _ => None,
        }
    }

    /// A result composed of a primitive's known result and exact operations.
    fn composed(&self, word: u64) -> Option<u64> {
        if self.style.format != F32 {
            let primitive = match self.name {
                "tanh.approx.f16" => "MUFU.TANH.F16",
                "tanh.approx.bf16" => "MUFU.TANH.BF16",
                "ex2.approx.f16" => "MUFU.EX2.F16",
                "ex2.approx.ftz.bf16" => "MUFU.EX2.BF16",
                _ => return None,
            };
            return self.functions.known(primitive, self.target, word);
        }
        let primitive = |name: &str, input: u64| self.functions.known(name, self.target, input);
        let plain = Style {
            flush: false,
            saturate: false,
            relu: false,
            rounding: Rounding::Rne,
            format: F32,
        };
        let power = |exponent: i64| ((exponent + 127) as u64) << 23;
        let scaled = |word: u64, exponent: i64| plain.multiply(word, power(exponent)).ok();
        let magnitude = word & 0x7fff_ffff;
        let tiny = magnitude < power(-126) && !self.style.flush;
        match self.function {
            "rcp" => {
                let scale = match (self.style.flush, magnitude) {
                    (true, _) => 0,
                    (false, m) if m < power(-126) => 24,
                    (false, m) if m > power(126) => -2,
                    _ => 0,
                };
                scaled(primitive("MUFU.RCP", scaled(word, scale)?)?, scale)
            }
            "rsqrt" if tiny => scaled(primitive("MUFU.RSQ", scaled(word, 24)?)?, 12),
            "rsqrt" => primitive("MUFU.RSQ", word),
            "sqrt" if tiny => scaled(primitive("MUFU.SQRT", scaled(word, 24)?)?, -12),
            "sqrt" => primitive("MUFU.SQRT", word),
            "lg2" if tiny => {
                // 24 is 0x41c00000.
                plain
                    .add(primitive("MUFU.LG2", scaled(word, 24)?)?, 0xc1c0_0000)
                    .ok()
            }
            "lg2" => primitive("MUFU.LG2", word),
            "ex2" => {
                // −126 is 0xc2fc0000; below it the argument is halved and the result squared.
                let below = word >> 31 == 1 && magnitude > 0x42fc_0000;
                if below && !self.style.flush {
                    let half = primitive("MUFU.EX2", scaled(word, -1)?)?;
                    return plain.multiply(half, half).ok();
                }
                primitive("MUFU.EX2", word)
            }
            "sin" | "cos" => {
                let toward_zero = Style {
                    rounding: Rounding::Rz,
                    ..plain
                };
                let turns = toward_zero.multiply(word, 0x3e22_f983).ok()?;
                primitive(
                    if self.function == "sin" {
                        "MUFU.SIN"
                    } else {
                        "MUFU.COS"
                    },
                    turns,
                )
            }
            "tanh" => primitive("MUFU.TANH", word),
            _ => None,
        }
    }
}

/// The enclosure that a bound gives around an exact value, rounded inward to the format's numbers.
pub(super) fn enclose(style: &Style, value: &Interval, documented: &Documented<'_>) -> Enclosure {
    let format = style.format;
    let nearest =
        [&value.low, &value.high].map(|end| code(end, value.scale, &format, Rounding::Rne));
    let out = style.result(format.to_register(nearest[0]));
    let zero = Interval::of(BigInt::from(0), 0);
    let power = documented.power.unwrap_or(&zero);
    let wide = match documented.bound {
        Bound::None => {
            let [lo, hi] = [true, false]
                .map(|negative| format.to_register(format.infinity(negative, Overflow::Ieee)));
            return Enclosure {
                out,
                lo,
                hi,
                bound: Some("none documented".to_owned()),
            };
        }
        Bound::Ulps(count) => value.widened(&ulps(&format, value, *count)),
        Bound::UlpsOfRounded(count) => {
            let center = format
                .decode(nearest[0])
                .exact()
                .map(|exact| Interval::point(&exact));
            match center {
                Some(center) => center.widened(&ulps(&format, &center, *count)),
                // Beyond the format: the exact value stands for what would have been rounded.
                None => value.widened(&ulps(&format, value, *count)),
            }
        }
        Bound::Absolute(_) => value.widened(power),
        Bound::Relative(_) => {
            let magnitude = if value.low < BigInt::from(0) {
                value.negated()
            } else {
                value.clone()
            };
            let wide = value.widened(&magnitude.times(power).at(value.scale.min(0) - 64));
            match below_normal(&format, &magnitude) {
                // There the bound leaves open how a result meets the grid: an H200 cuts those of ex2.approx.f16.
                true => wide.to_grid(smallest_place(&format)),
                false => wide,
            }
        }
    };
    let (mut lo, mut hi) = wide.codes(&format);
    // A value beyond the largest number may be written as ∞.
    let beyond = |end: &BigInt, rounding: Rounding| code(end, wide.scale, &format, rounding);
    let upper = beyond(&wide.high, Rounding::Ru);
    if format.decode(upper).class == Class::Infinite {
        hi = upper;
    }
    let lower = beyond(&wide.low, Rounding::Rd);
    if format.decode(lower).class == Class::Infinite {
        lo = lower;
    }
    let [mut lo, mut hi] = [lo, hi].map(|code| style.result(format.to_register(code)));
    if order(&format, out) < order(&format, lo) {
        lo = out;
    }
    if order(&format, out) > order(&format, hi) {
        hi = out;
    }
    // Where the bound leaves one result, as beyond the largest number, that is the result.
    if lo == hi {
        return Enclosure::known(out);
    }
    Enclosure {
        out,
        lo,
        hi,
        bound: Some(documented.text.to_owned()),
    }
}

/// The exponent of the last place of a format's subnormal numbers.
fn smallest_place(format: &Format) -> i64 {
    let float = format.float();
    float.map_or(0, |float| {
        i64::from(float.emin()) - i64::from(float.fraction_bits)
    })
}

/// Whether a magnitude lies among the subnormal numbers of a format, and not so far below them that every rounding but one
/// away from zero gives 0.
fn below_normal(format: &Format, magnitude: &Interval) -> bool {
    let top = magnitude.high.bits() as i64 - 1 + magnitude.scale;
    let normal = format.float().map_or(i64::MIN, |float| float.emin().into());
    (smallest_place(format) - 2..normal).contains(&top)
}

/// So many units in the last place of a value.
fn ulps(format: &Format, value: &Interval, count: u32) -> Interval {
    let Some(float) = format.float() else {
        return Interval::of(BigInt::from(0), 0);
    };
    let bits = value.low.bits().max(value.high.bits()) as i64;
    let top = (bits - 1 + value.scale).max(i64::from(float.emin()));
    Interval::of(BigInt::from(count), top - i64::from(float.fraction_bits))
}

/// The exact value of a function, as a tight interval; a point where it is exact.
pub(super) fn value(function: &str, x: &Exact, format: &Format) -> Interval {
    let point = Interval::point(x);
    let one = Exact {
        negative: false,
        magnitude: 1,
        exponent: 0,
        sticky: false,
    };
    let between = |exact: &Exact| {
        // The last bit kept is far below the format's; one more unit holds what is sticky.
        let low = Interval::point(&Exact {
            sticky: false,
            ..*exact
        });
        let up = Interval::of(BigInt::from(u8::from(exact.sticky)), exact.exponent.into());
        if exact.negative {
            Interval {
                low: &low.low - &up.high,
                ..low
            }
        } else {
            Interval {
                high: &low.high + &up.high,
                ..low
            }
        }
    };
    let ten = Interval::of(BigInt::from(10), 0);
    match function {
        "rcp" => between(&exact::quotient(&one, x)),
        "sqrt" => between(&exact::root(x)),
        "rsqrt" => between(&exact::quotient(&one, &exact::root(x))).widened(&relative_dust(x)),
        "lg2" | "log2" => match exact_logarithm(x) {
            Some(exponent) => Interval::of(BigInt::from(exponent), 0),
            None => function::log2(&point),
        },
        "log" if exact_logarithm(x) == Some(0) => Interval::of(BigInt::from(0), 0),
        "log" => function::ln(&point),
        "log10" if exact_logarithm(x) == Some(0) => Interval::of(BigInt::from(0), 0),
        "log10" => function::ln(&point).over(&function::ln(&ten), -function::PLACES),
        _ => transcendental(function, x, &point, format),
    }
}

fn transcendental(function: &str, x: &Exact, point: &Interval, format: &Format) -> Interval {
    // Exponents that decide the result by themselves are cut, so that no number grows without bound.
    let limit = format
        .float()
        .map_or(1 << 11, |float| 4 << float.exponent_bits);
    let bits = 128 - i64::from(x.magnitude.leading_zeros());
    let huge = bits + i64::from(x.exponent) > 20;
    let cut = Interval::of(BigInt::from(if x.negative { -limit } else { limit }), 0);
    let bounded = if huge { &cut } else { point };
    match function {
        "ex2" | "exp2" => match integer(bounded) {
            Some(exponent) => Interval::of(BigInt::from(1), exponent),
            None => function::exp2(bounded),
        },
        "exp" => function::exp(bounded),
        "exp10" => {
            let ten = function::log2(&Interval::of(BigInt::from(10), 0));
            function::exp2(&bounded.times(&ten).at(-function::PLACES))
        }
        "sin" => function::sine_and_cosine(point).0,
        "cos" => function::sine_and_cosine(point).1,
        "tan" => {
            let (sine, cosine) = function::sine_and_cosine(point);
            sine.over(&cosine, -function::PLACES)
        }
        _ => function::tanh(point),
    }
}

/// What the division of a rounded root may be off by.
fn relative_dust(x: &Exact) -> Interval {
    let bits = 128 - i64::from(x.magnitude.leading_zeros());
    let top = (bits + i64::from(x.exponent)) / 2;
    let four = x.magnitude.is_power_of_two()
        && (x.magnitude.trailing_zeros() as i64 + i64::from(x.exponent)) % 2 == 0;
    Interval::of(BigInt::from(u8::from(!four)), -top - 100)
}

/// The logarithm of a power of two.
fn exact_logarithm(x: &Exact) -> Option<i64> {
    let power = x.magnitude.is_power_of_two() && !x.negative;
    power.then(|| i64::from(x.magnitude.trailing_zeros()) + i64::from(x.exponent))
}

/// The integer that a point is, if it is one of moderate size.
pub(super) fn integer(x: &Interval) -> Option<i64> {
    let whole = x.at(0);
    let exact = whole.low == whole.high && whole.at(x.scale.min(0)).low == x.at(x.scale.min(0)).low;
    if exact {
        i64::try_from(whole.low).ok()
    } else {
        None
    }
}
