//! `conformance.md` §2: the floor of the alignment exponent of f16 accumulators.
//!
//! Not a test: the row of tcgen05 with f16 results (x·y = 2^-48); it is open. That of wgmma is recorded (`golden`).

use super::case::{Case, group, products};
use super::subject::{Subject, subjects};

/// 2^-25, half of the smallest f16, and x·y, which breaks the tie if alignment keeps it. The
/// other b are 1 and their a are 0.
fn tie(x: &str, y: &str, k: usize) -> Case {
    let tie = products(["2^-14 x 2^-11".to_owned(), format!("{x} x {y}")]);
    (2..k).fold(tie, |case, k| case.at(k, "0 x 1"))
}

/// A row of the table: instructions, y for x = 2^-24, the catalogue's e0, the other source's e0,
/// and the results under the one and the other.
struct Line {
    subjects: Vec<Subject>,
    y: &'static str,
    e0: [&'static str; 2],
    expected: [&'static str; 2],
}

fn table() -> Vec<Line> {
    let volta = [
        subjects("volta", &["mma.m8n8k4.f16.f16.f16.f16"]),
        subjects("turing", &["mma.m8n8k4.f16.f16.f16.f16"]),
    ];
    let ampere = [
        subjects("turing", &["mma.m16n8k8.f16.f16.f16.f16"]),
        subjects(
            "ampere",
            &[
                "mma.m16n8k8.f16.f16.f16.f16",
                "mma.m16n8k16.f16.f16.f16.f16",
            ],
        ),
        subjects(
            "ada",
            &[
                "mma.m16n8k8.f16.f16.f16.f16",
                "mma.m16n8k16.f16.f16.f16.f16",
            ],
        ),
    ];
    let hopper = [
        subjects(
            "hopper",
            &[
                "mma.m16n8k8.f16.f16.f16.f16",
                "mma.m16n8k16.f16.f16.f16.f16",
            ],
        ),
        subjects("blackwell", &["mma.m16n8k16.f16.f16.f16.f16"]),
        subjects("rtx-blackwell", &["mma.m16n8k16.f16.f16.f16.f16"]),
    ];
    vec![
        Line {
            subjects: volta.concat(),
            y: "2^-19",
            e0: ["e0=-19", "e0=-20"],
            expected: ["0", "2^-24"],
        },
        Line {
            subjects: ampere.concat(),
            y: "2^-21",
            e0: ["e0=-20", "e0=-21"],
            expected: ["0", "2^-24"],
        },
        Line {
            subjects: hopper.concat(),
            y: "2^-23",
            e0: ["e0=-21", "e0=-22"],
            expected: ["0", "2^-24"],
        },
        Line {
            subjects: ampere.concat(),
            y: "2^-24",
            e0: ["e0=-20", "e0=-21"],
            expected: ["0", "0"],
        },
    ]
}

#[test]
fn floor_of_f16_accumulators() {
    group("§2 floor", |group| {
        for line in table() {
            for subject in &line.subjects {
                let case = tie("2^-24", line.y, subject.k());
                group.check(subject, &case, line.expected[0]);
            }
        }
    });
}

/// The other columns of the table: the older constant, and no floor.
#[test]
fn other_floors_give_the_other_results() {
    group("§2 other floors", |group| {
        for line in table() {
            for subject in &line.subjects {
                let case = tie("2^-24", line.y, subject.k());
                let older = subject.with(line.e0[0], line.e0[1]);
                group.check(&older, &case, line.expected[1]);
                group.check(&subject.with(line.e0[0], "e0=-2000"), &case, "2^-24");
            }
        }
    });
}
