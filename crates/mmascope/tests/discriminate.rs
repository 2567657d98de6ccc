//! Discriminating vectors separate what they say.

use mmascope::discriminate::{Vectors, discriminate, neighbours};
use mmascope::dpa::{Modifiers, Operands, Unit};
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
    assert_eq!(of("F2").as_deref(), Some("not told apart F2: none, 32..64"));
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

/// A unit of `--isa`'s notation: operands, K, program.
fn made_up(operands: &str, k: u32, program: &str) -> Unit {
    let mut catalogue = Catalogue::built_in().clone();
    let text =
        format!("arch nb = nb1\ntitle A unit\nunit | {operands} | m1n1k{k} | {program} | open\n");
    catalogue.extend("nb.txt", &text).expect("a row");
    let row = catalogue.find("nb", "unit").expect("found");
    row.unit().expect("a unit").clone()
}

/// The unit with another program.
fn with(unit: &Unit, program: &str) -> Unit {
    Unit::new(*unit.signature(), program.parse().expect("a program")).expect("a unit")
}

/// What the vectors say of a parameter.
fn said(vectors: &Vectors, parameter: &str) -> Option<String> {
    let mut open = vectors.inseparable.iter();
    let found = open.find(|open| open.parameter == parameter);
    found.map(ToString::to_string)
}

fn is_separated(vectors: &Vectors, other: &Unit) -> bool {
    vectors.lines.iter().any(|line| {
        let word = other.dot(&line.case.operands(), &Modifiers::default());
        word != Ok(line.d)
    })
}

const HALVES: &str = "f16 x f16 + f32 -> f32";

/// Sums of four products of f16 reach 2^(E+4): 4·(2 − 2^-10)² and a c of 2^-6 are 16. So F2 = 28 and 29 show beside F = 26,
/// whatever the seed.
#[test]
fn every_seed_separates_a_second_floor_above_the_alignment() {
    let unit = made_up(HALVES, 4, "fused L=4 F=26 -> rz f32 nan=7fc00000");
    // Two inputs by hand, with their results.
    for (a, b, c, d, f2, other) in [
        (0xbe00, 0x3e00, 0xbe3f_ffff, 0xc112_ffff, 28, 0xc113_0000),
        (0xbfff, 0x3fff, 0xbe3f_ffff, 0xc181_6001, 29, 0xc181_6002),
        (0xbfff, 0x3fff, 0xbe3f_ffff, 0xc181_6001, 30, 0xc181_6001),
    ] {
        let (a, b) = ([a; 4], [b; 4]);
        let operands = Operands {
            a: &a,
            b: &b,
            c,
            scale_a: &[],
            scale_b: &[],
        };
        let second = with(
            &unit,
            &format!("fused L=4 F=26 F2={f2} -> rz f32 nan=7fc00000"),
        );
        assert_eq!(unit.dot(&operands, &Modifiers::default()), Ok(d));
        assert_eq!(
            second.dot(&operands, &Modifiers::default()),
            Ok(other),
            "{f2}"
        );
    }
    for seed in 0..9 {
        let vectors = discriminate(&unit, seed).expect("vectors");
        let open = said(&vectors, "F2");
        assert_eq!(
            open.as_deref(),
            Some("not told apart F2: none, 30..64"),
            "seed {seed}"
        );
        for f2 in [25, 27, 28, 29] {
            let other = with(
                &unit,
                &format!("fused L=4 F=26 F2={f2} -> rz f32 nan=7fc00000"),
            );
            assert!(is_separated(&vectors, &other), "seed {seed}: F2={f2}");
        }
    }
}

