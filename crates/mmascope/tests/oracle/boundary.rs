//! The family `boundary`: inputs built for a unit's F and e0 and for the range of its result.

use mmascope::format::Format;

use super::codes::{
    Fraction, any_fraction, compose, exponents, near_maximum, number, signed, zero,
};
use super::families::{Case, Target, scales};
use super::operand::{field_exponent, float};
use super::random::Random;

pub(crate) fn case(random: &mut Random, target: &Target) -> Case {
    let kind = random.below(10);
    let kind: fn(&mut Builder<'_>) -> Case = match kind {
        0 => near_maximum_groups,
        1 => ladder,
        2 => around_the_floor,
        3 => ties,
        4 => exact_cancellation,
        5 => truncated_to_zero,
        6 => signed_zeros,
        7 => around_overflow,
        8 => around_underflow,
        _ => one_large_many_at_the_grid,
    };
    let scale_center = if random.coin() {
        0
    } else {
        target.e0 / 2 + random.between(-2, 4)
    };
    let scale_a = scales(random, target, scale_center);
    let scale_b = scales(random, target, scale_center);
    let mut builder = Builder {
        random,
        target,
        scale_a,
        scale_b,
    };
    let case = kind(&mut builder);
    Case {
        scale_a: builder.scale_a,
        scale_b: builder.scale_b,
        ..case
    }
}

struct Builder<'a> {
    random: &'a mut Random,
    target: &'a Target,
    scale_a: Vec<u64>,
    scale_b: Vec<u64>,
}

impl Builder<'_> {
    /// Operands whose product has about this exponent, the block's scales included.
    fn pair(&mut self, k: usize, exponent: i32, negative: bool, fraction: Fraction) -> (u64, u64) {
        let signature = self.target.signature;
        let exponent = exponent - self.scale_exponent(k);
        let (low_a, high_a) = exponents(&signature.a);
        let (low_b, high_b) = exponents(&signature.b);
        let (low, high) = (low_a.max(exponent - high_b), high_a.min(exponent - low_b));
        let exponent_a = if low > high {
            low
        } else {
            self.random.between(low, high)
        };
        let other = if self.random.coin() {
            Fraction::Zero
        } else {
            fraction
        };
        let flip = self.random.coin();
        let (a, b) = (&signature.a, &signature.b);
        let word_a = number(self.random, a, negative != flip, exponent_a, fraction);
        (
            word_a,
            number(self.random, b, flip, exponent - exponent_a, other),
        )
    }

    fn scale_exponent(&self, k: usize) -> i32 {
        let Some(scale) = self.target.signature.scale else {
            return 0;
        };
        let exponent =
            |words: &[u64]| super::operand::decode(&scale.format, words[k / scale.block]).exponent;
        exponent(&self.scale_a) + exponent(&self.scale_b)
    }

    fn zeros(&mut self) -> (u64, u64) {
        let signature = self.target.signature;
        (
            zero(self.random, &signature.a),
            zero(self.random, &signature.b),
        )
    }

    /// A case with the pair for each k, and c.
    fn build(&mut self, c: u64, mut pair: impl FnMut(&mut Self, usize) -> (u64, u64)) -> Case {
        let (a, b) = (0..self.target.signature.k).map(|k| pair(self, k)).unzip();
        Case {
            a,
            b,
            c,
            ..Case::default()
        }
    }

    fn c(&mut self, exponent: i32, negative: bool, fraction: Fraction) -> u64 {
        number(
            self.random,
            &self.target.signature.c,
            negative,
            exponent,
            fraction,
        )
    }

    /// Exponents that a product can have.
    fn product_range(&self) -> (i32, i32) {
        let (low_a, high_a) = exponents(&self.target.signature.a);
        let (low_b, high_b) = exponents(&self.target.signature.b);
        let scale = self.scale_exponent(0);
        (low_a + low_b + scale, high_a + high_b + scale)
    }

    /// An exponent that products and c can have, so that they meet.
    fn meeting_exponent(&mut self) -> i32 {
        let (low, high) = self.product_range();
        let (low_c, high_c) = exponents(&self.target.signature.c);
        self.random.between(low.max(low_c), high.min(high_c))
    }
}

fn near_maximum_groups(make: &mut Builder<'_>) -> Case {
    let signature = make.target.signature;
    let (alternate, zeros) = (make.random.once_in(3), make.random.below(3));
    let negative = make.random.coin();
    let sign = negative != make.random.once_in(4);
    let c = near_maximum(make.random, &signature.c, sign);
    make.build(c, |make, k| {
        if zeros > 0 && make.random.once_in(4) {
            return make.zeros();
        }
        let sign = negative != (alternate && k % 2 == 1);
        let a = near_maximum(make.random, &signature.a, sign);
        (a, near_maximum(make.random, &signature.b, false))
    })
}

