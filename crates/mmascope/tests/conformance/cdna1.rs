//! `conformance.md` §6, CDNA1: exact sums, and the f32 chain.

use super::case::{Group, group, products};
use super::subject::{Subject, subjects};

/// s = 2^-23 + 2^-24.
const S: &str = "2^-23+2^-24";

pub(crate) fn sums_of_four(group: &mut Group, subject: &Subject) {
    for one in 0..3 {
        let case = products([S; 3]).at(one, "1");
        group.check(subject, &case, "1+2^-22+2^-23");
    }
    for k in 1..subject.k() {
        let case = products([S]).at(k, S).c("1");
        let expected = if k < 4 { "1+2^-22+2^-23" } else { "1+2^-21" };
        group.check(subject, &case, expected);
    }
    for n in 0..=23 {
        let small = format!("2^-24 x 2^(-1-{n})");
        let case = products(["1", "2^-24", &small]);
        group.check(subject, &case, "1+2^-23");
    }
}

#[test]
fn exact_sums_of_four() {
    let instructions = ["v_mfma_f32_32x32x8f16", "v_mfma_f32_16x16x16f16"];
    group("§6 CDNA1, f16", |group| {
        for subject in &subjects("cdna1", &instructions) {
            sums_of_four(group, subject);
        }
    });
}

#[test]
fn exact_sums_of_two() {
    let instructions = ["v_mfma_f32_32x32x4bf16", "v_mfma_f32_16x16x8bf16"];
    group("§6 CDNA1, bf16", |group| {
        for subject in &subjects("cdna1", &instructions) {
            group.check(subject, &products(["2^129", "-2^129"]), "0");
            for n in 0..=200 {
                let case = products(["2^-24".to_owned(), format!("2^(-25-{n})")]).c("1");
                group.check(subject, &case, "1+2^-23");
            }
        }
    });
}

/// One f32 operation after the other.
#[test]
fn chain_of_f32() {
    let rows = [
        ("cdna1", "v_mfma_f32_16x16x4f32"),
        ("cdna2", "v_mfma_f32_16x16x4f32"),
        ("cdna3", "v_mfma_f32_16x16x4_f32"),
    ];
    group("§6 f32 chain", |group| {
        for (architecture, instruction) in rows {
            let subject = Subject::new(architecture, instruction);
            group.check(&subject, &products(["1", S, S]), "1+2^-21");
            group.check(&subject, &products([S, "1", S]), "1+2^-21");
            group.check(&subject, &products([S, S, "1"]), "1+2^-22+2^-23");
        }
    });
}
