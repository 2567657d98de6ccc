//! RISC-V's dot products against the algorithm of their text (RVBNA), step by step in integers of 64 bits: biased exponents, aligned
//! products whose lost bits are masked out, leading zeros. The rows' names alone say formats and the number of products.
//!
//! One branch is not the text's: its functional description shifts a subnormal result by a count that shrinks where it should
//! grow. Its prose (the result is denormalised, then rounded to odd) is followed, as Spike does.

use mmascope_model::dpa::{Modifiers, Operands, Unit};
use mmascope_model::isa::{Catalogue, Instruction};

const MATRIX_FORMS: &str = include_str!("../../../examples/riscv.txt");
const NAN: u32 = 0x7fc0_0000;
const INFINITY: u32 = 0x7f80_0000;

/// Widths of a factor's fields; whether its largest exponent has numbers (OFP8 E4M3).
#[derive(Clone, Copy)]
struct Kind {
    e: u32,
    m: u32,
    is_e4m3: bool,
}

const BF16: Kind = Kind {
    e: 8,
    m: 7,
    is_e4m3: false,
};
const E5M2: Kind = Kind {
    e: 5,
    m: 2,
    is_e4m3: false,
};
const E4M3: Kind = Kind {
    e: 4,
    m: 3,
    is_e4m3: true,
};

/// A factor: its fields, and which of the special values it is.
struct Factor {
    sign: u64,
    exponent: u64,
    mantissa: u64,
    zero: bool,
    infinite: bool,
    nan: bool,
}

impl Kind {
    fn bias(self) -> i64 {
        (1 << (self.e - 1)) - 1
    }

    fn width(self) -> u32 {
        1 + self.e + self.m
    }

    fn factor(self, code: u64) -> Factor {
        let (top, all) = ((1 << self.e) - 1, (1 << self.m) - 1);
        let (exponent, mantissa) = (code >> self.m & top, code & all);
        let special = exponent == top;
        Factor {
            sign: code >> (self.e + self.m) & 1,
            exponent,
            mantissa,
            zero: exponent == 0 && mantissa == 0,
            infinite: special && !self.is_e4m3 && mantissa == 0,
            nan: special && mantissa != 0 && (!self.is_e4m3 || mantissa == all),
        }
    }
}

/// The sum of the products a_k·b_k in f32 by the bulk normalisation algorithm.
fn bulk_normalised([left, right]: [Kind; 2], a: &[u64], b: &[u64]) -> u32 {
    const Q: u32 = 24;
    const OVERFLOW: i64 = 255;
    let n = a.len();
    assert!(n.is_power_of_two());
    let g = n.ilog2();
    let (o, p) = (g, left.m + 1 + right.m + 1);
    let mut largest = 0;
    let (mut nan, mut infinite) = (false, None);
    let mut products = Vec::new();
    for (&a, &b) in a.iter().zip(b) {
        let (x, y) = (left.factor(a), right.factor(b));
        let sign = x.sign ^ y.sign;
        nan |= x.nan || y.nan || x.infinite && y.zero || y.infinite && x.zero;
        if x.infinite || y.infinite {
            nan |= infinite.is_some_and(|before| before != sign);
            infinite = Some(sign);
        }
        let significand = |kind: Kind, factor: &Factor| {
            u64::from(factor.exponent != 0) << kind.m | factor.mantissa
        };
        let product = significand(left, &x) * significand(right, &y);
        let reference = match x.zero || y.zero {
            true => 0,
            false => x.exponent.max(1) + y.exponent.max(1),
        };
        largest = reference.max(largest);
        products.push((sign, product, reference));
    }
    if nan {
        return NAN;
    }
    if let Some(sign) = infinite {
        return (sign as u32) << 31 | INFINITY;
    }
    let width = u64::from(Q + 1 + g);
    let mut sum = 0_i64;
    for (sign, product, reference) in products {
        let shift = largest - reference;
        let aligned = match shift {
            0..64 => product << (width - u64::from(p)) >> shift,
            _ => 0,
        };
        // Which bits of the product fall out.
        let lost = match shift >= width {
            true => product,
            false => product & ((1 << p) - 1) >> (width - shift),
        };
        let aligned = (aligned | u64::from(lost != 0)) as i64;
        sum += if sign == 1 { -aligned } else { aligned };
    }
    if sum == 0 {
        return 0;
    }
    let sign = u32::from(sum < 0) << 31;
    let sum = sum.unsigned_abs();
    // Leading zeros in a word of g + q + 1 + o bits.
    let bits = g + Q + 1 + o;
    let zeros = sum.leading_zeros() - (64 - bits);
    let field =
        (largest as i64 + i64::from(o) + 1 - i64::from(zeros)) - (left.bias() + right.bias()) + 127;
    let normalised = sum << zeros;
    if field >= OVERFLOW {
        return sign | INFINITY;
    }
    // Below the smallest normal number a place less for each binade.
    let dropped = i64::from(g + o + 1) + if field >= 1 { 0 } else { 1 - field };
    let (kept, lost) = match dropped {
        0..64 => (normalised >> dropped, normalised & ((1 << dropped) - 1)),
        _ => (0, normalised),
    };
    let rounded = (kept | u64::from(lost != 0)) as u32;
    match field {
        1.. => sign | (field as u32) << 23 | rounded & 0x7f_ffff,
        _ => sign | rounded,
    }
}

