//! Single facts that the documents state in so many words.
//!
//! Sources: PTX ISA 9.4 §9.7.10.24 and the CUDA 13 headers for cvt; OCP OFP8 1.0 §5; OCP MX 1.0.

use mmascope::format::{
    BF16, Conversion, E2M1FN, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, F16, F32, Format, Overflow,
    Rounding, TF32, UE4M3, UE8M0,
};

fn convert(to: &str, value: f32, rounding: Rounding, overflow: Overflow) -> u64 {
    let to = Format::named(to).unwrap();
    F32.convert(
        value.to_bits().into(),
        &to,
        Conversion { rounding, overflow },
    )
}

fn rne(to: &str, value: f32) -> u64 {
    convert(to, value, Rounding::Rne, Overflow::Infinity)
}

fn satfinite(to: &str, value: f32) -> u64 {
    convert(to, value, Rounding::Rne, Overflow::Saturate)
}

#[test]
fn overflow_thresholds() {
    // e4m3: 464 is the tie between 448 and 480 and goes to even, which is 448.
    assert_eq!(rne("e4m3fn", 464.0), 0x7e);
    assert_eq!(rne("e4m3fn", 464.0_f32.next_up()), 0x7f);
    assert_eq!(rne("e4m3fn", -464.0_f32.next_up()), 0xff);
    assert_eq!(rne("e4m3fn", f32::NEG_INFINITY), 0xff);
    // e5m2: 61440 is the tie between 57344 and 65536, whose significand is even.
    assert_eq!(rne("e5m2", 61440.0_f32.next_down()), 0x7b);
    assert_eq!(rne("e5m2", 61440.0), 0x7c);
    assert_eq!(rne("e5m2", -61440.0), 0xfc);
    assert_eq!(rne("f16", 65520.0), 0x7c00);
    assert_eq!(rne("f16", 65520.0_f32.next_down()), 0x7bff);
    assert_eq!(rne("bf16", f32::MAX), 0x7f80);
    assert_eq!(rne("e4m3fnuz", 248.0), 0x80);
    assert_eq!(rne("e4m3fnuz", -247.0), 0xff);
}

#[test]
fn satfinite_takes_infinity_along() {
    for (to, max, bits) in [
        ("e4m3fn", 0x7e, 8),
        ("e5m2", 0x7b, 8),
        ("e3m2fn", 0x1f, 6),
        ("e2m3fn", 0x1f, 6),
    ] {
        let sign = 1 << (bits - 1);
        for beyond in [1e6, f32::MAX, f32::INFINITY] {
            assert_eq!(satfinite(to, beyond), max, "{to}");
            assert_eq!(satfinite(to, -beyond), max | sign, "{to}");
        }
    }
    assert_eq!(satfinite("f16", f32::INFINITY), 0x7bff);
    assert_eq!(satfinite("bf16", f32::NEG_INFINITY), 0xff7f);
    assert_eq!(satfinite("tf32", f32::INFINITY), 0x3fbff);
}

#[test]
fn nan_where_there_is_none_is_the_largest_number() {
    for negative in [f32::NAN, -f32::NAN] {
        for (to, code) in [
            ("e2m1", 0x7),
            ("e2m3", 0x1f),
            ("e3m2", 0x1f),
            ("s2f6", 0x7f),
        ] {
            assert_eq!(satfinite(to, negative), code, "{to}");
        }
        assert_eq!(satfinite("e4m3", negative), 0x7f);
        assert_eq!(satfinite("ue8m0", negative), 0xff);
        assert_eq!(rne("ue5m3", negative), 0xff);
        assert_eq!(rne("int8", negative), 0);
        assert_eq!(rne("uint4", negative), 0);
        assert_eq!(rne("e5m2fnuz", negative), 0x80);
    }
}

