//! Each rule of precision.md §2.2 and §6 by itself, with words that are retyped from it.

use mmascope_model::format::{
    BF16, E2M1FN, E4M3FN, E5M2, F16, F32, F64, Format, Rounding, TF32, UE8M0,
};
use mmascope_model::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange};

const PLAIN: CastOptions = CastOptions {
    rounding: None,
    overflow: None,
    policy: None,
    relu: false,
    sat: false,
    ftz: false,
    pzo: false,
};

fn of(from: Format, to: Format, options: CastOptions, word: u64) -> u64 {
    Cast::new(from, to, &options).unwrap().word(word)
}

fn f32(x: f32) -> u64 {
    x.to_bits().into()
}

fn named(name: &str) -> Format {
    Format::named(name).unwrap()
}

fn host(overflow: Option<OutOfRange>) -> CastOptions {
    CastOptions {
        policy: Some(CastPolicy::Host),
        overflow,
        ..PLAIN
    }
}

#[test]
fn rule_2_2_satfinite_clamps_infinity_too() {
    for (to, largest) in [
        (E4M3FN, 0x7e),
        (E5M2, 0x7b),
        (named("e3m2"), 0x1f),
        (E2M1FN, 7),
    ] {
        let sign = 1 << (to.bits - 1);
        for x in [1e9, f32::INFINITY] {
            assert_eq!(of(F32, to, PLAIN, f32(x)), largest);
            assert_eq!(of(F32, to, PLAIN, f32(-x)), largest | sign);
        }
    }
    let satfinite = CastOptions {
        overflow: Some(OutOfRange::SatFinite),
        ..PLAIN
    };
    assert_eq!(of(F32, F16, satfinite, f32(f32::INFINITY)), 0x7bff);
    assert_eq!(of(F32, BF16, satfinite, f32(f32::NEG_INFINITY)), 0xff7f);
    assert_eq!(of(F32, F16, PLAIN, f32(1e9)), 0x7c00);
}

#[test]
fn rule_2_2_satfinite_keeps_nan_of_fp8_and_makes_it_the_largest_number_of_fp6_and_fp4() {
    for nan in [f32(f32::NAN), 0xffc0_0000, 0x7f80_0001] {
        for (to, wanted) in [
            (E4M3FN, 0x7f),
            (E5M2, 0x7f),
            (F16, 0x7fff),
            (BF16, 0x7fff),
            (named("ue5m3"), 0xff),
            (E2M1FN, 7),
            (named("e2m3"), 0x1f),
            (named("e3m2"), 0x1f),
            (named("s2f6"), 0x7f),
        ] {
            assert_eq!(of(F32, to, PLAIN, nan), wanted, "{to}");
        }
    }
}

#[test]
fn rule_2_2_ue8m0_and_ue5m3_discard_the_sign() {
    let rz = CastOptions {
        rounding: Some(Rounding::Rz),
        ..PLAIN
    };
    assert_eq!(of(F32, UE8M0, rz, f32(-4.0)), 129);
    let satfinite = CastOptions {
        overflow: Some(OutOfRange::SatFinite),
        ..rz
    };
    assert_eq!(of(F32, UE8M0, satfinite, f32(f32::NEG_INFINITY)), 0xfe);
    assert_eq!(of(F32, named("ue5m3"), PLAIN, f32(-1.0)), 15 << 3);
}

#[test]
fn rule_2_2_relu_makes_negative_values_zero_and_nan_canonical() {
    let relu = CastOptions {
        relu: true,
        ..PLAIN
    };
    for x in [-1.0, -0.0, f32::NEG_INFINITY, -1e-40] {
        assert_eq!(of(F32, F16, relu, f32(x)), 0, "{x}");
        assert_eq!(of(F32, E4M3FN, relu, f32(x)), 0, "{x}");
    }
    assert_eq!(of(F32, F16, relu, 0xffc0_0001), 0x7fff);
    assert_eq!(of(F32, F16, relu, f32(2.0)), 0x4000);
}

#[test]
fn rule_2_2_sat_clamps_to_0_and_1_and_nan_to_0() {
    let sat = CastOptions { sat: true, ..PLAIN };
    for (x, wanted) in [
        (-3.0, 0),
        (-0.0, 0),
        (f32::NAN, 0),
        (f32::INFINITY, 0x3c00),
        (1.5, 0x3c00),
        (0.99999994, 0x3c00),
        (0.5, 0x3800),
    ] {
        assert_eq!(of(F32, F16, sat, f32(x)), wanted, "{x}");
    }
}

