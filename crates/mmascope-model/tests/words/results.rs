//! Brings a sum to the format of a result, as sentences say it.

use mmascope_model::format::{Format, Specials};

use super::Machine;
use crate::number::{Exact, Value, decode, emin, encode, float, largest};
use crate::reader::To;

/// IEEE 754: infinity, or the largest number where rounding goes toward it.
pub(super) fn goes_inward(negative: bool, how: &str) -> bool {
    match how {
        "toward zero" | "to odd" => true,
        "up" => negative,
        "down" => !negative,
        _ => false,
    }
}

/// A number rounded to a format with IEEE 754's overflow; its sign is kept.
pub(super) fn rounded(negative: bool, x: &Exact, (how, format): &To) -> Value {
    let m = i64::from(float(format).fraction_bits);
    if x.is_zero() {
        return Value::Number(negative, Exact::zero(), emin(format));
    }
    let e = x.top().max(emin(format));
    let y = x.rounded(e - m, how);
    if beyond(&y, format) {
        if goes_inward(negative, how) {
            let most = largest(format);
            let e = most.top();
            return Value::Number(negative, if negative { most.negated() } else { most }, e);
        }
        return stand_in(&Value::Infinite(negative), format);
    }
    let e = if y.is_zero() {
        emin(format)
    } else {
        y.top().max(emin(format))
    };
    Value::Number(negative, y, e)
}

/// What a format has in place of infinity and NaN, where it lacks them.
pub(super) fn stand_in(value: &Value, format: &Format) -> Value {
    let specials = float(format).specials;
    let negative = match value {
        Value::Number(..) => return value.clone(),
        Value::Infinite(_) if specials == Specials::Ieee => return value.clone(),
        Value::Nan | Value::Infinite(_) if specials != Specials::None => return Value::Nan,
        Value::Infinite(negative) => *negative,
        Value::Nan => false,
    };
    let most = largest(format);
    let e = most.top();
    Value::Number(negative, if negative { most.negated() } else { most }, e)
}

pub(super) fn beyond(x: &Exact, format: &Format) -> bool {
    let size = if x.is_negative() {
        x.negated()
    } else {
        x.clone()
    };
    !size.plus(&largest(format).negated()).is_negative()
        && !size.plus(&largest(format).negated()).is_zero()
}

