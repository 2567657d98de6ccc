//! Every row of `precision.md` §4, for each compiler; LLVM's column is also asked of LLVM in `generated.rs`.

use mmascope_model::precision::resolve::{Mode, Policy, Request};

use crate::{answer, ask, chosen};

const PS: &str = "preserve-sign,preserve-sign";

#[test]
fn rule_4_where_the_flush_lives() {
    let with = |mode: &str, policy: Policy| {
        let request = Request {
            denormal: Some(mode.parse().expect(mode)),
            ..ask("a*b", "f32", "sm_90", "", policy)
        };
        answer(&request).ptx().join(" ")
    };
    assert_eq!(with(PS, Policy::Llvm), "mul.rn.ftz.f32");
    assert_eq!(
        with("positive-zero,positive-zero", Policy::Llvm),
        "mul.rn.f32"
    );
    assert_eq!(with("ieee,preserve-sign", Policy::Llvm), "mul.rn.f32");
    assert_eq!(
        with(PS, Policy::LibNvvm),
        "mul.f32",
        "the attribute is ignored"
    );
    assert_eq!(
        with(PS, Policy::CudaTile),
        "mul.rn.f32",
        "there is no attribute"
    );
    for (policy, name) in [
        (Policy::LibNvvm, "mul.ftz.f32"),
        (Policy::CudaTile, "mul.rn.ftz.f32"),
    ] {
        let request = Request {
            flush: true,
            ..ask("a*b", "f32", "sm_90", "", policy)
        };
        assert_eq!(answer(&request).ptx(), [name]);
    }
}

#[test]
fn rule_4_flush_is_for_f32_alone_in_the_dialect() {
    let request = Request {
        flush: true,
        ..ask("a*b", "f16", "sm_90", "", Policy::CudaTile)
    };
    assert!(!answer(&request).legal);
}

#[test]
fn rule_4_explicit_intrinsics_stay_as_named() {
    for (name, instruction) in [
        ("llvm.nvvm.sqrt.rn.f", "sqrt.rn.f32"),
        ("llvm.nvvm.sqrt.rn.ftz.f", "sqrt.rn.ftz.f32"),
        ("llvm.nvvm.add.rz.ftz.f", "add.rz.ftz.f32"),
        ("llvm.nvvm.ex2.approx.ftz.f", "ex2.approx.ftz.f32"),
    ] {
        for mode in ["ieee,ieee", PS] {
            let operands = if name.contains("add") {
                "float %a, float %a"
            } else {
                "float %a"
            };
            let text = format!(
                "define float @f(float %a) \"denormal-fp-math-f32\"=\"{mode}\" {{\n%r = call float @{name}({operands})\nret float %r\n}}"
            );
            assert_eq!(
                chosen(&text, "", "sm_90", "", Policy::Llvm),
                instruction,
                "{name} under {mode}"
            );
        }
    }
    let text = "define float @f(float %a) \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" {\n\
        %r = call float @llvm.nvvm.sqrt.f(float %a)\nret float %r\n}";
    assert_eq!(
        chosen(text, "", "sm_90", "", Policy::Llvm),
        "sqrt.rn.ftz.f32",
        "the unnamed one follows the function"
    );
}

#[test]
fn rule_4_afn() {
    for (operation, name) in [
        ("sqrt", "sqrt.approx.f32"),
        ("sin", "sin.approx.f32"),
        ("cos", "cos.approx.f32"),
        ("tanh", "tanh.approx.f32"),
        ("a/b", "div.approx.f32"),
        ("1/x", "rcp.approx.f32"),
        ("1/sqrt(x)", "rsqrt.approx.f32"),
    ] {
        assert_eq!(
            chosen(operation, "f32", "sm_90", "afn", Policy::Llvm),
            name,
            "{operation}"
        );
    }
    for (operation, name) in [
        ("sqrt", "sqrt.rn.f32"),
        ("a/b", "div.rn.f32"),
        ("sin", "call __nv_sinf"),
        ("tanh", "tanh.approx.f32"),
    ] {
        assert_eq!(
            chosen(operation, "f32", "sm_90", "afn", Policy::LibNvvm),
            name,
            "{operation}"
        );
    }
    for (operation, mode, name) in [
        ("sqrt", Mode::Approx, "sqrt.approx.f32"),
        ("a/b", Mode::Approx, "div.approx.f32"),
        ("a/b", Mode::Full, "div.full.f32"),
        ("tanh", Mode::Approx, "tanh.approx.f32"),
    ] {
        let request = Request {
            rounding: Some(mode),
            ..ask(operation, "f32", "sm_90", "", Policy::CudaTile)
        };
        assert_eq!(answer(&request).ptx(), [name], "{operation}");
    }
}

