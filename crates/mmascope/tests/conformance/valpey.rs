//! `conformance.md` §7: vectors of Valpey et al. that the specification could re-derive.
//!
//! Not tests: the other rows of that page, whose exponents do not reproduce their own exact value
//! (c = 1.9951171875·2^-8, c = 1.8124666·2^-2, and those with 1.2587890625·2^-15). The first two
//! vectors tell F apart; the page names no GPU for them.

use super::case::{Case, group, products};
use super::subject::{rows_to_f16, rows_to_f32};

/// The vectors with f32 results, and these results with 23, 24 and 25 fraction bits.
fn vectors() -> Vec<(Case, [&'static str; 3])> {
    let big = "1.9990234375*2^-1 x 1.9990234375*2^-1";
    let one = |product: &str, c: &str| products([product]).c(c);
    vec![
        (
            // c is printed as 1.0021368265151978·2^15, the nearest f32.
            products(["1.9990234375*2^-9 x 1.9990234375*2^-1", big]).c("(1+17925*2^-23)*2^15"),
            ["32839.015625", "32839.01953125", "32839.01953125"],
        ),
        (
            one("2 x 1.9990234375*2^-9", "-2^13"),
            ["-8191.9931640625", "-8191.99267578125", "-8191.9921875"],
        ),
        (
            // Three bits of carry.
            products([
                "1.6484375*2^-5 x 1.0615234375*2^9",
                "1.765625*2^-3 x 1.9833984375*2^6",
                "1.5*2^15 x 1.3330078125*2^-11",
                "2^10 x 2^-7",
            ])
            .c("1.999664306640625*2^4"),
            ["2^7"; 3],
        ),
        (
            one("1.767578125*2^15 x -1.1142578125*2^15", "1.6435546875*2^2"),
            ["-2114775040"; 3],
        ),
        (
            one("1.7060546875*2^15 x -1.7646484375*2^13", "1.9970703125*2^8"),
            ["-808147712"; 3],
        ),
        (
            one("1.5*2^15 x 1.5*2^14", "-1.0029296875*2^15"),
            ["1207926656"; 3],
        ),
        (
            one("1.0302734375*2^15 x 1.748046875*2^15", "1.5009765625*2^8"),
            ["1933773184"; 3],
        ),
        (one("1.25*2^-15 x -1.25*2^-15", "1"), ["1"; 3]),
        (
            products([
                "-1.9990234375*2^-1 x -1.9990234375*2^-1",
                "-1.9990234375*2^-1 x 1.4990234375*2^-1",
            ]),
            ["1.9990234375*2^-3"; 3],
        ),
    ]
}

#[test]
fn vectors_to_f32() {
    group("§7 Valpey, f32 results", |group| {
        for row in rows_to_f32() {
            if row.subject.takes_eleven_bits() {
                for (case, expected) in vectors() {
                    group.check(&row.subject, &case, expected[row.f as usize - 23]);
                }
            }
        }
    });
}

#[test]
fn vectors_to_f16() {
    group("§7 Valpey, f16 results", |group| {
        for row in rows_to_f16() {
            let case = products(["1.3330078125*2^-13 x -0.75"]);
            group.check(&row.subject, &case, "-2^-13");
            let case = products(["1.3330078125*2^-9 x 0.75"]);
            group.check(&row.subject, &case, "2^-9");
        }
    });
}
