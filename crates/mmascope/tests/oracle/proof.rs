//! Compares a unit with the oracle, in parallel, and says how to replay a mismatch.

use std::fmt::Write as _;
use std::time::Instant;

use mmascope::dpa::{Modifiers, Operands, Program, Scale, Signature, Unit};
use mmascope::format::{Format, UE8M0};
use rayon::prelude::*;

use super::families::{Case, FAMILIES, Family, Target, case};
use super::operand::{Class, decode};
use super::program::evaluate;
use super::result::{Outcome, container};

/// The seed of every run, unless the environment names another.
pub(crate) fn seed() -> u64 {
    std::env::var("ORACLE_SEED").map_or(20_260_101, |text| text.parse().expect("a whole number"))
}

/// A unit from the names of its formats; d is what the program gives.
pub(crate) fn unit(a: &str, b: &str, c: &str, k: usize, program: &str) -> Unit {
    build(a, b, c, k, None, program)
}

/// The same with block scales: format and consecutive k per scale.
pub(crate) fn scaled_unit(
    operands: [&str; 2],
    c: &str,
    k: usize,
    scale: (&str, usize),
    program: &str,
) -> Unit {
    let scale = Scale {
        format: named(scale.0),
        block: scale.1,
    };
    build(operands[0], operands[1], c, k, Some(scale), program)
}

fn named(name: &str) -> Format {
    Format::named(name).expect("a format")
}

fn build(a: &str, b: &str, c: &str, k: usize, scale: Option<Scale>, text: &str) -> Unit {
    let program: Program = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let d = container(&program.output().format);
    let signature = Signature {
        a: named(a),
        b: named(b),
        c: named(c),
        d,
        k,
        scale,
    };
    Unit::new(signature, program).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Proves every unit on `cases` inputs, spread evenly over the families.
pub(crate) fn prove(name: &str, units: &[Unit], cases: usize) {
    prove_modified(name, units, cases, &|_| Modifiers::default());
}

/// As [`prove`], with modifiers chosen by the index of the case.
pub(crate) fn prove_modified(
    name: &str,
    units: &[Unit],
    cases: usize,
    modifiers: &(dyn Fn(u64) -> Modifiers + Sync),
) {
    let start = Instant::now();
    let each = cases.div_ceil(FAMILIES.len()) as u64;
    let runs: Vec<(&Unit, Family)> = units
        .iter()
        .flat_map(|unit| FAMILIES.map(|family| (unit, family)))
        .collect();
    let mismatches: Vec<String> = runs
        .par_iter()
        .filter_map(|&(unit, family)| {
            let target = Target::new(unit.signature(), unit.program());
            // Units of one shape must not see the same inputs, so each has its own seed.
            let seed = seed() ^ fingerprint(&unit.program().to_string());
            (0..each).find_map(|index| {
                let case = case(family, &target, seed, index);
                let modifiers = modifiers(index);
                let report = compare(unit, &case.operands(), &modifiers)?;
                Some(format!(
                    "{report}\n  family {family:?}, seed {seed}, index {index}"
                ))
            })
        })
        .collect();
    let total = each * runs.len() as u64;
    report(name, total, start, &mismatches);
}

pub(crate) fn report(name: &str, total: u64, start: Instant, mismatches: &[String]) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name}: {total} cases in {seconds:.1} s, {} mismatches",
        mismatches.len()
    );
    assert!(
        mismatches.is_empty(),
        "{name}: {} mismatches, the first of each family:\n{}",
        mismatches.len(),
        mismatches
            .iter()
            .take(20)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// A number of a text: FNV-1a.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What differs between the unit and the oracle on these operands, if anything.
pub(crate) fn compare(
    unit: &Unit,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
) -> Option<String> {
    let expected = evaluate(unit.signature(), unit.program(), operands, modifiers);
    let got = unit
        .dot(operands, modifiers)
        .expect("operands of the right length");
    if is_right(unit, expected, got) {
        return None;
    }
    Some(describe(unit, operands, modifiers, expected, got))
}

fn is_right(unit: &Unit, expected: Outcome, got: u64) -> bool {
    match expected {
        Outcome::Word(word) => word == got,
        Outcome::AnyNan => decode(&unit.signature().d, got).class == Class::Nan,
    }
}

fn describe(
    unit: &Unit,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
    expected: Outcome,
    got: u64,
) -> String {
    let signature = unit.signature();
    let hex = |format: &Format, words: &[u64]| {
        words.iter().fold(String::new(), |mut text, word| {
            let _ = write!(text, " {word:0width$x}", width = format.digits());
            text
        })
    };
    let scale = signature.scale.map_or(UE8M0, |scale| scale.format);
    let expected = match expected {
        Outcome::Word(word) => format!("{word:0width$x}", width = signature.d.digits()),
        Outcome::AnyNan => "any NaN".to_owned(),
    };
    format!(
        "{signature}\n  {}\n  a ={}\n  b ={}\n  c = {:0c$x}\n  scale_a ={}\n  scale_b ={}\n  \
         modifiers: {modifiers:?}\n  got {got:0d$x}, expected {expected}",
        unit.program(),
        hex(&signature.a, operands.a),
        hex(&signature.b, operands.b),
        operands.c,
        hex(&scale, operands.scale_a),
        hex(&scale, operands.scale_b),
        c = signature.c.digits(),
        d = signature.d.digits(),
    )
}

/// Families must be what they claim: the same index gives the same case.
#[test]
fn cases_are_replayable() {
    let unit = unit(
        "bf16",
        "bf16",
        "f32",
        16,
        "t-fdpa L=16 F=25 e0=-133 -> rz f32",
    );
    let target = Target::new(unit.signature(), unit.program());
    for family in FAMILIES {
        let again = |index| -> Case { case(family, &target, seed(), index) };
        for index in 0..100 {
            assert_eq!(format!("{:?}", again(index)), format!("{:?}", again(index)));
        }
    }
}
