//! Units and their cases: what every language is asked, and what the reference answers.

use std::path::PathBuf;
use std::process::Command;

use crate::inputs::{self, KINDS, Random, operands};
use mmascope_model::dpa::{Dpa, Modifiers, OperandWords, Signature, Unit};
use mmascope_model::export::{self, Language};
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
        if known {
            continue;
        }
        found.push(Subject {
            name: format!("{}:{}", row.architecture, row.name),
            unit: (**unit).clone(),
        });
    }
    found
}

/// The source of a subject whose function has that name, or none of its own.
pub(crate) fn source(subject: &Subject, language: Language, function: Option<&str>) -> String {
    let source = export::unit(&subject.unit, &subject.name, language, function);
    source.unwrap_or_else(|error| panic!("{error}"))
}

/// So many cases of each kind.
pub(crate) fn cases(subject: &Subject, each: usize, salt: u64) -> Cases {
    let mut random = Random::seeded(&subject.name, salt);
    let mut cases = Cases {
        operands: Vec::new(),
        answers: Vec::new(),
    };
    for kind in KINDS {
        for index in 0..each {
            let mut own = operands(subject.unit.signature(), kind, &mut random);
            // Without c, the floor of the alignment shows.
            if index % 6 == 5 {
                own.c = 0;
            }
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
    let parts = [
        &a[..],
        &b[..],
        std::slice::from_ref(c),
        &scale_a[..],
        &scale_b[..],
    ];
    parts.into_iter().flatten().copied()
}

/// Compares answers with the reference's: where the payload of a NaN is not known, every NaN is right.
pub(crate) fn compare(language: &str, subject: &Subject, cases: &Cases, answers: &[u64]) {
    assert_eq!(
        answers.len(),
        cases.answers.len(),
        "{language}, {}",
        subject.name
    );
    let wrong =
        (0..answers.len()).filter(|&at| !subject.unit.agrees(cases.answers[at], answers[at]));
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
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
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
        let unit = &subject.unit;
        let signature = unit.signature();
        let program = unit.program().to_string();
        let shape: String = program.chars().filter(|c| !c.is_ascii_digit()).collect();
        let scale = signature.scale.map_or("", |scale| scale.format.name);
        // Integers of every width and kind are read in their own way.
        let integers = match unit.program().sums_integers() {
            true => format!("{}{}", signature.a, signature.b),
            false => String::new(),
        };
        let key = format!("{shape}{scale}{}{}{integers}", signature.c, signature.d);
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

/// Units with drawn parameters, that no row has, as far as they have a source; and the reasons why others have none.
pub(crate) fn drawn(each: usize) -> (Vec<Subject>, Vec<String>) {
    let signatures = [
        "a=f16 b=f16 c=f32 d=f32 k=12",
        "a=bf16 b=bf16 c=f32 d=f32 k=7",
        "a=e4m3fnuz b=e5m2fnuz c=f32 d=f32 k=20",
        "a=f16 b=bf16 c=f16 d=f16 k=6",
        "a=e4m3 b=e5m2 c=f16 d=bf16 k=5",
        "a=e2m1 b=e3m2 c=f32 d=f32 k=64 scale=ue4m3 block=16",
        "a=e4m3 b=e2m3 c=f32 d=f32 k=64 scale=ue8m0 block=32",
        "a=f64 b=f64 c=f64 d=f64 k=5",
        "a=f32 b=f32 c=f32 d=f32 k=4",
        "a=mxint8 b=e5m2 c=f32 d=e5m2 k=6",
        "a=tf32 b=f32 c=f32 d=e4m3fnuz k=3",
        "a=int8 b=uint4 c=int16 d=int16 k=7",
        "a=uint16 b=int32 c=uint32 d=uint32 k=5",
        "a=int32 b=int32 c=int64 d=int64 k=6",
        "a=uint1 b=uint1 c=uint8 d=uint8 k=300",
    ];
    let mut random = Random::seeded("drawn", 9);
    let (mut found, mut reasons) = (chosen(), Vec::new());
    for text in signatures {
        let signature: Signature = text.parse().expect("a signature");
        for algorithm in Dpa::all() {
            // The general steps have the most parameters.
            let count = if matches!(algorithm, Dpa::General(_)) {
                4 * each
            } else {
                each
            };
            for _ in 0..count {
                let algorithm = inputs::drawn(&algorithm, &mut random);
                let mut pick =
                    |words: &[&'static str]| words[random.below(words.len() as u64) as usize];
                let rounding = pick(&["rz", "rne", "rd", "ru", "odd", "rna"]);
                let zero = pick(&[
                    "plus",
                    "exact",
                    "ieee",
                    "minus",
                    "common",
                    "exact-minus",
                    "common-minus",
                ]);
                let overflow = pick(&["inf", "ieee", "nan", "sat", "satfinite", "nanfinite"]);
                let flush = pick(&[
                    "",
                    "",
                    " flush=plus",
                    " flush=kept tininess=before",
                    " flush=kept tininess=unbounded",
                ]);
                let from = match algorithm.can_begin_with_product() {
                    true => pick(&["", " from +0", " from product"]),
                    false => pick(&["", " from +0"]),
                };
                let codes = pick(&["", "", "", "codes=numbers ; ", "codes=largest ; "]);
                // Sums of integers are exact, and have no codes.
                let text = match algorithm.sums_integers() {
                    true => format!(
                        "{algorithm}{} -> rz {}",
                        from.replace(" from product", ""),
                        signature.d
                    ),
                    false => format!(
                        "{codes}{algorithm}{from} -> {rounding} {} zero={zero} overflow={overflow}{flush}",
                        signature.d
                    ),
                };
                let Ok(program) = text.parse() else {
                    continue;
                };
                let Ok(unit) = Unit::new(signature, program) else {
                    continue;
                };
                let name = format!("{signature}: {}", unit.program());
                match export::unit(&unit, &name, Language::C, None) {
                    Ok(_) => found.push(Subject { name, unit }),
                    Err(error) => reasons.push(error.to_string()),
                }
            }
        }
    }
    (found, reasons)
}

/// Units that drawing hardly makes: products rounded to formats without ∞ or NaN, and several statements of one product.
fn chosen() -> Vec<Subject> {
    let units = [
        (
            "a=e5m2 b=e5m2 c=f32 d=f32 k=1",
            "fused L=8 F=31 products=rz:e4m3 -> rnz f32",
        ),
        (
            "a=e5m2 b=e5m2 c=f32 d=f32 k=2",
            "fused L=8 F=31 products=rne:e4m3fnuz zero-times-inf=signed -> rnz f32",
        ),
        (
            "a=f16 b=e5m2 c=f32 d=f32 k=3",
            "fused L=8 F=31 inf-minus-inf=minus products=rne:e2m1 -> rnz f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=2",
            "s = fma-chain over k=0 -> rne f32 ; d = fma-chain over k=1 from s -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=2",
            "s = fused L=1 F=24 over k=0 -> rz f32 ; d = fused L=1 F=25 over k=1 from s -> rz f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=1",
            "x = fused L=1 F=24 part a=0:7 b=0:11 -> rz f32 ; d = fused L=1 F=24 part a=7:4 b=0:11 from x -> rz f32",
        ),
    ];
    let subject = |(signature, program): (&str, &str)| {
        let signature: Signature = signature.parse().expect("a signature");
        let unit = Unit::new(signature, program.parse().expect("a program"));
        Subject {
            name: format!("{signature}: {program}"),
            unit: unit.expect("a unit"),
        }
    };
    units.map(subject).into()
}
