//! Special inputs of the approximate functions (`precision.md` §2.4), bit for bit.

use crate::{instruction, run};

const INF: u64 = 0x7f80_0000;
const NEGATIVE: u64 = 0x8000_0000;
const NAN: u64 = 0x7fff_ffff;
const ONE: u64 = 0x3f80_0000;

fn all_are(name: &str, cases: &[(u64, u64)]) {
    let resolution = instruction(name);
    for &(input, expected) in cases {
        let result = run(&resolution, &[input]);
        assert!(result.is_known(), "{name} of {input:08x}: {result:x?}");
        assert_eq!(result.out, expected, "{name} of {input:08x}: {result:x?}");
    }
}

#[test]
fn rule_2_4_rcp() {
    all_are(
        "rcp.approx.f32",
        &[
            (NEGATIVE | INF, NEGATIVE),
            (NEGATIVE, NEGATIVE | INF),
            (0, INF),
            (INF, 0),
            (0x7fc0_0001, NAN),
        ],
    );
    all_are(
        "rcp.approx.ftz.f32",
        &[(1, INF), (NEGATIVE | 1, NEGATIVE | INF)],
    );
}

#[test]
fn rule_2_4_roots() {
    all_are(
        "sqrt.approx.f32",
        &[
            (NEGATIVE | INF, NAN),
            (NEGATIVE | ONE, NAN),
            (NEGATIVE, NEGATIVE),
            (0, 0),
            (INF, INF),
            (NAN, NAN),
        ],
    );
    all_are(
        "rsqrt.approx.f32",
        &[
            (NEGATIVE | INF, NAN),
            (NEGATIVE | ONE, NAN),
            (NEGATIVE, NEGATIVE | INF),
            (0, INF),
            (INF, 0),
        ],
    );
}

#[test]
fn rule_2_4_sine_and_cosine() {
    all_are(
        "sin.approx.f32",
        &[
            (INF, NAN),
            (NEGATIVE | INF, NAN),
            (NEGATIVE, NEGATIVE),
            (0, 0),
        ],
    );
    all_are(
        "cos.approx.f32",
        &[(INF, NAN), (NEGATIVE | INF, NAN), (NEGATIVE, ONE), (0, ONE)],
    );
}

#[test]
fn rule_2_4_logarithm_and_power() {
    all_are(
        "lg2.approx.f32",
        &[
            (NEGATIVE | INF, NAN),
            (NEGATIVE | ONE, NAN),
            (0, NEGATIVE | INF),
            (NEGATIVE, NEGATIVE | INF),
            (INF, INF),
        ],
    );
    all_are(
        "ex2.approx.f32",
        &[
            (NEGATIVE | INF, 0),
            (0, ONE),
            (NEGATIVE, ONE),
            (INF, INF),
            (0xffff_ffff, NAN),
        ],
    );
    all_are(
        "ex2.approx.ftz.bf16",
        &[
            (0x0001, 0x3f80),
            (0x8001, 0x3f80),
            (0x7f80, 0x7f80),
            (0xff80, 0),
            (0x7fc0, 0x7fff),
        ],
    );
}

#[test]
fn rule_2_4_tanh() {
    all_are(
        "tanh.approx.f32",
        &[
            (NEGATIVE | INF, NEGATIVE | ONE),
            (INF, ONE),
            (0, 0),
            (NEGATIVE, NEGATIVE),
            (1, 1),
            (0x8000_1234, 0x8000_1234),
        ],
    );
}

#[test]
fn rule_2_4_division_beyond_2_126() {
    let resolution = instruction("div.approx.f32");
    let beyond = 0x7f00_0000; // 2^127
    for (a, expected) in [(ONE, 0), (NEGATIVE | ONE, NEGATIVE), (INF, NAN), (0, 0)] {
        let result = run(&resolution, &[a, beyond]);
        assert!(
            result.is_known() && result.out == expected,
            "{a:08x}: {result:x?}"
        );
    }
    let full = run(&instruction("div.full.f32"), &[ONE, beyond]);
    assert!(!full.is_known() && full.out == 0x0040_0000, "{full:x?}");
}

#[test]
fn beyond_100_pi_nothing_is_promised() {
    let result = run(&instruction("sin.approx.f32"), &[0x447a_0000]); // 1000
    assert_eq!((result.lo, result.hi), (NEGATIVE | INF, INF));
    assert_eq!(result.bound.as_deref(), Some("none documented"));
}

#[test]
fn what_a_bound_leaves_one_result_for_is_known() {
    all_are(
        "rcp.approx.f32",
        &[(0x0008_0000, INF), (0x8008_0000, NEGATIVE | INF)],
    );
}
