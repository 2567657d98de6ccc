//! The 36 deviations of the source document, each a test of its number.

use mmascope_model::format::{Class, Format};
use mmascope_model::precision::deviations::{DEVIATIONS, page};
use mmascope_model::precision::eval::evaluate;
use mmascope_model::precision::legal::Legality;
use mmascope_model::precision::resolve::{
    DenormalMode, Fmf, Policy, Request, Severity, fast_names,
};

use crate::{answer, ask, chosen};

fn somewhere(form: &str) -> bool {
    Legality::of(form).expect(form).legal().next().is_some()
}

fn on(form: &str, target: &str) -> bool {
    Legality::of(form)
        .expect(form)
        .on(target.parse().expect("a target"))
        .expect(target)
}

/// Whether an answer carries a diagnostic about a deviation.
fn says(request: &Request<'_>, number: u8) -> bool {
    answer(request)
        .notes
        .iter()
        .any(|note| note.deviation == Some(number))
}

fn with_reflect<'a>(
    operation: &'a str,
    kind: &str,
    policy: Policy,
    entries: &'a [String],
) -> Request<'a> {
    Request {
        reflect: entries,
        ..ask(operation, kind, "sm_90", "", policy)
    }
}

fn entries(list: &[&str]) -> Vec<String> {
    list.iter().map(|&entry| entry.to_owned()).collect()
}

#[test]
fn there_are_36_and_the_page_is_fresh() {
    let numbers: Vec<u8> = DEVIATIONS
        .iter()
        .map(|deviation| deviation.number)
        .collect();
    assert_eq!(numbers, (1..=36).collect::<Vec<u8>>());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/source-document.md");
    if std::env::var_os("MMASCOPE_UPDATE").is_some() {
        std::fs::write(file, page()).expect("the page is written");
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        committed == page(),
        "docs/source-document.md is stale: run this test with MMASCOPE_UPDATE=1"
    );
}

#[test]
fn deviation_01_x_minus_x_needs_nnan() {
    assert_eq!(
        chosen("x-x", "f32", "sm_90", "nsz", Policy::Llvm),
        "sub.rn.f32"
    );
    assert_eq!(chosen("x-x", "f32", "sm_90", "nnan", Policy::Llvm), "");
    assert_eq!(
        chosen("0-x", "f32", "sm_90", "nsz", Policy::Llvm),
        "neg.f32"
    );
    let literal = ask("x-x", "f32", "sm_90", "nsz", Policy::Seed);
    assert!(answer(&literal).ptx().is_empty() && says(&literal, 1));
}

#[test]
fn deviation_02_the_dialect_has_no_flags() {
    let request = ask("sqrt", "f32", "sm_90", "afn", Policy::CudaTile);
    assert_eq!(answer(&request).ptx(), ["sqrt.rn.f32"]);
    assert!(says(&request, 2));
}

#[test]
fn deviation_03_fusing_is_another_question_for_each_compiler() {
    let twice = "(a*b+c)*(a*b+d)";
    let function = "define float @f(float %a, float %b, float %c) {\n%m = fmul contract float %a, %b\n\
        %n = fadd contract float %m, %c\n%p = fadd contract float %m, %a\n%r = fmul float %n, %p\nret float %r\n}";
    assert_eq!(
        chosen(function, "", "sm_90", "", Policy::Llvm),
        "fma.rn.f32 fma.rn.f32 mul.rn.f32"
    );
    assert_eq!(
        chosen(function, "", "sm_90", "", Policy::Seed),
        "mul.f32 add.f32 add.f32 mul.rn.f32"
    );
    assert_eq!(
        chosen(twice, "f32", "sm_90", "", Policy::LibNvvm),
        "fma.rn.f32 fma.rn.f32 mul.f32"
    );
    assert_eq!(
        chosen("a*b+c", "f32", "sm_90", "", Policy::CudaTile),
        "fma.rn.f32"
    );
}

