//! Packed and narrow conversions, and packed arithmetic: exact by definition, so the bits are known.

use mmascope_model::Error;
use mmascope_model::precision::eval::evaluate;
use mmascope_model::precision::legal::Target;
use mmascope_model::precision::resolve::{Request, Resolution, resolve};

use crate::{instruction, run};

/// A target with every conversion.
fn on(name: &str, target: &str) -> Resolution {
    let target: Target = target.parse().expect("a target");
    let resolution =
        resolve(&Request::new(name, target)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(resolution.legal, "{name}: {:?}", resolution.notes);
    resolution
}

fn words(name: &str, target: &str, inputs: &[u64]) -> u64 {
    let resolution = on(name, target);
    let result = evaluate(&resolution, target.parse().expect("a target"), inputs)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(result.is_known(), "{name}: {result:x?}");
    result.out
}

fn f32(x: f32) -> u64 {
    x.to_bits().into()
}

#[test]
fn rule_2_2_packed_results_have_the_first_operand_on_top() {
    for (name, target, inputs, expected) in [
        (
            "cvt.rn.satfinite.e4m3x2.f32",
            "sm_90",
            vec![f32(1.0), f32(1000.0)],
            0x387e,
        ),
        (
            "cvt.rn.satfinite.relu.e5m2x2.f32",
            "sm_90",
            vec![f32(-1.0), f32(2.0)],
            0x0040,
        ),
        (
            "cvt.rn.satfinite.e2m1x2.f32",
            "sm_100a",
            vec![f32(6.0), f32(-0.5)],
            0x79,
        ),
        (
            "cvt.rn.satfinite.e3m2x2.f32",
            "sm_100a",
            vec![f32(28.0), f32(-0.25)],
            0x1f24,
        ),
        (
            "cvt.rn.f16x2.f32",
            "sm_90",
            vec![f32(1.0), f32(2.0)],
            0x3c00_4000,
        ),
        (
            "cvt.rn.f16x2.e4m3x2",
            "sm_90",
            vec![0x38, 0x7f],
            0x3c00_7fff,
        ),
        (
            "cvt.rn.satfinite.e4m3x2.f16x2",
            "sm_90",
            vec![0x3c00, 0xfc00],
            0x38fe,
        ),
        (
            "cvt.rz.satfinite.ue8m0x2.f32",
            "sm_100a",
            vec![f32(3.0), f32(1.0)],
            0x807f,
        ),
        (
            "cvt.rn.bf16x2.ue8m0x2",
            "sm_100a",
            vec![0x80, 0xff],
            0x4000_7fff,
        ),
    ] {
        assert_eq!(words(name, target, &inputs), expected, "{name}");
    }
}

#[test]
fn single_conversions_with_their_modifiers() {
    for (name, input, expected) in [
        ("cvt.rna.tf32.f32", 0x3f80_1000, 0x3f80_2000),
        ("cvt.rn.satfinite.f16.f32", f32(1e9), 0x7bff),
        ("cvt.rni.s32.f32", f32(2.5), 2),
        ("cvt.rzi.s32.f32", f32(-1.9), 0xffff_ffff),
        ("cvt.rmi.s32.f32", f32(f32::NAN), 0),
        ("cvt.rn.f32.s32", 0xffff_fffe, f32(-2.0)),
        ("cvt.rni.f32.f32", f32(2.5), f32(2.0)),
        ("cvt.rpi.f32.f32", f32(-0.5), f32(-0.0)),
        ("cvt.rmi.f32.f32", f32(-0.5), f32(-1.0)),
        ("cvt.rzi.f32.f32", f32(1e30), f32(1e30)),
        (
            "cvt.rni.f32.f32",
            f32(f32::NEG_INFINITY),
            f32(f32::NEG_INFINITY),
        ),
        ("cvt.rn.bf16.f32", f32(1.0), 0x3f80),
    ] {
        assert_eq!(
            words(name, "sm_90", &[input]),
            expected,
            "{name} of {input:x}"
        );
    }
}

/// Recorded on an H200 (sm_90), 2026-11-26; PTX leaves the payloads open.
#[test]
fn nans_of_single_conversions_are_those_of_a_chip() {
    for (name, input, expected) in [
        ("cvt.f32.bf16", 0x7f81, 0x7f81_0000),
        ("cvt.rn.f32.f64", 0xfff4_a85c_d7d4_73f8, 0xffe5_42e6),
        ("cvt.rn.bf16.f64", 0xfff0_5345_9b25_6ae9, 0xffc2),
        ("cvt.rna.satfinite.tf32.f32", 0x7fd6_9aea, 0x7fd6_6000),
        ("cvt.rn.bf16.f32", 0xffa9_bad9, 0x7fff),
    ] {
        assert_eq!(words(name, "sm_90", &[input]), expected, "{name}");
    }
}

/// Where a target rounds to bf16 by other instructions, the last of them says which NaN comes out: a conversion of f32 the
/// canonical one, a shift what `or.b32` has made quiet.
#[test]
fn nans_of_emulated_conversions_are_those_of_their_instructions() {
    let converted = |from: &str, target: &str, word: u64| {
        let text = format!(
            "define bfloat @f({from} %a) {{\n%r = fptrunc {from} %a to bfloat\nret bfloat %r\n}}\n"
        );
        let target: Target = target.parse().expect("a target");
        let resolution = resolve(&Request::new(&text, target)).expect("resolves");
        evaluate(&resolution, target, &[word]).expect("a value").out
    };
    let nan = 0xfff0_5345_9b25_6ae9;
    for (target, wanted) in [("sm_75", 0xffc2), ("sm_80", 0x7fff), ("sm_90", 0xffc2)] {
        assert_eq!(converted("double", target, nan), wanted, "{target}");
    }
    for (target, wanted) in [("sm_75", 0xffe9), ("sm_80", 0x7fff), ("sm_90", 0x7fff)] {
        assert_eq!(converted("float", target, 0xffa9_bad9), wanted, "{target}");
    }
    assert_eq!(converted("float", "sm_75", 0x3f80_8001), 0x3f81);
}

#[test]
fn rule_2_2_random_bits_of_packed_conversions() {
    // The 13 low bits of each half: a of the upper one, b of the lower.
    let half_way = f32(1.0 + 2_f32.powi(-11));
    let name = "cvt.rs.f16x2.f32";
    assert_eq!(
        words(name, "sm_100a", &[half_way, half_way, 0x1000_0fff]),
        0x3c01_3c00
    );
    // Two elements of an x4 form share their bits and read them in opposite order; which is which is not established.
    let name = "cvt.rs.satfinite.e4m3x4.f32";
    let resolution = on(name, "sm_100a");
    assert_eq!(resolution.inputs, ["a", "b", "e", "f", "rbits"]);
    let target = "sm_100a".parse().unwrap();
    let half_way = f32(1.0625);
    let inputs = [half_way, f32(1.0), f32(2.0), f32(-4.0), 0x8000_0000];
    let result = evaluate(&resolution, target, &inputs).unwrap();
    assert_eq!(
        (result.out, result.lo, result.hi),
        (0x3938_40c8, 0x3838_40c8, 0x3938_40c8)
    );
    assert!(result.bound.unwrap().contains("not established"));
    // Palindromes are the same either way.
    let inputs = [half_way, half_way, half_way, half_way, 0xffff_0000];
    assert_eq!(
        evaluate(&resolution, target, &inputs).unwrap().out,
        0x3939_3838
    );
}

#[test]
fn packed_arithmetic_is_that_of_its_elements() {
    let sum = on("add.rn.f16x2", "sm_90");
    assert_eq!(sum.inputs, ["a.1", "a.0", "b.1", "b.0"]);
    assert_eq!(
        words("add.rn.f16x2", "sm_90", &[0x3c00, 0x4000, 0x3c00, 0x4200]),
        0x4000_4500
    );
    assert_eq!(
        words(
            "fma.rn.bf16x2",
            "sm_90",
            &[0x3f80, 0x4000, 0x4040, 0x4040, 0x3f80, 0x0000]
        ),
        0x4080_40c0
    );
    assert_eq!(
        words(
            "mul.rz.f32x2",
            "sm_100",
            &[f32(3.0), f32(2.0), f32(0.5), f32(-1.0)]
        ),
        0x3fc0_0000_c000_0000
    );
    // An enclosure of each element.
    let both = on("ex2.approx.f16x2", "sm_90");
    let result = run(&both, &[0x3c01, 0x0000]);
    assert_eq!((result.lo & 0xffff, result.hi & 0xffff), (0x3c00, 0x3c00));
    assert!(result.lo >> 16 < result.hi >> 16, "{result:x?}");
}

#[test]
fn nan_and_sign_of_minimum_and_copysign() {
    assert_eq!(
        words("min.f32", "sm_90", &[f32(1.0), f32(f32::NAN)]),
        f32(1.0)
    );
    assert_eq!(
        words("min.NaN.f32", "sm_90", &[f32(1.0), 0xffc0_0000]),
        0x7fff_ffff
    );
    assert_eq!(
        words("copysign.f32", "sm_90", &[f32(-3.0), f32(1.5)]),
        f32(-1.5)
    );
}

#[test]
fn what_has_no_known_value_says_so() {
    for (name, target, said) in [
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            "sm_90",
            "computed by the model of the unit",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
            "sm_90a",
            "computed by the model of the unit",
        ),
        (
            "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32",
            "sm_107a",
            "scaled",
        ),
        ("fma.rn.oob.f16", "sm_90", "oob"),
        ("setp.lt.f32", "sm_90", "predicate"),
    ] {
        let resolution = on(name, target);
        let reason = resolution.unknown().unwrap();
        assert!(reason.contains(said), "{name}: {reason}");
        let words = vec![0; resolution.inputs.len()];
        let error = evaluate(&resolution, target.parse().unwrap(), &words).unwrap_err();
        assert!(matches!(error, Error::Unmodelled { .. }), "{name}: {error}");
    }
}

