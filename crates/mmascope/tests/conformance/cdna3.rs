//! `conformance.md` §6, CDNA3: f16, xf32 and bf16, hardware results of arXiv 2609.14845.
//!
//! Not tests: the f16 pair 3E00·3E00 against 4080·3C00 and the bf16 pair 3C8000BC against 3C800000
//! (operands not recorded). The long sums of powers of two are spread over several products, and
//! below 2^-28 one operand is subnormal, because f16 has no other: the largest product, which alone
//! sets the alignment, is the stated one.

use super::case::{Group, group, products};
use super::subject::{Subject, subjects};

/// Rows with f16 operands; blocks of 8.
fn rows() -> Vec<Subject> {
    subjects(
        "cdna3",
        &["v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x16_f16"],
    )
}

/// 2^-first + … + 2^-last.
fn run_of_bits(first: u32, last: u32) -> String {
    format!("(2^-{}-2^-{last})", first - 1)
}

/// Every f16 vector on one unit.
pub(crate) fn vectors(group: &mut Group, subject: &Subject) {
    products_against_one(group, subject);
    small_accumulator(group, subject);
    blocks_of_eight(group, subject);
    accumulator_of_one(group, subject);
    second_floor(group, subject);
}

#[test]
fn vectors_of_f16() {
    group("§6 CDNA3, f16", |group| {
        rows().iter().for_each(|subject| vectors(group, subject));
    });
}

fn products_against_one(group: &mut Group, subject: &Subject) {
    for one in 0..8 {
        for (i, j) in (0..8).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if one != i && one != j {
                let case = products(["1"; 0])
                    .at(one, "1")
                    .at(i, "2^-24")
                    .at(j, "2^-24");
                group.check(subject, &case, "1+2^-23");
                group.check(subject, &case.negated(), "-(1+2^-23)");
            }
        }
    }
    let case = products(["1", "0", "2^-24+2^-25"]);
    group.check(subject, &case, "1");
    group.check(subject, &case.negated(), "-1");
    let small = ["2^-23", "2^-24", "2^-24"];
    let with = |product| products([product].into_iter().chain(small));
    group.check(subject, &with("1.5 x 1.5"), "2.25+2^-22");
    group.check(subject, &with("2.25 x 1"), "2.25");
}

fn small_accumulator(group: &mut Group, subject: &Subject) {
    let case = products(["1"]).c("2^-23+2^-24");
    group.check(subject, &case, "1+2^-22");
    for j in 1..=23 {
        let case = products(["1"]).c(format!("2^-24+2^-(24+{j})"));
        group.check(subject, &case, "1");
        group.check(subject, &case.negated(), "-(1+2^-23)");
    }
    let case = products(["1", "2^-24"]).c("2^-24");
    group.check(subject, &case, "1+2^-23");
    let case = products(["2^29", "-2^29"]).c("2^4");
    group.check(subject, &case, "0");
}

fn blocks_of_eight(group: &mut Group, subject: &Subject) {
    for k in 1..subject.k() {
        let case = products(["2^-24"]).at(k, "2^-24").c("1");
        group.check(subject, &case, if k < 8 { "1+2^-23" } else { "1" });
    }
}

fn accumulator_of_one(group: &mut Group, subject: &Subject) {
    let case = products(["2^-25", "2^-25", "2^-24"]).c("1");
    group.check(subject, &case, "1+2^-23");
    for j in 1..=10 {
        let case = products([format!("2^-24+2^-(24+{j})")]).c("1");
        group.check(subject, &case, if j < 8 { "1+2^-23" } else { "1" });
        group.check(subject, &case.negated(), "-(1+2^-23)");
    }
    let case = products(["2^-24", "2^-14 x 2^-17"]).c("1");
    group.check(subject, &case, "1+2^-23");
    let case = products(["2^-24", "2^-14 x 2^-18"]).c("1");
    group.check(subject, &case, "1");
}

