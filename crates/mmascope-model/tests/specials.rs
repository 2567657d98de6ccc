//! Special values of units: computed from every model, and some that recorded hardware fixes.

use mmascope_model::dpa::Operands;
use mmascope_model::isa::Catalogue;
use mmascope_model::precision::specials::{self, Special};

fn of(architecture: &str, instruction: &str) -> Vec<Special> {
    specials::of(
        Catalogue::built_in()
            .find(architecture, instruction)
            .unwrap(),
    )
    .unwrap()
}

fn result(all: &[Special], name: &str) -> Option<String> {
    let case = all.iter().find(|case| case.name == name).unwrap();
    case.outcome.as_ref().map(|outcome| outcome.result())
}

#[test]
fn every_modelled_unit_has_every_case() {
    let catalogue = Catalogue::built_in();
    let mut units = 0;
    for row in catalogue.instructions().filter(|row| row.is_modelled()) {
        let all = specials::of(row).unwrap();
        let names: Vec<&str> = all.iter().map(|case| case.name).collect();
        assert_eq!(names, specials::names().collect::<Vec<_>>());
        // The result is what the unit gives for the operands that are shown.
        for case in &all {
            let Some(outcome) = &case.outcome else {
                continue;
            };
            let operands = outcome.operands.operands();
            let word = row
                .unit()
                .unwrap()
                .dot(&operands, &Default::default())
                .unwrap();
            assert_eq!(word, outcome.word, "{} {}", row.name, case.name);
        }
        units += 1;
    }
    assert!(units > 400, "{units}");
}

/// One less one is nothing, whatever the sign of a format is: integers have two's complement, or no −1.
#[test]
fn one_less_one_of_integers_is_zero() {
    let catalogue = Catalogue::built_in();
    let (mut units, mut without) = (0, 0);
    for row in catalogue.instructions().filter(|row| row.is_modelled()) {
        let signature = row.unit().unwrap().signature();
        if signature.a.float().is_some() {
            continue;
        }
        let all = specials::of(row).unwrap();
        let case = all.iter().find(|case| case.name == "1 - 1").unwrap();
        let is_signed = signature.a.signed || signature.b.signed;
        match &case.outcome {
            Some(outcome) => {
                assert_eq!(outcome.word, 0, "{} {}", row.architecture, row.name);
                units += 1;
            }
            None => {
                assert!(!is_signed, "{} {}", row.architecture, row.name);
                without += 1;
            }
        }
    }
    assert!(units > 100 && without > 10, "{units} {without}");
    // −1 is a word of ones.
    let all = of("turing", "mma.m8n8k16.s32.s8.s8.s32");
    let case = all.iter().find(|case| case.name == "1 - 1").unwrap();
    assert_eq!(case.outcome.as_ref().unwrap().operands.a[1], 0xff);
}

#[test]
fn nan_and_infinity_of_an_nvidia_unit() {
    let all = of("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    for name in ["nan+x", "nan*x", "inf*0", "inf-inf", "inf-inf in c"] {
        assert_eq!(result(&all, name).unwrap(), "7fffffff", "{name}");
    }
    assert_eq!(result(&all, "inf").unwrap(), "7f800000");
    assert_eq!(result(&all, "all -0").unwrap(), "00000000");
    assert_eq!(result(&all, "subnormal c").unwrap(), "00000001");
}

#[test]
fn cdna2_flushes_subnormals_and_cdna3_does_not() {
    let cdna2 = of("cdna2", "v_mfma_f32_32x32x8f16");
    let cdna3 = of("cdna3", "v_mfma_f32_32x32x8_f16");
    for name in ["subnormal a", "subnormal b", "subnormal c"] {
        assert_eq!(result(&cdna2, name).unwrap(), "00000000", "{name}");
        assert_ne!(result(&cdna3, name).unwrap(), "00000000", "{name}");
    }
    // The payload of AMD's NaN is not fixed.
    assert_eq!(result(&cdna3, "inf*0").unwrap(), "nan");
}

#[test]
fn a_case_that_the_formats_do_not_have_is_left_out() {
    let inst = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
    let all = of("rtx-blackwell", inst);
    assert_eq!(result(&all, "inf*0"), None);
    assert_eq!(result(&all, "nan scale").unwrap(), "7fffffff");
}