#[test]
fn rule_2_2_pzo_makes_minus_zero_plus_zero() {
    let pzo = CastOptions { pzo: true, ..PLAIN };
    assert_eq!(of(F32, E4M3FN, PLAIN, f32(-1e-9)), 0x80);
    assert_eq!(of(F32, E4M3FN, pzo, f32(-1e-9)), 0);
    assert_eq!(of(F32, E4M3FN, pzo, f32(-1.0)), 0xb8);
}

#[test]
fn ftz_flushes_subnormal_f32_operands_and_results_to_zeros_with_their_sign() {
    let ftz = CastOptions { ftz: true, ..PLAIN };
    assert_eq!(of(F32, BF16, ftz, 0x807f_ffff), 0x8000);
    assert_eq!(of(F32, BF16, PLAIN, 0x807f_ffff), 0x8080);
    let f64_word = (-1e-40_f64).to_bits();
    assert_eq!(of(F64, F32, ftz, f64_word), 0x8000_0000);
    assert_eq!(of(BF16, F32, ftz, 0x8001), 0x8000_0000);
    assert!(Cast::new(F64, F16, &ftz).is_err());
}

#[test]
fn rule_2_2_e4m3_overflow_starts_above_464_and_e5m2_at_61440() {
    let nosat = host(Some(OutOfRange::Nan));
    assert_eq!(of(F32, E4M3FN, nosat, f32(464.0)), 0x7e);
    assert_eq!(of(F32, E4M3FN, nosat, 464_f32.to_bits() as u64 + 1), 0x7f);
    let nosat = host(Some(OutOfRange::Ieee));
    assert_eq!(of(F32, E5M2, nosat, 61440_f32.to_bits() as u64 - 1), 0x7b);
    assert_eq!(of(F32, E5M2, nosat, f32(61440.0)), 0x7c);
}

#[test]
fn rule_2_2_host_nosat_gives_a_signed_nan_of_e4m3_and_infinity_of_e5m2() {
    assert_eq!(
        of(F32, E4M3FN, host(Some(OutOfRange::Nan)), f32(-1e9)),
        0xff
    );
    assert_eq!(of(F32, E5M2, host(Some(OutOfRange::Ieee)), f32(-1e9)), 0xfc);
    assert_eq!(of(F32, E4M3FN, host(None), f32(-1e9)), 0xfe);
}

#[test]
fn host_keeps_sign_and_payload_of_an_f64_nan() {
    let nan = 0xfff4_0000_0000_0000;
    assert_eq!(of(F64, E4M3FN, host(None), nan), 0xff);
    assert_eq!(of(F64, E5M2, host(None), nan), 0xff);
    assert_eq!(of(F32, E5M2, host(None), 0xffc0_0000), 0x7f);
}

#[test]
fn rule_2_2_ue8m0_rz_is_the_exponent_field_and_rp_goes_to_the_next() {
    let options = |rounding, overflow| CastOptions {
        rounding: Some(rounding),
        overflow,
        ..PLAIN
    };
    let sat = Some(OutOfRange::SatFinite);
    let both = |word: u64| {
        [Rounding::Rz, Rounding::Ru].map(|rounding| of(F32, UE8M0, options(rounding, sat), word))
    };
    for word in (0..0x7f80_0000_u64).step_by(65_521) {
        let field = word >> 23;
        let up = u64::from(word & 0x7f_ffff != 0 && word > 0x0040_0000);
        assert_eq!(both(word), [field, (field + up).min(254)], "{word:#x}");
    }
    assert_eq!(both(0), [0, 0]);
    assert_eq!(both(0x0040_0000), [0, 0]);
    assert_eq!(both(0x0040_0001), [0, 1]);
    assert_eq!(both(0x7f80_0000), [0xfe, 0xfe]);
    assert_eq!(both(0x7fc0_0000), [0xff, 0xff]);
    for rounding in [Rounding::Rz, Rounding::Ru] {
        assert_eq!(of(F32, UE8M0, options(rounding, None), 0x7f80_0000), 0xff);
    }
    assert_eq!(of(UE8M0, F32, PLAIN, 0), 0x0040_0000);
}

#[test]
fn rule_2_2_host_rn_to_ue8m0_rounds_the_middle_up() {
    for (x, wanted) in [(1.5, 128), (3.0, 129), (1.4999999, 127)] {
        assert_eq!(of(F32, UE8M0, host(None), f32(x)), wanted, "{x}");
    }
}

