//! Scaling by 2^n.
//!
//! Where no floor, subnormal or overflow interferes, a·2^n and c·2^n give d·2^n. That is so for
//! normal operands well inside their range and a result (of every block) that is normal or 0.
//! GST-FDPA aligns by its scales only, so there the scales are what must carry the 2^n.

use mmascope::dpa::{Dpa, Program, Signature, Unit};
use mmascope::format::{Class, F16, Format};
use rayon::prelude::*;

use super::operands::{Case, Random, exponent_range};
use super::rows::{Row, adds_products, dots, modelled, row};

/// A normal number: exponent `exponent`, at most `digits` fraction bits.
fn normal(format: &Format, exponent: i32, digits: u32, sign: bool, random: &mut Random) -> u64 {
    let float = format.float().expect("a float");
    let low = exponent_range(format).0;
    let field = (exponent - low + i32::from(float.subnormals)) as u64;
    let dropped = float.fraction_bits.saturating_sub(digits);
    let fraction = (random.bits() & ((1 << float.fraction_bits) - 1)) >> dropped << dropped;
    let code = field << float.fraction_bits | fraction;
    let negative = u64::from(sign && format.signed) & random.bits() & 1;
    format.to_register(code | negative << (format.bits - 1))
}

/// The word times 2^n; the caller keeps it normal.
fn raised(format: &Format, word: u64, n: i32) -> u64 {
    let fraction_bits = format.float().expect("a float").fraction_bits;
    let step = u64::from(n.unsigned_abs()) << fraction_bits << format.register.shift;
    if n < 0 { word - step } else { word + step }
}

/// What carries the 2^n.
#[derive(Clone, Copy, Debug)]
enum Carrier {
    A,
    Scales,
}

/// Two cases, the second 2^n times the first. Without signs there is no cancellation, so no block's
/// result becomes subnormal; with signs the significands are short, so that an f16 result is
/// either a multiple of its normal spacing or 0.
fn scaled_pair(
    signature: &Signature,
    signs: bool,
    carrier: Carrier,
    random: &mut Random,
) -> (Case, Case, i32) {
    let Signature {
        a, b, c, k, scale, ..
    } = *signature;
    let digits = if signs && signature.d == F16 { 2 } else { 52 };
    let spread = if signs && signature.d == F16 { 1 } else { 3 };
    // Exponents near 0 where the format has them; room for n above.
    let middle = |format: &Format, room: i32| {
        let (low, high) = exponent_range(format);
        (low.max(-spread), (high - 1 - room).min(spread).max(low))
    };
    let room = match (carrier, signature.d == F16) {
        (Carrier::A, _) => (exponent_range(&a).1 - exponent_range(&a).0 - 1).min(3),
        (Carrier::Scales, _) => 3,
    };
    let n = 1 + random.below(room.max(1) as usize) as i32;
    let mut operands = |format: &Format, room: i32, digits: u32, count: usize| -> Vec<u64> {
        let (low, high) = middle(format, room);
        (0..count)
            .map(|_| normal(format, random.range(low, high), digits, signs, random))
            .collect()
    };
    let room_of_a = if matches!(carrier, Carrier::A) { n } else { 0 };
    let (a_words, b_words) = (
        operands(&a, room_of_a, digits, k),
        operands(&b, 0, digits, k),
    );
    let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
    if let Some(scale) = scale {
        scale_a = operands(&scale.format, n, 52, signature.scales());
        scale_b = operands(&scale.format, 0, 52, signature.scales());
    }
    let c_word = operands(&c, n, if digits == 2 { 4 } else { 52 }, 1)[0];
    let case = Case {
        a: a_words,
        b: b_words,
        c: c_word,
        scale_a,
        scale_b,
    };
    let mut other = case.clone();
    other.c = raised(&c, case.c, n);
    let (format, words) = match (carrier, scale) {
        (Carrier::A, _) => (a, &mut other.a),
        (Carrier::Scales, Some(scale)) => (scale.format, &mut other.scale_a),
        (Carrier::Scales, None) => panic!("no scales"),
    };
    words
        .iter_mut()
        .for_each(|word| *word = raised(&format, *word, n));
    (case, other, n)
}

