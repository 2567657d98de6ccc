//! The eight families of inputs: raw words for any formats, the same for the same (seed, index).

use mmascope::dpa::{
    Dpa, GstFdpa, GtrFdpa, Operands, Operation, Program, Signature, StFdpa, TFdpa, TrFdpa,
};
use mmascope::format::Format;

use super::codes::{any_fraction, chosen, compose, exponents, number, special, zero};
use super::random::Random;
use super::{boundary, codes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Bits,
    Normal,
    Outlier,
    Stress,
    Sparse,
    Close,
    Boundary,
    Exhaustive,
}

pub(crate) const FAMILIES: [Family; 8] = [
    Family::Bits,
    Family::Normal,
    Family::Outlier,
    Family::Stress,
    Family::Sparse,
    Family::Close,
    Family::Boundary,
    Family::Exhaustive,
];

/// The operands of one dot product.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) a: Vec<u64>,
    pub(crate) b: Vec<u64>,
    pub(crate) c: u64,
    pub(crate) scale_a: Vec<u64>,
    pub(crate) scale_b: Vec<u64>,
}

impl Case {
    pub(crate) fn operands(&self) -> Operands<'_> {
        Operands {
            a: &self.a,
            b: &self.b,
            c: self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        }
    }
}

/// What the families know of a unit: formats, and the numbers that its boundaries depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) signature: Signature,
    pub(crate) f: i32,
    pub(crate) e0: i32,
    pub(crate) result: Format,
}

impl Target {
    pub(crate) fn new(signature: &Signature, program: &Program) -> Self {
        let result = program.output().format;
        let mut target = Self {
            signature: *signature,
            f: 24,
            e0: -126,
            result,
        };
        for statement in &program.statements {
            let Operation::Dot { algorithm, .. } = &statement.operation else {
                continue;
            };
            match *algorithm {
                Dpa::TFdpa(TFdpa { f, e0, .. })
                | Dpa::StFdpa(StFdpa { f, e0, .. })
                | Dpa::GstFdpa(GstFdpa { f, e0, .. }) => {
                    (target.f, target.e0) = (f as i32, e0);
                }
                // Once near the products' grid, once near the floor of the sum.
                Dpa::TrFdpa(TrFdpa { f, .. }) | Dpa::GtrFdpa(GtrFdpa { f, .. }) => {
                    target.f = f as i32
                }
                _ => {}
            }
        }
        target
    }
}

pub(crate) fn case(family: Family, target: &Target, seed: u64, index: u64) -> Case {
    let random = &mut Random::new(seed ^ ((family as u64) << 56), index);
    let mut case = match family {
        Family::Bits => bits(random, target),
        Family::Normal => normal(random, target, false),
        Family::Outlier => normal(random, target, true),
        Family::Stress => stress(random, target),
        Family::Sparse => sparse(random, target),
        Family::Close => close(random, target),
        Family::Boundary => boundary::case(random, target),
        Family::Exhaustive => exhaustive(target, index),
    };
    if random.once_in(4) {
        soil(random, target, &mut case);
    }
    case
}

/// Sets bits of the register words that the unit ignores: they must not matter.
fn soil(random: &mut Random, target: &Target, case: &mut Case) {
    let Signature { a, b, scale, .. } = target.signature;
    let mut soil = |format: &Format, words: &mut [u64]| {
        let code = (u64::MAX >> (64 - format.bits)) << format.register.shift;
        let outside = format.widest_word() & !code;
        words
            .iter_mut()
            .for_each(|word| *word |= random.next() & outside);
    };
    soil(&a, &mut case.a);
    soil(&b, &mut case.b);
    if let Some(scale) = scale {
        soil(&scale.format, &mut case.scale_a);
        soil(&scale.format, &mut case.scale_b);
    }
}

