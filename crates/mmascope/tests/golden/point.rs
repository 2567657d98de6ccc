//! Directed cases of one question, and what a unit makes of them.

use mmascope::dpa::{Modifiers, OperandWords, Unit};
use mmascope::isa::{Catalogue, Instruction};

use super::file::{lines, words};

/// One question to one instruction, with the GPU's answers.
pub(crate) struct Point {
    pub(crate) row: &'static Instruction,
    pub(crate) cases: Vec<Case>,
}

/// One input and what the GPU answered.
pub(crate) struct Case {
    pub(crate) label: String,
    pub(crate) operands: OperandWords,
    pub(crate) d: u64,
}

/// The questions of that name that have cases.
pub(crate) fn points(name: &str) -> Vec<Point> {
    let lines = lines("points.txt");
    let questions = lines.chunk_by(|_, next| !next.starts_with("point "));
    let mut found = Vec::new();
    for question in questions {
        let [_, point, instruction] = question[0].split(' ').collect::<Vec<_>>()[..] else {
            panic!("'{}': expected point NAME INST", question[0]);
        };
        let cases = || question.iter().filter(|line| line.contains('\t'));
        if point != name || cases().next().is_none() {
            continue;
        }
        let row = Catalogue::built_in()
            .find("hopper", instruction)
            .expect("a row");
        found.push(Point {
            row,
            cases: cases().map(|line| Case::read(line, row)).collect(),
        });
    }
    found
}

impl Case {
    fn read(line: &str, row: &Instruction) -> Self {
        let [label, a, b, c, d] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("'{line}': expected label, a, b, c, d");
        };
        let signature = &row.signature;
        // Zeros at the end are left out.
        let filled = |text: &str, digits: usize| {
            let width = signature.k * digits;
            words(&format!("{text:0<width$}"), digits)
        };
        Self {
            label: label.to_owned(),
            operands: OperandWords {
                a: filled(a, signature.a.digits()),
                b: filled(b, signature.b.digits()),
                c: words(c, signature.c.digits())[0],
                ..OperandWords::default()
            },
            d: words(d, signature.d.digits())[0],
        }
    }
}

impl Point {
    pub(crate) fn unit(&self) -> &'static Unit {
        self.row.unit().expect("a model")
    }

    /// The cases that a unit answers otherwise.
    pub(crate) fn contradictions(&self, unit: &Unit, modifiers: &Modifiers) -> Vec<String> {
        let answer = |case: &Case| {
            unit.dot(&case.operands.operands(), modifiers)
                .expect("a result")
        };
        let wrong = |case: &&Case| !unit.agrees(case.d, answer(case));
        let text = |case: &Case| {
            format!(
                "{} {}: {:x}, not {:x}",
                self.row.name,
                case.label,
                case.d,
                answer(case)
            )
        };
        self.cases.iter().filter(wrong).map(text).collect()
    }

    /// The row's unit with one part of its notation replaced; `None` where it has no such part.
    pub(crate) fn changed(&self, part: &str, replacement: &str) -> Option<Unit> {
        let program = self.unit().program().to_string();
        program.contains(part).then(|| {
            let program = program.replace(part, replacement);
            let parsed = program
                .parse()
                .and_then(|it| Unit::new(self.row.signature, it));
            parsed.unwrap_or_else(|error| panic!("{program}: {error}"))
        })
    }
}
