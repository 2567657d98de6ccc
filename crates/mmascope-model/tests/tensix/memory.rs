//! Unpackers, packers and block formats (§3, §6), against values worked out by their meaning.

use crate::support::machines;
use mmascope_model::format::{BF16, Class, Exact, F16, F32, Overflow, Rounding};
use mmascope_model::tensix::{
    Block, Early, Memory, Relu, SourceFormat, TensixBlockFormat, accumulate_bf16, accumulate_f16,
    accumulate_f32, bfp_to_source, dst_32_to_int16, e4m3_to_f16, e5m2_to_f16, f16_to_bf16,
    f16_to_e4m3, f16_to_f32, f32_to_f16, f32_to_rounded, int32_to_int8, int32_to_uint8, pack_block,
    unpack,
};

#[test]
fn what_unpackers_do_to_f32() {
    let [machine, _] = machines();
    let take = |word, to| unpack(&machine, Memory::F32(word), to).unwrap();
    // Truncated; a NaN whose payload lies low becomes the pattern of infinity.
    assert_eq!(take(0x3f80_1fff, SourceFormat::Tf32), 0x3f80_0000 >> 13);
    assert_eq!(take(0x7f80_0001, SourceFormat::Tf32), 0x7f80_0000 >> 13);
    // To bf16: subnormal numbers are signed zeros, everything else is truncated.
    assert_eq!(
        take(0x807f_ffff, SourceFormat::Bf16),
        SourceFormat::of_bf16(0x8000)
    );
    assert_eq!(
        take(0x3fff_ffff, SourceFormat::Bf16),
        SourceFormat::of_bf16(0x3fff)
    );
    // To f16: 2^-15 is the exponent field 0, and stays; 2^-16 is a zero; 2^17 is the largest pattern.
    for (power, expected) in [
        (-15, 0x0000),
        (-16, 0x8000),
        (-14, 0x0400),
        (16, 0x7c00),
        (17, 0x7fff),
    ] {
        let sign = if power == -16 { -1.0 } else { 1.0 };
        let word = (sign * 2_f32.powi(power)).to_bits();
        assert_eq!(f32_to_f16(word), expected, "2^{power}");
    }
    assert_eq!(f32_to_f16((1.5 * 2_f32.powi(-15)).to_bits()), 0x0200);
    assert!(unpack(&machine, Memory::F16(0), SourceFormat::Tf32).is_err());
}

#[test]
fn every_code_of_fp8_unpacks_to_its_value() {
    let [plain, rich] = machines();
    for code in 0..=255_u8 {
        // E5M2 is the upper byte of f16.
        assert_eq!(e5m2_to_f16(&plain, code), u16::from(code) << 8);
        let largest = code & 0x7f == 0x7f;
        let expected = u16::from(code) << 8 | if largest { 0xff } else { 0 };
        assert_eq!(e5m2_to_f16(&rich, code), expected);
        assert!(e4m3_to_f16(&plain, code).is_err());
        let word = e4m3_to_f16(&rich, code).unwrap();
        let (exponent, fraction) = (code >> 3 & 15, code & 7);
        let value = F16.decode(word.into());
        match exponent {
            // The fraction stays, but the unit takes an exponent field of 0 for zero.
            0 => assert_eq!(word & 0x7c00, 0),
            15 if fraction == 7 => assert_eq!(word & 0x7fff, (24 - 1) << 10 | 0x3ff),
            _ => {
                assert_eq!(value.exponent, i32::from(exponent) - 7);
                assert_eq!(value.significand, u64::from(8 + fraction) << 7);
            }
        }
        assert_eq!(word >> 15, u16::from(code >> 7));
    }
}

/// The value of a datum of a block: ±magnitude · 2^(exponent − bias) / 2^(bits − 2).
fn block_value(format: TensixBlockFormat, exponent: u8, datum: u8) -> (i64, i32) {
    let magnitude = i64::from(datum & ((1 << (format.bits - 1)) - 1));
    let bias = if format.exponent_bits == 8 { 127 } else { 15 };
    let place = i32::from(exponent) - bias - (format.bits as i32 - 2);
    let negative = datum >> (format.bits - 1) == 1;
    (if negative { -magnitude } else { magnitude }, place)
}

