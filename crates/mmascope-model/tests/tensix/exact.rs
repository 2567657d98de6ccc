//! The arithmetic another way: exact multiples of 2^UNIT as big integers, rounded by division (§4, §7.1).

use num_bigint::BigInt;

/// Exponent of the unit in which every number is a whole one.
const UNIT: i32 = -460;

/// What an operand or a result is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) exponent_bits: u32,
    pub(crate) fraction_bits: u32,
}

pub(crate) const BF16: Layout = Layout {
    exponent_bits: 8,
    fraction_bits: 7,
};
pub(crate) const TF32: Layout = Layout {
    exponent_bits: 8,
    fraction_bits: 10,
};
pub(crate) const F16: Layout = Layout {
    exponent_bits: 5,
    fraction_bits: 10,
};
pub(crate) const F32: Layout = Layout {
    exponent_bits: 8,
    fraction_bits: 23,
};

/// A number with the exponent of its field; every code is a number, a field of 0 is zero.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    exponent: i32,
    significand: i64,
    fraction_bits: i32,
}

impl Layout {
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn number(self, code: u64) -> Option<Number> {
        let field = ((code >> self.fraction_bits) & ((1 << self.exponent_bits) - 1)) as i32;
        (field != 0).then(|| Number {
            negative: code >> (self.exponent_bits + self.fraction_bits) & 1 == 1,
            exponent: field - self.bias(),
            significand: (code & ((1 << self.fraction_bits) - 1) | 1 << self.fraction_bits) as i64,
            fraction_bits: self.fraction_bits as i32,
        })
    }
}

/// `x · 2^exponent` in units.
fn scaled(x: i64, exponent: i32) -> BigInt {
    let up = exponent - UNIT;
    assert!(up >= 0, "a number below the unit");
    BigInt::from(x) << up
}

/// The nearest multiple of 2^grid, a tie toward +∞.
fn nearest_up(x: &BigInt, grid: i32) -> BigInt {
    let shift = grid - UNIT;
    let half = BigInt::from(1) << (shift - 1);
    (x + half) >> shift << shift
}

/// The nearest multiple of 2^grid, a tie away from zero.
fn nearest_away(x: &BigInt, grid: i32) -> BigInt {
    if is_negative(x) {
        -nearest_up(&-x, grid)
    } else {
        nearest_up(x, grid)
    }
}

fn is_negative(x: &BigInt) -> bool {
    *x < BigInt::from(0)
}

/// Exponent of the leading bit of a number that is not zero.
fn top(x: &BigInt) -> i32 {
    x.magnitude().bits() as i32 - 1 + UNIT
}

/// A kind of matrix unit: types, phase, fault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) operands: Layout,
    /// The layout of Dst.
    pub(crate) dst: Layout,
    /// Whether Dst has 32 bits.
    pub(crate) wide: bool,
    pub(crate) phase: u32,
    pub(crate) faulty: bool,
}

/// An addend with its nominal exponent; the numbers in units.
struct Addend {
    value: BigInt,
    exponent: i32,
}

impl Kind {
    /// The exponent at or below which everything is zero.
    fn floor(&self) -> i32 {
        -self.dst.bias()
    }

    fn below(&self) -> i32 {
        [0, 5, 7, 12][self.phase as usize]
    }

    /// The exponent of a zero product: that of two exponent fields of 0, but not below the floor.
    fn zero(&self) -> Addend {
        let nominal = -2 * self.operands.bias() - self.below();
        Addend {
            value: BigInt::from(0),
            exponent: nominal.max(self.floor()),
        }
    }

    /// The part of a significand that a side of `high` bits takes: as a number of units 2^-10.
    fn part(x: &Number, high: u32, low: u32, lower: bool) -> i64 {
        let full = x.significand << (10 - x.fraction_bits);
        let upper = full >> (11 - high) << (11 - high);
        match lower {
            false => upper,
            true => (full - upper) >> (11 - high - low) << (11 - high - low),
        }
    }

    /// SrcB has seven bits and then four, SrcA five and then five.
    fn product(&self, src_b: u64, src_a: u64) -> Addend {
        let (Some(b), Some(a)) = (self.operands.number(src_b), self.operands.number(src_a)) else {
            return self.zero();
        };
        let b_part = Self::part(&b, 7, 4, self.phase & 2 != 0);
        let a_part = Self::part(&a, 5, 5, self.phase & 1 != 0);
        let sign = if a.negative != b.negative { -1 } else { 1 };
        let exponent = a.exponent + b.exponent;
        Addend {
            value: scaled(sign * a_part * b_part, exponent - 20),
            exponent: exponent - self.below(),
        }
    }