#[test]
fn rule_4_afn_of_the_root_alone_makes_the_reciprocal_root() {
    let text = |root: &str, quotient: &str| {
        format!(
            "define float @f(float %a) {{\n%s = call {root} float @llvm.sqrt.f32(float %a)\n\
             %r = fdiv {quotient} float 1.0, %s\nret float %r\n}}"
        )
    };
    assert_eq!(
        chosen(&text("afn", ""), "", "sm_90", "", Policy::Llvm),
        "rsqrt.approx.f32"
    );
    assert_eq!(
        chosen(&text("", "afn"), "", "sm_90", "", Policy::Llvm),
        "sqrt.rn.f32 rcp.approx.f32"
    );
}

#[test]
fn rule_4_arcp() {
    assert_eq!(
        chosen("a/b", "f32", "sm_90", "arcp", Policy::Llvm),
        "div.rn.f32"
    );
    assert_eq!(
        chosen("a/b", "f32", "sm_90", "arcp", Policy::LibNvvm),
        "div.rn.f32"
    );
    assert_eq!(
        chosen("a/c+b/c", "f32", "sm_90", "arcp", Policy::Llvm),
        "rcp.rn.f32 mul.rn.f32 mul.rn.f32 add.rn.f32"
    );
    assert_eq!(
        chosen("a/3", "f32", "sm_90", "arcp", Policy::Llvm),
        "mul.rn.f32"
    );
    assert_eq!(
        chosen("a/b", "f32", "sm_90", "arcp", Policy::Seed),
        "rcp.rn.f32 mul.rn.f32"
    );
}

#[test]
fn rule_4_contract() {
    assert_eq!(
        chosen("a*b+c", "f32", "sm_90", "contract", Policy::Llvm),
        "fma.rn.f32"
    );
    assert_eq!(
        chosen("a*b+c", "f32", "sm_90", "", Policy::Llvm),
        "mul.rn.f32 add.rn.f32"
    );
    assert_eq!(
        chosen("a*b+c", "f32", "sm_90", "", Policy::LibNvvm),
        "fma.rn.f32"
    );
    let off = Request {
        fma: Some(false),
        ..ask("a*b+c", "f32", "sm_90", "", Policy::LibNvvm)
    };
    assert_eq!(answer(&off).ptx(), ["mul.rn.f32", "add.rn.f32"]);
    let flagged = Request {
        fma: Some(false),
        ..ask("a*b+c", "f32", "sm_90", "contract", Policy::LibNvvm)
    };
    assert_eq!(answer(&flagged).ptx(), ["fma.rn.f32"]);
    let flushed = Request {
        flush: true,
        ..ask("a*b+c", "f32", "sm_90", "", Policy::CudaTile)
    };
    assert_eq!(answer(&flushed).ptx(), ["fma.rn.ftz.f32"]);
    assert_eq!(
        chosen("(a*b+c)*(a*b)", "f32", "sm_90", "", Policy::CudaTile),
        "fma.rn.f32 mul.rn.f32 mul.rn.f32",
        "each product that is written has one use"
    );
}

#[test]
fn rule_4_plain_text_of_operations() {
    assert_eq!(
        chosen("a+b", "f32", "sm_90", "", Policy::Llvm),
        "add.rn.f32"
    );
    assert_eq!(
        chosen("a+b", "f32", "sm_90", "contract", Policy::Llvm),
        "add.f32"
    );
    let rounded = Request {
        rounding: Some(Mode::Rz),
        ..ask("a*b+c", "f32", "sm_90", "contract", Policy::Llvm)
    };
    assert_eq!(
        answer(&rounded).ptx(),
        ["mul.rz.f32", "add.rz.f32"],
        "an explicit rounding blocks fusing"
    );
}