#[test]
fn every_datum_of_every_block_format_unpacks_to_its_value() {
    for format in TensixBlockFormat::ALL {
        let exponents = if format.exponent_bits == 8 {
            8..=254
        } else {
            8..=30
        };
        for exponent in exponents {
            for datum in 0..=u8::MAX >> (8 - format.bits) {
                let word = bfp_to_source(format, exponent, datum);
                let (value, place) = block_value(format, exponent, datum);
                let is_wide = format.source() == SourceFormat::Bf16;
                let to = if is_wide { BF16 } else { F16 };
                if value == 0 {
                    let infinity = if is_wide { 0xff80 } else { 0xfc00 };
                    assert_eq!(word, if datum == 0 { 0 } else { infinity });
                    continue;
                }
                let exact = Exact {
                    negative: value < 0,
                    magnitude: value.unsigned_abs().into(),
                    exponent: place,
                    sticky: false,
                };
                let code = to.round(&exact, Rounding::Rz, Overflow::Infinity);
                assert_eq!(
                    u64::from(word),
                    code,
                    "{} {exponent} {datum:x}",
                    format.name
                );
            }
        }
    }
    // Exponents that would fall below 0 wrap.
    assert_eq!(
        bfp_to_source(TensixBlockFormat::BFP8, 0, 0x01),
        (256 - 6) << 7
    );
    assert!(
        TensixBlockFormat::named("bfp9")
            .unwrap_err()
            .to_string()
            .contains("bfp8")
    );
}

#[test]
fn blocks_round_to_the_largest_exponent_half_up() {
    let word = |value: f32| (value.to_bits() >> 16) as u16;
    let mut words = [0; 16];
    for (place, value) in [1.0, -0.5, 1.0 / 128.0, 1.0 / 64.0, 1.984_375, -1.0 / 128.0]
        .into_iter()
        .enumerate()
    {
        words[place] = word(value);
    }
    let block = pack_block(TensixBlockFormat::BFP8, &words);
    assert_eq!(block.exponent, 127);
    // In units of 2^-6: 64, -32, half a unit rounds up to 1, 1, 127, half a unit of magnitude: −1.
    assert_eq!(block.data[..6], [64, 0x80 | 32, 1, 1, 127, 0x81]);
    let block = pack_block(TensixBlockFormat::BFP4, &words);
    assert_eq!(block.data[..6], [4, 0x8 | 2, 0, 0, 7, 0]);
    let block = pack_block(TensixBlockFormat::BFP2, &words);
    assert_eq!(block.data[..6], [1, 0, 0, 0, 1, 0]);
    // A carry out of seven bits is limited, and an exponent field of ones is an ordinary one.
    words[0] = 0x7fff;
    let block = pack_block(TensixBlockFormat::BFP8, &words);
    assert_eq!(
        (block.exponent, block.data[0], block.data[1]),
        (255, 127, 0)
    );
}

#[test]
fn a_block_that_is_packed_again_stays() {
    let mut seed = 1_u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    for _ in 0..2000 {
        let mut data: [u8; 16] = std::array::from_fn(|_| random());
        for datum in &mut data {
            // −0 stands for an infinity.
            *datum = if *datum == 0x80 { 0 } else { *datum };
        }
        data[0] |= 0x40;
        let exponent = 100 + random() % 100;
        let block = Block {
            format: TensixBlockFormat::BFP8,
            exponent,
            data,
        };
        let words = block
            .unpack()
            .map(|datum| (datum >> 18 << 15 | datum >> 3 & 0x7fff) as u16);
        assert_eq!(pack_block(TensixBlockFormat::BFP8, &words), block);
    }
}

#[test]
fn bytes() {
    let [machine, _] = machines();
    let take = |datum| unpack(&machine, datum, SourceFormat::Int8).unwrap();
    assert_eq!(take(Memory::Int8(0)), 0);
    assert_eq!(take(Memory::Int8(0x7f)), 16 << 10 | 0x7f);
    assert_eq!(take(Memory::Int8(0x81)), 1 << 18 | 16 << 10 | 1);
    assert_eq!(take(Memory::Uint8(0xff)), 16 << 10 | 0xff);
    assert_eq!(
        [5, 200, 0x8000_0005, 0x8000_0200].map(int32_to_int8),
        [5, 127, 0x85, 0xff]
    );
    assert_eq!(
        [5, 200, 300, 0x8000_0005].map(int32_to_uint8),
        [5, 200, 255, 0]
    );
}

