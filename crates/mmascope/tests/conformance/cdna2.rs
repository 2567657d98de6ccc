//! `conformance.md` §6, CDNA2: pairwise f32 sums that flush subnormals.

use super::case::{Group, group, products};
use super::subject::{Subject, subjects};

/// s = 2^-23 + 2^-24.
const S: &str = "2^-23+2^-24";

pub(crate) fn sums_of_four(group: &mut Group, subject: &Subject) {
    let case = products([S, S]).c("1");
    group.check(subject, &case, "1+2^-22+2^-23");
    let case = products(["1", S]).c(S);
    group.check(subject, &case, "1+2^-21");
    let case = products(["1", S, "1", S]);
    group.check(subject, &case, "2+2^-21");
    group.check(subject, &case.c("2^-23+2^-25"), "2+2^-21+2^-22");
}

#[test]
fn pairwise_sums() {
    group("§6 CDNA2, sums of four", |group| {
        for subject in &subjects(
            "cdna2",
            &["v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8bf16_1k"],
        ) {
            sums_of_four(group, subject);
        }
    });
}

#[test]
fn flushing_and_overflow() {
    group("§6 CDNA2, range", |group| {
        let f16 = Subject::new("cdna2", "v_mfma_f32_32x32x8f16");
        group.check(&f16, &products(["2^-24 x 1"]), "0");
        group.check(&f16, &products(["#0200 x #d200"]), "0");
        group.check(&f16, &products(["#0400 x #c800"]), "#ba000000");
        for bf16 in &subjects(
            "cdna2",
            &["v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x4bf16"],
        ) {
            group.check(bf16, &products(["2^-64 x 2^-63"; 2]), "0");
            group.check(bf16, &products(["2^128", "-2^128"]), "nan");
        }
    });
}
