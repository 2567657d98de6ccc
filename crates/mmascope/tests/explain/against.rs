//! `explain` finds where two units part: the step, the term, the bit.

use mmascope::explain::{Comparison, TraceRequest, TracedPart};
use mmascope::isa::Catalogue;

use super::golden::{REQUEST, input, trace};

/// The difference of two units on operands for the first one, and their results.
fn parting(
    one: (&str, &str),
    other: (&str, &str),
    request: &TraceRequest<'_>,
) -> (Option<TracedPart>, String) {
    let signature = |(arch, inst): (&str, &str)| {
        let row = Catalogue::built_in().find(arch, inst).expect("a row");
        *row.unit().expect("a model").signature()
    };
    let left = input(one.0, one.1, request);
    let right = left
        .transfer(&signature(one), &signature(other), false)
        .expect("fits");
    let (left, right) = (trace(one.0, one.1, &left), trace(other.0, other.1, &right));
    let (name, other_name) = (one.0.to_owned(), other.0.to_owned());
    let difference = Comparison::of((&name, &left), (&other_name, &right));
    let part = difference.parting.clone().map(|parting| parting.part);
    let text = difference.to_string();
    one_below_the_other_has_the_same_lines(&text, &format!("{difference:#}"));
    for result in [&left.result.word, &right.result.word] {
        assert!(text.contains(&format!("result {result}")), "{text}");
    }
    (part, text)
}

/// The lines of both columns, in their order, and no others.
fn one_below_the_other_has_the_same_lines(beside: &str, below: &str) {
    let split = |text: &str| {
        let (head, steps) = text.split_once("\n\n").expect("head and steps");
        let steps: Vec<String> = steps.lines().map(str::to_owned).collect();
        (head.to_owned(), steps)
    };
    let ((head, beside), (other_head, below)) = (split(beside), split(below));
    assert_eq!(head, other_head);
    // (No step has a column's border of its own.)
    let columns = beside
        .iter()
        .map(|line| line.split_once('│').unwrap_or((line, "")));
    let (left, right): (Vec<&str>, Vec<&str>) = columns.unzip();
    let trimmed = |lines: &[&str]| -> Vec<String> {
        let kept = lines.iter().map(|line| line.trim().to_owned());
        kept.filter(|line| !line.is_empty()).collect()
    };
    let below: Vec<&str> = below.iter().map(String::as_str).collect();
    assert_eq!([trimmed(&left), trimmed(&right)].concat(), trimmed(&below));
}

fn term(name: &str, bit: i64) -> Option<TracedPart> {
    Some(TracedPart::Term {
        left: name.to_owned(),
        right: name.to_owned(),
        bit,
    })
}

const VOLTA: (&str, &str) = ("volta", "mma.m8n8k4.f32.f16.f16.f32");
const AMPERE: (&str, &str) = ("ampere", "mma.m16n8k8.f32.f16.f16.f32");
const HOPPER: (&str, &str) = ("hopper", "mma.m16n8k16.f32.f16.f16.f32");

#[test]
fn results_of_different_formats_are_compared_by_value() {
    let (f32, f16) = (HOPPER, ("hopper", "mma.m16n8k16.f16.f16.f16.f16"));
    let request = |c| TraceRequest {
        a: "1,0.5",
        b: "1,1",
        c: Some(c),
        ..TraceRequest::default()
    };
    let note = "; the results are in f32 and f16, and compared by value";
    // 3.5 in both: 40600000 and 4300.
    let (part, text) = parting(f32, f16, &request("2"));
    assert_eq!(part, None, "{text}");
    let words = format!("part     nowhere: every step gives the same numbers{note}\n");
    assert!(text.contains(&words), "{text}");
    // 2049.5 in f32, 2050 in f16.
    let (part, text) = parting(f32, f16, &request("2048"));
    assert!(
        matches!(part, Some(TracedPart::Rounding { bit: 1 })),
        "{part:?} {text}"
    );
    assert!(text.contains(note), "{text}");
    // NaN is NaN in any format, and -0 is not 0.
    let (part, text) = parting(f32, f16, &request("nan"));
    assert_eq!(part, None, "{text}");
    // Equal formats say nothing of formats.
    let (_, text) = parting(VOLTA, AMPERE, &REQUEST);
    assert!(!text.contains("compared by value"), "{text}");
}

#[test]
fn a_nan_that_nobody_knows_parts_from_none() {
    let cdna3 = ("cdna3", "v_mfma_f32_32x32x8_f16");
    let request = TraceRequest {
        a: "nan",
        b: "1",
        ..TraceRequest::default()
    };
    let (part, text) = parting(HOPPER, cdna3, &request);
    assert_eq!(part, None, "{text}");
    let note = "which NaN the result is is not known; 7fc00000 stands for any";
    assert_eq!(
        text.matches(note).count(),
        1,
        "only one of the two is not known: {text}"
    );
}