#[test]
fn deviation_04_nv_sqrt_is_the_f64_symbol() {
    assert_eq!(
        chosen("__nv_sqrt", "f64", "sm_90", "afn", Policy::LibNvvm),
        "sqrt.rn.f64"
    );
    assert_eq!(
        chosen("__nv_sqrtf", "f32", "sm_90", "afn", Policy::LibNvvm),
        "sqrt.rn.f32"
    );
    assert!(!answer(&ask("__nv_sqrt", "f32", "sm_90", "afn", Policy::Llvm)).legal);
    assert!(says(&ask("sqrt", "f64", "sm_90", "afn", Policy::Seed), 4));
}

#[test]
fn deviation_05_nvfuser_fastmath_is_no_flag() {
    let error = Fmf::of(["nvfuser::fastmath"]).expect_err("no flag");
    assert!(
        error.to_string().contains("unknown fast-math flag"),
        "{error}"
    );
}

#[test]
fn deviation_06_ftz_is_older_than_maxwell() {
    // The oldest target that the assembler still knows takes it; the entry has the history.
    assert!(on("mul.ftz.f32", "sm_75"));
    assert!(DEVIATIONS[5].truth.contains("sm_20"));
}

#[test]
fn deviation_07_the_families_with_ftz() {
    for form in ["add", "sub", "mul", "abs", "neg", "min", "max"] {
        assert!(somewhere(&format!("{form}.ftz.f32")), "{form}");
    }
    for form in [
        "fma.rn.ftz.f32",
        "mad.rn.ftz.f32",
        "rcp.rn.ftz.f32",
        "setp.lt.ftz.f32",
        "set.lt.ftz.f32.f32",
        "cvt.rni.ftz.f32.f32",
    ] {
        assert!(somewhere(form), "{form}");
    }
    assert!(!somewhere("tanh.approx.ftz.f32"));
    let denormal: DenormalMode = "preserve-sign".parse().expect("a mode");
    let literal = Request {
        denormal: Some(denormal),
        ..ask("a+b", "f32", "sm_90", "", Policy::Seed)
    };
    assert!(says(&literal, 7));
}

#[test]
fn deviation_08_the_cost_of_subnormals_is_scaling() {
    let plain = answer(&ask("rcp.approx.f32", "", "sm_90", "", Policy::Llvm)).sass();
    let flushed = answer(&ask("rcp.approx.ftz.f32", "", "sm_90", "", Policy::Llvm)).sass();
    assert_eq!((plain.len(), flushed.len()), (3, 1));
    let sums = ["add.f32", "add.ftz.f32"].map(|form| {
        answer(&ask(form, "", "sm_90", "", Policy::Llvm))
            .sass()
            .len()
    });
    assert_eq!(sums, [1, 1]);
}

#[test]
fn deviation_09_two_f64_forms_must_flush() {
    for function in ["rcp", "rsqrt"] {
        assert!(somewhere(&format!("{function}.approx.ftz.f64")));
    }
    assert!(!somewhere("rcp.approx.f64"));
    for form in [
        "add.ftz.f64",
        "mul.ftz.f64",
        "fma.rn.ftz.f64",
        "div.rn.ftz.f64",
        "sqrt.rn.ftz.f64",
    ] {
        assert!(!somewhere(form), "{form}");
    }
}

#[test]
fn deviation_10_four_denormal_modes_in_pairs() {
    for (mode, flushes) in [
        ("ieee,ieee", false),
        ("preserve-sign,preserve-sign", true),
        ("preserve-sign,ieee", true),
        ("ieee,preserve-sign", false),
        ("positive-zero,positive-zero", false),
        ("dynamic,dynamic", false),
    ] {
        let request = Request {
            denormal: Some(mode.parse().expect(mode)),
            ..ask("a+b", "f32", "sm_90", "", Policy::Llvm)
        };
        assert_eq!(
            answer(&request).ptx()[0].contains(".ftz"),
            flushes,
            "{mode}"
        );
    }
    let function = "define float @f(float %a) \"denormal-fp-math\"=\"preserve-sign,preserve-sign\" \
        \"denormal-fp-math-f32\"=\"ieee,ieee\" {\n%r = fadd float %a, %a\nret float %r\n}";
    assert_eq!(
        chosen(function, "", "sm_90", "", Policy::Llvm),
        "add.rn.f32"
    );
}