#[test]
fn rule_4_nsz_and_nnan() {
    assert_eq!(
        chosen("x-x", "f32", "sm_90", "nsz", Policy::Llvm),
        "sub.rn.f32"
    );
    assert_eq!(chosen("x-x", "f32", "sm_90", "nnan", Policy::Llvm), "");
    assert_eq!(
        chosen("0-x", "f32", "sm_90", "nsz", Policy::Llvm),
        "neg.f32"
    );
    assert_eq!(
        chosen("0-x", "f32", "sm_90", "nnan", Policy::Llvm),
        "sub.rn.f32"
    );
    assert_eq!(
        chosen("(a+b)-b", "f32", "sm_90", "reassoc nsz", Policy::Llvm),
        ""
    );
    assert_eq!(
        chosen("(a+b)-b", "f32", "sm_90", "reassoc", Policy::Llvm),
        "add.rn.f32 sub.rn.f32"
    );
}

#[test]
fn flags_only_drop() {
    use mmascope_model::precision::resolve::Fmf;
    let both = Fmf::CONTRACT.join(Fmf::FAST);
    assert_eq!(both, Fmf::CONTRACT);
    assert_eq!(Fmf::CONTRACT.join(Fmf::AFN), Fmf::NONE);
    assert!(!Fmf::FAST.without(Fmf::NNAN).has(Fmf::NNAN));
}

#[test]
fn llvm_folds_by_sign_without_flags() {
    for (operation, names) in [
        ("-x*-y", "mul.rn.f32"),
        ("abs(-x)", "abs.f32"),
        ("abs(abs(x))", "abs.f32"),
        ("-a/-b", "div.rn.f32"),
        ("-(x/2)", "mul.rn.f32"),
        ("a*-b+c", "mul.rn.f32 sub.rn.f32"),
        ("a*(b-1)", "add.rn.f32 mul.rn.f32"),
        ("x*y+x*y", "mul.rn.f32 add.rn.f32"),
        ("1/x+1/x", "rcp.rn.f32 add.rn.f32"),
        ("-(-x)+y", "add.rn.f32"),
        ("0+abs(x)", "abs.f32"),
    ] {
        assert_eq!(
            chosen(operation, "f32", "sm_90", "", Policy::Llvm),
            names,
            "{operation}"
        );
    }
}

#[test]
fn llvm_regroups_under_flags() {
    for (operation, flags, code) in [
        ("(x+1)+2", "reassoc nsz", "add.rn.f32 %t0, %x, 0x40400000;"),
        ("a-(a-b)", "fast", "result %b"),
        ("2*x-x", "contract", "fma.rn.f32 %t1, %x, 0x40000000, %t0;"),
        ("2*x-x", "reassoc nsz", "sub.rn.f32 %t1, %t0, %x;"),
        ("a*(b+1)", "fast", "fma.rn.f32 %t0, %b, %a, %a;"),
        ("a*b+c*d+e", "fast", "fma.rn.f32 %t1, %a, %b, %t0;"),
        ("3/x+4/x", "fast", "mul.f32 %t1, %t0, 0x40e00000;"),
        ("sqrt(x)*sqrt(x)", "fast", "result %x"),
        ("0/x", "nnan nsz", "result 0x0"),
        ("x+x+x", "fast", "mul.f32 %t0, %x, 0x40400000;"),
        ("a*2+a", "fast", "mul.f32 %t0, %a, 0x40400000;"),
    ] {
        let resolution = answer(&ask(operation, "f32", "sm_90", flags, Policy::Llvm));
        let all = resolution.code();
        assert!(
            all.iter().any(|line| line == code),
            "{operation} {flags}: {all:?}"
        );
        assert!(!resolution.is_open(), "{operation} {flags}");
    }
}

#[test]
fn what_llvm_may_combine_further_has_no_known_value() {
    use mmascope_model::precision::eval::evaluate;
    let request = ask("-(a*a-(b+c))", "f32", "sm_90", "contract nsz", Policy::Llvm);
    let resolution = answer(&request);
    assert!(resolution.is_open() && resolution.legal);
    let words = [1.0_f32, 2.0, 3.0].map(|value| u64::from(value.to_bits()));
    let result = evaluate(&resolution, request.target, &words).expect("a result");
    assert!(!result.is_known());
    assert_eq!(
        (result.lo, result.hi),
        (0xff80_0000, 0x7f80_0000),
        "nothing bounds it"
    );
    let plain = answer(&ask("-(a*a-(b+c))", "f32", "sm_90", "nsz", Policy::Llvm));
    assert!(!plain.is_open());
}
