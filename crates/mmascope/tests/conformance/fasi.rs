//! `conformance.md` §4, first part: the vectors of Fasi et al., PeerJ CS 7:e330.

use super::case::{Case, Group, group, only_c, products};
use super::subject::{Row, Subject, rows_to_f16, rows_to_f32};

/// A vector and its results with 23, 24 and 25 fraction bits.
fn check(group: &mut Group, row: &Row, case: &Case, expected: [&str; 3]) {
    group.check(&row.subject, case, expected[row.f as usize - 23]);
}

/// The vectors whose products fit every format of 8 significant bits.
pub(crate) fn vectors(group: &mut Group, row: &Row) {
    let same = |value| [value; 3];
    check(group, row, &only_c("2^-149"), same("2^-149"));
    check(group, row, &products(["2^-14 x 2^-1"]), same("2^-15"));
    let one_and_four = |value| products([value; 4]).c("1");
    check(
        group,
        row,
        &one_and_four("2^-24"),
        ["1", "1+2^-22", "1+2^-22"],
    );
    check(group, row, &one_and_four("2^-25"), ["1", "1", "1+2^-23"]);
    check(group, row, &one_and_four("2^-26"), same("1"));
    let case = products(["2", "2^-23+2^-24"]);
    check(group, row, &case, same("2"));
    check(group, row, &case.negated(), same("-2"));
    let case = products(["1"]).c("-1+2^-24");
    check(group, row, &case, ["2^-23", "2^-24", "2^-24"]);
    let case = products(["1", "-2^-24"]).c("-1+2^-24");
    check(group, row, &case, ["2^-23", "0", "0"]);
    // No normalisation until the end.
    let case = products(["2^-24"; 4]).c("1-2^-24");
    check(group, row, &case, same("1+2^-23"));
    // The order of the products does not matter.
    for odd_one in 0..4 {
        let case = products(["1"; 4]).at(odd_one, "2^-23").c("1+2^-22+2^-23");
        check(group, row, &case, same("4+2^-21"));
    }
    // Carries.
    let case = products(["1", "1.5", "1.75", "1.875"]).c("1.875");
    check(group, row, &case, same("8"));
    let case = products(["1"; 4]).c("1+2^-22+2^-23");
    check(group, row, &case, same("5"));
    check(group, row, &case.negated(), same("-5"));
}

#[test]
fn vectors_to_f32() {
    group("§4 Fasi, f32 results", |group| {
        for row in rows_to_f32() {
            vectors(group, &row);
            if row.subject.takes_eleven_bits() {
                let case = products(["2^-24 x 4"]);
                check(group, &row, &case, ["2^-22"; 3]);
                let case = products(["(1-2^-11) x (1-2^-11)"; 4]);
                check(group, &row, &case, ["4*(1-2^-10+2^-22)"; 3]);
            }
        }
    });
}

#[test]
fn subnormal_results() {
    group("§4 Fasi, subnormal results", |group| {
        for row in rows_to_f16() {
            group.check(&row.subject, &products(["2^-25+2^-26"]), "2^-24");
        }
        for instruction in [
            "mma.m16n8k8.f32.bf16.bf16.f32",
            "mma.m16n8k16.f32.bf16.bf16.f32",
        ] {
            let subject = Subject::new("A100", instruction);
            group.check(&subject, &products(["2^-126 x 2^-1"]), "2^-127");
        }
    });
}
