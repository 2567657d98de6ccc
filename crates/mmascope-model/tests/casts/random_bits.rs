//! Stochastic rounding: given random bits, and which bits of a register a value takes (§2.2).

use mmascope_model::format::{BF16, E2M1FN, E4M3FN, F16, F32, Format};
use mmascope_model::precision::cast::{
    Cast, CastOptions, Packing, RandomBits, Slice, lane_names, reversed, slice_bits,
};

fn cast(to: Format, bits: u64) -> Cast {
    let slice = Slice {
        bits: slice_bits(&to),
        value: bits,
    };
    let options = CastOptions {
        rounding: Some(slice.rounding()),
        ..CastOptions::default()
    };
    Cast::new(F32, to, &options).unwrap()
}

#[test]
fn rule_2_2_rs_adds_random_bits_to_the_discarded_ones_and_a_carry_rounds_away_from_zero() {
    // The oracle: discarded bits of an f32 as an integer, plus the random bits at their top.
    for to in [F16, BF16, E4M3FN] {
        let bits = slice_bits(&to);
        let kept = to.float().unwrap().fraction_bits;
        let below = 23 - kept;
        for fraction in (0..1_u64 << 23).step_by(4099) {
            for random in (0..1_u64 << bits).step_by(641) {
                for sign in [0, 1_u64 << 31] {
                    let word = 0x3f80_0000 | fraction | sign;
                    let code = cast(to, random).code(word);
                    let rest = fraction & ((1 << below) - 1);
                    let up = ((rest >> (below - bits.min(below))) + random) >> bits;
                    let down = cast(to, 0).code(word & !((1 << below) - 1));
                    assert_eq!(code, down + up, "{to} {word:#x} {random:#x}");
                }
            }
        }
    }
}

#[test]
fn rule_2_2_rbits_of_f16x2_are_13_low_bits_of_each_half_and_a_has_the_upper() {
    let register = RandomBits::Register(0xabcd_fedc);
    let slices = [0, 1].map(|place| register.of(&F16, place));
    assert_eq!(
        slices[0],
        (
            Slice {
                bits: 13,
                value: 0xabcd & 0x1fff
            },
            None
        )
    );
    assert_eq!(
        slices[1],
        (
            Slice {
                bits: 13,
                value: 0xfedc & 0x1fff
            },
            None
        )
    );
}

#[test]
fn rule_2_2_rbits_of_bf16x2_are_16_bits_each() {
    let register = RandomBits::Register(0xabcd_1234);
    let slices = [0, 1].map(|place| register.of(&BF16, place).0.value);
    assert_eq!(slices, [0xabcd, 0x1234]);
}

#[test]
fn rule_2_2_rbits_of_fp8_x4_are_the_upper_half_for_a_b_and_the_lower_for_e_f() {
    let register = RandomBits::Register(0xabcd_1234);
    let slices: Vec<_> = (0..4).map(|place| register.of(&E4M3FN, place)).collect();
    assert_eq!(
        slices.iter().map(|it| it.0.value).collect::<Vec<_>>(),
        [0xabcd, 0xabcd, 0x1234, 0x1234]
    );
    // Which lane reads them from the other end is not established: both are given.
    assert_eq!(slices[0].1.unwrap().value, reversed(0xabcd, 16));
    assert_eq!(reversed(0xabcd, 16), 0xb3d5);
}

#[test]
fn rule_2_2_rbits_of_e2m1x4_are_upper_bytes_for_a_b_and_lower_bytes_for_e_f() {
    let register = RandomBits::Register(0xabcd_1234);
    let slices: Vec<_> = (0..4)
        .map(|place| register.of(&E2M1FN, place).0.value)
        .collect();
    assert_eq!(slices, [0xab12, 0xab12, 0xcd34, 0xcd34]);
}

#[test]
fn random_bits_are_read_from_text() {
    let each = RandomBits::parse("0x1fff", &F16, false);
    assert_eq!(
        each,
        Ok(RandomBits::Each(Slice {
            bits: 13,
            value: 0x1fff
        }))
    );
    assert_eq!(
        RandomBits::parse("2000", &F16, false),
        Ok(RandomBits::Register(0x2000))
    );
    assert_eq!(
        RandomBits::parse("7", &F16, true),
        Ok(RandomBits::Register(7))
    );
    for (text, to) in [
        ("", "f16"),
        ("xyz", "f16"),
        ("100000000", "bf16"),
        ("12345", "e3m4"),
    ] {
        let message = RandomBits::parse(text, &Format::named(to).unwrap(), false).unwrap_err();
        let message = message.to_string();
        assert!(
            message.contains(&format!("'{text}'")) && message.contains("allowed"),
            "{message}"
        );
    }
}

#[test]
fn rule_2_2_operand_a_goes_to_the_upper_element() {
    assert_eq!(Packing::X2.pack(&F16, &[0x3c00, 0x4000]), Ok(0x3c00_4000));
    assert_eq!(Packing::X4.pack(&E4M3FN, &[1, 2, 3, 4]), Ok(0x0102_0304));
    assert_eq!(Packing::X2.pack(&E2M1FN, &[1, 2]), Ok(0x12));
    // fp6 elements sit in the low 6 bits of a byte.
    let e3m2 = Format::named("e3m2").unwrap();
    assert_eq!(Packing::X2.pack(&e3m2, &[0x3f, 0x01]), Ok(0x3f01));
    assert_eq!(lane_names(Packing::X4), ["a", "b", "e", "f"]);
    assert!(Packing::X2.pack(&F16, &[1]).is_err());
}