#[test]
fn inside_the_range_scaling_is_exact() {
    let rows: Vec<Row> = modelled()
        .into_iter()
        .filter(|row| adds_products(row.program()))
        .collect();
    assert!(rows.len() > 500, "{}", rows.len());
    rows.par_iter().for_each(|row| {
        let mut random = Random::seeded(&row.name, 60);
        let is_gst = matches!(dots(row.program(), row.signature().k)[0].0, Dpa::GstFdpa(_));
        let mut carriers = Vec::new();
        if !is_gst {
            carriers.push(Carrier::A);
        }
        if row.signature().scale.is_some() {
            carriers.push(Carrier::Scales);
        }
        for carrier in carriers {
            for signs in [false, true] {
                for _ in 0..30 {
                    let (case, other, n) =
                        scaled_pair(row.signature(), signs, carrier, &mut random);
                    let (d, e) = (case.run(&row.unit), other.run(&row.unit));
                    let format = row.signature().d;
                    let expected = match format.decode(format.from_register(d)).class {
                        Class::Zero => d,
                        _ => raised(&format, d, n),
                    };
                    assert_eq!(
                        e, expected,
                        "{} {carrier:?} n={n} signs={signs}\n{case:?}\n{other:?}",
                        row.name
                    );
                }
            }
        }
    });
}

/// The row's unit with every floor e0 moved far below reach.
fn without_floor(row: &Row) -> Unit {
    let text = row.program().to_string();
    let word = |word: &str| match word.strip_prefix("e0=") {
        Some(_) => "e0=-1500".to_owned(),
        None => word.to_owned(),
    };
    let words: Vec<String> = text.split(' ').map(word).collect();
    let program: Program = words.join(" ").parse().expect("still a program");
    Unit::new(*row.signature(), program).expect("it still fits")
}

/// Operands with two products and c = 0, the rest zeros.
fn two_products(row: &Row, a: [u64; 2], b: [u64; 2]) -> Case {
    let pad = |pair: [u64; 2]| {
        let mut words = vec![0; row.signature().k];
        words[..2].copy_from_slice(&pair);
        words
    };
    Case {
        a: pad(a),
        b: pad(b),
        c: 0,
        scale_a: Vec::new(),
        scale_b: Vec::new(),
    }
}

/// At the floor scaling fails: 2^-149 − 2^-157 and 2^-159 + 2^-159 + 2^-158 make 2^-149 when
/// nothing is lost, but the floor e0 = −132 or −133 cuts the small ones away, and what is left
/// truncates to 0.
#[test]
fn the_floor_of_f32_accumulators_breaks_scaling() {
    for (architecture, instruction) in [
        ("ampere", "mma.m16n8k8.f32.bf16.bf16.f32"),
        ("hopper", "mma.m16n8k16.f32.bf16.bf16.f32"),
        ("blackwell", "tcgen05.mma.m128n8k16.kind::f16.f32.bf16.bf16"),
        ("hopper", "mma.m16n8k4.f32.tf32.tf32.f32"),
    ] {
        let row = row(architecture, instruction);
        let bf16 = |exponent: i32, fraction: u64| ((exponent + 127) as u64) << 7 | fraction;
        let shift = if row.signature().a.bits == 16 { 0 } else { 16 };
        let tiny = |up: i32| {
            let mut case = two_products(
                &row,
                [bf16(-76 + up, 0x7f) << shift, bf16(-83 + up, 0) << shift],
                [bf16(-74, 0) << shift, bf16(-76, 0) << shift],
            );
            for k in 1..4 {
                (case.a[k], case.b[k]) = (case.a[1], bf16(-76, 0) << shift);
            }
            case.b[3] = bf16(-75, 0) << shift;
            case
        };
        let exact = tiny(0).run(&without_floor(&row));
        assert_eq!(exact, 0x0000_0001, "{}", row.name);
        assert_eq!(tiny(0).run(&row.unit), 0, "{}", row.name);
        assert_eq!(
            tiny(60).run(&row.unit),
            ((-89 + 127) as u64) << 23,
            "{}",
            row.name
        );
    }
}