/// c + s, rounded to odd: what overflows is infinite, and zero is +0.
fn accumulated(c: u32, s: u32) -> u32 {
    let is_nan = |word: u32| word & !(1 << 31) > INFINITY;
    let is_infinite = |word: u32| word & !(1 << 31) == INFINITY;
    if is_nan(c) || is_nan(s) || is_infinite(c) && is_infinite(s) && c != s {
        return NAN;
    }
    if let Some(infinite) = [c, s].into_iter().find(|&word| is_infinite(word)) {
        return infinite;
    }
    // Both numbers over the last place of the larger one, with 40 bits below it; the last one says that some are lost.
    let number = |word: u32| {
        let field = word >> 23 & 255;
        let significand = word & 0x7f_ffff | u32::from(field > 0) << 23;
        (word >> 31 == 1, field.max(1), i128::from(significand) << 40)
    };
    let terms = [number(c), number(s)];
    let largest = terms[0].1.max(terms[1].1);
    let sum: i128 = terms
        .iter()
        .map(|&(negative, field, significand)| {
            let shift = largest - field;
            let lost =
                shift > 63 && significand != 0 || significand & ((1 << shift.min(63)) - 1) != 0;
            let aligned = significand >> shift.min(64) | i128::from(lost);
            if negative { -aligned } else { aligned }
        })
        .sum();
    if sum == 0 {
        return 0;
    }
    let sign = u32::from(sum < 0) << 31;
    let sum = sum.unsigned_abs();
    // The place of the leading bit above the hidden one of the larger number.
    let field = i64::from(largest) + i64::from(sum.ilog2()) - 63;
    if field >= 255 {
        return sign | INFINITY;
    }
    let last = i64::from(sum.ilog2()) - if field >= 1 { 23 } else { 22 + field };
    assert!(last >= 0);
    let rounded = (sum >> last) as u32 | u32::from(sum & ((1 << last) - 1) != 0);
    match field {
        1.. => sign | (field as u32) << 23 | rounded & 0x7f_ffff,
        _ => sign | rounded,
    }
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

    /// A code of a factor: which exponents are likely depends on the case.
    fn factor(&mut self, kind: Kind, case: usize) -> u64 {
        let word = self.next();
        let any = word & ((1 << kind.width()) - 1);
        let rare = word >> 30 & 63;
        let top = (1 << kind.e) - 1;
        let near = |middle: u64, spread: u64| (middle + (word >> 36) % spread).min(top);
        let bias = kind.bias() as u64;
        let field = match case % 8 {
            // Any code, in every eighth of these cases special ones too.
            0 if case.is_multiple_of(64) => return any,
            0 => near(0, top),
            // Near each other around 1, around 2^-63 and 2^63 (whose products are at the ends of f32), and further apart.
            1 => near(bias.saturating_sub(3), 7),
            2 => near(bias / 2, 5),
            3 => near((bias + bias / 2).min(top - 5), 5),
            4 => near(bias.saturating_sub(15), 30.min(top)),
            // The ends of the range, subnormal numbers and zeros.
            5 => near(0, 3),
            6 => near(top - 3, 3),
            _ if rare.is_multiple_of(3) => near(0, 2),
            _ => near(bias / 2, bias),
        };
        let any = any & !(top << kind.m) | field.min(top - u64::from(rare != 0)) << kind.m;
        match rare {
            // Zeros leave the largest exponent to others.
            1..8 => any & 1 << (kind.width() - 1),
            _ => any,
        }
    }
}

