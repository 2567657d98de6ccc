//! The adversary: matrices whose elements lie one step on both sides of what kernels take for
//! granted (lane overflow, range of c, exponent spread, floor of E, subnormals, zeros, specials).

use mmascope::array::Words;
use mmascope::cases::{Family, Generator};
use mmascope::dpa::{
    Dpa, Fused, General, GstFdpa, GtrFdpa, Operation, StFdpa, TFdpa, TrFdpa, Unit,
};
use mmascope::format::{Float, Format, Specials};
use mmascope::gemm::{Matrices, Matrix, Strides};

/// A small generator of test inputs.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1);
        random.bits();
        random
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    pub(crate) fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u64) as i32
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

fn float(format: &Format) -> Float {
    format.float().expect("a float")
}

/// Exponents of the smallest normal and of the largest finite number.
fn exponents(format: &Format) -> (i32, i32) {
    (
        float(format).emin(),
        format.decode(format.max_finite(false)).exponent,
    )
}

/// A number of a format as a register word; exponents out of range become subnormals or maxima.
fn number(format: &Format, negative: bool, exponent: i32, fraction: u64) -> u64 {
    let Float {
        fraction_bits,
        bias,
        exponent_bits,
        ..
    } = float(format);
    let (low, high) = exponents(format);
    let mask = (1 << fraction_bits) - 1;
    let sign = u64::from(negative) << (format.bits - 1);
    let code = if exponent > high {
        format.max_finite(false)
    } else if exponent >= low {
        let code = ((exponent + bias) as u64) << fraction_bits | fraction & mask;
        code.min(format.max_finite(false))
    } else {
        // Subnormal: the hidden bit moves down.
        let down = (low - exponent) as u32;
        ((1 << fraction_bits) | fraction & mask)
            .checked_shr(down)
            .unwrap_or(0)
    };
    debug_assert!(code >> (exponent_bits + fraction_bits) == 0);
    format.to_register(sign | code)
}

/// Makes ±0.
fn zero(format: &Format, random: &mut Random) -> u64 {
    let negative = random.one_in(2) && float(format).specials != Specials::NegativeZeroNan;
    format.to_register(format.zero(negative))
}

/// An ∞ or a NaN where the format has one; else the largest number.
fn special(format: &Format, random: &mut Random) -> u64 {
    let Float {
        exponent_bits,
        fraction_bits,
        specials,
        ..
    } = float(format);
    let sign = random.below(2) << (format.bits - 1);
    let field = ((1 << exponent_bits) - 1) << fraction_bits;
    let all = field | ((1 << fraction_bits) - 1);
    format.to_register(match specials {
        Specials::Ieee if random.one_in(2) => sign | field,
        Specials::Ieee => sign | field | (1 + random.below((1 << fraction_bits) - 1)),
        Specials::AllOnesNan => sign | all,
        Specials::NegativeZeroNan => 1 << (format.bits - 1),
        Specials::None => sign | all,
    })
}

/// How the elements of A or B are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    /// All bits random.
    Bits,
    /// One exponent, all fraction bits set, one sign: sums leave 32 bits if anything does.
    NearMaximum,
    /// So, with few exceptions.
    AlmostMaximum,
    /// Of the first 32, 28 times 1½ and once 1: with F = 25, 63 + 1 products' units are the one sum whose magnitude is no
    /// i32. Then ones, so that nothing else tells. A's are positive, B's negative.
    Brim,
    /// One exponent each row or column, random fractions.
    Level,
    /// Exponents over the whole format.
    Wide,
    /// Exponents of two clusters as far apart as a window is wide, and one more.
    Spread,
    /// The smallest exponents; subnormals.
    Tiny,
    /// Subnormals, with a special or a zero here and there.
    Subnormal,
    /// Mostly zeros.
    Zeros,
    /// Near one, with a special here and there.
    Sprinkled,
    /// Neighbours cancel.
    Cancelling,
    /// As from N(0, 1): exponents near zero.
    Usual,
    /// Of a family of cases.
    Family(Family),
}