#[test]
fn generations_part_at_the_bit_that_one_of_them_cuts() {
    let (part, text) = parting(VOLTA, AMPERE, &REQUEST);
    assert_eq!(part, term("p1", -1), "{text}");
    let (part, text) = parting(VOLTA, HOPPER, &REQUEST);
    assert_eq!(part, term("p1", -1), "{text}");
    let (part, text) = parting(AMPERE, HOPPER, &REQUEST);
    assert_eq!(part, term("p2", -2), "{text}");
    let words = "part     at step 1, term p2: bit 2^-2 is cut (rz to 2^-1 = 2^(E-24), E=23 from p0) \
                 by A and kept (rz to 2^-2 = 2^(E-25), E=23 from p0) by B\n";
    assert!(text.contains(words), "{text}");
    // The mark stands under the digit in both columns.
    let (left_row, left_mark) = marked(&text, 0);
    assert_eq!(left_row.chars().nth(left_mark), Some('1'), "{text}");
    let (right_row, right_mark) = marked(&text, 1);
    assert_eq!(right_row.chars().nth(right_mark), Some('1'), "{text}");
}

/// The term's row above the mark in a column, and the mark's place in it.
fn marked(text: &str, column: usize) -> (String, usize) {
    let lines: Vec<String> = text
        .lines()
        .filter_map(|line| line.split(" │ ").nth(column).map(str::to_owned))
        .collect();
    let at = lines
        .iter()
        .position(|line| line.trim_start().starts_with("^ 2^"));
    let at = at.unwrap_or_else(|| panic!("no mark\n{text}"));
    let place = lines[at].chars().position(|c| c == '^').expect("a mark");
    (lines[at - 1].clone(), place)
}

#[test]
fn other_partings() {
    // The same unit: nowhere.
    let (part, text) = parting(HOPPER, HOPPER, &REQUEST);
    assert_eq!(part, None);
    assert!(text.contains("part     nowhere"), "{text}");
    // A chain of two rounds where one fused sum of eight does not: they add different terms.
    let ones = TraceRequest {
        a: "1,1,1,1,1,1,1,1",
        b: "1,1,1,1,1,1,1,1",
        ..TraceRequest::default()
    };
    let (part, text) = parting(AMPERE, VOLTA, &ones);
    assert_eq!(part, Some(TracedPart::Terms), "{text}");
    assert!(text.contains("note: 2 chained instructions"), "{text}");
    // Zero products make no difference to who is added with whom.
    let few = TraceRequest {
        a: "1,1",
        b: "1,1",
        ..TraceRequest::default()
    };
    assert_eq!(parting(AMPERE, VOLTA, &few).0, None);
    // The last rounding: f32 keeps what f16 rounds.
    let fine = TraceRequest {
        a: "1, 2^-12",
        b: "1, 1",
        ..TraceRequest::default()
    };
    let half = ("ampere", "mma.m16n8k8.f16.f16.f16.f16");
    assert_eq!(
        parting(AMPERE, half, &fine).0,
        Some(TracedPart::Rounding { bit: -12 })
    );
    // The NaN of one is known, that of the other is not.
    let nan = TraceRequest {
        a: "nan",
        b: "1",
        ..TraceRequest::default()
    };
    let (part, _) = parting(AMPERE, ("cdna3", "v_mfma_f32_32x32x8_f16"), &nan);
    assert_eq!(part, None);
    // The sign of a zero, also in another format.
    let zeros = TraceRequest {
        a: "-0,-0,-0,-0,-0,-0,-0,-0",
        b: "1,1,1,1,1,1,1,1",
        c: Some("-0"),
        ..TraceRequest::default()
    };
    let (part, text) = parting(AMPERE, ("hopper", "mma.m8n8k4.f64.f64.f64.f64"), &zeros);
    assert_eq!(part, Some(TracedPart::Word), "{text}");
    // The first of several bits that differ is the highest one.
    let bits = TraceRequest {
        a: "2^13, 0.75",
        b: "2^10, 1",
        c: Some("-2^23"),
        ..REQUEST
    };
    assert_eq!(parting(VOLTA, HOPPER, &bits).0, term("p1", -1));
    // An exact sum against a truncated one.
    let (part, text) = parting(VOLTA, ("cdna1", "v_mfma_f32_32x32x4_2b_f16"), &REQUEST);
    assert_eq!(part, term("p1", -1));
    assert!(text.contains("and kept (exact sum) by B"), "{text}");
}

#[test]
fn units_that_agree_part_nowhere_and_others_somewhere() {
    // On random operands a parting is found whenever the results differ.
    let mut random = super::cases::Random::seeded("against", 1);
    let mut parted = 0;
    for number in 0..300 {
        let words: Vec<String> = (0..8)
            .map(|_| format!("0x{:04x}", random.below(1 << 15) | random.below(2) << 15))
            .collect();
        let (a, b) = (words[..4].join(","), words[4..].join(","));
        let request = TraceRequest {
            a: &a,
            b: &b,
            ..TraceRequest::default()
        };
        let others = [
            AMPERE,
            HOPPER,
            ("cdna1", "v_mfma_f32_32x32x4_2b_f16"),
            ("cdna3", "v_mfma_f32_32x32x8_f16"),
        ];
        let (part, text) = parting(VOLTA, others[number % others.len()], &request);
        let results: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("result "))
            .collect();
        let words: Vec<&str> = results
            .iter()
            .map(|line| line.split(' ').next().expect("a word"))
            .collect();
        let both_nan = results.iter().all(|line| line.ends_with("= nan"));
        if words[0] != words[1] && !both_nan {
            assert!(part.is_some(), "{text}");
            parted += 1;
        }
    }
    assert!(parted > 50, "{parted}");
}