#[test]
fn a_page_has_a_row_for_each_unit() {
    let units = vec![(
        "a <unit>".to_owned(),
        of("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    )];
    let page = specials::page("Special values", &units);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("a &lt;unit&gt;"));
    assert_eq!(page.matches("<td>").count(), 1 + specials::names().count());
}

/// One element of D.
fn dot(
    architecture: &str,
    instruction: &str,
    a: &[u64],
    b: &[u64],
    c: u64,
    scales: [&[u64]; 2],
) -> u64 {
    let row = Catalogue::built_in()
        .find(architecture, instruction)
        .unwrap();
    let unit = row.unit().unwrap();
    let k = unit.signature().k;
    let padded = |words: &[u64]| {
        let mut words = words.to_vec();
        words.resize(k, 0);
        words
    };
    let (a, b) = (padded(a), padded(b));
    let operands = Operands {
        a: &a,
        b: &b,
        c,
        scale_a: scales[0],
        scale_b: scales[1],
    };
    unit.dot(&operands, &Default::default()).unwrap()
}

const NO_SCALES: [&[u64]; 2] = [&[], &[]];

fn f32(x: f32) -> u64 {
    x.to_bits().into()
}

#[test]
fn rule_2_7_products_of_f16_have_at_least_single_precision() {
    // (1 + 2^-10)^2 has 21 bits.
    for (architecture, instruction) in [
        ("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        ("turing", "mma.m16n8k8.f32.f16.f16.f32"),
        ("ampere", "mma.m16n8k16.f32.f16.f16.f32"),
        ("hopper", "wgmma.m64n8k16.f32.f16.f16"),
    ] {
        let d = dot(
            architecture,
            instruction,
            &[0x3c01],
            &[0x3c01],
            0,
            NO_SCALES,
        );
        assert_eq!(
            d,
            f32(1.0 + 2_f32.powi(-9) + 2_f32.powi(-20)),
            "{architecture}"
        );
    }
}

#[test]
fn rule_2_7_wgmma_truncates_the_low_13_bits_of_tf32() {
    let of = |low: u64| {
        let a = [f32(1.5) | low, f32(-3.0) | low];
        let b = [f32(1.25) | low, f32(0.75) | low];
        dot(
            "hopper",
            "wgmma.m64n8k8.f32.tf32.tf32",
            &a,
            &b,
            f32(1.0),
            NO_SCALES,
        )
    };
    assert_eq!(of(0), f32(1.5 * 1.25 - 3.0 * 0.75 + 1.0));
    assert_eq!(of(0x1fff), of(0));
    assert_eq!(of(0x0fff), of(0));
}

#[test]
fn rule_2_7_f64_is_a_fused_multiply_add_to_nearest() {
    let word = |x: f64| x.to_bits();
    let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
    let instruction = "mma.m8n8k4.f64.f64.f64.f64";
    let d = dot(
        "ampere",
        instruction,
        &[word(a)],
        &[word(b)],
        word(-1.0),
        NO_SCALES,
    );
    assert_eq!(d, word(a.mul_add(b, -1.0)));
    let d = dot(
        "ampere",
        instruction,
        &[word(1.0)],
        &[word(2_f64.powi(-53))],
        word(a),
        NO_SCALES,
    );
    assert_eq!(d, word(2_f64.powi(-53).mul_add(1.0, a)));
}

#[test]
fn rule_2_7_scales_multiply_their_blocks_and_not_c() {
    let instruction = "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0";
    // 2·3 · 2^1 · 2^-2 + 10
    let d = dot(
        "rtx-blackwell",
        instruction,
        &[0x40],
        &[0x44],
        f32(10.0),
        [&[128], &[125]],
    );
    assert_eq!(d, f32(13.0));
}

#[test]
fn rule_2_7_the_f32_accumulator_of_fp8_is_narrower_than_f32() {
    let with = |small: u64| {
        let instruction = "wgmma.m64n8k32.f32.e4m3.e4m3";
        dot(
            "hopper",
            instruction,
            &[0x38, 0x04],
            &[0x38, small],
            0,
            NO_SCALES,
        )
    };
    // 1 + 2^-13 is kept, 1 + 2^-14 is not, though f32 has both.
    assert_eq!(with(0x08), f32(1.0 + 2_f32.powi(-13)));
    assert_eq!(with(0x04), f32(1.0));
}

#[test]
fn rule_2_6_depth_of_each_kind() {
    let mut rows = 0;
    for row in Catalogue::built_in()
        .instructions()
        .filter(|row| row.is_modelled())
    {
        let kind = row
            .name
            .split('.')
            .find_map(|word| word.strip_prefix("kind::"));
        let Some(kind) = kind.filter(|_| !row.name.contains(".sp")) else {
            continue;
        };
        let k = row.unit().unwrap().signature().k;
        let allowed: &[usize] = match kind {
            "f16" => &[16],
            "tf32" => &[8],
            "i8" | "f8f6f4" | "mxf8f6f4" => &[32],
            "mxf4" | "mxf4nvf4" => &[64, 96],
            _ => panic!("{}", row.name),
        };
        assert!(allowed.contains(&k), "{}: {k}", row.name);
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
}

/// A sum of f16 products stays far below f32's range, whatever their number; bf16's products do not.
#[test]
fn an_overflow_is_one() {
    let names = ["overflow", "-overflow", "product beyond"];
    let of = |arch, inst| names.map(|name| result(&of(arch, inst), name));
    for arch in [
        "ampere:mma.m16n8k16.f32.f16.f16.f32",
        "cdna3:v_mfma_f32_32x32x8_f16",
    ] {
        let (arch, inst) = arch.split_once(':').unwrap();
        assert_eq!(of(arch, inst), [None, None, None], "{arch}");
    }
    let all = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned()));
    // 2^128 − 2^127: CDNA3 takes a product of 2^128 for ∞ (specification §3, tr-fdpa), an A100 adds c before.
    assert_eq!(
        of("ampere", "mma.m16n8k16.f32.bf16.bf16.f32"),
        all(["7f800000", "ff800000", "7f000000"])
    );
    assert_eq!(
        of("cdna3", "v_mfma_f32_32x32x8_bf16"),
        all(["7f800000", "ff800000", "7f800000"])
    );
}