pub(crate) const ELEMENTS: [Elements; 19] = [
    Elements::Usual,
    Elements::Bits,
    Elements::NearMaximum,
    Elements::Brim,
    Elements::AlmostMaximum,
    Elements::Level,
    Elements::Wide,
    Elements::Spread,
    Elements::Tiny,
    Elements::Zeros,
    Elements::Sprinkled,
    Elements::Cancelling,
    Elements::Family(Family::Normal),
    Elements::Family(Family::Boundary),
    Elements::Family(Family::Stress),
    Elements::Family(Family::Sparse),
    Elements::Family(Family::Close),
    Elements::Family(Family::Outlier),
    Elements::Family(Family::Bits),
];

/// How C is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    None,
    Usual,
    Bits,
    /// Near the exponents of the products, a few binades on both sides, and 20 to 40 away.
    Near,
    /// All fraction bits set, at the products' exponent or one more.
    NearMaximum,
    /// As large as a sum of 4 to 32 products near their maximum: together they cancel, or leave the lanes.
    Total,
    /// The smallest and the largest numbers, ∞, NaN, ±0.
    Edge,
    /// Around powers of two where a kernel's range ends: 2^100, and what floor and F give.
    Range,
}

pub(crate) const STARTS: [Start; 8] = [
    Start::None,
    Start::Usual,
    Start::Near,
    Start::NearMaximum,
    Start::Total,
    Start::Edge,
    Start::Range,
    Start::Bits,
];

/// F and e0 of a unit's first sum, for where to aim.
fn aims(unit: &Unit) -> (i32, i32) {
    let dot = unit
        .program()
        .statements
        .iter()
        .find_map(|statement| match statement.operation {
            Operation::Dot { algorithm, .. } => Some(algorithm),
            _ => None,
        });
    match dot {
        Some(
            Dpa::TFdpa(TFdpa { f, e0, .. })
            | Dpa::StFdpa(StFdpa { f, e0, .. })
            | Dpa::GstFdpa(GstFdpa { f, e0, .. }),
        ) => (f as i32, e0),
        Some(Dpa::TrFdpa(TrFdpa { f, .. }) | Dpa::GtrFdpa(GtrFdpa { f, .. })) => (f as i32, -126),
        Some(Dpa::General(General::Fused(Fused { f: Some(f), e0, .. }))) => {
            (f as i32, e0.unwrap_or(-126))
        }
        _ => (23, -126),
    }
}

/// One vector of `k` words, that of row or column `index`.
fn vector(
    format: &Format,
    style: Elements,
    anchor: i32,
    k: usize,
    random: &mut Random,
) -> Vec<u64> {
    let (low, high) = exponents(format);
    let anchor = anchor.clamp(low, high);
    let sign = random.one_in(2);
    let half = 1 << (float(format).fraction_bits - 1);
    let mut words = Vec::with_capacity(k);
    for index in 0..k {
        let bits = random.bits();
        let negative = bits >> 40 & 1 == 1;
        let fraction = if random.one_in(4) { u64::MAX } else { bits };
        let word = match style {
            Elements::Bits => format.to_register(bits),
            Elements::NearMaximum => number(format, sign, anchor, u64::MAX),
            Elements::AlmostMaximum => match random.below(24) {
                0 => number(format, sign, anchor, fraction),
                1 => number(format, !sign, anchor, u64::MAX),
                2 => number(format, sign, anchor - 1, u64::MAX),
                _ => number(format, sign, anchor, u64::MAX),
            },
            Elements::Brim => match index % 32 {
                0..28 if index < 32 => number(format, false, anchor, half),
                0 | 28 => number(format, false, anchor, 0),
                _ => number(format, false, i32::MIN / 2, 0),
            },
            Elements::Level => number(format, negative, anchor, fraction),
            Elements::Wide => number(format, negative, random.between(low - 2, high), fraction),
            Elements::Spread => {
                let far = [0, 0, 0, 40, 61, 62, 63, 64, 90][random.below(9) as usize];
                let far = if high - low < 64 { far / 4 } else { far };
                number(format, negative, anchor - far, fraction)
            }
            Elements::Tiny => number(format, negative, random.between(low - 4, low + 1), fraction),
            Elements::Subnormal if random.one_in(90) => special(format, random),
            Elements::Subnormal if random.one_in(20) => zero(format, random),
            Elements::Subnormal => {
                number(format, negative, random.between(low - 4, low - 1), fraction)
            }
            Elements::Zeros if !random.one_in(12) => zero(format, random),
            Elements::Zeros => number(format, negative, random.between(low, high), fraction),
            Elements::Sprinkled if random.one_in(60) => special(format, random),
            Elements::Sprinkled | Elements::Usual | Elements::Family(_) => {
                number(format, negative, 1 - random.below(6) as i32, fraction)
            }
            Elements::Cancelling if index % 2 == 1 && !random.one_in(9) => {
                let word: u64 = words[index - 1];
                word ^ format.to_register(1 << (format.bits - 1))
            }
            Elements::Cancelling => number(format, sign, anchor, fraction),
        };
        words.push(beside(format, word, bits >> 20));
    }
    words
}