/// Fills a case: one pair of operands per k, an accumulator, scales around 1.
pub(crate) fn fill(
    random: &mut Random,
    target: &Target,
    mut pair: impl FnMut(&mut Random, usize) -> (u64, u64),
) -> Case {
    let signature = &target.signature;
    let (a, b) = (0..signature.k).map(|k| pair(random, k)).unzip();
    let scale_a = scales(random, target, 0);
    let scale_b = scales(random, target, 0);
    Case {
        a,
        b,
        c: 0,
        scale_a,
        scale_b,
    }
}

/// Block scales whose exponents cluster around `center`; now and then an extreme or a NaN.
pub(crate) fn scales(random: &mut Random, target: &Target, center: i32) -> Vec<u64> {
    let Some(scale) = target.signature.scale else {
        return Vec::new();
    };
    let format = &scale.format;
    let wild = random.once_in(8);
    let same = random.once_in(4);
    let step = random.between(0, target.f + 2);
    let ladder = random.once_in(4);
    (0..target.signature.scales())
        .map(|block| match random.below(12) {
            0 if wild => special(random, format),
            1 if wild => zero(random, format),
            2 if wild => codes::near_maximum(random, format, false),
            _ if same => compose(format, false, center, 0),
            _ if ladder => compose(format, false, center - step * block as i32, random.next()),
            _ => compose(format, false, center + random.between(-3, 3), random.next()),
        })
        .collect()
}

fn bits(random: &mut Random, target: &Target) -> Case {
    let Signature { a, b, c, scale, .. } = target.signature;
    let word = |random: &mut Random, format: &Format| {
        random.next() >> (64 - format.bits) << format.register.shift
    };
    let mut case = fill(random, target, |random, _| {
        (word(random, &a), word(random, &b))
    });
    case.c = word(random, &c);
    if let Some(scale) = scale {
        let words = case.scale_a.iter_mut().chain(&mut case.scale_b);
        words.for_each(|scale_word| *scale_word = word(random, &scale.format));
    }
    case
}

/// A standard normal number: a sum of twelve uniform ones, in units of 2^-16.
fn gaussian(random: &mut Random, format: &Format, shift: i32) -> u64 {
    let sum: i64 = (0..12)
        .map(|_| (random.next() >> 48) as i64 - (1 << 15))
        .sum();
    let magnitude = sum.unsigned_abs();
    if magnitude == 0 {
        return zero(random, format);
    }
    let leading = 63 - magnitude.leading_zeros();
    let fraction_bits = codes_fraction_bits(format);
    let fraction = if leading <= fraction_bits {
        // Random bits where the fixed-point number has none.
        (magnitude << (fraction_bits - leading))
            | random.next() & ((1 << (fraction_bits - leading)) - 1)
    } else {
        magnitude >> (leading - fraction_bits)
    };
    compose(format, sum < 0, leading as i32 - 16 + shift, fraction)
}

fn codes_fraction_bits(format: &Format) -> u32 {
    super::operand::float(format).fraction_bits
}

fn normal(random: &mut Random, target: &Target, outliers: bool) -> Case {
    let Signature { a, b, c, .. } = target.signature;
    let draw = |random: &mut Random, format: &Format| {
        let shift = if outliers && random.once_in(12) {
            random.between(3, 20)
        } else {
            0
        };
        gaussian(random, format, shift)
    };
    let mut case = fill(random, target, |random, _| {
        (draw(random, &a), draw(random, &b))
    });
    case.c = draw(random, &c);
    case
}

fn stress(random: &mut Random, target: &Target) -> Case {
    let Signature { a, b, c, .. } = target.signature;
    let center = |random: &mut Random, format: &Format| {
        let (low, high) = exponents(format);
        random.between(low, high)
    };
    let (center_a, center_b) = (center(random, &a), center(random, &b));
    let (jitter, specials) = (random.between(0, 6), random.once_in(6));
    let draw = |random: &mut Random, format: &Format, center: i32| match random.below(16) {
        0 | 1 => zero(random, format),
        2 => codes::signed(format, random.coin(), 1 + random.below(2)),
        3 if specials => special(random, format),
        4 => {
            let negative = random.coin();
            codes::near_maximum(random, format, negative)
        }
        _ => {
            let exponent = center + random.between(-jitter, jitter);
            let (negative, fraction) = (random.coin(), any_fraction(random));
            number(random, format, negative, exponent, fraction)
        }
    };
    let mut case = fill(random, target, |random, _| {
        (draw(random, &a, center_a), draw(random, &b, center_b))
    });
    let near = center_a + center_b + random.between(-target.f - 3, target.f + 3);
    case.c = draw(random, &c, near);
    case
}