/// A Dst of 32 bits holds the upper half as sign, seven fraction bits and exponent field.
#[test]
fn integers_of_16_bits_are_the_stored_upper_half() {
    let stored =
        |sign: u32, fraction: u32, exponent: u32| (sign << 15 | fraction << 8 | exponent) as u16;
    for (word, expected) in [
        (0, 0),
        (1.0_f32.to_bits(), stored(0, 0, 127)),
        ((-1.5_f32).to_bits(), stored(1, 64, 127)),
        (0x7fff_ffff, stored(0, 127, 255)),
        (0x8001_ffff, stored(1, 1, 0)),
    ] {
        assert_eq!(dst_32_to_int16(word), expected, "{word:08x}");
    }
}

#[test]
fn early_conversions_round_half_up() {
    let [plain, rich] = machines();
    let of = |early: Early, datum| early.convert(&rich, datum).unwrap();
    assert_eq!(of(Early::F32ToBf16, 0x3f80_8000), 0x3f81);
    assert_eq!(of(Early::F32ToBf16, 0xbf80_7fff), 0xbf80);
    assert_eq!(of(Early::F32ToBf16, 0xffc0_0000), 0xff80);
    assert_eq!(of(Early::F32ToBf16, 0x7f7f_ffff), 0x7f80);
    assert_eq!(of(Early::F32ToBf16, 0x807f_0000), 0);
    // A subnormal number that rounds up is a normal one.
    assert_eq!(of(Early::F32ToBf16, 0x007f_8000), 0x0080);
    assert_eq!(of(Early::F32ToE8m6, 0x3f81_ffff), 0x3f82);
    assert_eq!(of(Early::F32ToE8m6, 0x3f80_ffff), 0x3f80);
    assert_eq!(of(Early::F32ToE8m6, 0x7f80_0001), 0x7f80);
    assert_eq!(of(Early::Bf16, 0x7fc0), 0x7f80);
    assert_eq!(of(Early::Bf16, 0x807f), 0);
    assert_eq!(of(Early::Bf16ToE8m6, 0xbf81), 0xbf82);
    assert_eq!(of(Early::F16, 0x83ff), 0);
    assert_eq!(of(Early::F16, 0x7fff), 0x7fff);
    assert_eq!(of(Early::F16ToE5m6, 0x3c08), 0x3c10);
    assert_eq!(of(Early::F16ToE5m6, 0x3c07), 0x3c00);
    assert_eq!(of(Early::F16ToE5m6, 0xfff8), 0xfff0);
    assert_eq!(of(Early::F32ToF16, 0x3f80_1000), 0x3c01);
    assert_eq!(of(Early::F32ToF16, 0x7fc0_0000), 0x7fff);
    assert!(
        Early::F32ToF16
            .convert(&plain, 0)
            .unwrap_err()
            .to_string()
            .contains("pack-f32-to-f16")
    );
}

#[test]
fn late_conversions_truncate() {
    let [plain, rich] = machines();
    assert_eq!(f16_to_f32(0x3c01), 0x3f80_2000);
    // Subnormal f16 are widened without a new bias.
    assert_eq!(f16_to_f32(0x8001), 0x8000_2000);
    assert_eq!(f16_to_bf16(0x3c0f), 0x3f81);
    assert_eq!(f16_to_bf16(0x83ff), 0);
    assert_eq!(f32_to_rounded(0x3f80_ffff), 0x3f80);
    assert_eq!(f32_to_rounded(0x807f_ffff), 0);
    let byte = |word| f16_to_e4m3(&rich, word).unwrap();
    assert_eq!(
        [0x3c00, 0xbc7f, 0xa000, 0x6000, 0x2400].map(byte),
        [0x38, 0xb8, 0x80, 0x7f, 0x08]
    );
    assert!(f16_to_e4m3(&plain, 0).is_err());
}