/// What the results of a row were.
#[derive(Debug, Default)]
struct Reached {
    nan: usize,
    infinite: usize,
    subnormal: usize,
    zero: usize,
    /// Sums of products that are no NaN and not infinite without an infinite factor.
    overflown: usize,
}

fn compare(name: &str, unit: &Unit, kinds: [Kind; 2], cases: usize) -> Reached {
    let seed = name.bytes().map(u64::from);
    let mut random = Random(seed.fold(31, |seed, byte| seed.wrapping_mul(33) + byte));
    let k = unit.signature().k;
    let mut reached = Reached::default();
    for case in 0..cases {
        let mut a: Vec<u64> = (0..k).map(|_| random.factor(kinds[0], case)).collect();
        let mut b: Vec<u64> = (0..k).map(|_| random.factor(kinds[1], case)).collect();
        if case % 11 == 0 {
            // Products that cancel but for the last of them.
            for at in (0..k - 2).step_by(2) {
                a[at + 1] = a[at];
                b[at + 1] = b[at] ^ 1 << (kinds[1].width() - 1);
            }
        }
        if case % 121 == 0 {
            (a[k - 1], b[k - 1], a[k - 2]) = (0, 0, 0);
        }
        if case % 7 == 0 {
            // Codes of the largest exponent: one or two infinities (numbers of e4m3), times 0 too, and NaNs.
            let word = random.next();
            let sign = |bit: u32, kind: Kind| (word >> bit & 1) << (kind.width() - 1);
            let top = |kind: Kind| ((1 << kind.e) - 1) << kind.m;
            a[word as usize % k] = top(kinds[0]) | sign(40, kinds[0]);
            match word >> 32 & 3 {
                0 => b[(word >> 8) as usize % k] = top(kinds[1]) | sign(41, kinds[1]),
                1 => b[word as usize % k] = sign(42, kinds[1]),
                2 => b[(word >> 8) as usize % k] |= top(kinds[1]) | 1,
                _ => {}
            }
        }
        let any = random.next() as u32;
        let sum = bulk_normalised(kinds, &a, &b);
        // Any accumulator; one that nearly cancels; one of the sum's size; a zero.
        let c = match case % 5 {
            0 => any,
            1 => (sum ^ 1 << 31).wrapping_add(any % 5),
            2 => sum ^ any & 0x81ff_ffff,
            3 => any & 1 << 31,
            _ => sum & INFINITY | any & 0x807f_ffff,
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
        let infinite = |kind: Kind, codes: &[u64]| codes.iter().any(|&it| kind.factor(it).infinite);
        let magnitude = sum & !(1 << 31);
        match magnitude {
            0 => reached.zero += 1,
            1..0x80_0000 => reached.subnormal += 1,
            INFINITY if !infinite(kinds[0], &a) && !infinite(kinds[1], &b) => {
                reached.overflown += 1;
            }
            INFINITY => reached.infinite += 1,
            NAN => reached.nan += 1,
            _ => {}
        }
    }
    reached
}

fn rows() -> impl Iterator<Item = &'static Instruction> {
    let riscv = Catalogue::built_in().architecture("riscv");
    riscv.expect("its text").instructions()
}

/// What a name says: the mnemonic, VLEN, and the type of vs1 where altfmt chooses it.
fn parts(name: &str) -> (&str, usize, Option<&str>) {
    let (mnemonic, rest) = name.split_once(".vv.vlen").expect("a vector length");
    let (vlen, of_vs1) = match rest.split_once('.') {
        Some((vlen, of_vs1)) => (vlen, Some(of_vs1)),
        None => (rest, None),
    };
    (mnemonic, vlen.parse().expect("bits"), of_vs1)
}