#[test]
fn deviation_11_four_arms_the_flush_first() {
    for (ftz, precise, expected) in [
        (0, 0, "sqrt.approx.f32"),
        (0, 1, "sqrt.rn.f32"),
        (1, 0, "sqrt.approx.ftz.f32"),
        (1, 1, "sqrt.rn.ftz.f32"),
    ] {
        let list = [
            format!("__CUDA_FTZ={ftz}"),
            format!("__CUDA_PREC_SQRT={precise}"),
        ];
        assert_eq!(
            answer(&with_reflect("__nv_sqrtf", "f32", Policy::Llvm, &list)).ptx(),
            [expected]
        );
    }
}

#[test]
fn deviation_12_a_disagreement_is_accepted() {
    let list = entries(&["__CUDA_FTZ=1"]);
    for policy in [Policy::Llvm, Policy::LibNvvm, Policy::CudaTile] {
        assert!(
            answer(&with_reflect("__nv_sqrtf", "f32", policy, &list)).legal,
            "{policy}"
        );
    }
    let literal = answer(&with_reflect("__nv_sqrtf", "f32", Policy::Seed, &list));
    assert!(!literal.legal);
    let note = literal
        .notes
        .iter()
        .find(|note| note.severity == Severity::Error)
        .expect("an error");
    assert_eq!(
        (note.text.as_str(), note.deviation),
        ("function FTZ disagrees with libdevice FTZ", Some(12))
    );
}

#[test]
fn deviation_13_the_tile_compiler_flushes_by_operation() {
    let denormal: DenormalMode = "preserve-sign".parse().expect("a mode");
    let by_function = Request {
        denormal: Some(denormal),
        ..ask("a+b", "f32", "sm_90", "", Policy::CudaTile)
    };
    assert_eq!(answer(&by_function).ptx(), ["add.rn.f32"]);
    let by_operation = Request {
        flush: true,
        ..ask("a+b", "f32", "sm_90", "", Policy::CudaTile)
    };
    assert_eq!(answer(&by_operation).ptx(), ["add.rn.ftz.f32"]);
}

#[test]
fn deviation_14_more_than_five_functions() {
    for (form, primitive) in [
        ("rcp.approx.ftz.f32", "MUFU.RCP"),
        ("sqrt.approx.ftz.f32", "MUFU.SQRT"),
        ("tanh.approx.f32", "MUFU.TANH"),
        ("ex2.approx.f16", "MUFU.EX2.F16"),
        ("rcp.approx.ftz.f64", "MUFU.RCP64H"),
    ] {
        let sass = answer(&ask(form, "", "sm_90", "", Policy::Llvm)).sass();
        assert!(
            sass.iter().any(|line| line.starts_with(primitive)),
            "{form}: {sass:?}"
        );
    }
}

#[test]
fn deviation_15_accuracies_differ() {
    // How many results the documented bound allows at 1.3, and beyond the range of the sine.
    let width = |form: &str, text: &str| {
        let resolution = answer(&ask(form, "", "sm_90", "", Policy::Llvm));
        let words = resolution.words(&[text.to_owned()]).expect("a word");
        let result = evaluate(&resolution, "sm_90".parse().expect("a target"), &words).expect(form);
        result.hi.wrapping_sub(result.lo)
    };
    assert!(width("rcp.approx.f32", "1.3") <= 2);
    assert!(width("tanh.approx.f32", "1.3") > 4_000);
    assert!(width("sin.approx.f32", "1.3") < 40 && width("sin.approx.f32", "100.3") > 400);
}

