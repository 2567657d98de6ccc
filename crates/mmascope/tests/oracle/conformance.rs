//! The oracle itself on facts that were measured or derived elsewhere: it must not be believed
//! only because it agrees with the reference.

use mmascope::dpa::{Modifiers, Unit};

use super::families::Case;
use super::program::evaluate;
use super::proof::unit;
use super::result::Outcome;

fn oracle(unit: &Unit, a: &[u64], b: &[u64], c: u64) -> Outcome {
    let k = unit.signature().k;
    let padded = |words: &[u64]| {
        let mut words = words.to_vec();
        words.resize(k, 0);
        words
    };
    let case = Case {
        a: padded(a),
        b: padded(b),
        c,
        ..Case::default()
    };
    evaluate(
        unit.signature(),
        unit.program(),
        &case.operands(),
        &Modifiers::default(),
    )
}

fn words(text: &str) -> Vec<u64> {
    text.split(' ')
        .map(|word| u64::from_str_radix(word, 16).expect("hex"))
        .collect()
}

/// 2^23 − 2^23 − 1/2 − 1/4 − 1/8: a different answer per generation.
#[test]
fn one_input_per_generation() {
    let a = [0xf000, 0xb800, 0xb400, 0xb000];
    let b = [0x6400, 0x3c00, 0x3c00, 0x3c00];
    let rows: [(&str, usize, f32); 6] = [
        ("t-fdpa L=4 F=23 e0=-131 -> rz f32", 4, 0.0),
        ("t-fdpa L=8 F=24 e0=-132 -> rz f32", 8, -0.5),
        ("t-fdpa L=16 F=25 e0=-133 -> rz f32", 16, -0.75),
        ("e-fdpa L=4 -> rne f32", 4, -0.875),
        ("ftz-addmul P=4 -> rne f32", 4, 0.0),
        ("tr-fdpa L=8 F=24 F2=31 -> rne f32", 8, -0.5),
    ];
    for (program, k, expected) in rows {
        let unit = unit("f16", "f16", "f32", k, program);
        let d = oracle(&unit, &a, &b, u64::from(8_388_608_f32.to_bits()));
        assert_eq!(d, Outcome::Word(u64::from(expected.to_bits())), "{program}");
    }
}

/// Recorded on hardware: only the floor −133 gives this word.
#[test]
fn the_floor_of_the_alignment() {
    let a =
        words("9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a");
    let b =
        words("9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735");
    for (e0, fraction) in [
        (-133, 0b1011),
        (-132, 0b1010),
        (-134, 0b1010),
        (-126, 0b1010),
    ] {
        let program = format!("t-fdpa L=16 F=25 e0={e0} -> rz f32");
        // 0x1.6p-146 is 11 units of 2^-149, and 0x1.4p-146 is 10.
        let d = oracle(&unit("bf16", "bf16", "f32", 16, &program), &a, &b, 0);
        assert_eq!(d, Outcome::Word(fraction), "e0={e0}");
    }
}

/// 2048² − 2048² − 10^-6 is −1/4 where the last steps are floors.
#[test]
fn floors_are_biased() {
    let unit = unit("f16", "f16", "f32", 8, "tr-fdpa L=8 F=24 F2=31 -> rne f32");
    let d = oracle(
        &unit,
        &[0x6800, 0x6800],
        &[0x6800, 0xe800],
        u64::from((-1e-6_f32).to_bits()),
    );
    assert_eq!(d, Outcome::Word(u64::from((-0.25_f32).to_bits())));
}

/// c is dropped where even and odd k are summed apart: 2^29 − … leaves nothing of c = 2^4.
#[test]
fn even_and_odd_k_apart() {
    let unit = unit(
        "e5m2fnuz",
        "e5m2fnuz",
        "f32",
        16,
        "gtr-fdpa L=16 F=24 F2=31 -> rne f32",
    );
    // 2^14 · 2^15 with both signs.
    let (a, b) = ([0x78, 0x78], [0x7c, 0xfc]);
    assert_eq!(
        oracle(&unit, &a, &b, u64::from(16_f32.to_bits())),
        Outcome::Word(0)
    );
}