/// A word with any bits beside its code, now and then: units ignore them.
fn beside(format: &Format, word: u64, bits: u64) -> u64 {
    if format.register.shift == 0 || bits & 3 != 0 {
        return word;
    }
    let own = format.to_register(u64::MAX);
    word | (bits >> 2) & !own & format.widest_word()
}

/// Matrices of m × n × (steps·K) for a unit.
pub(crate) fn matrices(
    unit: &Unit,
    [m, n, steps]: [usize; 3],
    [a_style, b_style]: [Elements; 2],
    start: Start,
    seed: u64,
) -> Matrices {
    let signature = unit.signature();
    let random = &mut Random::new(seed);
    let k = steps * signature.k;
    let (f, e0) = aims(unit);
    let anchor = |format: &Format, random: &mut Random| {
        let (low, high) = exponents(format);
        match random.below(6) {
            0 => high,
            1 => low,
            2 => random.between(low, high),
            3 => (e0 / 2 + random.between(-2, 2)).clamp(low, high),
            4 => ((e0 - f) / 2 + random.between(-2, 2)).clamp(low, high),
            _ => random.between(-3, 3),
        }
    };
    let (anchor_a, anchor_b) = (anchor(&signature.a, random), anchor(&signature.b, random));
    let family = |style: Elements| match style {
        Elements::Family(family) => Generator::for_unit(family, seed, unit).ok(),
        _ => None,
    };
    let mut a = Vec::with_capacity(m * k);
    for i in 0..m {
        // A row keeps one exponent in most styles, near the matrix's.
        let row = anchor_a
            + if random.one_in(3) {
                random.between(-3, 0)
            } else {
                0
            };
        match family(a_style) {
            Some(generator) => {
                for step in 0..steps {
                    a.extend(generator.case((i * steps + step) as u64).a);
                }
            }
            None => a.extend(vector(&signature.a, a_style, row, k, random)),
        }
    }
    let mut b = vec![0; k * n];
    for j in 0..n {
        let column = anchor_b
            + if random.one_in(3) {
                random.between(-3, 0)
            } else {
                0
            };
        let words = match family(b_style) {
            Some(generator) => (0..steps)
                .flat_map(|step| generator.case((j * steps + step) as u64).b)
                .collect(),
            None if b_style == Elements::Brim => {
                // Negative in all columns: the positive sum wraps, and its row would be done again.
                let words = vector(&signature.b, b_style, column, k, random);
                let sign = signature.b.to_register(1 << (signature.b.bits - 1));
                words
                    .into_iter()
                    .map(|word| if word == 0 { 0 } else { word | sign })
                    .collect()
            }
            None if b_style == Elements::Cancelling => {
                // The same for both neighbours, so that the products cancel.
                let mut words = vector(&signature.b, Elements::Level, column, k, random);
                for pair in words.chunks_mut(2) {
                    pair[pair.len() - 1] = pair[0];
                }
                words
            }
            None => vector(&signature.b, b_style, column, k, random),
        };
        for (index, word) in words.into_iter().enumerate() {
            b[index * n + j] = word;
        }
    }
    let product = anchor_a + anchor_b;
    let (scales, scaled) = Scales::new(unit, f, random);
    let c: Option<Vec<u64>> = (start != Start::None).then(|| {
        (0..m * n)
            .map(|_| {
                let word = c_word(&signature.c, start, product, [f, e0], scaled, random);
                beside(&signature.c, word, random.bits())
            })
            .collect()
    });
    let mut scales = |side: usize, count: usize| match signature.scale {
        None => Vec::new(),
        Some(scale) => (0..count / scale.block)
            .map(|_| scales.word(side, &scale.format, random))
            .collect(),
    };
    let (scale_a, scale_b) = (scales(0, m * k), scales(1, n * k));
    let words = |format: &Format, words: Vec<u64>| Words::of(format, words).expect("words");
    let layouts = random.below(3);
    // B by rows, by columns, or as every other column of a wider matrix.
    let b = match layouts {
        0 => Matrix::row_major(k, n, words(&signature.b, b)),
        1 => {
            let turned = (0..n * k).map(|at| b[at % k * n + at / k]).collect();
            Matrix::column_major(k, n, words(&signature.b, turned))
        }
        _ => {
            let doubled = b.iter().flat_map(|word| [*word, 0]).collect();
            let strides = Strides {
                batch: 0,
                row: 2 * n,
                column: 2,
            };
            Matrix::with_strides(1, k, n, strides, words(&signature.b, doubled))
        }
    };
    let a = if layouts == 1 {
        let turned = (0..m * k).map(|at| a[at % m * k + at / m]).collect();
        Matrix::column_major(m, k, words(&signature.a, turned))
    } else {
        Matrix::row_major(m, k, words(&signature.a, a))
    };
    let mut out = Matrices::new(a.expect("A"), b.expect("B")).expect("shapes fit");
    if let Some(c) = c {
        let c = match layouts {
            2 => Matrix::column_major(m, n, words(&signature.c, c)),
            _ => Matrix::row_major(m, n, words(&signature.c, c)),
        };
        out = out.with_c(c.expect("C")).expect("C fits");
    }
    if let Some(scale) = signature.scale {
        let blocks = k / scale.block;
        let scale_a = Matrix::row_major(m, blocks, words(&scale.format, scale_a));
        let scale_b = Matrix::row_major(blocks, n, words(&scale.format, scale_b));
        out = out
            .with_scales(scale_a.expect("scales"), scale_b.expect("scales"))
            .expect("scales fit");
    }
    out
}

