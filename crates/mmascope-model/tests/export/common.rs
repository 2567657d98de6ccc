//! Units and their cases: what every language is asked, and what the reference answers.

use std::path::PathBuf;
use std::process::Command;

use crate::inputs::{KINDS, Random, operands};
use mmascope_model::dpa::{Modifiers, OperandWords, Unit};
use mmascope_model::isa::{Catalogue, Model};

/// A unit under a name.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) unit: Unit,
}

/// Cases of a subject, with the reference's answers.
pub(crate) struct Cases {
    pub(crate) operands: Vec<OperandWords>,
    pub(crate) answers: Vec<u64>,
}

/// Every unit of the catalogue whose steps have a source, each once: rows may share one.
pub(crate) fn rows() -> Vec<Subject> {
    let mut found: Vec<Subject> = Vec::new();
    for row in Catalogue::built_in().instructions() {
        let Model::Known(unit) = &row.model else {
            continue;
        };
        let known = found.iter().any(|own| own.unit == **unit);
        let is_out = |name: &str| unit.program().to_string().contains(name);
        if known || ["int-dot", "gr-fdpa", "semi-fma"].into_iter().any(is_out) {
            continue;
        }
        found.push(Subject {
            name: format!("{}:{}", row.architecture, row.name),
            unit: (**unit).clone(),
        });
    }
    found
}

/// So many cases of each kind.
pub(crate) fn cases(subject: &Subject, each: usize, salt: u64) -> Cases {
    let mut random = Random::seeded(&subject.name, salt);
    let mut cases = Cases {
        operands: Vec::new(),
        answers: Vec::new(),
    };
    for kind in KINDS {
        for _ in 0..each {
            let own = operands(subject.unit.signature(), kind, &mut random);
            let answer = subject.unit.dot(&own.operands(), &Modifiers::default());
            cases.answers.push(answer.expect("operands that fit"));
            cases.operands.push(own);
        }
    }
    cases
}

/// The words of a case, one after the other: a, b, c, the scales of a, those of b.
pub(crate) fn words(operands: &OperandWords) -> impl Iterator<Item = u64> + '_ {
    let OperandWords {
        a,
        b,
        c,
        scale_a,
        scale_b,
    } = operands;
    let parts = [&a[..], &b[..], std::slice::from_ref(c), &scale_a[..], &scale_b[..]];
    parts.into_iter().flatten().copied()
}

/// Compares answers with the reference's: where the payload of a NaN is not known, every NaN is right.
pub(crate) fn compare(language: &str, subject: &Subject, cases: &Cases, answers: &[u64]) {
    assert_eq!(answers.len(), cases.answers.len(), "{language}, {}", subject.name);
    let wrong = (0..answers.len()).filter(|&at| !subject.unit.agrees(cases.answers[at], answers[at]));
    let wrong: Vec<usize> = wrong.collect();
    if let Some(&at) = wrong.first() {
        panic!(
            "{language}, {}: {:x}, but {:x} is right ({} of {} are wrong)\n{}\n{} ; {}\n{:x?}",
            subject.name,
            answers[at],
            cases.answers[at],
            wrong.len(),
            answers.len(),
            at,
            subject.unit.signature(),
            subject.unit.program(),
            cases.operands[at],
        );
    }
}

/// A folder for the files of one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for files");
    folder
}

/// Whether a program runs here; a skip is printed.
pub(crate) fn is_here(program: &str, argument: &str, test: &str) -> bool {
    let ran = Command::new(program).arg(argument).output();
    let is_here = ran.is_ok_and(|output| output.status.success());
    if !is_here {
        println!("skipped: {test}, because `{program}` does not run here");
    }
    is_here
}

/// Runs a command that has to succeed; gives what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Hexadecimal words, one a line, shared out among the subjects.
pub(crate) fn shared_out(printed: &str, all: &[Cases]) -> Vec<Vec<u64>> {
    let mut lines = printed
        .lines()
        .map(|line| u64::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("'{line}'")));
    let mut of = |cases: &Cases| lines.by_ref().take(cases.answers.len()).collect();
    all.iter().map(&mut of).collect()
}

/// Rows of which together every algorithm, result and kind of program is one: the smallest of each, up to so many
/// bits of operands.
pub(crate) fn representatives(most: usize) -> Vec<Subject> {
    let mut found: Vec<(String, usize, Subject)> = Vec::new();
    for subject in rows() {
        let signature = subject.unit.signature();
        let program = subject.unit.program().to_string();
        let shape: String = program.chars().filter(|c| !c.is_ascii_digit()).collect();
        let scale = signature.scale.map_or("", |scale| scale.format.name);
        let key = format!("{shape}{scale}{}{}", signature.c, signature.d);
        let bits = signature.k * (signature.a.bits + signature.b.bits) as usize;
        if bits > most {
            continue;
        }
        match found.iter_mut().find(|(own, ..)| *own == key) {
            Some((_, own, smallest)) if bits < *own => (*own, *smallest) = (bits, subject),
            Some(_) => {}
            None => found.push((key, bits, subject)),
        }
    }
    found.into_iter().map(|(.., subject)| subject).collect()
}