    fn value(&self, code: u64, negate: bool) -> Addend {
        match self.operands.number(code) {
            // A sum of two zeros takes part as a zero of the first phase does.
            None => Kind { phase: 0, ..*self }.zero(),
            Some(x) => {
                let sign = if x.negative != negate { -1 } else { 1 };
                Addend {
                    value: scaled(sign * x.significand, x.exponent - x.fraction_bits),
                    exponent: x.exponent,
                }
            }
        }
    }

    fn group(&self, terms: &[Addend]) -> Addend {
        let exponent = terms.iter().map(|term| term.exponent).max().unwrap();
        if exponent <= self.floor() {
            return Addend {
                value: BigInt::from(0),
                exponent: self.floor(),
            };
        }
        let value = terms
            .iter()
            .map(|term| nearest_away(&term.value, exponent - 10))
            .sum();
        Addend { value, exponent }
    }

    fn total(&self, groups: Vec<Addend>, dst: u64) -> u64 {
        let c = self.dst.number(dst);
        let mut exponent = groups.iter().map(|group| group.exponent).max().unwrap();
        exponent = exponent.max(c.map_or(self.floor(), |c| c.exponent));
        if exponent <= self.floor() {
            return 0;
        }
        let grids: &[i32] = if self.wide { &[23] } else { &[23, 10] };
        let round = |mut value: BigInt, of: fn(&BigInt, i32) -> BigInt| {
            for bits in grids {
                value = of(&value, exponent - bits);
            }
            value
        };
        let mut sum: BigInt = groups
            .into_iter()
            .map(|group| round(group.value, nearest_up))
            .sum();
        if let Some(c) = c {
            let sign = if c.negative { -1 } else { 1 };
            let value = scaled(sign * c.significand, c.exponent - c.fraction_bits);
            sum += round(value, nearest_away);
        }
        if self.faulty && sum == scaled(-1, exponent - 23) {
            sum <<= 27;
        }
        self.encode(&sum)
    }

    /// Rounded away from zero in a tie, whatever the exponent; then too small is +0 and too large the last code.
    fn encode(&self, sum: &BigInt) -> u64 {
        if *sum == BigInt::from(0) {
            return 0;
        }
        let fraction_bits = self.dst.fraction_bits as i32;
        let rounded = nearest_away(sum, top(sum) - fraction_bits);
        let field = top(&rounded) + self.dst.bias();
        let sign = u64::from(is_negative(sum)) << (self.dst.exponent_bits + self.dst.fraction_bits);
        let ones = (1 << self.dst.exponent_bits) - 1;
        if field <= 0 {
            return 0;
        }
        if self.dst == F16 && field > ones {
            return sign | 0x7fff;
        }
        if self.dst != F16 && field >= ones {
            return sign | (ones as u64) << fraction_bits;
        }
        let significand: BigInt = (if is_negative(&rounded) {
            -rounded.clone()
        } else {
            rounded.clone()
        }) >> (top(&rounded) - fraction_bits - UNIT);
        let significand = u64::try_from(significand).unwrap();
        sign | (field as u64) << fraction_bits | significand & ((1 << fraction_bits) - 1)
    }

    pub(crate) fn mvmul(&self, src_b: &[u64], src_a: &[u64], dst: u64) -> u64 {
        let products: Vec<Addend> = src_b
            .iter()
            .zip(src_a)
            .map(|(b, a)| self.product(*b, *a))
            .collect();
        self.total(
            products.chunks(8).map(|eight| self.group(eight)).collect(),
            dst,
        )
    }

    pub(crate) fn multiply(&self, src_a: u64, src_b: u64, dst: u64) -> u64 {
        self.total(vec![self.group(&[self.product(src_b, src_a)])], dst)
    }

    pub(crate) fn add(&self, src_a: u64, src_b: u64, negate_b: bool, dst: u64) -> u64 {
        let terms = [self.value(src_a, false), self.value(src_b, negate_b)];
        self.total(vec![self.group(&terms)], dst)
    }
}