/// How the scales of A and B are made.
struct Scales {
    /// The greatest exponent of a side, and how far below it others lie.
    high: [i32; 2],
    spread: [i32; 2],
    /// One in so many is 0.
    zeros: u64,
    /// Anything now and then.
    wild: bool,
}

impl Scales {
    /// Those of a unit, with exponents of c to aim at: where kernels of scaled sums have their borders.
    fn new(unit: &Unit, f: i32, random: &mut Random) -> (Self, [i32; 2]) {
        let signature = unit.signature();
        let Some(scale) = signature.scale else {
            let none = Self {
                high: [0; 2],
                spread: [0; 2],
                zeros: 40,
                wild: false,
            };
            return (none, [0; 2]);
        };
        let last_place =
            |format: &Format| float(format).emin() - float(format).fraction_bits as i32;
        let last_place = last_place(&signature.a) + last_place(&signature.b)
            - 2 * float(&scale.format).fraction_bits as i32;
        // So far apart that a term's last place is F below another's exponent, or one more or less.
        let border = f + last_place;
        let total = match random.below(5) {
            0 => 0,
            1 | 2 => random.between(0, 6),
            _ => border + random.between(-1, 1),
        };
        let (low, high) = exponents(&scale.format);
        let widest = (high - low).min(60);
        let first = (total / 2 + random.between(-1, 1)).clamp(0, widest);
        let spread = [first, (total - first).clamp(0, widest)];
        let high = spread.map(|spread| {
            let middle = (spread / 2 + random.between(-2, 2)).clamp(low.max(-30) + spread, high);
            middle.min(30)
        });
        let sum = high[0] + high[1];
        let made = Self {
            high,
            spread,
            zeros: [2, 40][random.below(2) as usize],
            wild: random.one_in(4),
        };
        (made, [sum + 23 - f, sum - spread[0] - spread[1] + border])
    }

