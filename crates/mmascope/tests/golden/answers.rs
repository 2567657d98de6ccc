//! Recorded answers: every vector line is made again and is what was recorded, and its d is what the reference computes.

use std::collections::BTreeSet;

use mmascope::cases::{Family, Generator};
use mmascope::dpa::Modifiers;
use mmascope::isa::Catalogue;
use mmascope::vector;

use super::file::{all_lines, words};

/// The seed that `record` takes when none is given.
const SEED: u64 = 1;

/// FNV-1a, as the head of the file has it for all vector lines.
fn fnv(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn every_recorded_answer_is_the_reference_s() {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let (mut number, mut forms, mut failures) = (0, BTreeSet::new(), Vec::new());
    let lines = all_lines("answers.txt");
    let (head, rows): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.starts_with('#'));
    for line in rows {
        let [form, family, text] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("'{line}': expected INST FAMILY D");
        };
        forms.insert(form);
        let name = form.trim_end_matches("+registers");
        let row = Catalogue::built_in().find("hopper", name).expect("a row");
        let unit = row.unit().expect("a model");
        let family = Family::named(family).expect("a family");
        let generator = Generator::for_unit(family, SEED, unit).expect("cases");
        let digits = row.signature.d.digits();
        for (index, recorded) in (0..).zip(words(text, digits)) {
            let case = generator.case(index);
            let operands = case.operands();
            let origin = [
                ("family", format!("\"{family}\"")),
                ("seed", SEED.to_string()),
                ("index", index.to_string()),
            ];
            let question = vector::question("hopper", name, &origin, &row.signature, &operands);
            let open = question.trim_end_matches('}');
            hash = fnv(hash, &format!("{open},\"d\":\"{recorded:0digits$x}\"}}\n"));
            number += 1;
            let got = row.dot(&operands, &Modifiers::default()).expect("a result");
            if !unit.agrees(recorded, got) {
                failures.push(format!(
                    "{form} {family} {index}: {recorded:x}, not {got:x}"
                ));
            }
        }
    }
    assert_eq!(failures, [""; 0], "answers that are not the reference's");
    assert_eq!((number, forms.len()), (44_600, 145));
    let recorded = format!("{hash:016x}");
    assert!(
        head.iter().any(|line| line.ends_with(&recorded)),
        "the lines made again have {recorded}: {head:?}"
    );
}
