//! Compositions over primitives (`precision.md` §2.5): with a table of known results the bits are known.

use mmascope_model::precision::eval::{Evaluator, Functions};

use crate::{instruction, target};

fn with(table: &str, name: &str, input: u64) -> Option<u64> {
    let functions = Functions::read("mine.txt", table).expect("a table");
    let evaluator = Evaluator {
        functions: &functions,
        target: target(),
    };
    let result = evaluator
        .evaluate(&instruction(name), &[input])
        .expect("a result");
    result.is_known().then_some(result.out)
}

#[test]
fn the_shipped_table_reads() {
    let read =
        Functions::read("functions.txt", Functions::built_in_text()).expect("the shipped table");
    assert_eq!(&read, Functions::built_in());
}

#[test]
fn rule_2_5_one_primitive() {
    // Invented results, so that nothing but the table can have given them.
    let table = "known MUFU.RCP | all | 3fc00000 -> 3f2aaaa0 | hw\nknown MUFU.LG2 | 90+ | 40400000 -> 3fcae000 | hw";
    assert_eq!(
        with(table, "rcp.approx.ftz.f32", 0x3fc0_0000),
        Some(0x3f2a_aaa0)
    );
    assert_eq!(
        with(table, "lg2.approx.ftz.f32", 0x4040_0000),
        Some(0x3fca_e000)
    );
    assert_eq!(with(table, "rcp.approx.ftz.f32", 0x3fc0_0001), None);
    assert_eq!(
        with(
            "known MUFU.RCP | 100+ | 3fc00000 -> 3f2aaaa0 | hw",
            "rcp.approx.f32",
            0x3fc0_0000
        ),
        None,
        "another target"
    );
}

#[test]
fn rule_2_5_scaling_of_small_and_large_inputs() {
    // rcp: 2^-140 is scaled by 2^24 to 2^-116, whose reciprocal comes from the table, and back: 1.5·2^116·2^24 overflows.
    let table = "known MUFU.RCP | all | 05800000 -> 79c00000, 7e000000 -> 00c00000 | hw";
    assert_eq!(
        with(table, "rcp.approx.f32", 0x0000_0200),
        Some(0x7f80_0000)
    );
    // 2^127 is scaled by 1/4 to 2^125; the result is scaled back.
    assert_eq!(
        with(table, "rcp.approx.f32", 0x7f00_0000),
        Some(0x0030_0000)
    );
    // Roots: 2^-140 is 2^-116 for the primitive, and the result is scaled by 2^12 or 2^-12.
    let table = "known MUFU.RSQ | all | 05800000 -> 5cc00000 | hw\nknown MUFU.SQRT | all | 05800000 -> 22c00000 | hw";
    assert_eq!(
        with(table, "rsqrt.approx.f32", 0x0000_0200),
        Some(0x62c0_0000)
    );
    assert_eq!(
        with(table, "sqrt.approx.f32", 0x0000_0200),
        Some(0x1cc0_0000)
    );
    // The logarithm of the scaled input, less 24.
    let table = "known MUFU.LG2 | all | 05800000 -> c2e80000 | hw";
    assert_eq!(
        with(table, "lg2.approx.f32", 0x0000_0200),
        Some(0xc30c_0000)
    );
    // The power of the halved argument, squared: 2^-130.
    let table = "known MUFU.EX2 | all | c2820000 -> 1f000000 | hw";
    assert_eq!(
        with(table, "ex2.approx.f32", 0xc302_0000),
        Some(0x0008_0000)
    );
}

#[test]
fn rule_2_5_sine_takes_turns() {
    // 1 in turns, cut: 0x3e22f983.
    let table = "known MUFU.SIN | all | 3e22f983 -> 3f576aa0 | hw\nknown MUFU.COS | all | 3e22f983 -> 3f0a5140 | hw";
    assert_eq!(
        with(table, "sin.approx.f32", 0x3f80_0000),
        Some(0x3f57_6aa0)
    );
    assert_eq!(
        with(table, "cos.approx.ftz.f32", 0x3f80_0000),
        Some(0x3f0a_5140)
    );
}

#[test]
fn a_wrong_table_is_told_with_the_line() {
    for (line, said) in [
        ("error rcp.approx.f32 | all | 1 ulps | doc", "no bound"),
        ("error rcp.approx.f32 | some | 1 ulp | doc", "no range"),
        ("error rcp.approx.f32 | all | 1 ulp | sure", "no evidence"),
        (
            "known MUFU.RCP | all | 3fc0000g -> 0 | hw",
            "not hexadecimal",
        ),
        ("known MUFU.RCP | all | 3fc00000 | hw", "INPUT -> OUTPUT"),
        ("guess MUFU.RCP | all | 1 -> 2 | hw", "no kind of line"),
        ("error rcp.approx.f32 | all", "four fields"),
    ] {
        let error = Functions::read("mine.txt", line).expect_err(line);
        assert!(
            error.to_string().starts_with("mine.txt:1:") && error.to_string().contains(said),
            "{line}: {error}"
        );
    }
}