#[test]
fn deviation_16_tanh_has_an_instruction() {
    for form in [
        "tanh.approx.f32",
        "tanh.approx.f16",
        "tanh.approx.f16x2",
        "tanh.approx.bf16",
        "tanh.approx.bf16x2",
    ] {
        assert!(somewhere(form), "{form}");
    }
    assert_eq!(
        chosen("__nv_fast_tanhf", "f32", "sm_90", "", Policy::LibNvvm),
        "tanh.approx.f32"
    );
    for name in ["__nv_fast_erff", "__nv_fast_atanf"] {
        assert!(
            !answer(&ask(name, "f32", "sm_90", "", Policy::Llvm)).legal,
            "{name}"
        );
    }
    assert!(says(&ask("tanh", "f32", "sm_90", "afn", Policy::Seed), 16));
}

#[test]
fn deviation_17_fast_bodies_are_gated_and_several_operations() {
    let on = entries(&["__CUDA_FTZ=1"]);
    for (name, count) in [
        ("__nv_fast_sinf", 1),
        ("__nv_fast_expf", 2),
        ("__nv_fast_tanf", 3),
        ("__nv_fast_logf", 2),
        ("__nv_fast_log10f", 2),
        ("__nv_fast_powf", 3),
        ("__nv_fast_fdividef", 1),
    ] {
        let plain = answer(&ask(name, "f32", "sm_90", "", Policy::Llvm)).ptx();
        let flushed = answer(&with_reflect(name, "f32", Policy::Llvm, &on)).ptx();
        assert_eq!(plain.len(), count, "{name}");
        assert_ne!(plain, flushed, "{name}");
    }
}

#[test]
fn deviation_18_twelve_fast_symbols_and_no_square_root() {
    assert_eq!(fast_names().count(), 12);
    assert!(fast_names().all(|name| !name.contains("sqrt")));
    let request = ask("__nv_fast_sqrt", "f32", "sm_90", "", Policy::Llvm);
    assert!(!answer(&request).legal && says(&request, 18));
}

#[test]
fn deviation_19_sinf_is_accurate_in_both_arms() {
    let on = entries(&["__CUDA_FTZ=1"]);
    let request = with_reflect("__nv_sinf", "f32", Policy::Llvm, &on);
    assert_eq!(answer(&request).ptx(), ["call __nv_sinf"]);
    assert_eq!(
        chosen("__nv_sinf", "f32", "sm_90", "", Policy::Llvm),
        "call __nv_sinf"
    );
}

#[test]
fn deviation_20_nv_sqrt_is_not_gated() {
    let off = entries(&["__CUDA_PREC_SQRT=0", "__CUDA_FTZ=1"]);
    assert_eq!(
        answer(&with_reflect("__nv_sqrt", "f64", Policy::Llvm, &off)).ptx(),
        ["sqrt.rn.f64"]
    );
    assert_eq!(
        answer(&with_reflect("__nv_sqrtf", "f32", Policy::Llvm, &off)).ptx(),
        ["sqrt.approx.ftz.f32"]
    );
}

#[test]
fn deviation_21_two_keys_exist_nowhere() {
    for key in ["__CUDA_PREC_RSQRT=1", "__CUDA_PREC_LOG=0"] {
        let list = entries(&[key]);
        let request = with_reflect("__nv_rsqrtf", "f32", Policy::Llvm, &list);
        assert!(says(&request, 21), "{key}");
        assert_eq!(answer(&request).ptx(), ["rsqrt.approx.f32"]);
    }
    let division = entries(&["__CUDA_PREC_DIV=0"]);
    assert_eq!(
        answer(&with_reflect(
            "__nv_fdiv_rn",
            "f32",
            Policy::Llvm,
            &division
        ))
        .ptx(),
        ["div.rn.f32"]
    );
}

