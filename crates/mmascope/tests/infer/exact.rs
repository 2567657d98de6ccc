//! Exact dyadic numbers and rounding for the mutants, written apart from the library: decoding reads
//! IEEE fields, rounding compares with both neighbours.

use num_bigint::BigInt;

/// `m · 2^e`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dyadic {
    pub(crate) m: BigInt,
    pub(crate) e: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Rz,
    Ra,
    Rd,
    Ru,
    Rne,
    Rna,
    Rnz,
}

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

impl Dyadic {
    pub(crate) fn zero() -> Self {
        Self {
            m: BigInt::ZERO,
            e: 0,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.m == BigInt::ZERO
    }

    pub(crate) fn negative(&self) -> bool {
        self.m < BigInt::ZERO
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let e = self.e.min(other.e);
        let at = |x: &Self| &x.m << (x.e - e) as usize;
        Self {
            m: at(self) + at(other),
            e,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            m: &self.m * &other.m,
            e: self.e + other.e,
        }
    }

    /// Exponent of the leading bit.
    pub(crate) fn top(&self) -> i32 {
        self.m.magnitude().bits() as i32 - 1 + self.e
    }

    /// To a multiple of 2^grid.
    pub(crate) fn to_grid(&self, grid: i32, mode: Mode) -> Self {
        if self.e >= grid {
            return self.clone();
        }
        let width = (grid - self.e) as usize;
        let one = BigInt::from(1);
        let floor = &self.m >> width;
        let back = &floor << width;
        if back == self.m {
            return Self { m: floor, e: grid };
        }
        let up = &floor + &one;
        let twice = (&self.m - &back) * 2;
        let whole = &one << width;
        let negative = self.negative();
        let nearest = |tie_up: bool| {
            if twice < whole || (twice == whole && !tie_up) {
                floor.clone()
            } else {
                up.clone()
            }
        };
        let m = match mode {
            Mode::Rd => floor,
            Mode::Ru => up,
            Mode::Rz => {
                if negative {
                    up
                } else {
                    floor
                }
            }
            Mode::Ra => {
                if negative {
                    floor
                } else {
                    up
                }
            }
            Mode::Rne => {
                let odd = floor.bit(0);
                nearest(odd)
            }
            Mode::Rna => nearest(!negative),
            Mode::Rnz => nearest(negative),
        };
        Self { m, e: grid }
    }
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
        let m = if negative {
            -BigInt::from(m)
        } else {
            BigInt::from(m)
        };
        Value::Finite(
            negative,
            Dyadic {
                m,
                e: e - self.fraction as i32,
            },
            e,
        )
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
        let grid = x.top().max(self.emin()) - self.fraction as i32;
        let y = x.to_grid(grid, mode);
        if y.is_zero() {
            return Some(sign(zero_negative));
        }
        let e = y.top().max(self.emin());
        if e > self.bias() {
            return None;
        }
        // Exact now: the place of the last bit.
        let place = e - self.fraction as i32;
        let m = if y.e >= place {
            &y.m << (y.e - place) as usize
        } else {
            &y.m >> (place - y.e) as usize
        };
        let digits = m.magnitude().to_u64_digits();
        let m = digits.first().copied().unwrap_or(0);
        let normal = m >> self.fraction == 1;
        let field = if normal { (e + self.bias()) as u64 } else { 0 };
        Some(sign(y.negative()) | field << self.fraction | m & ((1 << self.fraction) - 1))
    }

    pub(crate) fn largest(self, negative: bool) -> u64 {
        self.infinity(negative) - 1
    }
}
