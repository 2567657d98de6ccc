//! Codes of IEEE formats for the mutants, written apart from the library: decoding reads fields,
//! rounding compares with both neighbours.

pub(crate) use mmascope::format::Rounding as Mode;

use crate::exact::Dyadic;

/// An IEEE-like format: exponent bits and fraction bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ieee {
    pub(crate) exponent: u32,
    pub(crate) fraction: u32,
}

pub(crate) const HALF: Ieee = Ieee {
    exponent: 5,
    fraction: 10,
};
pub(crate) const BRAIN: Ieee = Ieee {
    exponent: 8,
    fraction: 7,
};
pub(crate) const TENSOR: Ieee = Ieee {
    exponent: 8,
    fraction: 10,
};
pub(crate) const SINGLE: Ieee = Ieee {
    exponent: 8,
    fraction: 23,
};
pub(crate) const QUARTER: Ieee = Ieee {
    exponent: 5,
    fraction: 2,
};

/// A code: what it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nan,
    Infinite(bool),
    /// Sign, value and field exponent.
    Finite(bool, Dyadic, i32),
}

impl Ieee {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(crate) fn emin(self) -> i32 {
        1 - self.bias()
    }

    pub(crate) fn decode(self, code: u64) -> Value {
        let fraction = code & ((1 << self.fraction) - 1);
        let field = (code >> self.fraction) & ((1 << self.exponent) - 1);
        let negative = code >> (self.fraction + self.exponent) & 1 == 1;
        if field == (1 << self.exponent) - 1 {
            return if fraction == 0 {
                Value::Infinite(negative)
            } else {
                Value::Nan
            };
        }
        let (m, e) = if field == 0 {
            (fraction, self.emin())
        } else {
            (fraction | 1 << self.fraction, field as i32 - self.bias())
        };
        let m = if negative { -i128::from(m) } else { m.into() };
        Value::Finite(negative, Dyadic::new(m, e - self.fraction as i32), e)
    }

    pub(crate) fn infinity(self, negative: bool) -> u64 {
        let sign = u64::from(negative) << (self.fraction + self.exponent);
        sign | ((1 << self.exponent) - 1) << self.fraction
    }

    /// The code; `None` when it is out of range.
    pub(crate) fn round(self, x: &Dyadic, mode: Mode, zero_negative: bool) -> Option<u64> {
        let sign = |negative: bool| u64::from(negative) << (self.fraction + self.exponent);
        if x.is_zero() {
            return Some(sign(zero_negative));
        }
        let grid = x.logarithm().max(self.emin()) - self.fraction as i32;
        let y = x.to_grid(grid, mode);
        if y.is_zero() {
            return Some(sign(zero_negative));
        }
        let e = y.logarithm().max(self.emin());
        if e > self.bias() {
            return None;
        }
        // In units of the last bit.
        let m = y
            .magnitude()
            .divided_by(&Dyadic::power(e - self.fraction as i32));
        let m = u64::try_from(m.big()).expect("a significand");
        let normal = m >> self.fraction == 1;
        let field = if normal { (e + self.bias()) as u64 } else { 0 };
        Some(sign(y.is_negative()) | field << self.fraction | m & ((1 << self.fraction) - 1))
    }

    pub(crate) fn largest(self, negative: bool) -> u64 {
        self.infinity(negative) - 1
    }
}
