//! Wrong input is an error that names the argument, the value and the nearest valid name; it is never an answer.

use mmascope_model::precision::resolve::{DenormalMode, Fmf, Mode, Policy, Preset, resolve};

use crate::ask;

#[test]
fn wrong_names_are_told_with_the_nearest() {
    let said = [
        Fmf::of(["contrct"])
            .map(drop)
            .expect_err("a flag")
            .to_string(),
        "lvm"
            .parse::<Policy>()
            .map(drop)
            .expect_err("a policy")
            .to_string(),
        "preserve_sign,ieee"
            .parse::<DenormalMode>()
            .map(drop)
            .expect_err("a mode")
            .to_string(),
        "aprox"
            .parse::<Mode>()
            .map(drop)
            .expect_err("a rounding")
            .to_string(),
        "training"
            .parse::<Preset>()
            .map(drop)
            .expect_err("a preset")
            .to_string(),
    ];
    let expected = [
        ("unknown fast-math flag 'contrct'", "contract"),
        ("unknown policy 'lvm'", "llvm"),
        ("unknown denormal mode 'preserve_sign'", "preserve-sign"),
        ("unknown rounding 'aprox'", "approx"),
        ("unknown preset 'training'", "training-forward"),
    ];
    for (said, (what, nearest)) in said.iter().zip(expected) {
        assert!(said.starts_with(what) && said.contains(nearest), "{said}");
    }
}

#[test]
fn wrong_operations_are_told_with_the_place() {
    let deep = "(".repeat(5_000) + "a" + &")".repeat(5_000);
    let cases = [
        ("a*+", "at character 3"),
        ("a b", "'b' at character 3"),
        ("(a", "')' is expected"),
        ("sqrt(a,b)", "sqrt takes 1 operands, not 2"),
        ("sqr(a)", "nearest: sqrt"),
        ("1.5.2", "number = '1.5.2'"),
        ("", "it is empty"),
        (&deep, "levels of nesting"),
        ("-", "a variable"),
    ];
    for (text, said) in cases {
        let error = resolve(&ask(text, "f32", "sm_90", "", Policy::Llvm)).expect_err(text);
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

#[test]
fn wrong_functions_are_told_with_the_line() {
    let cases = [
        (
            "define float @f(float %a) {\n%r = fad float %a, %a\nret float %r\n}",
            ":2:",
            "no operation of the subset",
        ),
        (
            "define float @f(float %a) {\n%r = fadd fst float %a, %a\nret float %r\n}",
            ":2:",
            "no fast-math flag",
        ),
        (
            "define float @f(float %a) {\n%r = fadd float %a, %b\nret float %r\n}",
            ":2:",
            "not defined",
        ),
        (
            "define float @f(float %a) {\n%r = fadd double %a, %a\nret float %r\n}",
            ":2:",
            "its type is f32",
        ),
        (
            "define i32 @f(i32 %a) {\nret i32 %a\n}",
            ":1:",
            "float, double, half or bfloat",
        ),
        (
            "define float @f(float %a) {\nbr label %x\n}",
            ":2:",
            "branches are not read",
        ),
        ("define float @f(float %a) {\n}", ":2:", "returns nothing"),
    ];
    for (text, place, said) in cases {
        let error = resolve(&ask(text, "", "sm_90", "", Policy::Llvm))
            .expect_err(text)
            .to_string();
        assert!(
            error.contains(place) && error.contains(said),
            "{text}: {error}"
        );
    }
}

#[test]
fn lone_names_are_no_operations() {
    let cases = [
        ("foo", "unknown operation 'foo'; functions are add sub"),
        ("(x)", "unknown operation 'x'"),
        ("erf", "unknown operation 'erf'"),
        ("sinf", "nearest: sin"),
        ("__nv_foo", "unknown function '__nv_foo'"),
        ("__nv_fast_sinff", "nearest: __nv_fast_sinf"),
        ("a*__nv_sinf", "'(' after a function's name"),
        ("zzzz(a)", "unknown function 'zzzz'; functions are add sub"),
    ];
    for (text, said) in cases {
        let error = resolve(&ask(text, "f32", "sm_90", "", Policy::Llvm)).expect_err(text);
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

#[test]
fn types_and_missing_types() {
    let missing = resolve(&ask("a+b", "", "sm_90", "", Policy::Llvm)).expect_err("no type");
    assert!(
        missing.to_string().contains("type: it is missing"),
        "{missing}"
    );
    let narrow =
        resolve(&ask("a+b", "e4m3", "sm_90", "", Policy::Llvm)).expect_err("no arithmetic");
    assert!(narrow.to_string().contains("f32 f64 f16 bf16"), "{narrow}");
}

#[test]
fn functions_with_metadata_are_read_and_places_have_columns() {
    let text = "define float @f(float %a) !dbg !4 {\n  %r = fdiv float %a, %a, !fpmath !0, !dbg !5\n  ret float %r, !dbg !6\n}\n!0 = !{float 2.5}";
    let resolution =
        resolve(&ask(text, "", "sm_90", "", Policy::Llvm)).expect("metadata is ignored");
    assert_eq!(resolution.ptx(), ["div.rn.f32"]);
    for (line, column, said) in [
        ("  %r = fcmp olt float %a, %a", ":2:8:", "comparisons"),
        ("  %r = fpext float %a to half", ":2:8:", "fpext widens"),
        (
            "  %r = fptrunc float %a to float",
            ":2:8:",
            "fptrunc narrows",
        ),
        ("  %r = fpext float %a double", ":2:14:", "'to' and a type"),
        (
            "  %r = fptrunc double %a to half",
            ":2:23:",
            "its type is f32",
        ),
        ("  %r = fadd float %a, %zz", ":2:23:", "not defined"),
    ] {
        let text = format!("define float @f(float %a) {{\n{line}\nret float %r\n}}");
        let error = resolve(&ask(&text, "", "sm_90", "", Policy::Llvm))
            .expect_err(line)
            .to_string();
        assert!(
            error.contains(column) && error.contains(said),
            "{line}: {error}"
        );
    }
}

#[test]
fn unknown_words_of_instructions_are_told_with_what_is_allowed() {
    for (text, said) in [
        ("zzz.f32", "unknown opcode 'zzz'; allowed: abs"),
        (
            "add.qqqqq.f32",
            "unknown modifier or type 'qqqqq'; allowed: ",
        ),
        ("ad.f32", "unknown opcode 'ad'; nearest: add"),
    ] {
        let error = resolve(&ask(text, "", "sm_90", "", Policy::Llvm))
            .expect_err(text)
            .to_string();
        assert!(error.starts_with(said), "{text}: {error}");
    }
    let rules = mmascope_model::precision::legal::Rules::built_in();
    let error = rules.target("sm_70").expect_err("too old").to_string();
    assert_eq!(error, "unknown target 'sm_70'; targets start at sm_75");
    let error = "rna".parse::<Mode>().expect_err("no mode").to_string();
    assert!(
        error.contains("allowed: rn, rz, rm, rp, approx, full"),
        "{error}"
    );
}

#[test]
fn targets_are_told_in_words() {
    let said = |text: &str, target: &str| {
        let resolution = resolve(&ask(text, "", target, "", Policy::Llvm)).expect("an answer");
        resolution.notes[0].text.clone()
    };
    let text = said("cvt.rn.satfinite.e4m3x2.f32", "sm_80");
    assert!(text.ends_with("it exists on sm_89 and later"), "{text}");
    let text = said("cvt.rz.satfinite.e4m3x2.f32", "sm_90");
    assert!(
        text.contains("sm_107a") && !text.contains("107f "),
        "{text}"
    );
}