/// Products 2^top, 2^(top−s), 2^(top−2s), …, with the grid of F somewhere on the ladder.
fn ladder(make: &mut Builder<'_>) -> Case {
    let top = make.meeting_exponent();
    let step = make.random.between(1, (make.target.f / 4).max(1) + 1);
    let one_sign = make.random.coin();
    let start = make.random.below(make.target.signature.k as u64 + 1) as i32;
    let rung = make.random.between(-1, make.target.signature.k as i32);
    let (c_zero, negative) = (make.random.once_in(4), make.random.coin());
    let c = if c_zero {
        zero(make.random, &make.target.signature.c)
    } else {
        make.c(top - step * rung, negative, Fraction::Zero)
    };
    let fraction = if make.random.coin() {
        Fraction::Zero
    } else {
        Fraction::Ones
    };
    make.build(c, |make, k| {
        let rung = (k as i32 + start) % make.target.signature.k as i32;
        let sign = if one_sign {
            negative
        } else {
            make.random.coin()
        };
        make.pair(k, top - step * rung, sign, fraction)
    })
}

/// Everything near or below the floor of the alignment exponent.
fn around_the_floor(make: &mut Builder<'_>) -> Case {
    let (f, e0) = (make.target.f, make.target.e0);
    let spread = make.random.between(0, f + 4);
    let exponent = |make: &mut Builder<'_>| match make.random.below(4) {
        0 => e0 - f + make.random.between(-3, 3),
        _ => e0 + 2 - make.random.between(0, spread),
    };
    let c = match make.random.below(3) {
        0 => {
            let (exponent, negative) = (exponent(make), make.random.coin());
            make.c(exponent, negative, Fraction::Random)
        }
        1 => signed(
            &make.target.signature.c,
            make.random.coin(),
            1 + make.random.below(3),
        ),
        _ => zero(make.random, &make.target.signature.c),
    };
    make.build(c, |make, k| {
        if make.random.once_in(5) {
            return make.zeros();
        }
        let (exponent, negative) = (exponent(make), make.random.coin());
        let fraction = any_fraction(make.random);
        make.pair(k, exponent, negative, fraction)
    })
}

/// Bits of the result's fraction.
fn fraction_bits(format: &Format) -> i32 {
    float(format).fraction_bits as i32
}

/// c with an odd or even last place of the result, products that make its half, and a crumb.
fn ties(make: &mut Builder<'_>) -> Case {
    let top = make.meeting_exponent();
    let result = make.target.result;
    let (low, _) = exponents(&result);
    let half = (top - fraction_bits(&result)).max(low) - 1;
    let negative = make.random.coin();
    let places = (fraction_bits(&make.target.signature.c) - fraction_bits(&result)).max(0);
    let fraction = make.random.next() << places;
    let c = compose(&make.target.signature.c, negative, top, fraction);
    let pieces = make.random.below(3);
    let same_sign = make.random.coin();
    let crumb = half - make.random.between(1, make.target.f + 4);
    make.build(c, |make, k| match (k, pieces) {
        (0, 0) => make.pair(k, half, negative == same_sign, Fraction::Zero),
        (0 | 1, 1) => make.pair(k, half - 1, negative == same_sign, Fraction::Zero),
        (0, 2) => make.pair(k, half + 1, negative == same_sign, Fraction::Ones),
        (2, _) if make.random.coin() => {
            let sign = make.random.coin();
            make.pair(k, crumb, sign, Fraction::Zero)
        }
        _ => make.zeros(),
    })
}

/// Equal products of both signs; what is left is zero or one small term.
fn exact_cancellation(make: &mut Builder<'_>) -> Case {
    let top = make.meeting_exponent();
    let (leftover, c_zero) = (make.random.coin(), make.random.coin());
    let below = make.random.between(0, make.target.f + 3);
    let negative = make.random.coin();
    let c = if c_zero {
        zero(make.random, &make.target.signature.c)
    } else {
        make.c(top - below, negative, Fraction::Zero)
    };
    let sign_bit =
        1 << (make.target.signature.a.bits - 1) << make.target.signature.a.register.shift;
    let mut previous = None;
    let last = make.target.signature.k - 1;
    make.build(c, |make, k| {
        if let Some((a, b)) = previous.take() {
            let is_zero = a & (sign_bit - 1) == 0;
            return (if is_zero { a } else { a ^ sign_bit }, b);
        }
        if k == last {
            return if leftover {
                make.pair(k, top - below, !negative, Fraction::Zero)
            } else {
                make.zeros()
            };
        }
        let (exponent, sign) = (top - make.random.between(0, 3), make.random.coin());
        let fraction = any_fraction(make.random);
        let pair = make.pair(k, exponent, sign, fraction);
        previous = Some(pair);
        pair
    })
}