#[test]
fn rule_2_4_gross_f64_approximations() {
    const INF: u64 = 0x7ff0_0000_0000_0000;
    const SIGN: u64 = 1 << 63;
    for (name, input, expected) in [
        (
            "rcp.approx.ftz.f64",
            0x7ff8_0000_0000_0001,
            0x7fff_ffff_0000_0000,
        ),
        ("rcp.approx.ftz.f64", 1, INF),
        ("rcp.approx.ftz.f64", SIGN | 1, SIGN | INF),
        ("rcp.approx.ftz.f64", SIGN | INF, SIGN),
        ("rsqrt.approx.ftz.f64", SIGN | 1, SIGN | INF),
        ("rsqrt.approx.ftz.f64", SIGN | INF, 0x7fff_ffff_0000_0000),
    ] {
        assert_eq!(
            words(name, "sm_90", &[input]),
            expected,
            "{name} of {input:x}"
        );
    }
    let rest = run(&instruction("rcp.approx.ftz.f64"), &[3_f64.to_bits()]);
    assert_eq!(
        rest.out,
        (1.0 / 3.0_f64).to_bits() & !0xffff_ffff,
        "no lower word"
    );
    assert_eq!((rest.lo, rest.hi), (SIGN | INF, INF));
    // Only the upper word is read.
    let near = run(
        &instruction("rcp.approx.ftz.f64"),
        &[3_f64.to_bits() | 0xffff],
    );
    assert_eq!(near, rest);
}

#[test]
fn rule_2_4_a_nan_that_the_unit_does_not_see_has_no_known_value() {
    for name in ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"] {
        let resolution = on(name, "sm_90");
        let target = "sm_90".parse().expect("a target");
        for word in [0x7ff0_0000_0000_0001, 0xfff0_0000_ffff_ffff] {
            let error = evaluate(&resolution, target, &[word]).unwrap_err();
            assert!(
                matches!(&error, Error::Unmodelled { reason, .. } if reason.contains("upper word")),
                "{name}: {error}"
            );
        }
    }
}
