//! Every algorithm of the papers is a step of the model space: its own function, which is the paper's,
//! and the general computation give the same words for every row of the catalogue, and for drawn parameters.

mod inputs;

use inputs::{KINDS, Random, operands};
use mmascope_model::dpa::{Dpa, Modifiers, Operands, Program, Signature, Unit};
use mmascope_model::explain::Trace;
use mmascope_model::isa::{Catalogue, Model};

fn compare(name: &str, unit: &Unit, count: usize) {
    let general = unit.program().general();
    let other = Unit::new(*unit.signature(), general).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut random = Random::seeded(name, 1);
    for kind in KINDS {
        for index in 0..count {
            let words = operands(unit.signature(), kind, &mut random);
            let none = Modifiers::default();
            let dot = |unit: &Unit| unit.dot(&words.operands(), &none).expect("fits");
            let (own, same) = (dot(unit), dot(&other));
            assert!(
                unit.agrees(own, same),
                "{name}: {own:x}, and {same:x} by {}\n{kind:?} {words:x?}",
                other.program()
            );
            // The explanation computes for itself.
            if index % 8 == 0 {
                let trace = Trace::of(&other, &words.operands(), &none).expect("a trace");
                assert!(
                    unit.agrees(same, trace.word()),
                    "{name}: {same:x}, but explained {:x} by {}\n{kind:?} {words:x?}",
                    trace.word(),
                    other.program()
                );
            }
        }
    }
}

#[test]
fn every_row_is_its_general_form() {
    let mut rows = 0;
    for row in Catalogue::built_in().instructions() {
        let Model::Known(unit) = &row.model else {
            continue;
        };
        rows += 1;
        compare(&format!("{}:{}", row.architecture, row.name), unit, 60);
    }
    assert!(rows > 300, "{rows} rows");
}

fn own(signature: &str, program: &str) -> Result<Unit, mmascope_model::Error> {
    Unit::new(signature.parse()?, program.parse()?)
}

/// Scales that are no powers of two, subnormal ones and zeros among them: each pair of codes.
#[test]
fn sums_are_multiplied_by_every_pair_of_scales() {
    let signature = "a=e4m3 b=e2m1 c=f32 d=f32 k=2 scale=ue4m3 block=2";
    let unit = own(signature, "fused L=2 F=25 -> rne f32").expect("a unit");
    for (scale_a, scale_b) in (0..128).flat_map(|a| (0..128).map(move |b| (a, b))) {
        let operands = Operands {
            a: &[0x38, 0x38],
            b: &[2, 2],
            scale_a: &[scale_a],
            scale_b: &[scale_b],
            ..Operands::default()
        };
        let none = Modifiers::default();
        let word = unit.dot(&operands, &none).expect("fits");
        // The format's numbers, by its definition: the smallest is 2^-9.
        let number = |code: u64| match (code >> 3, code & 7) {
            (15, 7) => f64::NAN,
            (0, fraction) => fraction as f64 / 512.0,
            (field, fraction) => (1.0 + fraction as f64 / 8.0) * 2_f64.powi(field as i32 - 7),
        };
        let wanted = (2.0 * number(scale_a) * number(scale_b)) as f32;
        let got = f32::from_bits(word as u32);
        assert!(
            got == wanted || got.is_nan() && wanted.is_nan(),
            "{scale_a:x} {scale_b:x}: {got} and not {wanted}"
        );
    }
}

/// A group, or a joined sum, that cancels leaves nothing behind that could fall off.
#[test]
fn a_sum_of_zero_loses_no_bits() {
    for step in [
        "G=2 Fg=24 sticky=kept",
        "Fj=24 sticky=kept",
        "G=2 Fg=24 sticky=1",
    ] {
        let program = format!("fused L=2 F=24 {step} -> ru f32");
        let unit = own("a=bf16 b=bf16 c=f32 d=f32 k=2", &program).expect("a unit");
        let operands = Operands {
            a: &[0x0d80, 0x0d80],
            b: &[0x3f80, 0xbf80],
            c: 0x7180_0000,
            ..Operands::default()
        };
        let word = unit.dot(&operands, &Modifiers::default()).expect("fits");
        assert_eq!(word, operands.c, "{program}: {word:x}");
    }
}

#[test]
fn sums_that_would_drop_block_scales_are_refused() {
    let signature = "a=e4m3 b=e4m3 c=f32 d=f32 k=4 scale=ue8m0 block=4";
    for step in [
        "fma-chain",
        "t-fdpa L=2 F=25 e0=-133",
        "add-mul P=2",
        "ftz-addmul P=2",
    ] {
        let program = format!(
            "x = {step} over k=0,1 -> rne f32 ; d = st-fdpa L=4 F=25 e0=-133 over k=2,3 from x -> rz f32"
        );
        let error = own(signature, &program).expect_err("block scales that one sum does not use");
        let said = error.to_string();
        assert!(
            said.contains("the block scales are not used"),
            "{step}: {said}"
        );
    }
}