#[test]
fn deviation_22_type_and_target_decide_too() {
    assert_eq!(
        chosen("tanh", "f64", "sm_90", "afn", Policy::Llvm),
        "call __nv_tanh"
    );
    assert_eq!(
        chosen("tanh", "f32", "sm_90", "afn", Policy::Llvm),
        "tanh.approx.f32"
    );
    assert_eq!(
        chosen("sqrt", "f64", "sm_90", "afn", Policy::Llvm),
        "sqrt.rn.f64"
    );
}

#[test]
fn deviation_23_the_dialects_narrow_formats() {
    for element in ["f8E4M3FN", "f8E5M2"] {
        let text = format!("ftof %x : tile<16xf32> -> tile<16x{element}>");
        assert!(
            answer(&ask(&text, "", "sm_100a", "", Policy::CudaTile)).legal,
            "{element}"
        );
    }
    for element in ["f8E4M3FNUZ", "f8E5M2FNUZ"] {
        let text = format!("ftof %x : tile<16xf32> -> tile<16x{element}>");
        let request = ask(&text, "", "sm_100a", "", Policy::CudaTile);
        assert!(!answer(&request).legal && says(&request, 23), "{element}");
    }
}

#[test]
fn deviation_24_e4m3fnuz_range_is_240() {
    let largest = |name: &str| {
        let format = Format::named(name).expect(name);
        let value = format.decode(format.max_finite(false));
        (value.significand << (value.exponent - value.fraction_bits as i32).max(0)) as u32
    };
    assert_eq!((largest("e4m3fnuz"), largest("e5m2fnuz")), (240, 57_344));
    for name in ["e4m3fnuz", "e5m2fnuz"] {
        assert_eq!(Format::named(name).expect(name).nan(), Some(0x80));
    }
}

#[test]
fn deviation_25_e4m3fn_has_two_nans_and_fp4_none() {
    let nans = |name: &str| {
        let format = Format::named(name).expect(name);
        (0..1_u64 << format.bits)
            .filter(|&code| format.decode(code).class == Class::Nan)
            .collect::<Vec<_>>()
    };
    assert_eq!(nans("e4m3fn"), [0x7f, 0xff]);
    for name in ["e2m1fn", "e2m3fn", "e3m2fn"] {
        assert!(nans(name).is_empty(), "{name}");
    }
}

#[test]
fn deviation_26_fp8_rounds_to_nearest_even() {
    assert!(
        !somewhere("cvt.rna.satfinite.e4m3x2.f32") && !somewhere("cvt.rp.satfinite.e4m3x2.f32")
    );
    assert!(
        on("cvt.rz.satfinite.e4m3x2.f32", "sm_107a")
            && !on("cvt.rz.satfinite.e4m3x2.f32", "sm_100a")
    );
    assert!(somewhere("cvt.rna.tf32.f32") && somewhere("cvt.rp.satfinite.ue8m0x2.f32"));
    let text = "ftof %x rounding<zero> : tile<16xf32> -> tile<16xf8E4M3FN>";
    let request = ask(text, "", "sm_100a", "", Policy::CudaTile);
    assert!(!answer(&request).legal && says(&request, 26));
}

#[test]
fn deviation_27_satfinite_is_mandatory() {
    for kind in ["e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2"] {
        assert!(!somewhere(&format!("cvt.rn.{kind}.f32")), "{kind}");
        assert!(somewhere(&format!("cvt.rn.satfinite.{kind}.f32")), "{kind}");
    }
    let six = Format::named("e3m2fn").expect("a format");
    assert_eq!(six.nan_or_substitute(), six.max_finite(false));
}

#[test]
fn deviation_28_only_packed_conversions() {
    let error = Legality::of("cvt.rn.satfinite.e4m3.f32").expect("types of matrix instructions");
    assert!(error.legal().next().is_none());
    assert!(on("cvt.rs.satfinite.e4m3x4.f32", "sm_100a"));
}

