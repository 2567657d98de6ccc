//! Every way to a dot product of a unit gives the same word: one query, many at once, operands that were decoded before, and
//! signs that a modifier or the operands themselves bring.

mod inputs;

use inputs::{KINDS, Random, operands};
use mmascope_model::dpa::{Decoded, Dpa, Modifiers, Operands, Queries, Signature, Unit};
use mmascope_model::format::Format;
use mmascope_model::isa::Catalogue;

/// Cases of each kind for every unit.
const CASES: usize = 4;

/// Every unit of the catalogue.
fn units() -> impl Iterator<Item = &'static Unit> {
    let architectures = Catalogue::built_in().architectures().iter();
    let instructions = architectures.flat_map(|architecture| architecture.instructions());
    instructions.filter_map(|instruction| instruction.unit().ok())
}

#[test]
fn one_many_and_decoded_queries_are_alike() {
    for unit in units() {
        let signature = unit.signature();
        let random = &mut Random::seeded(&unit.program().to_string(), 1);
        let kinds = KINDS.iter().cycle().take(CASES * KINDS.len());
        let cases: Vec<_> = kinds
            .map(|&kind| operands(signature, kind, random))
            .collect();
        let one = |operands: &Operands<'_>| unit.dot(operands, &Modifiers::default()).unwrap();
        let words: Vec<u64> = cases.iter().map(|case| one(&case.operands())).collect();
        for (case, word) in cases.iter().zip(&words) {
            let decoded = Decoded::new(signature, &case.operands()).unwrap();
            let again = unit.dot_decoded(&decoded, &case.operands());
            assert_eq!(again, *word, "{signature} {} {case:x?}", unit.program());
        }
        let all = |of: fn(&mmascope_model::dpa::OperandWords) -> &[u64]| -> Vec<u64> {
            cases.iter().flat_map(of).copied().collect()
        };
        let queries = Queries {
            a: &all(|case| &case.a),
            b: &all(|case| &case.b),
            c: &cases.iter().map(|case| case.c).collect::<Vec<_>>(),
            scale_a: &all(|case| &case.scale_a),
            scale_b: &all(|case| &case.scale_b),
        };
        assert_eq!(unit.dots(&queries).unwrap(), words, "{}", unit.program());
    }
}

/// A fused sum over listed k takes pairs of operands; of operands that were decoded before it takes their products, where it needs no
/// more of them. Drawn parameters, some of which do need more.
#[test]
fn fused_sums_of_pairs_and_of_products_are_alike() {
    let signatures = [
        ("a=f16 b=f16 c=f32 d=f32 k=12", ""),
        ("a=e4m3 b=e5m2 c=f16 d=f16 k=20", " as f16"),
        ("a=bf16 b=bf16 c=f32 d=f32 k=7", ""),
        ("a=f32 b=f32 c=f32 d=f32 k=3", ""),
        ("a=int8 b=int8 c=f32 d=f32 k=8", ""),
    ];
    let fused = Dpa::all().into_iter().find(|it| it.name() == "fused");
    let fused = fused.expect("a fused sum");
    let mut random = Random::seeded("fused", 3);
    let mut compared = 0;
    for (text, reading) in signatures {
        let signature: Signature = text.parse().expect("a signature");
        let mut order: Vec<String> = (0..signature.k).map(|k| k.to_string()).collect();
        for _ in 0..2 {
            let over = order.join(",");
            order.reverse();
            for _ in 0..400 {
                let step = inputs::drawn(&fused, &mut random);
                let d = signature.d.name;
                let program = format!("{step}{reading} over k={over} -> rne {d}");
                let program = program.parse().expect("a program");
                let Ok(unit) = Unit::new(signature, program) else {
                    continue;
                };
                for kind in KINDS {
                    let case = operands(&signature, kind, &mut random);
                    let one = unit.dot(&case.operands(), &Modifiers::default()).unwrap();
                    let decoded = Decoded::new(&signature, &case.operands()).unwrap();
                    let again = unit.dot_decoded(&decoded, &case.operands());
                    assert_eq!(again, one, "{signature} {} {case:x?}", unit.program());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared} compared");
}

#[test]
fn a_modifier_changes_signs_as_the_operands_do() {
    let modifiers = Modifiers {
        negate_a: true,
        ..Modifiers::default()
    };
    let mut infinite = 0;
    for unit in units().filter(|unit| unit.signature().a.float().is_some()) {
        let signature = unit.signature();
        let random = &mut Random::seeded(&unit.program().to_string(), 2);
        for &kind in KINDS.iter().cycle().take(CASES * KINDS.len()) {
            let mut case = operands(signature, kind, random);
            let by_modifier = unit.dot(&case.operands(), &modifiers).unwrap();
            if !case.a.iter().all(|&word| has_negative(&signature.a, word)) {
                continue;
            }
            for word in &mut case.a {
                *word ^= signature.a.to_register(1 << (signature.a.bits - 1));
            }
            let by_words = unit.dot(&case.operands(), &Modifiers::default()).unwrap();
            let place = format!("{signature} {} {case:x?}", unit.program());
            assert_eq!(by_modifier, by_words, "{place}");
            let d = signature.d;
            infinite += usize::from(d.decode(d.from_register(by_words)).exact().is_none());
        }
    }
    assert!(infinite > 1000, "{infinite} results are ∞ or NaN");
}

/// Whether the code with the other sign is the number with the other sign: not NaN, and no zero of a format without −0.
fn has_negative(format: &Format, word: u64) -> bool {
    let code = format.from_register(word);
    let other = format.decode(code ^ 1 << (format.bits - 1));
    let own = format.decode(code);
    own.class == other.class && own.negative != other.negative
}