/// The same for f16 accumulators, where the floor decides a tie: 2^-25 + 2^-46.
#[test]
fn the_floor_of_f16_accumulators_decides_a_tie() {
    for (architecture, instruction) in [
        ("volta", "mma.m8n8k4.f16.f16.f16.f16"),
        ("turing", "mma.m16n8k8.f16.f16.f16.f16"),
        ("ampere", "mma.m16n8k16.f16.f16.f16.f16"),
        ("hopper", "mma.m16n8k16.f16.f16.f16.f16"),
    ] {
        let row = row(architecture, instruction);
        // 2^-14 · 2^-11 and a subnormal product: 2^-24 · 2^-24.
        let case = two_products(&row, [0x0400, 0x0001], [0x1000, 0x0001]);
        assert_eq!(case.run(&without_floor(&row)), 0x0001, "{}", row.name);
        assert_eq!(case.run(&row.unit), 0x0000, "{}", row.name);
    }
}

/// The catalogue says of f16, fp8, fp6 and fp4 operands that the floor of an f32 accumulator cannot
/// be seen: every non-zero term lies above it.
#[test]
fn where_the_floor_cannot_be_seen() {
    let hidden = |row: &Row| {
        let signature = row.signature();
        let lowest = exponent_range(&signature.a).0 + exponent_range(&signature.b).0;
        lowest > -100 && signature.d != F16 && signature.scale.is_none()
    };
    let rows: Vec<Row> = modelled().into_iter().filter(hidden).collect();
    assert!(rows.len() > 150, "{}", rows.len());
    rows.par_iter().for_each(|row| {
        let free = without_floor(row);
        let mut random = Random::seeded(&row.name, 61);
        for kind in super::operands::KINDS {
            for _ in 0..20 {
                let case = Case::random(row.signature(), kind, &mut random);
                assert_eq!(
                    case.run(&row.unit),
                    case.run(&free),
                    "{} {case:?}",
                    row.name
                );
            }
        }
    });
}

/// Scaling also fails at flushed subnormals and at overflow.
#[test]
fn flushes_and_overflows_break_scaling() {
    // CDNA2: a product of 2^-127 becomes 0; twice the operand is kept. CDNA1 keeps both.
    let (flushing, keeping) = (
        row("cdna2", "v_mfma_f32_32x32x8_bf16_1k"),
        row("cdna1", "v_mfma_f32_32x32x4_bf16"),
    );
    let product = |row: &Row, exponent: i32| {
        let a = ((exponent + 127) as u64) << 7;
        two_products(row, [a, 0], [0x3f00, 0]).run(&row.unit)
    };
    assert_eq!(product(&flushing, -126), 0);
    assert_eq!(product(&flushing, -125), 0x0080_0000);
    assert_eq!(product(&keeping, -126), 0x0040_0000);
    assert_eq!(product(&keeping, -125), 0x0080_0000);

    // CDNA3: 2^127 − 2^127 is 0, 2^128 − 2^128 is a NaN, because products overflow by themselves;
    // on Hopper they do not.
    let (overflowing, exact) = (
        row("cdna3", "v_mfma_f32_32x32x8_bf16"),
        row("hopper", "mma.m16n8k8.f32.bf16.bf16.f32"),
    );
    let difference = |row: &Row, exponent: i32| {
        let a = ((exponent + 127) as u64) << 7;
        two_products(row, [a, a | 0x8000], [0x4200, 0x4200]).run(&row.unit)
    };
    assert_eq!(difference(&overflowing, 122), 0);
    assert!(overflowing.unit.is_nan(difference(&overflowing, 123)));
    assert_eq!(difference(&exact, 122), 0);
    assert_eq!(difference(&exact, 123), 0);
}