#[test]
fn deviation_29_fp8_on_ada_is_mma_sync_with_two_accumulators() {
    for form in [
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        "mma.m16n8k32.f16.e4m3.e4m3.f16",
    ] {
        assert!(
            on(form, "sm_89") && on(form, "sm_90") && on(form, "sm_120"),
            "{form}"
        );
    }
    let notes = Legality::of("mma.m16n8k32.f32.e4m3.e4m3.f32")
        .expect("a form")
        .findings;
    assert!(
        notes
            .iter()
            .any(|finding| finding.text.contains("narrower than f32"))
    );
}

#[test]
fn deviation_30_scales_of_mxfp4_and_nvfp4() {
    let form = |kind: &str, vector: &str, scale: &str| {
        format!(
            "mma.m16n8k64.kind::{kind}.block_scale.scale_vec::{vector}.f32.e2m1.e2m1.f32.{scale}"
        )
    };
    assert!(somewhere(&form("mxf4", "2X", "ue8m0")) && !somewhere(&form("mxf4", "2X", "ue4m3")));
    assert!(somewhere(&form("mxf4nvf4", "4X", "ue4m3")));
}

#[test]
fn deviation_31_mxfp8_is_kind_mxf8f6f4() {
    assert!(somewhere(
        "mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    ));
    assert!(!somewhere(
        "mma.m16n8k32.kind::f8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    ));
}

#[test]
fn deviation_32_two_kinds_two_block_sizes() {
    let mxf4 = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale";
    let nvf4 = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale";
    assert!(somewhere(&format!("{mxf4}.block32")) && !somewhere(&format!("{mxf4}.block16")));
    assert!(somewhere(&format!("{nvf4}.block16")) && !somewhere(nvf4));
}

#[test]
fn deviation_33_nvfp4_has_blocks_of_16() {
    let scaled = |columns: u32, scale: &str| {
        format!(
            "mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x64xf4E2M1FN>, tile<64x8xf4E2M1FN>, tile<16x8xf32>, \
             tile<16x{columns}x{scale}>, tile<{columns}x8x{scale}>"
        )
    };
    assert!(
        answer(&ask(
            &scaled(4, "f8E4M3FN"),
            "",
            "sm_120a",
            "",
            Policy::CudaTile
        ))
        .legal
    );
    let wide = scaled(2, "f8E4M3FN");
    let request = ask(&wide, "", "sm_120a", "", Policy::CudaTile);
    assert!(!answer(&request).legal && says(&request, 33));
    assert!(
        answer(&ask(
            &scaled(2, "f8E8M0FNU"),
            "",
            "sm_120a",
            "",
            Policy::CudaTile
        ))
        .legal
    );
}

#[test]
fn deviation_34_ue4m3_has_seven_bits() {
    let format = Format::named("ue4m3").expect("a format");
    assert_eq!(
        (format.bits, format.signed, format.nan()),
        (7, false, Some(0x7f))
    );
}

#[test]
fn deviation_35_plain_targets_have_no_block_scaling() {
    let form = "mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0";
    assert!(
        !on(form, "sm_120") && !on(form, "sm_100") && on(form, "sm_120a") && on(form, "sm_120f")
    );
    let unit = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale";
    assert!(!on(unit, "sm_100") && on(unit, "sm_100a") && on(unit, "sm_100f"));
}

#[test]
fn deviation_36_depth_and_block_are_pairs() {
    // (64, 32) is MXFP4 and (64, 16) NVFP4: depth and block decide together about kind and vector.
    let pair = |columns: u32, scale: &str| {
        let text = format!(
            "mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x64xf4E2M1FN>, tile<64x8xf4E2M1FN>, tile<16x8xf32>, \
             tile<16x{columns}x{scale}>, tile<{columns}x8x{scale}>"
        );
        answer(&ask(&text, "", "sm_120a", "", Policy::CudaTile))
            .ptx()
            .concat()
    };
    assert!(pair(2, "f8E8M0FNU").contains("kind::mxf4.block_scale.scale_vec::2X"));
    assert!(pair(4, "f8E8M0FNU").contains("kind::mxf4nvf4.block_scale.scale_vec::4X"));
}
