//! The vector unit's conversions, order, constants and random bits (§7.2).

use std::cmp::Ordering;

use crate::support::{Xorshift, machines};
use mmascope_model::tensix::{
    Constant, Flag, Integers, Narrow, StickyFlags, Stored, TensixRandomBits, absolute,
    absolute_reciprocal, add_immediate, add_integers, cast_to_f32, compare_order, divide_by_power,
    load, load_immediate_f16, lut_coefficient, lut16_coefficient, round_to_integer,
    round_to_narrow, store,
};

#[test]
fn loads_and_stores() {
    assert_eq!(load(Stored::Bf16, 0x3f80), 0x3f80_0000);
    assert_eq!(load(Stored::F16, 0x3c00), 0x3f80_0000);
    // A subnormal f16 becomes a subnormal f32, which the arithmetic takes for 0.
    assert_eq!(load(Stored::F16, 0x0001), 0x0000_2000);
    assert_eq!(load(Stored::F16, 0x7fff), 0x477f_e000 + (1 << 23));
    assert_eq!(load_immediate_f16(0x0001), 0x3800_2000);
    assert_eq!(store(Stored::Bf16, 0x3fff_ffff), 0x3fff);
    assert_eq!(store(Stored::Bf16, 0x807f_ffff), 0x8000);
    assert_eq!(store(Stored::F32, 0x807f_ffff), 0x8000_0000);
    assert_eq!(store(Stored::Int32, 0x807f_ffff), 0x807f_ffff);
    let f16 = [
        0x3f80_1fff,
        0x3800_0000,
        0xb87f_ffff,
        0x4780_0000,
        0xc800_0000,
    ];
    // 2^-15 and its binade are signed zeros, 2^16 is a number, 2^17 the overflow pattern.
    assert_eq!(
        f16.map(|word| store(Stored::F16, word)),
        [0x3c00, 0, 0x8000, 0x7c00, 0xffff]
    );
}

#[test]
fn rounding_to_fewer_bits() {
    let bf16 = |word| round_to_narrow(Narrow::Bf16, word);
    let words = [
        0x3f80_8000,
        0xbf80_7fff,
        0x8000_0001,
        0xff80_0001,
        0x7f7f_ffff,
    ];
    assert_eq!(
        words.map(bf16),
        [0x3f81_0000, 0xbf80_0000, 0, 0xff80_0000, 0x7f80_0000]
    );
    assert_eq!(round_to_narrow(Narrow::F16, 0x3f80_1000), 0x3f80_2000);
}

#[test]
fn rounding_to_integers() {
    let cases: [(f32, Integers, u32); 12] = [
        (0.5, Integers::Int8, 1),
        (0.499, Integers::Int8, 0),
        (-0.5, Integers::Int8, 0x8000_0001),
        (2.5, Integers::Int8, 3),
        (126.5, Integers::Int8, 127),
        (-1e9, Integers::Int8, 0x8000_007f),
        (-300.0, Integers::Uint8, 255),
        (-2.5, Integers::Uint8, 3),
        (32_767.5, Integers::Int16, 32_767),
        (-40_000.0, Integers::Int16, 0x8000_7fff),
        (65_534.5, Integers::Uint16, 65_535),
        (f32::NAN, Integers::Uint16, 65_535),
    ];
    for (value, to, expected) in cases {
        assert_eq!(
            round_to_integer(to, value.to_bits()),
            expected,
            "{value} {to:?}"
        );
    }
}

#[test]
fn integers_become_floats_as_on_the_host() {
    let mut random = Xorshift(3);
    for round in 0..100_000 {
        let word = random.word() >> (round % 31);
        let magnitude = word & 0x7fff_ffff;
        let host = (magnitude as f32).to_bits();
        assert_eq!(cast_to_f32(magnitude), host);
        assert_eq!(cast_to_f32(magnitude | 1 << 31), host | 1 << 31);
    }
    assert_eq!(cast_to_f32(0x8000_0000), 0x8000_0000);
}

#[test]
fn order_of_signs_and_magnitudes() {
    let ascending = [
        0xffff_ffff,
        0xff80_0000,
        0xbf80_0000,
        0x8000_0001,
        0x8000_0000,
        0,
        1,
        0x3f80_0000,
        0x7f80_0000,
        0x7fff_ffff,
    ];
    for (x, left) in ascending.iter().enumerate() {
        for (y, right) in ascending.iter().enumerate() {
            assert_eq!(
                compare_order(*left, *right),
                x.cmp(&y),
                "{left:08x} {right:08x}"
            );
        }
    }
    assert_eq!(compare_order(5, 5), Ordering::Equal);
}

#[test]
fn signs_and_powers() {
    assert_eq!(
        [0xbf80_0000, 0xff80_0000, 0xff80_0001].map(absolute),
        [0x3f80_0000, 0x7f80_0000, 0xff80_0001]
    );
    assert_eq!(divide_by_power(0x3f80_0000, 1), 0x4000_0000);
    assert_eq!(divide_by_power(0x3f80_0000, 0xff), 0x3f00_0000);
    assert_eq!(divide_by_power(0x7fc0_0000, 1), 0x7fc0_0000);
    assert_eq!(divide_by_power(0x0080_0000, 0xff), 0);
}