/// A large pair that cancels and small terms around the last kept place, all of one sign.
fn truncated_to_zero(make: &mut Builder<'_>) -> Case {
    let top = make.meeting_exponent();
    let grid = top.max(make.target.e0) - make.target.f;
    let negative = make.random.coin();
    let large_first = make.random.coin();
    let c_kind = make.random.below(3);
    let depth = make.random.between(-1, 3);
    let c = match c_kind {
        0 => zero(make.random, &make.target.signature.c),
        1 => make.c(grid - depth, negative, Fraction::Ones),
        _ => make.c(top, false, Fraction::Zero),
    };
    make.build(c, |make, k| match k {
        0 if large_first => make.pair(k, top, false, Fraction::Zero),
        1 => make.pair(k, top, true, Fraction::Zero),
        _ if make.random.coin() => {
            let exponent = grid - depth - make.random.between(0, 2);
            make.pair(k, exponent, negative, Fraction::Random)
        }
        _ => make.zeros(),
    })
}

/// Zeros of random or of one sign, and perhaps one smallest number.
fn signed_zeros(make: &mut Builder<'_>) -> Case {
    let signature = make.target.signature;
    let uniform = make.random.coin();
    let negative = make.random.coin();
    let c = match make.random.below(4) {
        0 => signed(&signature.c, negative, 1),
        1 => zero(make.random, &signature.c),
        _ => signed(&signature.c, negative, 0),
    };
    let tiny = make.random.below(2 * signature.k as u64) as usize;
    make.build(c, |make, k| {
        let one = compose(&signature.b, false, 0, 0);
        if k == tiny {
            (signed(&signature.a, negative, 1), one)
        } else if uniform {
            (signed(&signature.a, negative, 0), one)
        } else {
            make.zeros()
        }
    })
}

/// Sums around the largest finite result and half a last place above it.
fn around_overflow(make: &mut Builder<'_>) -> Case {
    let result = make.target.result;
    let (_, highest) = exponents(&result);
    let (_, reach) = make.product_range();
    let negative = make.random.coin();
    let c = match make.random.below(3) {
        0 => near_maximum(make.random, &make.target.signature.c, negative),
        1 => make.c(highest, negative, Fraction::Ones),
        _ => make.c(highest - 1, negative, Fraction::Random),
    };
    let last_place = highest - fraction_bits(&result);
    let fine = make.random.coin();
    make.build(c, |make, k| {
        if make.random.once_in(3) {
            return make.zeros();
        }
        let exponent = if fine {
            last_place + make.random.between(-3, 1)
        } else {
            highest.min(reach) - make.random.between(-1, 2)
        };
        let sign = negative != make.random.once_in(4);
        let fraction = any_fraction(make.random);
        make.pair(k, exponent, sign, fraction)
    })
}

/// Sums among the subnormal results and around half of the smallest one.
fn around_underflow(make: &mut Builder<'_>) -> Case {
    let result = make.target.result;
    let (lowest, _) = exponents(&result);
    let smallest_normal = field_exponent(&float(&result), 0);
    let c = match make.random.below(3) {
        0 => zero(make.random, &make.target.signature.c),
        1 => signed(
            &make.target.signature.c,
            make.random.coin(),
            1 + make.random.below(4),
        ),
        _ => {
            let negative = make.random.coin();
            make.c(smallest_normal, negative, Fraction::Random)
        }
    };
    let many = make.random.coin();
    make.build(c, |make, k| {
        if !many && k > 1 || make.random.once_in(3) {
            return make.zeros();
        }
        let exponent = match make.random.below(3) {
            0 => smallest_normal + make.random.between(-2, 1),
            _ => lowest + make.random.between(-4, 2),
        };
        let (sign, fraction) = (make.random.coin(), any_fraction(make.random));
        make.pair(k, exponent, sign, fraction)
    })
}

/// One term decides the grid; all others lie within three places of its end.
fn one_large_many_at_the_grid(make: &mut Builder<'_>) -> Case {
    let top = make.meeting_exponent();
    let large = make.random.below(make.target.signature.k as u64 + 1) as usize;
    let depth = make.random.between(-2, 8);
    let negative = make.random.coin();
    let (c_exponent, sign) = if large == make.target.signature.k {
        (top, make.random.coin())
    } else {
        (top - make.target.f - make.random.between(-3, 3), negative)
    };
    let fraction = any_fraction(make.random);
    let c = make.c(c_exponent, sign, fraction);
    make.build(c, |make, k| {
        if k == large {
            let (sign, fraction) = (make.random.coin(), any_fraction(make.random));
            return make.pair(k, top, sign, fraction);
        }
        let exponent = top - make.target.f - depth - make.random.between(-2, 2);
        let sign = negative != make.random.once_in(6);
        make.pair(k, exponent, sign, Fraction::Random)
    })
}