/// The first F2 that nothing shows, worked out on paper. L products of significands m are less than L·m², c is less than 2
/// or what has its last bit where the alignment ends, and 2^n is the power of two that their sum reaches: F + n. A floor e0
/// below the smallest normal result's exponent gives F and that distance instead, where it is larger.
#[test]
fn a_second_floor_is_separated_as_far_as_any_sum_shows_it() {
    for (operands, k, program, first) in [
        // 16 − 2^-6 and more: c may be 2^-1.
        (HALVES, 4, "fused L=4 F=24 -> rz f32", 28),
        (HALVES, 8, "fused L=8 F=25 -> rz f32", 30),
        (HALVES, 16, "fused L=16 F=25 -> rz f32", 31),
        (HALVES, 16, "fused L=8 F=25 -> rz f32", 30),
        (HALVES, 8, "fused L=8 F=25 -> rne f32", 30),
        // c is 2^-6 − 2^-30, and the products have 2^-18 of their own.
        (HALVES, 4, "fused L=4 F=30 -> rz f32", 34),
        // The last bit is a bit of c, which has more than products, or of a product.
        (HALVES, 4, "fused L=4 F=24 Fc=27 -> rz f32", 31),
        (HALVES, 8, "fused L=8 F=26 Fc=22 -> rz f32", 30),
        // 32·1.875² = 112.5 and c.
        (
            "e4m3 x e4m3 + f32 -> f32",
            32,
            "fused L=32 F=13 -> rz f32",
            19,
        ),
        // Tiny sums: F + (−126 − e0), and F + 4.
        (
            "bf16 x bf16 + f32 -> f32",
            4,
            "fused L=4 F=24 e0=-132 -> rz f32",
            30,
        ),
        (
            "f16 x f16 + f16 -> f16",
            4,
            "fused L=4 F=23 e0=-19 -> rne f16",
            28,
        ),
    ] {
        let unit = made_up(operands, k, program);
        let vectors = discriminate(&unit, 1).expect("vectors");
        let open = said(&vectors, "F2");
        let expected = format!("not told apart F2: none, {first}..64");
        assert_eq!(open, Some(expected), "{operands}, k={k}: {program}");
    }
}

/// A value of several parameters names each, so that a reader can write the unit down.
#[test]
fn values_of_several_parameters_are_units_that_can_be_written_down() {
    let unit = made_up(HALVES, 4, "fused L=4 F=26 -> rz f32 nan=7fc00000");
    let vectors = discriminate(&unit, 0).expect("vectors");
    let open = said(&vectors, "F-F2");
    let expected = "not told apart F-F2: as stated, F=26 F2=25 floor=rz";
    assert_eq!(open.as_deref(), Some(expected));
    let same = with(
        &unit,
        "fused L=4 F=26 F2=25 floor=rz -> rz f32 nan=7fc00000",
    );
    assert!(!is_separated(&vectors, &same));
    // The same without `floor` rounds negative sums down.
    let other = with(&unit, "fused L=4 F=26 F2=25 -> rz f32 nan=7fc00000");
    assert!(is_separated(&vectors, &other));
    for (name, neighbour) in neighbours(&unit) {
        let words: Vec<&str> = name.split(' ').collect();
        if !name.contains("F2=") || words.len() != 3 {
            continue;
        }
        let written = with(&unit, &format!("fused L=4 {name} -> rz f32 nan=7fc00000"));
        assert_eq!(neighbour, written, "{name}");
    }
}

/// Which NaN a result is takes part in the neighbours: those that units give, and not the unit's own.
#[test]
fn other_nans_are_neighbours() {
    let of = |operands: &str, program: &str| -> Vec<String> {
        let found = neighbours(&made_up(operands, 4, program)).into_iter();
        let names = found.map(|(name, _)| name);
        names.filter(|name| name.starts_with("nan=")).collect()
    };
    let found = of(HALVES, "fused L=4 F=26 -> rz f32 nan=7fc00000");
    assert_eq!(found, ["nan=7fffffff", "nan=ffc00000", "nan=ffffffff"]);
    let found = of(HALVES, "fused L=4 F=26 -> rz f32 nan=7fffffff");
    assert_eq!(found, ["nan=7fc00000", "nan=ffc00000", "nan=ffffffff"]);
    let found = of(
        "f16 x f16 + f16 -> f16",
        "fused L=4 F=24 -> rne f16 nan=7fff",
    );
    assert_eq!(found, ["nan=7e00", "nan=fe00", "nan=ffff"]);
    let found = of(
        "bf16 x bf16 + bf16 -> bf16",
        "fused L=4 F=24 -> rne bf16 nan=7fff",
    );
    assert_eq!(found, ["nan=7fc0", "nan=ffc0", "nan=ffff"]);
    // Any NaN is right.
    assert!(of(HALVES, "fused L=4 F=26 -> rz f32").is_empty());
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