#[test]
fn rule_2_2_rna_to_tf32_adds_half_to_finite_words_and_clears_13_bits() {
    let rna = CastOptions {
        rounding: Some(Rounding::Rna),
        ..PLAIN
    };
    for word in (0..1_u64 << 32)
        .step_by(99_991)
        .chain([0x7f7f_ffff, 0x7f80_0001, 0x7f80_2000])
    {
        let finite = word & 0x7fff_ffff < 0x7f80_0000;
        let wanted = (word + if finite { 0x1000 } else { 0 }) & 0xffff_e000;
        assert_eq!(of(F32, TF32, rna, word), wanted, "{word:#x}");
    }
    // A NaN whose payload is only in the low bits becomes ∞.
    assert_eq!(of(F32, TF32, rna, 0x7f80_0001), 0x7f80_0000);
}

#[test]
fn rule_2_2_nan_to_integer_is_0_but_the_top_bit_from_f64_or_to_64_bits() {
    let nan = f32(f32::NAN);
    assert_eq!(of(F32, named("int32"), PLAIN, nan), 0);
    assert_eq!(of(F32, named("int64"), PLAIN, nan), 1 << 63);
    assert_eq!(of(F32, named("uint64"), PLAIN, nan), 1 << 63);
    assert_eq!(of(F64, named("int32"), PLAIN, f64::NAN.to_bits()), 1 << 31);
    assert_eq!(of(F64, named("int8"), PLAIN, f64::NAN.to_bits()), 0x80);
}

#[test]
fn floats_beyond_an_integer_clamp_and_integers_keep_their_low_bits() {
    assert_eq!(of(F32, named("int8"), PLAIN, f32(300.0)), 0x7f);
    assert_eq!(of(F32, named("uint8"), PLAIN, f32(-3.0)), 0);
    assert_eq!(of(named("int16"), named("int8"), PLAIN, 300), 44);
    let sat = CastOptions { sat: true, ..PLAIN };
    assert_eq!(of(named("int16"), named("int8"), sat, 300), 0x7f);
    assert_eq!(of(named("int8"), named("int32"), PLAIN, 0xff), 0xffff_ffff);
    assert_eq!(
        of(named("int64"), F64, PLAIN, 1 << 63),
        (-9223372036854775808_f64).to_bits()
    );
    assert_eq!(
        of(F64, named("uint64"), PLAIN, 1e30_f64.to_bits()),
        u64::MAX
    );
}

#[test]
fn the_widest_integers_keep_every_bit() {
    for code in [0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
        let (unsigned, signed) = (named("uint64"), named("int64"));
        assert_eq!(of(unsigned, signed, PLAIN, code), code);
        assert_eq!(of(signed, unsigned, PLAIN, code), code);
        assert_eq!(of(unsigned, F64, PLAIN, code), (code as f64).to_bits());
        assert_eq!(of(signed, F64, PLAIN, code), (code as i64 as f64).to_bits());
        let x = f32(code as i64 as f32);
        let rz = CastOptions {
            rounding: Some(Rounding::Rz),
            ..PLAIN
        };
        assert_eq!(of(F32, signed, rz, x), code as i64 as f32 as i64 as u64);
        let x = (code as f64).to_bits();
        assert_eq!(of(F64, unsigned, rz, x), code as f64 as u64);
    }
    let clamped = CastOptions { sat: true, ..PLAIN };
    assert_eq!(
        of(named("uint64"), named("int64"), clamped, u64::MAX),
        (1 << 63) - 1
    );
    assert_eq!(of(named("int64"), named("uint64"), clamped, u64::MAX), 0);
}

#[test]
fn rule_6_ocp_keeps_infinity_and_ml_dtypes_does_not_saturate() {
    let with = |policy| CastOptions {
        policy: Some(policy),
        ..PLAIN
    };
    let of_policy = |policy, to, x| of(F32, to, with(policy), f32(x));
    assert_eq!(of_policy(CastPolicy::Ocp, E4M3FN, 1e9), 0x7e);
    assert_eq!(of_policy(CastPolicy::Ocp, E4M3FN, f32::INFINITY), 0x7f);
    assert_eq!(of_policy(CastPolicy::Ocp, E5M2, f32::INFINITY), 0x7c);
    assert_eq!(of_policy(CastPolicy::MlDtypes, E4M3FN, -1e9), 0xff);
    assert_eq!(of_policy(CastPolicy::MlDtypes, E5M2, 1e9), 0x7c);
    assert_eq!(of_policy(CastPolicy::MlDtypes, E2M1FN, 1e9), 7);
}