fn sparse(random: &mut Random, target: &Target) -> Case {
    let Signature { a, b, c, .. } = target.signature;
    let draw = |random: &mut Random, format: &Format| {
        if random.once_in(3) {
            let (low, high) = exponents(format);
            let exponent = random.between(low.max(-20), high.min(20));
            let (negative, fraction) = (random.coin(), any_fraction(random));
            number(random, format, negative, exponent, fraction)
        } else {
            zero(random, format)
        }
    };
    let mut case = fill(random, target, |random, _| {
        (draw(random, &a), draw(random, &b))
    });
    case.c = draw(random, &c);
    case
}

/// Pairs of products that cancel but for a last place, and c near the sum of what is left.
fn close(random: &mut Random, target: &Target) -> Case {
    let Signature { a, b, c, .. } = target.signature;
    let (low_a, high_a) = exponents(&a);
    let (low_b, high_b) = exponents(&b);
    let center_a = random.between(low_a, high_a);
    let center_b = random.between(low_b, high_b);
    let mut previous: Option<(u64, u64)> = None;
    let mut case = fill(random, target, |random, _| {
        if let Some((word_a, word_b)) = previous.take() {
            let code = (word_a >> a.register.shift) ^ (1 << (a.bits - 1));
            let nudged = match random.below(4) {
                0 => code ^ 1,
                _ => code,
            };
            let is_minus_zero = nudged == 1 << (a.bits - 1);
            return (
                if is_minus_zero { 0 } else { nudged } << a.register.shift,
                word_b,
            );
        }
        let exponent_a = center_a + random.between(-2, 2);
        let exponent_b = center_b + random.between(-2, 2);
        let (negative, fraction) = (random.coin(), any_fraction(random));
        let word_a = number(random, &a, negative, exponent_a, fraction);
        let fraction = any_fraction(random);
        let word_b = number(random, &b, false, exponent_b, fraction);
        previous = Some((word_a, word_b));
        (word_a, word_b)
    });
    if target.signature.k > 2 && random.coin() {
        // The partner of a pair elsewhere, in another block perhaps.
        let other = random.below(target.signature.k as u64) as usize;
        case.a.swap(1, other);
        case.b.swap(1, other);
    }
    let near = center_a + center_b + random.between(-target.f - 2, 3);
    let (negative, fraction) = (random.coin(), any_fraction(random));
    case.c = number(random, &c, negative, near, fraction);
    case
}

/// Every pair of leading eight bits of (a0, b0) by index, with sixteen c; other products zero.
fn exhaustive(target: &Target, index: u64) -> Case {
    let Signature {
        a, b, c, scale, k, ..
    } = target.signature;
    let leading = |format: &Format, code: u64| {
        let code = if format.bits > 8 {
            code << (format.bits - 8)
        } else {
            code
        };
        (code & (u64::MAX >> (64 - format.bits))) << format.register.shift
    };
    let mut case = Case {
        a: vec![0; k],
        b: vec![0; k],
        ..Case::default()
    };
    // An odd step visits all pairs, and far ones first.
    let pair = index.wrapping_mul(40503) & 0xffff;
    (case.a[0], case.b[0]) = (leading(&a, pair & 0xff), leading(&b, pair >> 8));
    case.c = chosen(&c)[(index.wrapping_mul(7) ^ index >> 16) as usize % 16];
    if let Some(scale) = scale {
        let one = compose(&scale.format, false, 0, 0);
        case.scale_a = vec![one; target.signature.scales()];
        case.scale_b.clone_from(&case.scale_a);
    }
    case
}