#[test]
fn ue8m0_has_no_sign_and_no_zero() {
    let rz = |x| convert("ue8m0", x, Rounding::Rz, Overflow::Infinity);
    let rp = |x| convert("ue8m0", x, Rounding::Ru, Overflow::Infinity);
    let least = f32::from_bits(0x0040_0000); // 2^-127
    for (x, toward_zero, up) in [
        (0.0, 0, 0),
        (least.next_down(), 0, 0),
        (least, 0, 0),
        (least.next_up(), 0, 1),
        (f32::MIN_POSITIVE, 1, 1),
        (1.0, 0x7f, 0x7f),
        (1.0_f32.next_up(), 0x7f, 0x80),
        (f32::from_bits(0x7f00_0000), 0xfe, 0xfe),
        (f32::MAX, 0xfe, 0xff),
        (f32::INFINITY, 0xff, 0xff),
        (f32::NAN, 0xff, 0xff),
    ] {
        assert_eq!((rz(x), rz(-x)), (toward_zero, toward_zero), "{x:e}");
        assert_eq!((rp(x), rp(-x)), (up, up), "{x:e}");
    }
    // Software rounds the arithmetic midpoint up.
    assert_eq!(
        (rne("ue8m0", 1.5), rne("ue8m0", 1.5_f32.next_down())),
        (0x80, 0x7f)
    );
    assert_eq!((rne("ue8m0", 3.0), rne("ue8m0", -6.0)), (0x81, 0x82));
    assert_eq!(
        convert("ue8m0", f32::MAX, Rounding::Ru, Overflow::Saturate),
        0xfe
    );
    assert_eq!(satfinite("ue8m0", f32::INFINITY), 0xfe);
    // Code 0 is 2^-127, which bf16 writes 0x0040.
    let rne = Conversion {
        rounding: Rounding::Rne,
        overflow: Overflow::Ieee,
    };
    assert_eq!(UE8M0.convert(0, &BF16, rne), 0x0040);
    assert_eq!(UE8M0.convert(0xff, &BF16, rne), 0x7fc0);
}

#[test]
fn formats_without_a_sign_discard_it_but_integers_clamp() {
    assert_eq!(rne("ue4m3", -1.5), rne("ue4m3", 1.5));
    assert_eq!(rne("ue5m3", -1e9), 0xff);
    assert_eq!(satfinite("ue5m3", -1e9), 0xfe);
    for overflow in [
        Overflow::Infinity,
        Overflow::Ieee,
        Overflow::Nan,
        Overflow::Saturate,
    ] {
        for least in [-0.5_f32.next_up(), -1.0, -1e30, f32::NEG_INFINITY] {
            assert_eq!(
                convert("uint8", least, Rounding::Rne, overflow),
                0,
                "{least} {overflow}"
            );
            assert_eq!(
                convert("uint1", least, Rounding::Rd, overflow),
                0,
                "{least} {overflow}"
            );
        }
        assert_eq!(
            convert("uint8", f32::INFINITY, Rounding::Rne, overflow),
            0xff
        );
        assert_eq!(
            convert("int4", f32::NEG_INFINITY, Rounding::Rne, overflow),
            0x8
        );
        assert_eq!(convert("int1", -0.75, Rounding::Rne, overflow), 0x1);
        assert_eq!(convert("s2f6", 2.0, Rounding::Rne, overflow), 0x7f);
        assert_eq!(convert("mxint8", -5.0, Rounding::Rne, overflow), 0x80);
    }
}

#[test]
fn tf32_round_to_nearest_away_is_an_addition() {
    // SASS of cvt.rna.tf32.f32: finite bits += 0x1000, then the 13 low bits are cleared.
    let rna = Conversion {
        rounding: Rounding::Rna,
        overflow: Overflow::Infinity,
    };
    let mut random = crate::random::Random(32);
    for _ in 0..200_000 {
        let bits = random.next() as u32;
        if f32::from_bits(bits).is_finite() {
            let expected = (bits + 0x1000) & 0xffff_e000;
            let got = TF32.to_register(F32.convert(bits.into(), &TF32, rna));
            assert_eq!(got, u64::from(expected), "{bits:#x}");
        }
    }
}

#[test]
fn constants_of_the_standards() {
    let exact = |format: Format, code| {
        let exact = format.decode(code).exact().unwrap();
        exact.magnitude as f64 * f64::powi(2.0, exact.exponent)
    };
    assert_eq!(exact(E4M3FN, 0x7e), 448.0);
    assert_eq!(exact(E4M3FN, 0x01), 0.001953125);
    assert_eq!(exact(E5M2, 0x7b), 57344.0);
    assert_eq!(exact(E4M3FNUZ, 0x7f), 240.0);
    assert_eq!(exact(E5M2FNUZ, 0x7f), 57344.0);
    assert_eq!(exact(F16, 0x7bff), 65504.0);
    assert_eq!(exact(UE4M3, 0x7e), 448.0);
    let fp4 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    assert_eq!(fp4.map(|x| rne("e2m1", x as f32)), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (0..8).map(|code| exact(E2M1FN, code)).collect::<Vec<_>>(),
        fp4
    );
    assert_eq!(TF32.to_register(TF32.max_finite(false)), 0x7f7f_e000);
}