/// Rows that the older description (dot product floored at 31, no second floor) gets wrong are
/// among these.
fn second_floor(group: &mut Group, subject: &Subject) {
    for j in 0..=10 {
        let expected = if j <= 2 { "1-2^-24" } else { "1-2^-23" };
        let last = 30 + j;
        let middle = format!("-{}", run_of_bits(26, last.min(35)));
        let case = products(["-2^-24", &middle]);
        let case = match last {
            ..=35 => case,
            // 2^-36 + … + 2^-last
            _ => case.at(2, format!("-(2^-11-2^-{}) x 2^-24", last - 24)),
        };
        group.check(subject, &case.c("1"), expected);
        if last <= 34 {
            let whole = format!("-(2^-24+{})", run_of_bits(26, last));
            group.check(subject, &products([whole]).c("1"), expected);
        }
    }
    let negative = |first, last| format!("-{}", run_of_bits(first, last));
    let case = products(["-2^-24", &negative(26, 31), "2^-14 x 2^-19"]).c("1");
    group.check(subject, &case, "1-2^-24");
    let case = products(["-2^-24", &negative(26, 32)]).c("1");
    group.check(subject, &case, "1-2^-24");
    for j in 24..=33 {
        let case = products(["2^-22".to_owned(), format!("2^-23+2^-{j}")]).c("2-2^-22");
        group.check(subject, &case, if j <= 30 { "2+2^-22" } else { "2" });
    }
    for j in 24..=34 {
        let case = products(["-2^-21", "-2^-22", &negative(24, j)]).c("-2+2^-21");
        group.check(
            subject,
            &case,
            if j <= 30 { "-2-2^-22" } else { "-2-2^-21" },
        );
    }
}

#[test]
fn xf32_drops_the_low_bits_of_operands() {
    group("§6 CDNA3, xf32", |group| {
        for subject in subjects(
            "cdna3",
            &["v_mfma_f32_16x16x8_xf32", "v_mfma_f32_32x32x4_xf32"],
        ) {
            // 1 and 1 + 2^-10 + 2^-11 as f32 words.
            let case = products(["#3f800000 x #3f803000"]);
            group.check(&subject, &case, "1+2^-10");
        }
    });
}

#[test]
fn range_of_bf16() {
    let instructions = [
        "v_mfma_f32_32x32x8_bf16",
        "v_mfma_f32_16x16x16_bf16",
        "v_mfma_f32_32x32x4_2b_bf16",
    ];
    group("§6 CDNA3, range of bf16", |group| {
        for subject in &subjects("cdna3", &instructions) {
            let case = products(["2^35", "-2^35"]).c("2^10");
            group.check(subject, &case, "0");
            group.check(subject, &products(["2^64 x 2^64"]), "inf");
            group.check(subject, &products(["2^64 x -2^64"]), "-inf");
            let case = products(["1.5*2^64 x 1.5*2^63", "1.5*2^64 x -1.5*2^63"]);
            group.check(subject, &case, "nan");
            let case = products(["1.5*2^127", "1.5*2^127", "-1.5*2^127"]);
            group.check(subject, &case, "1.5*2^127");
            for i in 0..=22 {
                let case = products(["2^-150".to_owned(), format!("2^(-152-{i})")]);
                group.check(subject, &case, if i < 6 { "2^-149" } else { "0" });
                group.check(subject, &case.negated(), "-2^-149");
            }
            for j in 0..=10 {
                let small = format!("2^(-154-{j})");
                let case = products(["2^-140", "2^-150", &small]).c("2^-127-2^-140");
                let expected = if j <= 3 { "2^-127+2^-149" } else { "2^-127" };
                group.check(subject, &case, expected);
            }
        }
    });
}

/// Equal values, different field exponents, different results.
#[test]
fn equal_products_differ() {
    let with_seven = |product: &str| products([product].into_iter().chain(["#0c00 x #0c00"; 7]));
    group("§6 CDNA3, equal products", |group| {
        let f16 = Subject::new("cdna3", "v_mfma_f32_32x32x8_f16");
        group.check(&f16, &with_seven("#3c01 x #17fe"), "#3b0006f8");
        group.check(&f16, &with_seven("#0001 x #7800"), "#3b000000");
        let e4m3 = ["v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_32x32x16_fp8_fp8"];
        for subject in subjects("cdna3", &e4m3) {
            let case = products(["#2f x #40"]).c("#33000000");
            group.check(&subject, &case, "#3e700002");
            let case = products(["#01 x #7f"]).c("#33000000");
            group.check(&subject, &case, "#3e700000");
        }
        let e5m2 = ["v_mfma_f32_16x16x32_bf8_bf8", "v_mfma_f32_32x32x16_bf8_bf8"];
        for subject in subjects("cdna3", &e5m2) {
            let case = products(["#3b x #40"]).c("#33000000");
            group.check(&subject, &case, "#3ee00001");
            let case = products(["#01 x #7f"]).c("#33000000");
            group.check(&subject, &case, "#3ee00000");
        }
    });
}
