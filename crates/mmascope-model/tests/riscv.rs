//! The rows of `examples/riscv.txt` against the algorithm of Spike's headers written as they have it: biased exponents,
//! significands in registers of 64 bits, and shifts that keep a mark of what they lose.

use mmascope_model::dpa::{Modifiers, Operands, Unit};
use mmascope_model::isa::Catalogue;

const TEXT: &str = include_str!("../../../examples/riscv.txt");
const NAN: u32 = 0x7fc0_0000;

/// Widths of an operand's fields; whether the largest exponent has numbers (OFP8 E4M3).
#[derive(Clone, Copy)]
struct Kind {
    exponent: u32,
    fraction: u32,
    is_e4m3: bool,
}

const BF16: Kind = Kind {
    exponent: 8,
    fraction: 7,
    is_e4m3: false,
};
const E5M2: Kind = Kind {
    exponent: 5,
    fraction: 2,
    is_e4m3: false,
};
const E4M3: Kind = Kind {
    exponent: 4,
    fraction: 3,
    is_e4m3: true,
};

struct Operand {
    negative: bool,
    /// Biased; 1 for subnormal numbers.
    exponent: i64,
    significand: u64,
    infinite: bool,
    nan: bool,
}

impl Kind {
    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    fn operand(self, code: u64) -> Operand {
        let fraction = code & ((1 << self.fraction) - 1);
        let field = code >> self.fraction & ((1 << self.exponent) - 1);
        let top = (1 << self.exponent) - 1;
        let all = (1 << self.fraction) - 1;
        Operand {
            negative: code >> (self.exponent + self.fraction) & 1 == 1,
            exponent: field.max(1) as i64,
            significand: fraction | u64::from(field > 0) << self.fraction,
            infinite: !self.is_e4m3 && field == top && fraction == 0,
            nan: field == top
                && if self.is_e4m3 {
                    fraction == all
                } else {
                    fraction > 0
                },
        }
    }
}

fn jammed(number: u64, by: i64) -> u64 {
    match by {
        0 => number,
        1..=63 => number >> by | u64::from(number << (64 - by) != 0),
        _ => u64::from(number != 0),
    }
}

/// The number ±magnitude · 2^(exponent − 127 − places), `exponent` biased as f32's, to odd.
fn packed(negative: bool, magnitude: u64, exponent: i64, places: i64) -> u32 {
    let sign = u32::from(negative) << 31;
    if magnitude == 0 {
        return 0;
    }
    let top = i64::from(magnitude.ilog2());
    let field = exponent + top - places;
    if field >= 255 {
        return sign | 0x7f80_0000;
    }
    // Fraction bits that are left: 23, fewer below the smallest normal number.
    let kept = if field >= 1 { 23 } else { 23 - (1 - field) };
    let bits = match top - kept {
        down @ 0.. => jammed(magnitude, down),
        up => magnitude << -up,
    };
    let bits = bits as u32;
    match field {
        1.. => sign | (field as u32) << 23 | bits & 0x7f_ffff,
        _ => sign | bits,
    }
}

fn dot(kinds: [Kind; 2], a: &[u64], b: &[u64]) -> u32 {
    let guard = i64::from((a.len() as u32).next_power_of_two().ilog2());
    let places = 23 + guard;
    let offset = 127 - kinds[0].bias() - kinds[1].bias();
    let (mut infinite, mut nan) = ([false; 2], false);
    let mut products = Vec::new();
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (kinds[0].operand(x), kinds[1].operand(y));
        let negative = x.negative != y.negative;
        infinite[usize::from(negative)] |= x.infinite || y.infinite;
        nan |= x.nan || y.nan;
        nan |= x.infinite && y.significand == 0 || y.infinite && x.significand == 0;
        let significand = x.significand * y.significand;
        let exponent = match significand {
            0 => offset,
            _ => x.exponent + y.exponent + offset,
        };
        products.push((negative, significand, exponent));
    }
    if nan || infinite == [true; 2] {
        return NAN;
    }
    if infinite != [false; 2] {
        return u32::from(infinite[1]) << 31 | 0x7f80_0000;
    }
    let largest = products
        .iter()
        .map(|product| product.2)
        .max()
        .expect("products");
    let up = places - i64::from(kinds[0].fraction + kinds[1].fraction);
    let sum: i64 = products
        .iter()
        .map(|&(negative, significand, exponent)| {
            let aligned = jammed(significand << up, largest - exponent) as i64;
            if negative { -aligned } else { aligned }
        })
        .sum();
    packed(sum < 0, sum.unsigned_abs(), largest, places)
}

