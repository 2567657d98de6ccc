//! `conformance.md` §6, CDNA3 fp8: e5m2fnuz operands, even and odd k summed apart.

use super::case::{Group, group, products};
use super::subject::{Subject, subjects};

fn rows() -> Vec<Subject> {
    subjects(
        "cdna3",
        &["v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_f32_32x32x16_bf8_bf8"],
    )
}

/// Every vector on one unit.
pub(crate) fn vectors(group: &mut Group, subject: &Subject) {
    opposite_parity(group, subject);
    small_accumulator(group, subject);
}

#[test]
fn vectors_of_e5m2() {
    group("§6 CDNA3, fp8", |group| {
        rows().iter().for_each(|subject| vectors(group, subject));
    });
}

fn opposite_parity(group: &mut Group, subject: &Subject) {
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        if (i + j) % 2 == 1 {
            let case = products(["0"; 0]).at(i, "1").at(j, "2^-24+2^-25");
            group.check(subject, &case, "1");
            group.check(subject, &case.negated(), "-(1+2^-23)");
        }
    }
}

fn small_accumulator(group: &mut Group, subject: &Subject) {
    for k in [1, 2, 15] {
        let case = products(["1"]).at(k, "2^-24");
        let counted = case.clone().c("2^-25");
        group.check(subject, &counted, "1");
        group.check(subject, &counted.negated(), "-(1+2^-23)");
        let dropped = case.c("2^-26");
        group.check(subject, &dropped, "1");
        group.check(subject, &dropped.negated(), "-1");
    }
    // p1, p2 and p4, counted from 1.
    let case = products(["1", "2^5", "0", "-2^5"]).c("2^-20");
    group.check(subject, &case, "1");
    for k in [1, 2] {
        let case = products(["2^29"]).at(k, "-2^29").c("2^4");
        group.check(subject, &case, "0");
    }
}
