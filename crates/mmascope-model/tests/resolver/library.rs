//! The device library (`precision.md` §3) and who sets its keys (§1.1, §1.2).

use mmascope_model::precision::resolve::{
    Policy, REFLECT_KEYS, Request, StepOperand, fast_names, resolve,
};

use crate::{answer, ask, chosen};

#[test]
fn rule_3_three_keys() {
    assert_eq!(
        REFLECT_KEYS,
        ["__CUDA_FTZ", "__CUDA_PREC_SQRT", "__CUDA_ARCH"]
    );
}

#[test]
fn rule_3_bodies_of_the_fast_symbols() {
    for (name, body) in [
        ("__nv_fast_sinf", "sin.approx.f32"),
        ("__nv_fast_cosf", "cos.approx.f32"),
        (
            "__nv_fast_tanf",
            "sin.approx.f32 cos.approx.f32 div.approx.f32",
        ),
        ("__nv_fast_expf", "mul.rn.f32 ex2.approx.f32"),
        ("__nv_fast_exp10f", "mul.rn.f32 ex2.approx.f32"),
        ("__nv_fast_log2f", "lg2.approx.f32"),
        ("__nv_fast_logf", "lg2.approx.f32 mul.rn.f32"),
        ("__nv_fast_log10f", "lg2.approx.f32 mul.rn.f32"),
        ("__nv_fast_powf", "lg2.approx.f32 mul.rn.f32 ex2.approx.f32"),
        ("__nv_fast_fdividef", "div.approx.f32"),
        ("__nv_fast_tanhf", "tanh.approx.f32"),
    ] {
        assert_eq!(
            chosen(name, "f32", "sm_90", "", Policy::Llvm),
            body,
            "{name}"
        );
    }
}

/// A symbol of the device library says its type; a name alone does not.
#[test]
fn the_type_of_a_symbol_need_not_be_said() {
    for (operation, kind) in [
        ("__nv_fast_expf", "f32"),
        ("__nv_sqrt", "f64"),
        ("__nv_fast_sinf(a+b)*c", "f32"),
    ] {
        let with = ask(operation, kind, "sm_90", "", Policy::Llvm);
        let without = ask(operation, "", "sm_90", "", Policy::Llvm);
        assert_eq!(answer(&without).ptx(), answer(&with).ptx(), "{operation}");
    }
    // Of a symbol that does not exist, too: the answer says that.
    let answer = answer(&ask("__nv_fast_sqrt(a)", "", "sm_90", "", Policy::Llvm));
    assert!(!answer.legal);
    let request = ask("a*b", "", "sm_90", "", Policy::Llvm);
    let error = resolve(&request).expect_err("no type");
    assert!(error.to_string().contains("type: it is missing"), "{error}");
}

#[test]
fn rule_3_the_product_in_expf_follows_the_function() {
    let request = Request {
        denormal: Some("preserve-sign".parse().expect("a mode")),
        ..ask("__nv_fast_expf", "f32", "sm_90", "", Policy::Llvm)
    };
    assert_eq!(answer(&request).ptx(), ["mul.rn.ftz.f32", "ex2.approx.f32"]);
    let on = ["__CUDA_FTZ=1".to_owned()];
    let request = Request {
        reflect: &on,
        ..ask("__nv_fast_expf", "f32", "sm_90", "", Policy::Llvm)
    };
    assert_eq!(answer(&request).ptx(), ["mul.rn.f32", "ex2.approx.ftz.f32"]);
}

#[test]
fn rule_3_single_instructions_and_ungated_ones() {
    for (name, kind, body) in [
        ("__nv_rsqrtf", "f32", "rsqrt.approx.f32"),
        ("__nv_exp2f", "f32", "ex2.approx.f32"),
        ("__nv_frcp_rn", "f32", "rcp.rn.f32"),
        ("__nv_fdiv_rn", "f32", "div.rn.f32"),
        ("__nv_fsqrt_rn", "f32", "sqrt.rn.f32"),
        ("__nv_sqrt", "f64", "sqrt.rn.f64"),
    ] {
        assert_eq!(
            chosen(name, kind, "sm_90", "", Policy::Llvm),
            body,
            "{name}"
        );
    }
}