    fn word(&self, side: usize, format: &Format, random: &mut Random) -> u64 {
        if self.wild && random.one_in(4) {
            return scale_word(format, random);
        }
        if random.one_in(self.zeros) {
            return 0;
        }
        let below = match random.below(4) {
            0 => self.spread[side],
            1 => random.between(0, self.spread[side]),
            _ => 0,
        };
        number(format, false, self.high[side] - below, random.bits()) & format.widest_word()
    }
}

fn scale_word(format: &Format, random: &mut Random) -> u64 {
    let float = float(format);
    let near = match random.below(40) {
        0 => random.bits(),
        1 => 0,
        2..6 => ((float.bias + random.between(-16, 16)).max(0) as u64) << float.fraction_bits,
        _ => {
            let exponent = (float.bias + random.between(-3, 3)).max(0) as u64;
            exponent << float.fraction_bits | random.bits() & ((1 << float.fraction_bits) - 1)
        }
    };
    near & format.widest_word()
}

fn c_word(
    format: &Format,
    start: Start,
    product: i32,
    [f, e0]: [i32; 2],
    scaled: [i32; 2],
    random: &mut Random,
) -> u64 {
    let bits = random.bits();
    let negative = bits >> 50 & 1 == 1;
    let (low, high) = exponents(format);
    match start {
        Start::None => 0,
        Start::Bits => format.to_register(bits),
        Start::Usual => number(format, negative, random.between(-4, 4), bits),
        Start::Near => {
            let away = match random.below(4) {
                0 => random.between(-f - 4, -f + 4),
                1 => random.between(f - 4, f + 12),
                2 => random.between(20, 40),
                _ => random.between(-3, 9),
            };
            number(format, negative, product + away, bits)
        }
        Start::NearMaximum => number(format, negative, product + random.between(0, 2), u64::MAX),
        Start::Total => {
            let fraction = if random.one_in(2) { u64::MAX } else { bits };
            number(format, negative, product + random.between(3, 7), fraction)
        }
        Start::Edge => match random.below(8) {
            0 | 1 => zero(format, random),
            2 => special(format, random),
            3 => number(format, negative, high, u64::MAX << random.below(8)),
            4 => number(format, negative, low - random.between(0, 24), bits),
            5 => number(format, negative, low, 0),
            6 => number(format, negative, high - random.between(0, 3), bits),
            _ => number(format, negative, random.between(low, high), bits),
        },
        Start::Range => {
            let edges = [
                100,
                101,
                e0,
                e0 - f,
                e0 - f + 23,
                product - f + 23,
                product - f,
                scaled[0],
                scaled[1],
                -126,
                -28,
                -53,
            ];
            let edge = edges[random.below(edges.len() as u64) as usize] + random.between(-1, 1);
            let fraction = match random.below(4) {
                0 => 0,
                1 => u64::MAX,
                2 => 1,
                _ => bits,
            };
            number(format, negative, edge, fraction)
        }
    }
}
