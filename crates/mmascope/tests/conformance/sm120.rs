//! `conformance.md` §5: words for sm_120 (RTX Blackwell), from third parties.
//!
//! Not tests: the claim that the accumulator has F + 1 + ⌈log2(L + 1)⌉ magnitude bits (no operands
//! are given, and the sum is exact in the model). The addends of the 12·24 case are not given; those
//! here are chosen so that the two results are the published ones.

use super::case::{group, only_c, products};
use super::subject::{Subject, subjects};

#[test]
fn words_of_f16_and_bf16() {
    let bf16 = Subject::new("rtx-blackwell", "mma.m16n8k16.f32.bf16.bf16.f32");
    let f16 = Subject::new("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32");
    let f16_to_f16 = Subject::new("rtx-blackwell", "mma.m16n8k16.f16.f16.f16.f16");
    group("§5 f16 and bf16", |group| {
        let small = products(["1 x #3340"; 4]);
        group.check(&bf16, &small.clone().c("1"), "#3f800001");
        group.check(&bf16, &small.c("-1"), "#bf7ffffe");
        let case = products(["1 x 2"; 4]).c("#49800000");
        group.check(&bf16, &case, "#49800040");
        for product in ["3*2^-24", "1 x 3*2^-24"] {
            group.check(&f16, &products([product; 4]).c("1"), "#3f800006");
        }
        for subject in [&f16, &bf16] {
            group.check(subject, &only_c("2^-139"), "#00000400");
        }
        let case = products(["2^-11"]).c("1.9990234375");
        group.check(&f16_to_f16, &case, "#4000");
    });
}

#[test]
fn words_of_e4m3() {
    let instructions = [
        "mma.m16n8k16.f32.e4m3.e4m3.f32",
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
        "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32",
    ];
    group("§5 e4m3", |group| {
        for subject in subjects("rtx-blackwell", &instructions) {
            let ones = products(["1 x 1"; 4]);
            group.check(&subject, &ones.clone().c("#3f800006"), "#40a00001");
            group.check(&subject, &ones.c("#3f800200"), "#40a00080");
            group.check(&subject, &products(["#7c x 1"]), "384");
            group.check(&subject, &products(["#7f x 1"]), "#7fffffff");
        }
    });
}

/// 12·24 = 2.25·2^7 and 18·16 = 1.125·2^8 align the same addends differently.
#[test]
fn product_exponents_are_not_normalised() {
    let subject = Subject::new("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32");
    let with_addends = |product| (1..9).fold(products([product]), |case, k| case.at(k, "2^-18"));
    group("§5 product exponents", |group| {
        group.check(&subject, &with_addends("12 x 24"), "#43900001");
        group.check(&subject, &with_addends("18 x 16"), "#43900000");
    });
}