impl Machine<'_> {
    pub(super) fn result(&self) -> To {
        self.own.result.clone().expect("the result is said")
    }

    /// Whether the result's format is said to have no NaN.
    fn lacks_nan(&self) -> bool {
        self.own.stand_ins && float(&self.result().1).specials == Specials::None
    }

    pub(super) fn nan(&self) -> u64 {
        let (_, format) = self.result();
        if self.lacks_nan() {
            return self.most(false);
        }
        match self.own.nan.expect("NaN is said") {
            Some(word) => word,
            None if self.own.stand_ins => {
                assert_eq!(float(&format).specials, Specials::AllOnesNan);
                ((1_u64 << (format.bits - 1)) - 1) << format.register.shift
            }
            None => {
                // Any: all exponent bits and the highest of the fraction.
                let float = float(&format);
                let ones = (1_u64 << float.exponent_bits) - 1;
                (ones << float.fraction_bits | 1 << (float.fraction_bits - 1))
                    << format.register.shift
            }
        }
    }

    pub(super) fn infinity(&self, negative: bool) -> u64 {
        let (_, format) = self.result();
        let overflow = self.own.overflow.as_deref().expect("overflow is said");
        if overflow.ends_with("and so is infinity") {
            return match overflow.starts_with("NaN") && !self.lacks_nan() {
                true => self.nan(),
                false => self.most(negative),
            };
        }
        if self.own.stand_ins {
            return match float(&format).specials {
                Specials::None => self.most(negative),
                _ => self.nan(),
            };
        }
        let float = float(&format);
        let ones = (1_u64 << float.exponent_bits) - 1;
        let sign = u64::from(negative) << (format.bits - 1);
        (sign | ones << float.fraction_bits) << format.register.shift
    }

    pub(super) fn most(&self, negative: bool) -> u64 {
        let (_, format) = self.result();
        let most = largest(&format);
        encode(
            &format,
            negative,
            &if negative { most.negated() } else { most },
        )
    }

    /// The word of an exact sum; `zeros` is the sign that all its terms have, if they are zeros.
    pub(super) fn finish(&self, sum: &Exact, zeros: Option<bool>) -> u64 {
        let (how, format) = self.result();
        let m = i64::from(float(&format).fraction_bits);
        if let Some((kept, true)) = self.own.flush
            && !sum.is_zero()
            && sum.top() < emin(&format)
        {
            return encode(&format, kept && sum.is_negative(), &Exact::zero());
        }
        if let Some(kept) = self.own.flush_unbounded
            && !sum.is_zero()
            && sum.rounded(sum.top() - m, &how).top() < emin(&format)
        {
            return encode(&format, kept && sum.is_negative(), &Exact::zero());
        }
        let negative = sum.is_negative();
        if self.own.ones_are_numbers && !sum.is_zero() {
            let rounded = sum.rounded(sum.top() - m, &how);
            let ones = (1_i64 << float(&format).exponent_bits) - 1;
            let most = ones - i64::from(float(&format).bias);
            let code = match rounded.top() {
                top if top > most => (1_u64 << (format.bits - 1)) - 1,
                top if top == most => {
                    // The codes of one binade less, and one field more.
                    let half = rounded.times(&Exact::new(1, -1));
                    let size = if negative { half.negated() } else { half };
                    encode(&format, false, &size) + (1 << float(&format).fraction_bits)
                }
                _ => {
                    let size = if negative { rounded.negated() } else { rounded };
                    encode(&format, false, &size)
                }
            };
            return code | u64::from(negative) << (format.bits - 1);
        }
        let (rounded, e) = match sum.is_zero() {
            true => (Exact::zero(), 0),
            false => {
                let e = sum.top().max(emin(&format));
                (sum.rounded(e - m, &how), e)
            }
        };
        let _ = e;
        if rounded.is_zero() {
            return encode(&format, self.zero(sum, zeros), &Exact::zero());
        }
        if beyond(&rounded, &format) {
            let overflow = self.own.overflow.as_deref().expect("overflow is said");
            return match overflow {
                "infinity, however it is rounded" => self.infinity(negative),
                "what IEEE 754 says: infinity, or the largest number where rounding goes toward it" => {
                    match goes_inward(negative, &how) {
                        true => self.most(negative),
                        false => self.infinity(negative),
                    }
                }
                // The largest number of its sign stands for what is beyond it.
                text if text.starts_with("NaN") && self.lacks_nan() => self.most(negative),
                text if text.starts_with("NaN") => self.nan(),
                text if text.starts_with("the largest number") => self.most(negative),
                other => panic!("overflow: {other}"),
            };
        }
        let flush = self.own.flush;
        if let Some((kept, false)) = flush
            && rounded.top() < emin(&format)
        {
            return encode(&format, kept && negative, &Exact::zero());
        }
        encode(&format, negative, &rounded)
    }

    /// Whether a zero result is −0.
    pub(super) fn zero(&self, sum: &Exact, zeros: Option<bool>) -> bool {
        let text = self.own.zero.as_deref().expect("zeros are said");
        match text {
            "A zero result is +0." => return false,
            "A zero result is -0." => return true,
            _ => {}
        }
        assert!(
            text.ends_with("one that is rounded to zero keeps its sign."),
            "{text}"
        );
        if !sum.is_zero() {
            return sum.is_negative();
        }
        let other = text.contains("of exactly 0 is -0");
        match text.starts_with("A sum of zeros of one sign is that zero;") {
            true => zeros.unwrap_or(other),
            false => other,
        }
    }

    pub(super) fn convert(&self, value: &Value) -> u64 {
        match value {
            Value::Nan => self.nan(),
            Value::Infinite(negative) => self.infinity(*negative),
            Value::Number(negative, x, _) => self.finish(x, x.is_zero().then_some(*negative)),
        }
    }

    /// One addition of IEEE 754.
    pub(super) fn add(&self, x: &Value, y: &Value) -> u64 {
        match (x, y) {
            (Value::Nan, _) | (_, Value::Nan) => self.nan(),
            (Value::Infinite(x), Value::Infinite(y)) if x != y => self.nan(),
            (Value::Infinite(negative), _) | (_, Value::Infinite(negative)) => {
                self.infinity(*negative)
            }
            (Value::Number(p, x, _), Value::Number(q, y, _)) => {
                let zeros = (x.is_zero() && y.is_zero() && p == q).then_some(*p);
                self.finish(&x.plus(y), zeros)
            }
        }
    }

    pub(super) fn value(&self, word: u64) -> Value {
        decode(&self.result().1.container(), word, "special")
    }
}
