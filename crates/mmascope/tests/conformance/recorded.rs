//! `conformance.md` §8: further recorded hardware results.
//!
//! Not tests: the accumulation order of v_mfma_f32_32x32x16_fp8_fp8 (it is what masks see, not a
//! result of given operands; a revealer's subject) and FTTN's matrix test (inputs not published).

use super::case::{Group, group, products};
use super::subject::{Subject, subjects};

/// RTX 4090, A10, RTX 3080: F = 24.
#[test]
fn one_extra_bit_on_ampere_and_ada() {
    let instructions = [
        "mma.m16n8k8.f32.f16.f16.f32",
        "mma.m16n8k16.f32.f16.f16.f32",
    ];
    group("§8 RTX 4090, A10, RTX 3080", |group| {
        for gpu in ["RTX4090", "A10", "RTX3080"] {
            for subject in &subjects(gpu, &instructions) {
                let case = products(["1 x 1", "-1 x 1"]);
                group.check(subject, &case.clone().c("#33800000"), "#33800000");
                group.check(subject, &case.c("#33000000"), "#00000000");
            }
        }
    });
}

/// RTX 5090: F = 25.
#[test]
fn two_extra_bits_on_rtx_blackwell() {
    let subject = Subject::new("RTX5090", "mma.m16n8k16.f32.f16.f16.f32");
    group("§8 RTX 5090, f16", |group| {
        for (small, expected) in [("2^-22", "0"), ("2^-21", "#35000000")] {
            group.check(&subject, &products(["2^4", "-2^4", small]), expected);
            group.check(&subject, &products(["2^4", "-2^4"]).c(small), expected);
        }
        let case = products(["1", "-1"]);
        group.check(&subject, &case.clone().c("2^-25"), "#33000000");
        group.check(&subject, &case.c("2^-26"), "0");
        group.check(&subject, &products(["2^-25"; 4]).c("1"), "#3f800001");
        let case = products(["1", "2^-25", "2^-25", "2^-25", "2^-25"]);
        group.check(&subject, &case, "#3f800001");
    });
}

#[test]
fn narrow_formats_on_rtx_blackwell() {
    let kind = [
        "e4m3.e4m3",
        "e5m2.e5m2",
        "e4m3.e5m2",
        "e5m2.e4m3",
        "e2m3.e2m3",
        "e3m2.e3m2",
        "e2m1.e2m1",
    ]
    .map(|types| format!("mma.m16n8k32.kind::f8f6f4.f32.{types}.f32"));
    let plain = ["e4m3.e4m3", "e5m2.e5m2", "e4m3.e5m2", "e5m2.e4m3"]
        .map(|types| format!("mma.m16n8k32.f32.{types}.f32"));
    let ones = products(["1 x 1"; 32]);
    group("§8 RTX 5090, narrow formats", |group| {
        for instruction in kind.iter().chain(&plain) {
            let subject = Subject::new("RTX5090", instruction);
            group.check(&subject, &ones.clone().c("2^25"), "33554464");
            group.check(&subject, &ones.clone().c("2^26"), "67108864");
            let chains = [
                (2, "33554496"),
                (4, "33554560"),
                (8, "33554688"),
                (16, "33554944"),
            ];
            for (times, expected) in chains {
                group.chain(&subject, &ones.clone().c("2^25"), times, expected);
            }
        }
    });
}

/// 4M − 4M + 4ε with M = 448² and ε = 2^-9·1.96875.
#[test]
fn cancellation_of_e4m3_on_rtx_blackwell() {
    let plus = ["448 x 448"; 4];
    let minus = ["448 x -448"; 4];
    let small = ["1.75*2^-4 x 1.125*2^-5"; 4];
    let case = products(plus.into_iter().chain(minus).chain(small));
    let instructions = [
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32",
    ];
    group("§8 RTX 5090, cancellation", |group| {
        for subject in &subjects("RTX5090", &instructions) {
            group.check(subject, &case, "0.0078125");
        }
    });
}

pub(crate) fn fp8_vectors(group: &mut Group, subject: &Subject) {
    // Same and opposite parity; both blocks of 16.
    for (i, j) in [(0, 1), (0, 2), (1, 3), (5, 14), (16, 17), (17, 31)] {
        for e in 0..=9 {
            let case = products(["1"; 0]).at(i, "1").at(j, format!("2^-{e}"));
            let expected = if e <= 7 { "0x1.000002p24" } else { "0x1p24" };
            group.check(subject, &case.c("2^24"), expected);
        }
    }
    for start in [0, 5, 16] {
        for i in 0..=7 {
            let ones = (0..10).fold(products(["1"; 0]), |case, k| case.at(start + k, "1"));
            let case = ones.at(start + 10, format!("2^-{i}")).c("0x1.fffff8p24");
            let expected = if i <= 6 { "0x1.000002p25" } else { "0x1p25" };
            group.check(subject, &case, expected);
        }
    }
}

#[test]
fn fp8_on_an_mi300x() {
    group("§8 MI300X, fp8", |group| {
        fp8_vectors(
            group,
            &Subject::new("MI300X", "v_mfma_f32_16x16x32_fp8_fp8"),
        );
    });
}