#[test]
fn coefficients() {
    // Sign, three bits of a negative exponent, four of fraction.
    assert_eq!(lut_coefficient(0x00), 1.0_f32.to_bits());
    assert_eq!(lut_coefficient(0x98), (-0.75_f32).to_bits());
    assert_eq!(lut_coefficient(0xff), 0);
    assert_eq!(lut16_coefficient(0x3c00), 0x3f80_0000);
    assert_eq!(lut16_coefficient(0x0001), 0x3800_2000);
    assert_eq!(lut16_coefficient(0x7c00), 0);
}

/// The table of 128 fractions by its closed form in exact fractions: round half up.
#[test]
fn reciprocals() {
    for i in 0..128_u64 {
        let word = 0x3f80_0000 | (i as u32) << 16;
        // 32768 / (128.5 + i) − 128 = (32768 · 2 − 128 · (257 + 2i)) / (257 + 2i).
        let under = 257 + 2 * i as i64;
        let over = 65_536 - 128 * under;
        let rounded = (2 * over + under).div_euclid(2 * under);
        let expected = (253 - 127) << 23 | (rounded as u32) << 16;
        assert_eq!(absolute_reciprocal(word), expected, "{i}");
        // Within 1/128 of 1 / x for a power of two less.
        let x = f32::from_bits(word);
        let got = f32::from_bits(expected);
        assert!((got * x - 1.0).abs() < 0.01, "{x} {got}");
    }
    assert_eq!(absolute_reciprocal(0x807f_ffff), 0xff80_0000);
    assert_eq!(absolute_reciprocal(0x7e80_0000), 0);
    assert_eq!(absolute_reciprocal(0xffc0_0000), 0x8000_0000);
}

#[test]
fn random_bits_shift_by_one() {
    let mut random = TensixRandomBits { state: 0x8000_0001 };
    assert_eq!(random.step(), 0x8000_0001);
    // Two taps are set: an even number puts a one in front.
    assert_eq!(random.state, 0xc000_0000);
    random.step();
    // One tap: a zero.
    assert_eq!(random.state, 0x6000_0000);
}

/// The register as a list of bits: a new one enters at the top, and the lowest leaves.
#[test]
fn a_seed_is_spread_over_the_lanes() {
    let mut bits: Vec<bool> = (0..32)
        .map(|place| 0xdead_beef_u32 >> place & 1 == 1)
        .collect();
    let mut step = || {
        let taps = [0, 1, 21, 31].iter().filter(|place| bits[**place]).count();
        bits.remove(0);
        bits.push(taps % 2 == 0);
        bits.iter()
            .rev()
            .fold(0, |word, bit| word << 1 | u32::from(*bit))
    };
    for _ in 0..32 {
        step();
    }
    let mut expected = [0; 32];
    for lane in (0..32).rev() {
        step();
        expected[lane] = step();
    }
    let seeded = TensixRandomBits::seeded(0xdead_beef);
    assert_eq!(seeded.map(|lane| lane.state), expected);
}

#[test]
fn constants() {
    assert_eq!(Constant::read(8, 0).unwrap(), 0x3f56_594b);
    assert_eq!(
        [9, 10, 11].map(|register| Constant::read(register, 0).unwrap()),
        [0, 0x3f80_0000, 0xbf80_0000]
    );
    assert_eq!(Constant::read(15, 31).unwrap(), 62);
    assert!(Constant::read(12, 0).is_err());
}

#[test]
fn status_bits_are_sticky_over_lanes() {
    for machine in machines() {
        let mut sticky = StickyFlags::default();
        let words = machine.multiply_add_lanes(
            &[
                [0x3f80_0000; 3],
                [0x7f80_0000, 0, 0],
                [0x7f80_0000, 0x3f80_0000, 0],
            ],
            &mut sticky,
        );
        assert_eq!(words[0], 0x4000_0000);
        assert!(sticky.has(Flag::SfpuNan) && sticky.has(Flag::SfpuInfinity));
        assert_eq!(
            (sticky.read(), sticky.sfpu(), sticky.fpu()),
            (0b1100, 0b1100, 0)
        );
        // They stay through operations that set none, until they are cleared.
        machine.multiply_add_lanes(&[[0x3f80_0000; 3]], &mut sticky);
        assert_eq!(sticky.read(), 0b1100);
        sticky.clear();
        machine.multiply_add_lanes(&[[0x0080_0000, 0x3f00_0000, 0]], &mut sticky);
        assert_eq!(sticky.read(), 1 << Flag::SfpuDenormal.bit());
        add_integers(0x7fff_ffff, 1, &mut sticky);
        assert!(sticky.has(Flag::SfpuOverflow));
        assert!(sticky.to_string().contains("assumed"));
    }
}

#[test]
fn immediates_and_flipped_signs() {
    let [plain, rich] = machines();
    assert_eq!(add_immediate(&plain, 0x3f80, 0x3f80_0000), 0x4000_0000);
    let words = [0x3f80_0000, 0x4000_0000, 0x3f80_0000];
    assert_eq!(
        rich.multiply_add_flipped(words, true, false).unwrap(),
        0xbf80_0000
    );
    assert_eq!(
        rich.multiply_add_flipped(words, false, true).unwrap(),
        0x3f80_0000
    );
    assert!(plain.multiply_add_flipped(words, true, false).is_err());
}