/// The vector unit's multiply-add. `first` has the NaN that leaks and zeros that are always +0.
pub(crate) fn multiply_add(first: bool, x: u32, y: u32, z: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let field = |w: u32| (w >> 23 & 255) as i32;
    let is_nan = |w: u32| w & 0x7fff_ffff > INFINITY;
    let is_infinite = |w: u32| w & 0x7fff_ffff == INFINITY;
    let is_zero = |w: u32| field(w) == 0;
    let negative = (x ^ y) >> 31 == 1;
    let product_sign = (x ^ y) & 1 << 31;
    let value = |w: u32| {
        let number = F32.number(w.into());
        number.map_or(BigInt::from(0), |n| {
            scaled(
                if n.negative {
                    -n.significand
                } else {
                    n.significand
                },
                n.exponent - 23,
            )
        })
    };
    let zero = if !first && negative && z >> 31 == 1 {
        1 << 31
    } else {
        0
    };
    let mut exponent = field(x) + field(y) - 127;
    let mut product = (value(x) * value(y)) >> -UNIT;
    let mut nan = None;
    if [x, y, z].iter().any(|w| field(*w) == 255) || exponent >= 255 {
        let invalid =
            is_nan(x) || is_nan(y) || is_infinite(x) && is_zero(y) || is_infinite(y) && is_zero(x);
        let operand = field(x) == 255 || field(y) == 255;
        let infinite = operand || first && exponent >= 255;
        let opposite = is_infinite(z) && infinite && z & 1 << 31 != product_sign;
        if first {
            if invalid || opposite {
                nan = Some(product_sign | 0x7f80_0001);
            } else if is_nan(z) {
                nan = Some(z & 1 << 31 | 0x7f80_0001);
            } else if is_infinite(z) {
                return z;
            } else {
                return product_sign | INFINITY;
            }
            if exponent > 255 {
                // The exponent is limited, the significand stays.
                product >>= exponent - 255;
                exponent = 255;
            }
        } else if invalid || is_nan(z) || opposite {
            return 0x7fc0_0000;
        } else if is_infinite(z) {
            return z;
        } else {
            return product_sign | INFINITY;
        }
    }
    let mut c = value(z);
    let nothing = BigInt::from(0);
    if product == nothing || exponent < 0 {
        match nan {
            Some(_) => (product, exponent) = (nothing.clone(), 0),
            None if !is_zero(z) => return z,
            None => return zero,
        }
    }
    // Three places below a 24-bit significand, the last one sticky.
    product = jammed(&product, exponent - 127 - 26, false);
    let largest = exponent.max(field(z));
    let place = largest - 127 - 26;
    product = jammed(&product, place, true);
    c = jammed(&c, place, true);
    let sum = &product + &c;
    if sum == nothing {
        return nan.unwrap_or(zero);
    }
    let sum_negative = match product.magnitude() >= c.magnitude() {
        true => negative,
        false => z >> 31 == 1,
    };
    let sign = u32::from(sum_negative) << 31;
    let mut magnitude = if is_negative(&sum) { -sum } else { sum };
    let up = top(&magnitude) + 127 - largest;
    let own = largest + up;
    if own >= 255 {
        return nan.unwrap_or(sign | INFINITY);
    }
    if first && own < 0 {
        return nan.unwrap_or(0);
    }
    let (mut shift, mut exponent) = (up, own);
    if !first && own <= 0 {
        // What is smaller still is taken as if its exponent were 0.
        magnitude <<= -own;
        (shift, exponent) = (up + 1, 0);
    }
    // A shift to the right keeps a sticky bit; two places at once lose the upper one on one machine.
    let last = exponent - 127 - 26 + i32::from(!first && own <= 0);
    if shift > 0 {
        magnitude = match first && shift == 2 {
            false => jammed(&magnitude, last, false),
            true => {
                let lowest = &magnitude & (BigInt::from(1) << (place - UNIT));
                let kept = &magnitude >> (last - UNIT) << (last - UNIT);
                if lowest == nothing {
                    kept
                } else {
                    kept | BigInt::from(1) << (last - UNIT)
                }
            }
        };
    }
    let rounded = nearest_even(&magnitude, last + 3);
    if top(&rounded) < -126 || exponent == 0 && first && top(&rounded) < -126 {
        return nan.unwrap_or(if first { 0 } else { sign });
    }
    if top(&rounded) + 127 >= 255 {
        // A carry into the last exponent field.
        return nan.unwrap_or(sign) | INFINITY;
    }
    let fraction: BigInt = &rounded >> (top(&rounded) - 23 - UNIT);
    let fraction = u32::try_from(fraction).unwrap() & 0x7f_ffff;
    nan.unwrap_or(sign) | ((top(&rounded) + 127) as u32) << 23 | fraction
}

/// The magnitude cut at 2^grid, its last bit set where something was cut off; with `forgets`, not where nothing
/// is left.
fn jammed(x: &BigInt, grid: i32, forgets: bool) -> BigInt {
    let negative = is_negative(x);
    let magnitude = if negative { -x } else { x.clone() };
    let shift = grid - UNIT;
    let mut kept: BigInt = &magnitude >> shift;
    let lost = (&kept << shift) != magnitude;
    if lost && !(forgets && kept == BigInt::from(0)) {
        kept |= BigInt::from(1);
    }
    let kept = kept << shift;
    if negative { -kept } else { kept }
}

/// The nearest multiple of 2^grid of a positive number, a tie to an even one.
fn nearest_even(x: &BigInt, grid: i32) -> BigInt {
    let shift = grid - UNIT;
    let whole: BigInt = x >> shift;
    let rest = x - (&whole << shift);
    let half = BigInt::from(1) << (shift - 1);
    let odd = &whole & BigInt::from(1) == BigInt::from(1);
    let grows = rest > half || rest == half && odd;
    (if grows { whole + 1 } else { whole }) << shift
}