/// Compares a unit with its blocks one by one, where it says that it is a chain of them; says how many those are.
fn compare_blocks(name: &str, unit: &Unit, count: usize) -> usize {
    let Some(block) = unit.one_block() else {
        return 0;
    };
    let mut random = Random::seeded(name, 3);
    let none = Modifiers::default();
    for kind in KINDS {
        for _ in 0..count {
            let words = operands(unit.signature(), kind, &mut random);
            let whole = unit.dot(&words.operands(), &none).expect("fits");
            let each = block.signature().k;
            let blocks = words.a.chunks(each).zip(words.b.chunks(each));
            let chained = blocks.fold(words.c, |c, (a, b)| {
                let operands = Operands {
                    a,
                    b,
                    c,
                    ..Operands::default()
                };
                block.dot(&operands, &none).expect("fits")
            });
            assert_eq!(whole, chained, "{name}: {kind:?} {words:x?}");
        }
    }
    unit.signature().k / block.signature().k
}

#[test]
fn rows_of_one_chain_are_their_blocks_one_by_one() {
    let mut several = 0;
    for row in Catalogue::built_in().instructions() {
        let Model::Known(unit) = &row.model else {
            continue;
        };
        let name = format!("{}:{}", row.architecture, row.name);
        several += usize::from(compare_blocks(&name, unit, 20) > 1);
    }
    assert!(several > 50, "{several} rows of several blocks");
}

/// A result that is a number to its own step, and infinity as the next instruction's c: two instructions are not one.
#[test]
fn rows_whose_results_are_read_in_two_ways_have_no_blocks() {
    let signature = "a=f16 b=f16 c=f16 d=f16 k=8".parse().expect("a signature");
    let blocks = |program: &str| {
        let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
        unit.one_block().is_some()
    };
    assert!(blocks("t-fdpa L=4 F=24 e0=-132 -> rz f16"));
    assert!(!blocks(
        "t-fdpa L=4 F=24 e0=-132 -> rz f16 exponents=numbers"
    ));
}

/// Parameters that no row has: short blocks at the end, other roundings, narrow sums.
#[test]
fn drawn_parameters_are_their_general_forms() {
    let signatures = [
        "a=f16 b=f16 c=f32 d=f32 k=12",
        "a=bf16 b=bf16 c=f32 d=f32 k=7",
        "a=e4m3fnuz b=e5m2fnuz c=f32 d=f32 k=20",
        "a=f16 b=bf16 c=f16 d=f16 k=6",
        "a=e2m1 b=e3m2 c=f32 d=f32 k=64 scale=ue4m3 block=16",
        "a=e4m3 b=e2m3 c=f32 d=f32 k=64 scale=ue8m0 block=32",
        "a=f64 b=f64 c=f64 d=f64 k=5",
        "a=f32 b=f32 c=f32 d=f32 k=1",
        "a=int8 b=uint8 c=int32 d=int32 k=12",
        "a=int16 b=int16 c=f16 d=f16 k=8",
        "a=uint1 b=uint1 c=uint16 d=uint16 k=20",
    ];
    let mut random = Random::seeded("drawn", 2);
    let mut found: std::collections::BTreeMap<&str, usize> = Default::default();
    for text in signatures {
        let signature: Signature = text.parse().expect("a signature");
        for algorithm in Dpa::all() {
            for _ in 0..16 {
                let program = drawn(&algorithm, &signature, &mut random);
                let name = format!("{signature}: {program}");
                let Ok(unit) = Unit::new(signature, program) else {
                    continue;
                };
                *found.entry(algorithm.name()).or_default() += 1;
                compare(&name, &unit, 25);
                compare_blocks(&name, &unit, 10);
            }
        }
    }
    for name in Dpa::names() {
        let count = found.get(name).copied().unwrap_or_default();
        assert!(count >= 5, "{name}: {found:?}");
    }
}

/// A program of one algorithm with drawn parameters and a drawn result.
fn drawn(algorithm: &Dpa, signature: &Signature, random: &mut Random) -> Program {
    let algorithm = inputs::drawn(algorithm, random);
    let mut pick = |words: &[&'static str]| words[random.below(words.len() as u64) as usize];
    let rounding = pick(&["rz", "rne", "rd", "ru", "odd"]);
    let zero = pick(&["plus", "exact", "ieee", "minus", "common"]);
    let overflow = pick(&["inf", "ieee", "nan", "sat"]);
    let flush = pick(&["", "", " flush=plus", " flush=kept tininess=before"]);
    let from = match algorithm.can_begin_with_product() {
        true => pick(&["", " from +0", " from product"]),
        false => pick(&["", " from +0"]),
    };
    // It rounds by itself.
    let (rounding, zero, overflow, flush) = match algorithm.name() {
        "semi-fma" => ("rne", pick(&["plus", "common", "ieee"]), "inf", ""),
        "int-dot" => ("rz", "plus", "sat", ""),
        _ => (rounding, zero, overflow, flush),
    };
    // Sums of integers have results in integers, and no others.
    let d = match (algorithm.sums_integers(), signature.d.float()) {
        (true, Some(_)) => "int32",
        (false, None) => "f32",
        _ => signature.d.name,
    };
    let text =
        format!("{algorithm}{from} -> {rounding} {d} zero={zero} overflow={overflow}{flush}");
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}