#[test]
fn rule_1_2_upstream_takes_the_approximate_root_unless_told() {
    assert_eq!(
        chosen("__nv_sqrtf", "f32", "sm_90", "", Policy::Llvm),
        "sqrt.approx.f32"
    );
    assert_eq!(
        chosen("__nv_sqrtf", "f32", "sm_90", "", Policy::LibNvvm),
        "sqrt.rn.f32"
    );
    let request = Request {
        prec_sqrt: Some(false),
        flush: true,
        ..ask("__nv_sqrtf", "f32", "sm_90", "", Policy::LibNvvm)
    };
    assert_eq!(answer(&request).ptx(), ["sqrt.approx.ftz.f32"]);
}

#[test]
fn rule_3_sincosf_has_two_results_and_is_gated_by_ftz() {
    for (entry, n) in [("__CUDA_FTZ=0", ""), ("__CUDA_FTZ=1", ".ftz")] {
        let reflect = [entry.to_owned()];
        let request = Request {
            reflect: &reflect,
            ..ask("__nv_fast_sincosf", "f32", "sm_90", "", Policy::Llvm)
        };
        let resolution = answer(&request);
        let names = [format!("sin.approx{n}.f32"), format!("cos.approx{n}.f32")];
        assert_eq!(resolution.ptx(), names);
        assert_eq!(resolution.code()[2], "result %t0, %t1");
        let cosine = resolution.of_second().expect("a second result");
        assert_eq!((cosine.result, cosine.second), (StepOperand::Step(1), None));
    }
    let inside = ask("__nv_fast_sincosf(x)*2", "f32", "sm_90", "", Policy::Llvm);
    let error = resolve(&inside).expect_err("two results").to_string();
    assert!(error.contains("two results"), "{error}");
}

#[test]
fn every_fast_symbol_has_a_body() {
    for name in fast_names() {
        let resolution = answer(&ask(name, "f32", "sm_90", "", Policy::Llvm));
        assert!(resolution.legal && !resolution.steps.is_empty(), "{name}");
    }
}

#[test]
fn rule_1_2_levels_of_division_under_a_flush() {
    let modes = "preserve-sign,preserve-sign";
    for (operation, names) in [
        (
            "a/b",
            [
                "div.approx.ftz.f32",
                "div.full.ftz.f32",
                "div.rn.ftz.f32",
                "div.rn.f32",
            ],
        ),
        (
            "1/b",
            [
                "rcp.approx.ftz.f32",
                "rcp.approx.ftz.f32",
                "rcp.rn.ftz.f32",
                "rcp.rn.f32",
            ],
        ),
    ] {
        for (level, name) in names.into_iter().enumerate() {
            for flags in ["", "afn"] {
                let request = Request {
                    prec_div: Some(level as u8),
                    denormal: Some(modes.parse().expect("modes")),
                    ..ask(operation, "f32", "sm_90", flags, Policy::Llvm)
                };
                assert_eq!(
                    answer(&request).ptx(),
                    [name],
                    "{operation} {level} {flags}"
                );
            }
        }
    }
    let unset = Request {
        denormal: Some(modes.parse().expect("modes")),
        ..ask("a/b", "f32", "sm_90", "", Policy::Llvm)
    };
    assert_eq!(answer(&unset).ptx(), ["div.rn.ftz.f32"]);
}

#[test]
fn rule_1_2_levels_of_division() {
    let names = ["div.approx.f32", "div.full.f32", "div.rn.f32", "div.rn.f32"];
    for (level, name) in names.into_iter().enumerate() {
        let request = Request {
            prec_div: Some(level as u8),
            ..ask("a/b", "f32", "sm_90", "", Policy::Llvm)
        };
        assert_eq!(answer(&request).ptx(), [name], "{level}");
    }
    let request = Request {
        prec_div: Some(0),
        ..ask("a/b", "f32", "sm_90", "", Policy::LibNvvm)
    };
    assert_eq!(
        answer(&request).ptx(),
        ["div.full.f32"],
        "libNVVM's 0 is not the approximate form"
    );
}
