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
            "type of the function's result",
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
        missing.to_string().contains("--type is missing"),
        "{missing}"
    );
    let narrow =
        resolve(&ask("a+b", "e4m3", "sm_90", "", Policy::Llvm)).expect_err("no arithmetic");
    assert!(narrow.to_string().contains("f32 f64 f16 bf16"), "{narrow}");
}
