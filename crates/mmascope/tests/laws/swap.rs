//! a and b may be exchanged, together with their formats and their scales.

use mmascope::dpa::{Program, Signature, Unit};

use super::operands::{Case, negated};
use super::rows::for_every_row;

/// The program with what it says of a and of b exchanged; a difference is the sum with −b.
fn exchanged(program: &Program) -> Program {
    let word = |word: &str| match word.split_once('-') {
        Some(("a", rest)) if rest.starts_with("from=") || rest.starts_with("to=") => {
            format!("b-{rest}")
        }
        Some(("b", rest)) => format!("a-{rest}"),
        _ => word.replace("of=difference", "of=sum"),
    };
    let words: Vec<String> = program.to_string().split(' ').map(word).collect();
    words.join(" ").parse().expect("still a program")
}

#[test]
fn a_and_b_are_alike() {
    for_every_row(10, 12, |row, case, kind, _| {
        let Signature { a, b, .. } = *row.signature();
        let signature = Signature {
            a: b,
            b: a,
            ..*row.signature()
        };
        let unit = Unit::new(signature, exchanged(row.program())).expect("it still fits");
        let Case {
            a,
            b,
            c,
            scale_a,
            scale_b,
        } = case.clone();
        let is_difference = row.program().to_string().contains("of=difference");
        let negated = |word: u64| negated(&signature.a, word);
        let b = match is_difference {
            true => b.into_iter().map(negated).collect(),
            false => b,
        };
        let swapped = Case {
            a: b,
            b: a,
            c,
            scale_a: scale_b,
            scale_b: scale_a,
        };
        let (d, other) = (case.run(&row.unit), swapped.run(&unit));
        assert_eq!(d, other, "{} {kind:?} {case:?}", row.name);
    });
}
