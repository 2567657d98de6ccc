//! Discriminating vectors separate what they say.

use mmascope::discriminate::discriminate;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::isa::{Catalogue, Instruction};

fn row(arch: &str, inst: &str) -> &'static Instruction {
    Catalogue::built_in().find(arch, inst).expect("a row")
}

/// Each neighbour built here from text, apart from the code that makes the vectors.
#[test]
fn neighbours_are_separated() {
    let row = row("hopper", "mma.m16n8k16.f32.bf16.bf16.f32");
    let unit = row.unit().expect("a unit");
    let vectors = discriminate(unit, 3).expect("vectors");
    println!(
        "{} lines separate {}; not separable: {:?}",
        vectors.lines.len(),
        vectors.separated,
        vectors.inseparable
    );
    // What cannot be separated is said as `infer` says it: the row's own value first, runs as ranges.
    let of = |name: &str| {
        let mut open = vectors.inseparable.iter();
        open.find(|open| open.parameter == name)
            .map(ToString::to_string)
    };
    assert_eq!(of("F2").as_deref(), Some("unobservable F2: none, 32..64"));
    assert!(vectors.lines.len() < 80, "{} lines", vectors.lines.len());
    for neighbour in [
        "t-fdpa L=16 F=24 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=26 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=15 F=25 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=8 F=25 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-132 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-134 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 align=rd -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 align=rne -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 -> rne f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff zero=exact",
        "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff overflow=sat",
        "t = t-fdpa L=16 F=25 e0=-133 from +0 -> rz f32 ; d = add c t -> rz f32",
        "fused L=16 F=25 e0=-133 flush-in=plus -> rz f32 nan=7fffffff zero=plus",
    ] {
        let other =
            Unit::new(row.signature, neighbour.parse().expect("a program")).expect("a unit");
        let differs = vectors.lines.iter().any(|line| {
            let word = other
                .dot(&line.case.operands(), &Modifiers::default())
                .expect("computes");
            word != line.d
        });
        assert!(differs, "{neighbour}");
    }
    for line in &vectors.lines {
        assert!(!line.separates.is_empty());
        assert_eq!(
            unit.dot(&line.case.operands(), &Modifiers::default()),
            Ok(line.d)
        );
    }
}

/// A fault that only a sum of exactly -1 in the last place shows, and the parts of significands that are multiplied.
#[test]
fn faults_and_parts_are_separated() {
    let inst = "tensix.mvmul.bf16.d32.phase0";
    let vectors = discriminate(row("wormhole", inst).unit().expect("a unit"), 1).expect("vectors");
    let named = ["fault", "a-from", "a-to", "b-from", "b-to"];
    let open = vectors.inseparable.iter();
    let open: Vec<_> = open
        .filter(|open| named.contains(&&*open.parameter))
        .collect();
    assert!(open.is_empty(), "{open:?}");
    let neighbour = |parts: &str, fault: &str| {
        format!("codes=numbers ; gr-fdpa L=16 G=8 Fg=10 F=23 e0=-127 {parts}{fault} -> rna f32")
    };
    for program in [
        neighbour("a-to=6 b-to=4", ""),
        neighbour("a-to=6 b-to=4", " fault=26"),
        neighbour("a-from=1 a-to=6 b-to=4", " fault=27"),
        neighbour("a-to=5 b-to=4", " fault=27"),
        neighbour("b-to=4", " fault=27"),
        neighbour("a-to=6 b-from=1 b-to=4", " fault=27"),
        neighbour("a-to=6 b-to=5", " fault=27"),
        neighbour("a-to=6", " fault=27"),
    ] {
        let parsed = program.parse().expect("a program");
        let other = Unit::new(row("wormhole", inst).signature, parsed).expect("a unit");
        let differs = vectors
            .lines
            .iter()
            .any(|line| other.dot(&line.case.operands(), &Modifiers::default()) != Ok(line.d));
        assert!(differs, "{program}");
    }
}
