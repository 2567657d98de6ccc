//! The reflect map (`precision.md` §1.1): order of sources, missing keys, values, errors.

use mmascope_model::precision::resolve::{Origin, Policy, ReflectMap, Request};

use crate::{answer, ask};

#[test]
fn rule_1_1_later_sources_win() {
    let mut map = ReflectMap::for_target(90);
    assert_eq!(map.value("__CUDA_ARCH"), 900);
    map.set("__CUDA_FTZ", 1, Origin::ModuleFlag);
    map.set("__CUDA_FTZ", 0, Origin::Metadata);
    assert_eq!(
        map.value("__CUDA_FTZ"),
        1,
        "metadata is older than the module flag"
    );
    map.add("__CUDA_FTZ=0", Policy::Llvm).expect("an entry");
    map.set("__CUDA_FTZ", 1, Origin::ModuleFlag);
    assert_eq!(map.value("__CUDA_FTZ"), 0, "the command line wins");
    map.add("__CUDA_ARCH=750", Policy::Llvm).expect("an entry");
    assert_eq!(
        map.value("__CUDA_ARCH"),
        750,
        "the target is the lowest seed"
    );
}

#[test]
fn rule_1_1_a_missing_key_is_0() {
    let map = ReflectMap::for_target(90);
    assert_eq!(map.value("__CUDA_PREC_SQRT"), 0);
    assert!(!map.is_set("__CUDA_PREC_SQRT"));
}

#[test]
fn rule_1_1_values_are_decimal_and_errors_say_what_is_wrong() {
    let mut map = ReflectMap::default();
    for (text, said) in [
        ("=1", "key is empty"),
        ("K", "value is missing"),
        ("K=", "value is missing"),
        ("K=x", "no unsigned integer"),
    ] {
        let error = map.add(text, Policy::Llvm).expect_err(text);
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    assert!(
        map.add("K=-1", Policy::Llvm).is_err(),
        "upstream reads an unsigned value"
    );
    map.add("K=-1", Policy::Seed)
        .expect("the source document reads a signed one");
    assert_eq!(map.value("K"), -1);
}

#[test]
fn rule_1_1_the_module_flag_is_the_librarys_flush() {
    let text = "!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 1}\ndefine float @f(float %a) {\n\
        %r = call float @__nv_rsqrtf(float %a)\nret float %r\n}";
    assert_eq!(
        answer(&ask(text, "", "sm_90", "", Policy::Llvm)).ptx(),
        ["rsqrt.approx.ftz.f32"]
    );
    let off = ["__CUDA_FTZ=0".to_owned()];
    let request = Request {
        reflect: &off,
        ..ask(text, "", "sm_90", "", Policy::Llvm)
    };
    assert_eq!(answer(&request).ptx(), ["rsqrt.approx.f32"]);
}

#[test]
fn rule_1_1_metadata_is_the_source_documents_alone() {
    let text = "!0 = !{!\"__CUDA_FTZ\", i32 1}\ndefine float @f(float %a) \"denormal-fp-math\"=\"preserve-sign\" {\n\
        %r = call float @__nv_rsqrtf(float %a)\nret float %r\n}";
    assert_eq!(
        answer(&ask(text, "", "sm_90", "", Policy::Seed)).ptx(),
        ["rsqrt.approx.ftz.f32"]
    );
    assert_eq!(
        answer(&ask(text, "", "sm_90", "", Policy::Llvm)).ptx(),
        ["rsqrt.approx.f32"]
    );
}