#[test]
fn relu() {
    let all =
        |relu: Relu| [0x3f80_0000, 0x4000_0000, 0xbf80_0000, 0xffc0_0000].map(|x| relu.word_32(x));
    assert_eq!(
        all(Relu::Off),
        [0x3f80_0000, 0x4000_0000, 0xbf80_0000, 0xffc0_0000]
    );
    assert_eq!(all(Relu::Zero), [0x3f80_0000, 0x4000_0000, 0, 0]);
    assert_eq!(all(Relu::Minimum(0x3f80)), [0, 0x4000_0000, 0, 0]);
    assert_eq!(all(Relu::Maximum(0x3f80)), [0x3f80_0000, 0x3f80_0000, 0, 0]);
    // The maximum compares ten fraction bits: a little more than the threshold stays.
    assert_eq!(Relu::Maximum(0x3f80).word_32(0x3f80_1fff), 0x3f80_1fff);
    assert_eq!(Relu::Maximum(0x3f80).word_16(0x3f81), 0x3f80);
    assert_eq!(Relu::Minimum(0x3f80).word_16(0x3f80), 0);
    assert_eq!(Relu::Zero.word_16(0x8001), 0);
}

/// Accumulation against the host's double and single precision.
#[test]
fn accumulation_against_the_hosts_additions() {
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 32) as u32
    };
    let flush = |x: f32| if x.is_subnormal() { 0.0 * x } else { x };
    for round in 0..300_000 {
        let (mut x, mut y) = (random(), random());
        if round % 2 == 0 {
            y = y & 0x807f_ffff | x & 0x7f80_0000;
        }
        let sum = flush(flush(f32::from_bits(x)) + flush(f32::from_bits(y)));
        let expected = if sum.is_nan() {
            0x7fc0_0000
        } else {
            sum.to_bits()
        };
        assert_eq!(accumulate_f32(x, y), Ok(expected), "{x:08x} + {y:08x}");

        (x, y) = (x & 0xffff_0000, y & 0xffff_0000);
        let (a, b) = (flush(f32::from_bits(x)), flush(f32::from_bits(y)));
        if !a.is_nan() && !b.is_nan() {
            let double = f64::from(a) + f64::from(b);
            let expected =
                match double {
                    _ if double.is_nan() => 0x7fc0,
                    _ if double.abs() < f64::from(f32::MIN_POSITIVE) => {
                        if double.is_sign_negative() { 0x8000 } else { 0 }
                    }
                    _ => {
                        // bf16 to nearest even, through the exact double.
                        let exact = Exact {
                            negative: double < 0.0,
                            magnitude: u128::from(
                                double.abs().to_bits() & ((1 << 52) - 1) | 1 << 52,
                            ),
                            exponent: (double.abs().to_bits() >> 52) as i32 - 1075,
                            sticky: false,
                        };
                        match double.is_infinite() {
                            true => (double as f32).to_bits() as u64 >> 16,
                            false => BF16.round(&exact, Rounding::Rne, Overflow::Infinity),
                        }
                    }
                };
            let got = accumulate_bf16((x >> 16) as u16, (y >> 16) as u16);
            assert_eq!(got.map(u64::from), Ok(expected), "{x:08x} + {y:08x}");
        }

        // f16 where nothing odd happens: normal operands, a normal sum.
        let (p, q) = ((x >> 16) as u16, (y >> 16) as u16);
        let number = |word: u16| F16.decode(word.into());
        let is_normal = |word: u16| matches!(word >> 10 & 31, 1..=29);
        if is_normal(p) && is_normal(q) {
            let value = |word: u16| {
                let x = number(word);
                let magnitude = x.significand as f32 * 2_f32.powi(x.exponent - 10);
                if x.negative { -magnitude } else { magnitude }
            };
            let sum = value(p) + value(q);
            if sum.abs() >= 2_f32.powi(-14) {
                let exact = F32.decode(sum.to_bits().into()).exact().unwrap();
                let code = F16.round(&exact, Rounding::Rne, Overflow::Infinity);
                if F16.decode(code).class == Class::Finite {
                    assert_eq!(
                        accumulate_f16(p, q).map(u64::from),
                        Ok(code),
                        "{p:04x} + {q:04x}"
                    );
                }
            }
        }
    }
}
