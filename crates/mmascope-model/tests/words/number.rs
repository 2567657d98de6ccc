//! Exact numbers `n · 2^p` and roundings by their names in words: nothing of the model's arithmetic.

use mmascope_model::format::{Float, Format, Kind, Specials};
use num_bigint::BigInt;

/// `n · 2^p`.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    pub(crate) n: BigInt,
    pub(crate) p: i64,
}

impl Exact {
    pub(crate) fn new(n: impl Into<BigInt>, p: i64) -> Self {
        Self { n: n.into(), p }
    }

    pub(crate) fn zero() -> Self {
        Self::new(0, 0)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.n == BigInt::ZERO
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.n < BigInt::ZERO
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let p = self.p.min(other.p);
        let at = |x: &Self| x.n.clone() << (x.p - p) as u64;
        Self::new(at(self) + at(other), p)
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self::new(&self.n * &other.n, self.p + other.p)
    }

    pub(crate) fn negated(&self) -> Self {
        Self::new(-&self.n, self.p)
    }

    /// The exponent of the leading bit; not for 0.
    pub(crate) fn top(&self) -> i64 {
        self.n.magnitude().bits() as i64 - 1 + self.p
    }

    pub(crate) fn sum<'a>(terms: impl IntoIterator<Item = &'a Self>) -> Self {
        terms
            .into_iter()
            .fold(Self::zero(), |sum, term| sum.plus(term))
    }

    /// Rounded to a multiple of `2^grid`, in a direction by its words.
    pub(crate) fn rounded(&self, grid: i64, how: &str) -> Self {
        if self.p >= grid {
            return self.clone();
        }
        let width = (grid - self.p) as u64;
        let floor: BigInt = &self.n >> width; // toward −∞
        let rest = &self.n - (&floor << width);
        if rest == BigInt::ZERO {
            return Self::new(floor, grid);
        }
        let half = BigInt::from(1) << (width - 1);
        let odd = floor.bit(0);
        let negative = self.is_negative();
        let up = match how {
            "toward zero" => negative,
            "down" => false,
            "up" => true,
            "away from zero" => !negative,
            "to odd" => !odd,
            _ => {
                let ties = how
                    .strip_prefix("to nearest (ties ")
                    .and_then(|t| t.strip_suffix(')'));
                let ties = ties.unwrap_or_else(|| panic!("no rounding: {how}"));
                match (rest > half, rest == half) {
                    (true, _) => true,
                    (false, false) => false,
                    _ => match ties {
                        "to even" => odd,
                        "to odd" => !odd,
                        "away from zero" => !negative,
                        "toward zero" => negative,
                        "up" => true,
                        "down" => false,
                        other => panic!("no ties: {other}"),
                    },
                }
            }
        };
        Self::new(floor + i32::from(up), grid)
    }
}

/// A value as a format has it.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Nan,
    /// Infinity, negative or not.
    Infinite(bool),
    /// A number with its sign (of a zero too) and its exponent.
    Number(bool, Exact, i64),
}

impl Value {
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite(negative) => Self::Infinite(!negative),
            Self::Number(negative, x, exponent) => Self::Number(!negative, x.negated(), exponent),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Self::Number(_, x, _) if x.is_zero())
    }

    pub(crate) fn is_negative(&self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinite(negative) | Self::Number(negative, ..) => *negative,
        }
    }

    /// "Subnormal": below the smallest normal number, whose exponent it has.
    pub(crate) fn is_subnormal(&self) -> bool {
        matches!(self, Self::Number(_, x, e) if !x.is_zero() && x.top() < *e)
    }

    pub(crate) fn as_zero(&self, negative: bool) -> Self {
        match self {
            Self::Number(_, _, e) => Self::Number(negative, Exact::zero(), *e),
            other => other.clone(),
        }
    }
}

pub(crate) fn float(format: &Format) -> Float {
    format.float().expect("a float")
}

pub(crate) fn emin(format: &Format) -> i64 {
    match format.kind {
        Kind::Float(float) if float.subnormals => 1 - i64::from(float.bias),
        Kind::Float(float) => -i64::from(float.bias),
        Kind::Fixed { scale } => i64::from(scale),
    }
}

/// What a register word means.
pub(crate) fn decode(format: &Format, word: u64, codes: &str) -> Value {
    let code = (word >> format.register.shift) & (u64::MAX >> (64 - format.bits));
    let Kind::Float(float) = format.kind else {
        let Kind::Fixed { scale } = format.kind else {
            unreachable!()
        };
        let sign = format.signed && code >> (format.bits - 1) & 1 == 1;
        let n = BigInt::from(code)
            - if sign {
                BigInt::from(1) << format.bits
            } else {
                BigInt::ZERO
            };
        return Value::Number(sign, Exact::new(n, scale.into()), scale.into());
    };
    let m = float.fraction_bits;
    let magnitude = code & ((1 << (float.exponent_bits + m)) - 1);
    let (field, fraction) = (magnitude >> m, magnitude & ((1 << m) - 1));
    let negative = format.signed && code >> (format.bits - 1) == 1;
    let ones = (1 << float.exponent_bits) - 1;
    let special = match float.specials {
        Specials::Ieee if field == ones && fraction == 0 => Some(Value::Infinite(negative)),
        Specials::Ieee if field == ones => Some(Value::Nan),
        Specials::AllOnesNan if magnitude + 1 == 1 << (float.exponent_bits + m) => Some(Value::Nan),
        Specials::NegativeZeroNan if negative && magnitude == 0 => Some(Value::Nan),
        _ => None,
    };
    match (special, codes) {
        (None, _) | (_, "numbers") => {}
        (Some(Value::Infinite(negative)), "largest") => {
            let e = emin(format) + ones as i64 - 2;
            let x = largest(format);
            return Value::Number(negative, if negative { x.negated() } else { x }, e);
        }
        (Some(special), _) => return special,
    }
    let subnormal = field == 0 && float.subnormals;
    let e = if float.subnormals {
        field.max(1)
    } else {
        field
    } as i64
        - i64::from(float.bias);
    let n = BigInt::from(fraction + if subnormal { 0 } else { 1 << m });
    let x = Exact::new(if negative { -n } else { n }, e - i64::from(m));
    Value::Number(negative, x, e)
}

/// The largest number of a format.
pub(crate) fn largest(format: &Format) -> Exact {
    let float = float(format);
    let (m, ones) = (float.fraction_bits, (1_i64 << float.exponent_bits) - 1);
    let all = (BigInt::from(1) << (m + 1)) - 1;
    let place = |field: i64| field - i64::from(float.bias) - i64::from(m);
    match float.specials {
        Specials::Ieee => Exact::new(all, place(ones - 1)),
        Specials::AllOnesNan => Exact::new(all - 1, place(ones)),
        Specials::NegativeZeroNan | Specials::None => Exact::new(all, place(ones)),
    }
}

/// The register word of a number that the format has.
pub(crate) fn encode(format: &Format, negative: bool, x: &Exact) -> u64 {
    let float = float(format);
    let m = i64::from(float.fraction_bits);
    let magnitude = if x.is_zero() {
        0
    } else {
        let e = x.top().max(emin(format));
        let n = x.rounded(e - m, "toward zero");
        let n = n.n.magnitude() << (n.p - (e - m)) as u64;
        let n: u64 = n.try_into().expect("a significand");
        // The hidden bit of a normal number is one in the exponent's field.
        (((e - emin(format)) as u64) << m) + n
    };
    let sign = u64::from(negative) << (format.bits - 1);
    (sign | magnitude) << format.register.shift
}
