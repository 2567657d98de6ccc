//! `conformance.md` §3: tiny bf16 values, where the floor of the f32 accumulator decides.

use super::case::{Case, group, products};
use super::subject::Subject;

/// Sixteen products of bf16 words.
fn words(a: &str, b: &str) -> Case {
    let pairs = a.split(' ').zip(b.split(' '));
    products(pairs.map(|(a, b)| format!("#{a} x #{b}")))
}

fn hopper() -> Subject {
    Subject::new("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")
}

/// H1, a result of an H100.
#[test]
fn recorded_on_an_h100() {
    let case = words(
        "9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a",
        "9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735",
    );
    group("§3 H1", |group| {
        group.check(&hopper(), &case, "0x1.6p-146");
        for other in ["e0=-132", "e0=-134", "e0=-126", "e0=-2000"] {
            group.check(&hopper().with("e0=-133", other), &case, "0x1.4p-146");
        }
    });
}

/// H2; the hardware's word was not captured.
#[test]
fn as_the_model_has_it() {
    let case = words(
        "9b23 17c3 1b6a 999d 9a2c 9b05 1aab 9af3 9a4d 1a7c 9a42 19dc 99d3 1ac5 9b36 1ab9",
        "1884 1923 1af9 9b09 9b52 9a4a 1afe 9a82 9ac9 9b75 9abc 18ed 9acf 9a50 9b4a 1b0f",
    );
    group("§3 H2", |group| {
        group.check(&hopper(), &case, "0x1.ap-144");
        group.check(&hopper().with("e0=-133", "e0=-126"), &case, "0x1.98p-144");
    });
}
