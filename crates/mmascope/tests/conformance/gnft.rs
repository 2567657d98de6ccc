//! `conformance.md` §4, second part: the GNFT vectors for extra bits, blocks and final rounding.

use super::case::{Group, group, products};
use super::subject::{Row, Subject, rows_to_f16, rows_to_f32, subjects};

/// Alignment bits: F ≥ 24 and F ≥ 25.
pub(crate) fn extra_bits(group: &mut Group, row: &Row) {
    let one_if = |condition| if condition { "1+2^-23" } else { "1" };
    for k in 1..row.subject.k() {
        let case = products(["2^-24"]).at(k, "2^-24").c("1");
        group.check(&row.subject, &case, one_if(row.f >= 24 && k < row.l));
    }
    let case = products(["2^-24", "2^-25", "2^-25"]).c("1");
    group.check(&row.subject, &case, one_if(row.f >= 25));
}

/// Where a block ends: two separate roundings there, one inside.
pub(crate) fn block_size(group: &mut Group, row: &Row) {
    for k in 1..row.subject.k() {
        let case = products(["1"]).at(k, "2^-23").c("1+2^-23");
        let expected = if k < row.l { "2+2^-22" } else { "2" };
        group.check(&row.subject, &case, expected);
    }
    if row.l < row.subject.k() {
        let case = products(["0"]).at(row.l, "1.5*2^-24").c("1+2^-23");
        group.check(&row.subject, &case, "1+2^-23");
    }
}

/// Late normalisation, and the truncation of the result.
pub(crate) fn end(group: &mut Group, row: &Row) {
    let case = products(["2^-21+2^-24"; 2]).c("1-2^-21");
    group.check(&row.subject, &case, "1+2^-21+2^-23");
    let case = products(["1"; 3]).c("1+2^-22+2^-23");
    group.check(&row.subject, &case, "4");
}

#[test]
fn extra_alignment_bits() {
    group("§4 GNFT, extra bits", |group| {
        rows_to_f32().iter().for_each(|row| extra_bits(group, row));
    });
}

#[test]
fn block_sizes() {
    group("§4 GNFT, blocks", |group| {
        rows_to_f32().iter().for_each(|row| block_size(group, row));
    });
}

#[test]
fn normalisation_and_final_rounding() {
    group("§4 GNFT, final rounding", |group| {
        rows_to_f32().iter().for_each(|row| end(group, row));
    });
}

/// The same vector where the result is rounded to nearest.
#[test]
fn final_rounding_to_nearest() {
    let case = products(["1"; 3]).c("1+2^-22+2^-23");
    let amd = [
        subjects("cdna1", &["v_mfma_f32_32x32x8f16"]),
        subjects(
            "cdna2",
            &["v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8bf16_1k"],
        ),
        subjects(
            "cdna3",
            &["v_mfma_f32_32x32x8_f16", "v_mfma_f32_32x32x8_bf16"],
        ),
    ];
    group("§4 GNFT, to nearest", |group| {
        for subject in amd.concat() {
            group.check(&subject, &case, "4+2^-21");
        }
        let hopper = Subject::new("hopper", "mma.m16n8k16.f32.f16.f16.f32");
        group.check(&hopper.with("rz f32", "rne f32"), &case, "4+2^-21");
        let case = products(["1"; 3]).c("1+2^-10+2^-9");
        for row in rows_to_f16() {
            group.check(&row.subject, &case, "4+2^-8");
        }
    });
}

/// A30: one extra alignment bit, three carry bits, blocks of 8.
#[test]
fn a30() {
    group("§4 GNFT, A30", |group| {
        for instruction in [
            "mma.m16n8k8.f32.f16.f16.f32",
            "mma.m16n8k16.f32.f16.f16.f32",
        ] {
            let row = Row {
                subject: Subject::new("A30", instruction),
                f: 24,
                l: 8,
            };
            extra_bits(group, &row);
            block_size(group, &row);
            end(group, &row);
            // A sum of c and four products below 2 each that needs three bits of carry.
            let case = products(["1", "1.5", "1.75", "1.875"]).c("1.875");
            group.check(&row.subject, &case, "8");
        }
    });
}
