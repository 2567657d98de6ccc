//! NaNs that an H200 (sm_90; NVRTC 13.0) made of NaNs, recorded on 2026-11-26 and retyped here: every conversion that does
//! not give the canonical NaN, and those of its neighbours that do.

use mmascope_model::format::{F32, F64, Format, Rounding, TF32};
use mmascope_model::precision::cast::{Cast, CastOptions, CastPolicy, NanRule, OutOfRange};

/// The cast that an instruction makes, `cvt.rz.f16.f64`.
fn instruction(name: &str) -> Cast {
    let words: Vec<&str> = name.split('.').collect();
    let [.., to, from] = words[..] else {
        panic!("{name}")
    };
    let rounding = match words[1] {
        "rz" => Rounding::Rz,
        "rm" => Rounding::Rd,
        "rp" => Rounding::Ru,
        "rna" => Rounding::Rna,
        _ => Rounding::Rne,
    };
    let has = |word: &str| words.contains(&word);
    let options = CastOptions {
        rounding: Some(rounding),
        overflow: has("satfinite").then_some(OutOfRange::SatFinite),
        policy: Some(CastPolicy::Ptx),
        ftz: has("ftz"),
        ..CastOptions::default()
    };
    let [from, to] = [from, to].map(|name| Format::named(name).unwrap());
    let cast = Cast::new(from, to, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(cast.form().unwrap().to_string(), name);
    cast
}

fn check(names: &[&str], words: &[(u64, u64)]) {
    for name in names {
        let cast = instruction(name);
        for (word, wanted) in words {
            let got = cast.word(*word);
            assert_eq!(got, *wanted, "{name} of {word:#x}: {got:#x}");
            // A word of the source and its code say the same.
            let code = cast.code(cast.from().from_register(*word));
            assert_eq!(cast.to().to_register(code), got, "{name} of {word:#x}");
        }
    }
}

#[test]
fn moves_keep_the_word() {
    let words = [
        0x7ffa_542e_6bea_39fc,
        0xfff4_a85c_d7d4_73f8,
        0xfffb_aae8_c350_f6f1,
        0x7ff5_ff17_2f3b_30ed,
        0xfff0_5345_9b25_6ae9,
    ];
    check(&["cvt.f64.f64"], &words.map(|word| (word, word)));
    let words = [
        0xffa9_bad9,
        0x7fb2_b476,
        0xffbb_ae13,
        0x7fc4_a7b0,
        0x7f80_55c3,
    ];
    check(&["cvt.f32.f32"], &words.map(|word| (word, word)));
}

#[test]
fn f64_gets_quiet_and_keeps_sign_and_upper_payload() {
    check(
        &[
            "cvt.rn.f32.f64",
            "cvt.rz.f32.f64",
            "cvt.rm.f32.f64",
            "cvt.rp.f32.f64",
        ],
        &[
            (0x7ffa_542e_6bea_39fc, 0x7fd2_a173),
            (0xfff4_a85c_d7d4_73f8, 0xffe5_42e6),
            (0xfffb_aae8_c350_f6f1, 0xffdd_5746),
            (0x7ff5_ff17_2f3b_30ed, 0x7fef_f8b9),
            (0xfff0_5345_9b25_6ae9, 0xffc2_9a2c),
            (0x7ff1_a9ff_f28c_27de, 0x7fcd_4fff),
        ],
    );
    check(
        &[
            "cvt.rn.f16.f64",
            "cvt.rz.f16.f64",
            "cvt.rm.f16.f64",
            "cvt.rp.f16.f64",
        ],
        &[
            (0x7ffa_542e_6bea_39fc, 0x7e95),
            (0xfff4_a85c_d7d4_73f8, 0xff2a),
            (0xfffb_aae8_c350_f6f1, 0xfeea),
            (0x7ff5_ff17_2f3b_30ed, 0x7f7f),
            (0xfff0_5345_9b25_6ae9, 0xfe14),
            (0x7ff1_a9ff_f28c_27de, 0x7e6a),
        ],
    );
    check(
        &[
            "cvt.rn.bf16.f64",
            "cvt.rz.bf16.f64",
            "cvt.rm.bf16.f64",
            "cvt.rp.bf16.f64",
        ],
        &[
            (0x7ffa_542e_6bea_39fc, 0x7fd2),
            (0xfff4_a85c_d7d4_73f8, 0xffe5),
            (0xfffb_aae8_c350_f6f1, 0xffdd),
            (0x7ff5_ff17_2f3b_30ed, 0x7fef),
            (0xfff0_5345_9b25_6ae9, 0xffc2),
            (0x7ff1_a9ff_f28c_27de, 0x7fcd),
        ],
    );
}

#[test]
fn f64_of_narrower_nans_is_quiet_with_their_sign_and_payload() {
    check(
        &["cvt.f64.f32"],
        &[
            (0xffa9_bad9, 0xfffd_375b_2000_0000),
            (0x7fb2_b476, 0x7ffe_568e_c000_0000),
            (0x7fc4_a7b0, 0x7ff8_94f6_0000_0000),
            (0x7f80_55c3, 0x7ff8_0ab8_6000_0000),
        ],
    );
    check(
        &["cvt.f64.f16"],
        &[
            (0x7c01, 0x7ff8_0400_0000_0000),
            (0x7c02, 0x7ff8_0800_0000_0000),
            (0x7c07, 0x7ff8_1c00_0000_0000),
        ],
    );
    check(
        &["cvt.f64.bf16"],
        &[
            (0x7f81, 0x7ff8_2000_0000_0000),
            (0x7f83, 0x7ff8_6000_0000_0000),
            (0x7f88, 0x7ff9_0000_0000_0000),
        ],
    );
}

#[test]
fn bf16_is_shifted_into_f32() {
    check(
        &["cvt.f32.bf16"],
        &[(0x7f81, 0x7f81_0000), (0x7f88, 0x7f88_0000)],
    );
    // Every word of a table of all of them.
    let cast = instruction("cvt.f32.bf16");
    for word in 0..1 << 16 {
        assert_eq!(cast.word(word), word << 16);
    }
}

#[test]
fn the_compiled_sequences_to_tf32_know_no_nan() {
    check(
        &["cvt.rna.satfinite.tf32.f32"],
        &[
            (0xffa9_bad9, 0xffa9_8000),
            (0x7fb2_b476, 0x7fb2_8000),
            (0x7fd6_9aea, 0x7fd6_6000),
            (0x7f80_55c3, 0x7f80_2000),
            (0x7ff0_1d44, 0x7fef_e000),
            (0xffa0_38e6, 0xffa0_0000),
            // ∞ becomes the largest number, and so does a NaN whose payload is cleared; the next becomes ∞.
            (0x7f80_0000, 0x7f7f_e000),
            (0xff80_0000, 0xff7f_e000),
            (0x7f80_0001, 0x7f7f_e000),
            (0x7f80_1fff, 0x7f7f_e000),
            (0x7f80_2000, 0x7f80_0000),
        ],
    );
    check(
        &["cvt.rna.tf32.f32"],
        &[(0x7f80_1fff, 0x7f80_0000), (0xff80_2000, 0xff80_2000)],
    );
}

#[test]
fn the_other_conversions_give_the_canonical_nan() {
    for (names, nans, wanted) in [
        (
            &["cvt.rn.f16.f32", "cvt.rz.bf16.f32"][..],
            &[0x7f80_0001, 0xffa9_bad9][..],
            0x7fff,
        ),
        (
            &["cvt.rn.tf32.f32", "cvt.rz.tf32.f32"],
            &[0x7f80_0001, 0xffa9_bad9],
            0x7fff_e000,
        ),
        (&["cvt.f32.f16"], &[0x7c01, 0xfe00], 0x7fff_ffff),
        (&["cvt.f16.f16"], &[0x7c01, 0xfe00], 0x7fff),
        (
            &["cvt.bf16.bf16", "cvt.rn.f16.bf16"],
            &[0x7f81, 0xffc0],
            0x7fff,
        ),
    ] {
        let words: Vec<(u64, u64)> = nans.iter().map(|nan| (*nan, wanted)).collect();
        check(names, &words);
    }
}

/// What is not recorded but follows from the instructions that the compiler emits: `.ftz` of an f32 operand is an FMUL or
/// FADD, before the conversion; that of an f32 result of f64 comes after it and leaves NaNs.
#[test]
fn flushing_an_operand_makes_its_nan_canonical() {
    check(
        &["cvt.ftz.f64.f32"],
        &[(0xff80_0001, 0x7fff_ffff_e000_0000)],
    );
    check(&["cvt.ftz.f32.f32"], &[(0xff80_0001, 0x7fff_ffff)]);
    check(
        &["cvt.rn.ftz.f32.f64"],
        &[(0xfff4_a85c_d7d4_73f8, 0xffe5_42e6)],
    );
    check(&["cvt.ftz.f32.bf16"], &[(0x7f81, 0x7fff_ffff)]);
}

/// The rules as formulas of integers, on NaNs of f64 with bits all over.
#[test]
fn nans_of_f64_by_shifts_and_masks() {
    let [single, half, bf16] =
        ["cvt.rn.f32.f64", "cvt.rz.f16.f64", "cvt.rp.bf16.f64"].map(instruction);
    let mut word = 1_u64;
    for _ in 0..100_000 {
        word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word >> 29;
        let nan = word | 0x7ff0_0000_0000_0001;
        let sign = nan >> 63;
        let fraction = nan & 0x000f_ffff_ffff_ffff;
        let wanted = [
            sign << 31 | 0x7fc0_0000 | fraction >> 29,
            sign << 15 | 0x7e00 | fraction >> 42,
            sign << 15 | 0x7fc0 | fraction >> 45,
        ];
        let got = [&single, &half, &bf16].map(|cast| cast.word(nan));
        assert_eq!(got, wanted, "{nan:#x}");
    }
}

#[test]
fn the_rule_of_a_cast_can_be_asked() {
    let rule = |name: &str| instruction(name).nan_rule().unwrap();
    assert_eq!(rule("cvt.f64.f64"), NanRule::Kept);
    assert_eq!(rule("cvt.rn.f16.f64"), NanRule::Quieted);
    assert_eq!(rule("cvt.rna.satfinite.tf32.f32"), NanRule::Lowered);
    assert_eq!(rule("cvt.rn.f16.f32"), NanRule::Canonical);
    assert!(!rule("cvt.ftz.f32.bf16").keeps_payload());
    let ieee = CastOptions {
        policy: Some(CastPolicy::Ieee),
        ..CastOptions::default()
    };
    let cast = Cast::new(F64, F32, &ieee).unwrap();
    assert_eq!(cast.nan_rule(), Some(NanRule::Default));
    assert_eq!(cast.word(0xfff4_a85c_d7d4_73f8), 0x7fc0_0000);
    let cast = Cast::new(F32, TF32, &ieee).unwrap();
    assert!(!cast.nan_rule().unwrap().keeps_payload());
    // Where there is none, or it becomes a number, there is no rule.
    let to_f32 = |from: Format, sat: bool| {
        let options = CastOptions {
            sat,
            ..CastOptions::default()
        };
        Cast::new(from, F32, &options).unwrap().nan_rule()
    };
    assert_eq!(to_f32(Format::named("int32").unwrap(), false), None);
    assert_eq!(to_f32(F64, true), None);
    assert_eq!(to_f32(F64, false), Some(NanRule::Quieted));
}
