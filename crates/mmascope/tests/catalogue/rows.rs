//! Every row as it stands: notation, names, evidence.

use std::collections::HashSet;

use mmascope::dpa::{Program, Unit};
use mmascope::isa::{Catalogue, Instruction, Model, Strength};

#[test]
fn every_notation_reads_back_as_itself() {
    let mut programs = HashSet::new();
    for row in Catalogue::built_in().instructions() {
        let Model::Known(unit) = &row.model else {
            continue;
        };
        let text = unit.program().to_string();
        let read: Program = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(&read, unit.program(), "{} {}", row.architecture, row.name);
        assert_eq!(read.to_string(), text);
        assert_eq!(Unit::new(row.signature, read).as_ref(), Ok(&**unit));
        assert!(!unit.program().words().is_empty());
        programs.insert(text);
    }
    assert!(programs.len() > 30, "{}", programs.len());
}

/// The notation of what no shipped row uses.
#[test]
fn unusual_notations_read_back_as_themselves() {
    for text in [
        "t-fdpa L=256 F=64 e0=-2000 align=rne -> ru bf16 nan=any zero=ieee overflow=sat",
        "st-fdpa L=1 F=1 e0=2000 align=odd -> ra f16 zero=exact overflow=satfinite",
        "gst-fdpa L=32 G=8 F=10 e0=0 align=rd -> rna e4m3 overflow=nan",
        "ftz-addmul P=8 flush-in=kept flush-out=plus -> rne f32",
        "ftz-addmul P=1 flush-in=plus flush-out=kept -> rne f32",
        "e-fdpa L=3 -> rno tf32 nan=7f812000 overflow=ieee",
        "tr-fdpa L=2 F=3 F2=4 over k=3,1,2,0 -> rnz f32",
        "x = gtr-fdpa L=2 F=3 F2=4 over k%3=0,2 from +0 -> rnu f32 ; d = convert c -> rnd f16",
        "x = fma-chain from product -> rne f64 ; y = add x c -> rz f64 ; d = add y +0 -> rd f64",
        "  t-fdpa  L=4\te0=-131 F=23   -> rz float32  ",
    ] {
        let program: Program = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let printed = program.to_string();
        assert_eq!(
            printed.parse::<Program>().expect("reads back"),
            program,
            "{text}\n{printed}"
        );
    }
}

/// All spellings of a row: its name, and the name with every other legal shape.
fn spellings(row: &Instruction) -> Vec<String> {
    let mut found = vec![row.name.clone()];
    let first = &row.shapes[0];
    let shape_text = |m: u32, n: u32, crosses: bool, blocks: u32| match (crosses, blocks) {
        (false, _) => format!("m{m}n{n}k{}", row.signature.k),
        (true, 1) => format!("{m}x{n}x{}", row.signature.k),
        (true, _) => format!("{m}x{n}x{}_{blocks}b", row.signature.k),
    };
    let own = shape_text(first.m[0], first.n[0], first.crosses, first.blocks);
    for shape in &row.shapes {
        for &m in &shape.m {
            for &n in &shape.n {
                let other = shape_text(m, n, shape.crosses, shape.blocks);
                found.push(row.name.replacen(&own, &other, 1));
            }
        }
    }
    found
}

#[test]
fn every_name_and_every_legal_shape_finds_its_row() {
    let mut names = 0;
    for architecture in Catalogue::built_in().architectures() {
        let mut canonical = HashSet::new();
        for row in architecture.instructions() {
            assert_eq!(row.architecture, architecture.name);
            assert!(canonical.insert(row.name.clone()), "{} twice", row.name);
            for spelling in spellings(row) {
                let found = architecture.find(&spelling);
                let found = found.unwrap_or_else(|error| panic!("{spelling}: {error}"));
                assert_eq!(found.name, row.name, "{} {spelling}", architecture.name);
                names += 1;
            }
            let loud = architecture
                .find(&row.name.to_uppercase())
                .expect("any case");
            assert_eq!(loud.name, row.name);
        }
    }
    assert!(names > 20_000, "{names}");
}

#[test]
fn every_parameter_has_its_evidence() {
    let levels = [
        Strength::Hardware,
        Strength::TwoTeams,
        Strength::OneTeam,
        Strength::Simulator,
        Strength::Documented,
        Strength::Open,
        Strength::Assumed,
    ];
    let mut seen = HashSet::new();
    for row in Catalogue::built_in().instructions() {
        let Model::Known(unit) = &row.model else {
            let Model::Unmodelled(reason) = &row.model else {
                unreachable!()
            };
            assert!(!reason.is_empty(), "{} {}", row.architecture, row.name);
            continue;
        };
        let parameters = unit.program().parameters();
        for parameter in &parameters {
            seen.insert(row.evidence.of(parameter.name));
        }
        // An exception for a parameter that the row does not have is a slip of the pen.
        for (name, level) in &row.evidence.exceptions {
            let has = parameters.iter().any(|parameter| parameter.name == name);
            assert!(
                has,
                "{} {}: evidence for {name}",
                row.architecture, row.name
            );
            let place = (&row.architecture, &row.name);
            assert_ne!(*level, row.evidence.default, "{place:?} {name}");
        }
        // Integers have neither NaN nor signed zeros nor infinities.
        let specials = match row.signature.d.float() {
            Some(_) => &["nan", "zero", "overflow"][..],
            None => &[],
        };
        for name in ["rounding", "order"].iter().chain(specials) {
            assert!(
                parameters.iter().any(|parameter| parameter.name == *name),
                "{name}"
            );
        }
    }
    assert_eq!(seen.len(), levels.len());
    assert!(levels.is_sorted());
}

#[test]
fn evidence_of_one_row_is_what_the_text_says() {
    let catalogue = Catalogue::built_in();
    let row = catalogue
        .find("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")
        .expect("a row");
    let of = |parameter| row.evidence.of(parameter);
    assert_eq!(
        (of("L"), of("F"), of("e0")),
        (Strength::Hardware, Strength::Hardware, Strength::Hardware)
    );
    assert_eq!(of("zero"), Strength::Hardware);
    assert_eq!(row.evidence.to_string(), "hw");
    // e0 shows with no f16 operand.
    let row = catalogue
        .find("hopper", "mma.m16n8k16.f32.f16.f16.f32")
        .expect("a row");
    assert_eq!(row.evidence.of("e0"), Strength::TwoTeams);
    assert_eq!(row.evidence.to_string(), "hw e0=2team");
}