#[test]
fn ml_dtypes_rounds_f64_twice_and_numpy_once() {
    // Above the middle of two e4m3 by less than an f32 shows.
    let x = (1.0 + 2f64.powi(-4) + 2f64.powi(-40)).to_bits();
    let ml_dtypes = CastOptions {
        policy: Some(CastPolicy::MlDtypes),
        ..PLAIN
    };
    assert_eq!(of(F64, E4M3FN, ml_dtypes, x), 0x38);
    assert_eq!(
        of(
            F64,
            E4M3FN,
            CastOptions {
                policy: Some(CastPolicy::Ieee),
                ..PLAIN
            },
            x
        ),
        0x39
    );
    let x = (1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_bits();
    assert_eq!(of(F64, F16, ml_dtypes, x), 0x3c01);
    assert_eq!(of(F32, F16, ml_dtypes, 0xff80_0001), 0xfc01);
    assert_eq!(of(F32, E2M1FN, ml_dtypes, 0x7fc0_0000), 0x8);
}

#[test]
fn what_a_format_does_not_have_is_refused_with_what_is_allowed() {
    let ieee = CastOptions {
        overflow: Some(OutOfRange::Ieee),
        ..PLAIN
    };
    let nan = CastOptions {
        overflow: Some(OutOfRange::Nan),
        ..PLAIN
    };
    for (to, options, wanted) in [
        (
            E4M3FN,
            ieee,
            "overflow ieee: e4m3fn has no infinity; allowed: satfinite, nan",
        ),
        (
            E2M1FN,
            nan,
            "overflow nan: e2m1fn has no NaN; allowed: satfinite",
        ),
        (
            named("int8"),
            ieee,
            "overflow ieee: int8 has no infinity; allowed: satfinite",
        ),
    ] {
        let message = Cast::new(F32, to, &options).unwrap_err().to_string();
        assert_eq!(message, wanted);
    }
    let both = CastOptions {
        relu: true,
        sat: true,
        ..PLAIN
    };
    assert!(Cast::new(F32, F16, &both).is_err());
    let ptx = CastOptions {
        policy: Some(CastPolicy::Ptx),
        rounding: Some(Rounding::Rna),
        ..PLAIN
    };
    let message = Cast::new(F32, E4M3FN, &ptx).unwrap_err().to_string();
    assert!(
        message.contains("rounding rna; it rounds rne, rz"),
        "{message}"
    );
    assert!(Cast::new(F32, named("e4m3fnuz"), &ptx).is_err());
}

#[test]
fn is_exact_compares_values() {
    let cast = Cast::new(F32, BF16, &PLAIN).unwrap();
    for (x, exact) in [
        (1.0, true),
        (1.001, false),
        (f32::INFINITY, true),
        (f32::NAN, true),
    ] {
        assert_eq!(cast.is_exact(f32(x), cast.code(f32(x))), exact, "{x}");
    }
    assert!(!cast.is_exact(f32(1e9), 0x7f80));
}

#[test]
fn headers_cast_to_ue8m0_toward_zero_up_and_to_nearest() {
    let to = named("ue8m0");
    let asked = |rounding, overflow| CastOptions {
        rounding: Some(rounding),
        ..host(overflow)
    };
    // `__nv_cvt_double_to_e8m0` of CUDA 13.5: a finite number is cut to the largest, or goes up to NaN.
    let beyond = 1e300_f64.to_bits();
    for (rounding, overflow, finite, infinite) in [
        (Rounding::Rz, Some(OutOfRange::Nan), 0xfe, 0xff),
        (Rounding::Ru, Some(OutOfRange::Nan), 0xff, 0xff),
        (Rounding::Rz, None, 0xfe, 0xfe),
        (Rounding::Ru, None, 0xfe, 0xfe),
    ] {
        let options = asked(rounding, overflow);
        assert_eq!(
            of(F64, to, options, beyond),
            finite,
            "{rounding} {overflow:?}"
        );
        let infinity = f64::INFINITY.to_bits();
        assert_eq!(
            of(F64, to, options, infinity),
            infinite,
            "{rounding} {overflow:?}"
        );
    }
    for rounding in [Rounding::Rna, Rounding::Rd] {
        let options = CastOptions {
            rounding: Some(rounding),
            ..host(None)
        };
        let said = Cast::new(F64, to, &options)
            .expect_err("no such function")
            .to_string();
        assert!(said.contains("rz, ru or rne"), "{said}");
    }
}