/// c + s, to odd.
fn accumulated(c: u32, s: u32) -> u32 {
    let fields = |word: u32| {
        (
            word >> 31 == 1,
            i64::from(word >> 23 & 255),
            u64::from(word & 0x7f_ffff),
        )
    };
    let ((sign_c, field_c, fraction_c), (sign_s, field_s, fraction_s)) = (fields(c), fields(s));
    let is_nan = |field, fraction| field == 255 && fraction > 0;
    let both = field_c == 255 && field_s == 255 && sign_c != sign_s;
    if is_nan(field_c, fraction_c) || is_nan(field_s, fraction_s) || both {
        return NAN;
    }
    match (field_c, field_s) {
        (255, _) => return c,
        (_, 255) => return s,
        _ => {}
    }
    if c << 1 == 0 && s << 1 == 0 {
        return c & s;
    }
    let number = |field: i64, fraction: u64| (field.max(1), fraction | u64::from(field > 0) << 23);
    let ((exponent_c, magnitude_c), (exponent_s, magnitude_s)) =
        (number(field_c, fraction_c), number(field_s, fraction_s));
    // 30 bits below the last place of the larger one, and a mark.
    let largest = exponent_c.max(exponent_s);
    let aligned = |magnitude: u64, exponent: i64, negative: bool| {
        let aligned = jammed(magnitude << 30, largest - exponent) as i64;
        if negative { -aligned } else { aligned }
    };
    let sum = aligned(magnitude_c, exponent_c, sign_c) + aligned(magnitude_s, exponent_s, sign_s);
    packed(sum < 0, sum.unsigned_abs(), largest, 53)
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
    }
}

fn unit<'c>(catalogue: &'c Catalogue, name: &str) -> &'c Unit {
    let row = catalogue.find("riscv", name).expect(name);
    row.unit().expect(name)
}

#[test]
fn the_rows_are_the_algorithm() {
    let mut catalogue = Catalogue::built_in().clone();
    catalogue.extend("riscv.txt", TEXT).expect("its text");
    let mut random = Random(31);
    let names = |kind: Kind| if kind.is_e4m3 { "e4m3fn" } else { "e5m2" };
    let mut rows = vec![
        ("zvtbf16fmm".to_owned(), [BF16, BF16]),
        ("vfwbdota.vlen128".to_owned(), [BF16, BF16]),
    ];
    for a in [E4M3, E5M2] {
        for b in [E4M3, E5M2] {
            rows.push((format!("zvtofp8fmm.{}.{}", names(a), names(b)), [a, b]));
            rows.push((
                format!("vfqwbdota.vlen128.{}.{}", names(a), names(b)),
                [a, b],
            ));
        }
    }
    for (name, kinds) in rows {
        let unit = unit(&catalogue, &name);
        let k = unit.signature().k;
        for case in 0..100_000 {
            let near = |kind: Kind, random: &mut Random| {
                let word = random.next();
                let width = 1 + kind.exponent + kind.fraction;
                let any = word & ((1 << width) - 1);
                // Any code; exponents near each other; the ends of the range.
                match case % 4 {
                    0 => any,
                    1 if word >> 40 & 7 == 0 => any,
                    1 | 2 => {
                        let field = (kind.bias() as u64 + (word >> 32) % 9).saturating_sub(4);
                        any & !(((1 << kind.exponent) - 1) << kind.fraction)
                            | field << kind.fraction
                    }
                    _ => {
                        let field = (word >> 32) % 3;
                        any & !(((1 << kind.exponent) - 1) << kind.fraction)
                            | field << kind.fraction
                    }
                }
            };
            let a: Vec<u64> = (0..k).map(|_| near(kinds[0], &mut random)).collect();
            let b: Vec<u64> = (0..k).map(|_| near(kinds[1], &mut random)).collect();
            let any = random.next() as u32;
            let sum = dot(kinds, &a, &b);
            // Any accumulator; one that nearly cancels; one of the sum's size; a zero.
            let c = match case % 5 {
                0 => any,
                1 => (sum ^ 1 << 31).wrapping_add(any % 5),
                2 => sum ^ any & 0x81ff_ffff,
                3 => any & 1 << 31,
                _ => sum & 0x7f80_0000 | any & 0x807f_ffff,
            };
            let operands = Operands {
                a: &a,
                b: &b,
                c: c.into(),
                ..Operands::default()
            };
            let d = unit.dot(&operands, &Modifiers::default()).expect("fits");
            let wanted = accumulated(c, sum);
            assert_eq!(
                d as u32, wanted,
                "{name}: a {a:x?} b {b:x?} c {c:x}: {d:x} {wanted:x}"
            );
        }
    }
}
