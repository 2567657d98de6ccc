//! SMT-LIB 2: z3 evaluates cases, proves that two rows are one function, and finds where two differ.
//!
//! The interpreter is `$MMASCOPE_PYTHON`, otherwise `python3`; without its package z3 the tests say so and end.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Subject, cases, compare, folder, representatives, run, shared_out};
use mmascope_model::dpa::{Modifiers, Operands, Signature, Unit};
use mmascope_model::export::{self, Language};

/// The interpreter, if it has z3.
fn python() -> Option<PathBuf> {
    let chosen = std::env::var_os("MMASCOPE_PYTHON");
    let program = PathBuf::from(chosen.unwrap_or_else(|| "python3".into()));
    let has = Command::new(&program).args(["-c", "import z3"]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    println!(
        "skipped: SMT-LIB 2, because {} has no package z3",
        program.display()
    );
    None
}

/// The sources of units with the statements that call them: constants a_0, a_1 …, b_0 …, c, and the result of each
/// under a name.
fn called(unit: &Unit, functions: &[(&Unit, Option<&str>, &str)]) -> String {
    let mut text = String::new();
    for (unit, function, _) in functions {
        let source = export::unit(unit, "a unit", Language::Smt2, *function);
        text += &source.unwrap_or_else(|error| panic!("{error}"));
    }
    let signature = unit.signature();
    let mut arguments = String::new();
    let mut declare = |name: String, width: u32| {
        let _ = writeln!(text, "(declare-const {name} (_ BitVec {width}))");
        let _ = write!(arguments, " {name}");
    };
    for (name, format) in [("a", signature.a), ("b", signature.b)] {
        for k in 0..signature.k {
            declare(format!("{name}_{k}"), format.register.bits);
        }
    }
    declare("c".to_owned(), signature.c.register.bits);
    if let Some(scale) = signature.scale {
        for name in ["scale_a", "scale_b"] {
            for block in 0..signature.scales() {
                declare(format!("{name}_{block}"), scale.format.register.bits);
            }
        }
    }
    let width = signature.d.container().register.bits;
    for (_, function, result) in functions {
        let function = function.unwrap_or("dot");
        let _ = writeln!(text, "(declare-const {result} (_ BitVec {width}))");
        let _ = writeln!(text, "(assert (= {result} ({function}{arguments})))");
    }
    text
}

#[test]
fn z3_gives_the_bits() {
    let Some(python) = python() else {
        return;
    };
    let subjects: Vec<Subject> = representatives(300);
    let all: Vec<_> = subjects
        .iter()
        .map(|subject| cases(subject, 1, 8))
        .collect();
    let folder = folder("smt");
    let mut script = "import z3\ndef answers(name, rows):\n    read = z3.parse_smt2_file(name)\n    for row in rows:\n        solver = z3.Solver()\n        solver.add(read)\n        for name, width, value in row:\n            solver.add(z3.BitVec(name, width) == value)\n        assert solver.check() == z3.sat\n        result = [it for it in solver.model() if it.name() == 'result'][0]\n        print(f'{solver.model()[result].as_long():x}')\n".to_owned();
    for (place, (subject, cases)) in subjects.iter().zip(&all).enumerate() {
        let text = called(&subject.unit, &[(&subject.unit, None, "result")]);
        std::fs::write(folder.join(format!("row_{place}.smt2")), text).expect("a file");
        let signature = subject.unit.signature();
        let rows: Vec<String> = cases
            .operands
            .iter()
            .map(|operands| {
                let mut row = String::new();
                let mut each = |name: &str, width: u32, words: &[u64]| {
                    for (place, word) in words.iter().enumerate() {
                        let _ = write!(row, "('{name}_{place}', {width}, {word}), ");
                    }
                };
                each("a", signature.a.register.bits, &operands.a);
                each("b", signature.b.register.bits, &operands.b);
                if let Some(scale) = signature.scale {
                    each("scale_a", scale.format.register.bits, &operands.scale_a);
                    each("scale_b", scale.format.register.bits, &operands.scale_b);
                }
                let _ = write!(row, "('c', {}, {})", signature.c.register.bits, operands.c);
                format!("[{row}]")
            })
            .collect();
        let _ = writeln!(script, "answers('row_{place}.smt2', [{}])", rows.join(", "));
    }
    std::fs::write(folder.join("main.py"), script).expect("a file");
    let printed = run(Command::new(python).arg("main.py").current_dir(&folder));
    let answers = shared_out(&printed, &all);
    for ((subject, cases), answers) in subjects.iter().zip(&all).zip(answers) {
        compare("SMT-LIB 2", subject, cases, &answers);
    }
}

fn unit(signature: &str, program: &str) -> Unit {
    let signature: Signature = signature.parse().expect("a signature");
    let program = program.parse().unwrap_or_else(|error| panic!("{error}"));
    Unit::new(signature, program).unwrap_or_else(|error| panic!("{error}"))
}

/// Operands that tell two units apart: a, b and c.
type Apart = (Vec<u64>, Vec<u64>, u64);

/// Asks for operands that give different words; nothing at all without z3: `None` where there are none, else a, b, c.
fn difference(name: &str, one: &Unit, other: &Unit) -> Option<Option<Apart>> {
    let python = python()?;
    let folder = folder(name);
    let functions = [
        (one, Some("one"), "d_one"),
        (other, Some("other"), "d_other"),
    ];
    std::fs::write(folder.join("both.smt2"), called(one, &functions)).expect("a file");
    let (width, k) = (
        one.signature().d.container().register.bits,
        one.signature().k,
    );
    let script = format!(
        "import z3\nsolver = z3.Solver()\nsolver.add(z3.parse_smt2_file('both.smt2'))\nsolver.add(z3.BitVec('d_one', {width}) != z3.BitVec('d_other', {width}))\nanswer = solver.check()\nassert answer != z3.unknown, 'no answer'\nif answer == z3.sat:\n    found = {{it.name(): solver.model()[it].as_long() for it in solver.model()}}\n    for name in ['a_%d' % k for k in range({k})] + ['b_%d' % k for k in range({k})] + ['c']:\n        print('%x' % found.get(name, 0))\n"
    );
    std::fs::write(folder.join("main.py"), script).expect("a file");
    let printed = run(Command::new(python).arg("main.py").current_dir(&folder));
    let words = printed
        .lines()
        .map(|line| u64::from_str_radix(line, 16).expect("a word"));
    let words: Vec<u64> = words.collect();
    Some(match words.is_empty() {
        true => None,
        false => Some((words[..k].to_vec(), words[k..2 * k].to_vec(), words[2 * k])),
    })
}

/// Rows that no input can tell apart, written in different ways: 20 bits of the alignment keep every bit that these
/// formats have, so that a truncated sum is a fused multiply-add, the direction of the truncation does not show, and
/// neither does the floor of the exponent.
#[test]
fn equal_rows_are_proven_equal() {
    let pairs = [
        (
            "chain",
            "a=e2m1 b=e2m1 c=e4m3 d=e4m3 k=1",
            "t-fdpa L=1 F=20 e0=-9 -> rne e4m3 zero=ieee",
            "fma-chain -> rne e4m3 overflow=inf",
        ),
        (
            "floor",
            "a=e2m1 b=e2m1 c=e3m2 d=e3m2 k=2",
            "t-fdpa L=2 F=14 e0=-9 -> rz e3m2",
            "t-fdpa L=2 F=14 e0=-5 align=rd -> rz e3m2",
        ),
    ];
    for (name, signature, one, other) in pairs {
        let (one, other) = (unit(signature, one), unit(signature, other));
        let Some(found) = difference(&format!("equal-{name}"), &one, &other) else {
            return;
        };
        assert_eq!(found, None, "{name}");
    }
}

/// Two rows that differ in one parameter: z3's input tells them apart, and the reference says the same.
#[test]
fn different_rows_have_a_counterexample() {
    let signature = "a=e4m3 b=e4m3 c=f16 d=f16 k=2";
    let one = unit(signature, "t-fdpa L=2 F=13 e0=-21 -> rne f16 nan=7fff");
    let other = unit(signature, "t-fdpa L=2 F=12 e0=-21 -> rne f16 nan=7fff");
    let Some(found) = difference("different", &one, &other) else {
        return;
    };
    let (a, b, c) = found.expect("an input that tells F=13 from F=12");
    let operands = Operands {
        a: &a,
        b: &b,
        c,
        ..Operands::default()
    };
    let dot = |unit: &Unit| unit.dot(&operands, &Modifiers::default()).expect("fits");
    assert_ne!(dot(&one), dot(&other), "{a:x?} {b:x?} {c:x}");
}