fn number_rows(cases: usize) -> usize {
    let mut count = 0;
    for row in rows().filter(|row| row.name.starts_with("vf")) {
        let (mnemonic, vlen, of_vs1) = parts(&row.name);
        let kinds = match (mnemonic, of_vs1) {
            ("vfwbdota", None) => [BF16, BF16],
            ("vfqwbdota", Some("e4m3")) => [E4M3, E4M3],
            ("vfqwbdota", Some("e5m2")) => [E5M2, E4M3],
            ("vfqwbdota.alt", Some("e4m3")) => [E4M3, E5M2],
            ("vfqwbdota.alt", Some("e5m2")) => [E5M2, E5M2],
            _ => panic!("another row: {}", row.name),
        };
        let unit = row.unit().expect("a model");
        assert_eq!(
            unit.signature().k,
            vlen / kinds[0].width() as usize,
            "{}",
            row.name
        );
        let reached = compare(&row.name, unit, kinds, cases);
        println!("{}: {cases} results, {reached:?}", row.name);
        let is_bf16 = mnemonic == "vfwbdota";
        // Products of 8 bits are never at the ends of f32, and e4m3 has no infinity.
        let has_infinity = kinds.iter().any(|kind| !kind.is_e4m3);
        assert!(reached.nan > 0 && reached.zero > 0, "{}", row.name);
        assert_eq!(has_infinity, reached.infinite > 0, "{}", row.name);
        assert_eq!(is_bf16, reached.overflown > 0, "{}", row.name);
        assert_eq!(is_bf16, reached.subnormal > 0, "{}", row.name);
        count += 1;
    }
    count
}

#[test]
fn the_rows_are_the_algorithm_of_the_text() {
    assert_eq!(number_rows(10_000), 15);
}

#[test]
#[ignore = "fifteen million dot products: cargo xtask prove riscv"]
fn prove_riscv() {
    assert_eq!(number_rows(1_000_000), 15);
}

/// The matrix forms of the example, whose own text was not read: two and four products.
#[test]
fn the_matrix_forms_of_the_example_are_the_algorithm() {
    let mut catalogue = Catalogue::built_in().clone();
    catalogue
        .extend("riscv.txt", MATRIX_FORMS)
        .expect("its text");
    let names = |kind: Kind| if kind.is_e4m3 { "e4m3fn" } else { "e5m2" };
    let mut forms = vec![("zvtbf16fmm".to_owned(), [BF16, BF16])];
    for a in [E4M3, E5M2] {
        for b in [E4M3, E5M2] {
            forms.push((format!("zvtofp8fmm.{}.{}", names(a), names(b)), [a, b]));
        }
    }
    for (name, kinds) in forms {
        let row = catalogue.find("riscv", &name).expect(&name);
        compare(&name, row.unit().expect("a model"), kinds, 20_000);
    }
}

/// The forms of one dot product are the rows of the batched forms.
#[test]
fn both_forms_are_one_row() {
    let catalogue = Catalogue::built_in();
    for row in rows() {
        let single = row.name.replacen("bdota", "dota", 1);
        let found = catalogue.find("riscv", &single).expect(&single);
        assert_eq!(found.name, row.name);
    }
}

/// Sums modulo 2^32 and 2^64, with signs as the names have them.
#[test]
fn integer_rows_wrap() {
    let mut random = Random(7);
    let mut count = 0;
    for row in rows().filter(|row| row.name.starts_with("vq")) {
        let (mnemonic, vlen, of_vs1) = parts(&row.name);
        let of_vs1 = of_vs1.expect("a type");
        let bits: u32 = of_vs1[1..].parse().expect("bits");
        let is_signed = [of_vs1.starts_with('s'), mnemonic.ends_with('s')];
        let unit = row.unit().expect("a model");
        assert_eq!(unit.signature().k, vlen / bits as usize, "{}", row.name);
        let value = |code: u64, signed: bool| match signed && code >> (bits - 1) == 1 {
            true => i128::from(code) - (1 << bits),
            false => i128::from(code),
        };
        for case in 0..2_000 {
            let mut codes = || -> Vec<u64> {
                let word = (0..unit.signature().k).map(|_| match case % 3 {
                    0 => u64::MAX,
                    1 => 1 << (bits - 1),
                    _ => random.next(),
                });
                word.map(|word| word & ((1 << bits) - 1)).collect()
            };
            let (a, b) = (codes(), codes());
            let mask = u64::MAX >> (64 - 4 * bits);
            let c = match case % 2 {
                0 => mask >> (random.next() & 1),
                _ => (random.next() << 32 ^ random.next()) & mask,
            };
            let products = a.iter().zip(&b);
            let sum: i128 = products
                .map(|(&a, &b)| value(a, is_signed[0]) * value(b, is_signed[1]))
                .sum();
            let operands = Operands {
                a: &a,
                b: &b,
                c,
                ..Operands::default()
            };
            let d = unit.dot(&operands, &Modifiers::default()).expect("fits");
            let wanted = (i128::from(c) + sum) as u64 & mask;
            assert_eq!(d, wanted, "{}: a {a:x?} b {b:x?} c {c:x}", row.name);
        }
        count += 1;
    }
    assert_eq!(count, 24);
}
