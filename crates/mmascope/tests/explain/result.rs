//! A trace's result is the reference's, its losses add up, and its exact value is exact.

use mmascope::dpa::{Modifiers, Operands, Scale, Unit};
use mmascope::explain::{Trace, TracedStep, TracedValue};
use mmascope::isa::Catalogue;
use rayon::prelude::*;

use super::cases::{Case, Random, UNITS, unit};

/// Cases of every algorithm.
const CASES: usize = 10_500;

fn check(unit: &Unit, case: &Case) -> Trace {
    let operands = case.operands();
    let trace = Trace::of(unit, &operands, &case.modifiers).expect("lengths fit");
    let reference = unit.dot(&operands, &case.modifiers).expect("lengths fit");
    assert_eq!(
        trace.word(),
        reference,
        "{} {case:x?}: reference {reference:x}\n{trace}",
        unit.program()
    );
    let is_finite = |step: &TracedStep| step.special.is_none() && !step.value.is_special();
    if trace.error.is_some() && trace.steps.iter().all(is_finite) {
        let (result, exact) = (trace.result.value.number(), trace.exact.number());
        let lost = &exact.expect("finite") - &result.expect("finite");
        assert_eq!(trace.lost(), lost, "{} {case:x?}\n{trace}", unit.program());
    }
    trace
}

#[test]
fn results_are_those_of_the_reference() {
    for (algorithm, units) in UNITS {
        let cases = CASES.div_ceil(units.len());
        let specials: usize = units
            .par_iter()
            .map(|(signature, program)| {
                let unit = unit(signature, program);
                let mut random = Random::seeded(program, 1);
                let case = |number| check(&unit, &Case::of(unit.signature(), &mut random, number));
                let traces = (0..cases).map(case);
                traces
                    .filter(|trace| trace.result.value.is_special())
                    .count()
            })
            .sum();
        assert!(
            specials > 0 && specials < CASES / 2,
            "{algorithm}: {specials} specials"
        );
    }
}

#[test]
fn every_row_of_the_catalogue_is_explained() {
    let rows: Vec<_> = Catalogue::built_in()
        .instructions()
        .filter_map(|row| row.unit().ok().map(|unit| (row, unit)))
        .collect();
    assert!(rows.len() > 500, "{}", rows.len());
    rows.par_iter().for_each(|(row, unit)| {
        let mut random = Random::seeded(&format!("{} {}", row.architecture, row.name), 2);
        for number in 0..21 {
            check(unit, &Case::of(unit.signature(), &mut random, number));
        }
    });
}

#[test]
fn several_instructions_are_chained_calls() {
    for (_, units) in UNITS {
        for (signature, program) in units {
            let unit = unit(signature, program);
            let mut random = Random::seeded(program, 3);
            for number in 0..50 {
                let mut case = Case::of(unit.signature(), &mut random, number);
                let second = Case::of(unit.signature(), &mut random, number);
                case.modifiers = Default::default();
                let first = unit
                    .dot(&case.operands(), &case.modifiers)
                    .expect("lengths fit");
                let (c, d) = (unit.signature().c, unit.signature().d);
                if c.container() != d.container() {
                    continue;
                }
                let next = Case {
                    c: first,
                    ..second.clone()
                };
                let wanted = unit
                    .dot(&next.operands(), &case.modifiers)
                    .expect("lengths fit");
                let whole = Case {
                    a: [&case.a[..], &second.a].concat(),
                    b: [&case.b[..], &second.b].concat(),
                    scale_a: [&case.scale_a[..], &second.scale_a].concat(),
                    scale_b: [&case.scale_b[..], &second.scale_b].concat(),
                    ..case.clone()
                };
                let trace = Trace::of(&unit, &whole.operands(), &case.modifiers).expect("fits");
                assert_eq!(trace.instructions, 2);
                assert_eq!(trace.word(), wanted, "{program} {whole:x?}\n{trace}");
            }
        }
    }
}

#[test]
fn the_exact_value_is_that_of_a_chain_without_loss() {
    // Small integers: f64 holds every partial sum, so the chain is exact.
    let chain = unit("f64 f64 f64 f64 4", "fma-chain -> rne f64");
    let mut random = Random::seeded("exact", 4);
    for _ in 0..1000 {
        let mut word = || (random.below(2000) as f64 - 1000.0).to_bits();
        let (a, b): (Vec<u64>, Vec<u64>) = (0..4).map(|_| (word(), word())).unzip();
        let case = Case {
            a,
            b,
            c: word(),
            scale_a: Vec::new(),
            scale_b: Vec::new(),
            modifiers: Default::default(),
        };
        let trace = check(&chain, &case);
        match (&trace.exact, &trace.result.value) {
            (TracedValue::Zero { .. }, TracedValue::Zero { .. }) => {}
            (exact, result) => assert_eq!(exact, result),
        }
        assert!(trace.lost().is_zero());
    }
}

#[test]
fn wrong_lengths_are_refused() {
    let four = unit("f16 f16 f32 f32 4", "e-fdpa L=4 -> rne f32");
    let mut case = Case::of(four.signature(), &mut Random::seeded("lengths", 5), 1);
    case.a.push(0);
    let error = Trace::of(&four, &case.operands(), &case.modifiers).unwrap_err();
    assert!(error.to_string().contains("8 are needed"), "{error}");
    let scale = four.signature().scale;
    assert_eq!(scale.map(|Scale { block, .. }| block), None);
    case.a.clear();
    case.b.clear();
    assert!(Trace::of(&four, &case.operands(), &case.modifiers).is_err());
}

/// Programs of the model space: every parameter of `fused`, `add-mul` and `join` once.
const GENERAL: [&str; 43] = [
    "fused L=4 F=22 Fc=26 e0=-130 align=rd align-c=ru -> rz f32",
    "fused L=8 F=exact -> rne f32",
    "fused L=8 F=24 F2=20 floor=rne -> rz f32",
    "fused L=8 F=24 F2=31 -> rne f32",
    "fused L=8 F=24 G=4 -> rz f32",
    "fused L=8 F=24 G=2 groups=strided Fg=20 align-g=ra -> rne f32",
    "fused L=8 F=26 G=4 Fg=24 exponent-g=own -> rz f32",
    "fused L=8 F=24 products=normalised -> rz f32",
    "fused L=8 F=24 products=rne:f16 flush-products=plus -> rz f32",
    "fused L=8 F=24 products=rz:bf16 -> rz f32",
    "fused L=4 F=24 product-limit=10 -> rz f32",
    "fused L=8 F=24 grid=products -> rz f32",
    "fused L=8 F=24 G=2 Fg=24 zero-g=dropped -> rz f32",
    "fused L=8 F=24 codes=numbers -> rz f32 zero=minus",
    "fused L=8 F=24 codes=largest products=rz:f16 product-limit=16 -> rz f32",
    "add-mul P=4 codes=numbers -> rne f32",
    "fused L=8 F=24 Fc=20 e0=-126 grid=products -> rne f32",
    "fused L=8 F=24 sticky=kept -> rne f32",
    "fused L=8 F=20 sticky=1 -> rne f32",
    "fused L=4 F=18 Fc=21 sticky=3 -> rne f32 zero=exact-minus",
    "fused L=4 F=18 Fc=12 e0=-126 grid=products sticky=2 -> rz f32",
    "fused L=8 F=exact -> rd f32 zero=common",
    "fused L=4 F=24 -> rne f32 zero=common-minus",
    "s = fused L=4 F=24 from +0 -> rz f32; t = convert c -> rne tf32 flush=kept; d = add s t -> rz f32",
    "fused L=8 F=24 zero-times-inf=signed inf-minus-inf=plus -> rz f32",
    "fused L=8 F=24 zero-times-inf=zero inf-minus-inf=minus -> rz f32",
    "fused L=8 F=24 operands=rz:bf16 round-c=rne:bf16 -> rz f32",
    "fused L=8 F=24 flush-in=plus flush-of=a flush-c=kept -> rz f32",
    "fused L=8 F=24 -> rz f32 flush=kept",
    "s = fused L=8 F=24 -> rne f16 flush=kept tininess=before; d = convert s -> rne f32",
    "s = add-mul P=4 products=rne:f32 -> ra f16 flush=plus tininess=before; d = convert s -> rne f32",
    "fused L=8 F=24 over k%2=0,1 -> rz f32",
    "add-mul P=4 -> rne f32",
    "add-mul P=4 adds=sequential products=rz:bf16 flush-in=kept -> rz f32 flush=plus",
    "add-mul P=1 round-c=rz:bf16 flush-products=kept -> rne f32",
    "s = add-mul P=4 from product -> rne f32; d = add c s -> rne f32",
    "s = fused L=8 F=24 over k=0,1,2,3 from +0 -> rz f32; \
     d = join fused L=8 F=26 product-limit=10 products=normalised operands=rz:bf16 over k=4,5,6,7 of c s -> rne f32",
    "add-mul P=4 -> rz f32 overflow=inf",
    "s = add-mul P=2 from product -> rd f32 overflow=satfinite zero=exact; d = add c s -> rne f32",
    "s = fused L=4 F=24 from product -> rd f32 zero=ieee; d = add c s -> rne f32",
    "s = fused L=8 F=exact flush-in=plus from product -> rne f32 zero=ieee; d = add c s -> rne f32",
    "s = fused L=8 F=20 G=2 products=rz:bf16 from product -> rz f32 zero=ieee; d = add c s -> rd f32",
    "s = fused L=8 F=24 over k=0,1,2,3 from +0 -> rz f32; d = join fused L=8 F=26 over k=4,5,6,7 of c s -> rne f32",
];

/// The second way to the result gives the same for the steps of the model space.
#[test]
fn steps_of_the_model_space_are_explained() {
    for program in GENERAL {
        let unit = unit("f16 f16 f32 f32 8", program);
        let mut random = Random::seeded(program, 5);
        for number in 0..2100 {
            let mut case = Case::of(unit.signature(), &mut random, number);
            case.modifiers = Default::default();
            let trace = Trace::of(&unit, &case.operands(), &case.modifiers).expect("lengths fit");
            let reference = unit
                .dot(&case.operands(), &case.modifiers)
                .expect("lengths fit");
            assert_eq!(trace.word(), reference, "{program} {case:x?}\n{trace}");
        }
    }
}

/// Each multiply-add gives the NaN of an operand, made quiet (AVX512-BF16, Intel SDM), and the trace shows it from the first one on.
#[test]
fn a_nan_of_an_operand_goes_through_every_step() {
    let row = Catalogue::built_in().find("x86", "vdpbf16ps");
    let unit = row.and_then(|row| row.unit()).expect("a row");
    for (a, b, c, first, second) in [
        (
            [0x3f80, 0x3f80],
            [0x3f80, 0xffa0],
            0x7f80_0001,
            "ffe00000",
            "ffe00000",
        ),
        (
            [0x3f80, 0x3f80],
            [0x3f80, 0x3f80],
            0x7f80_0001,
            "7fc00001",
            "7fc00001",
        ),
        // The element that comes last is not in the first step.
        (
            [0x7f81, 0x3f80],
            [0x3f80, 0x3f80],
            0x7f80_0001,
            "7fc00001",
            "7fc10000",
        ),
        (
            [0x7f81, 0x3f80],
            [0x3f80, 0x3f80],
            0x3f80_0000,
            "40000000",
            "7fc10000",
        ),
        // No operand is NaN.
        ([0x3f80, 0x7f80], [0x3f80, 0], 0, "ffc00000", "ffc00000"),
    ] {
        let operands = Operands {
            a: &a,
            b: &b,
            c,
            ..Operands::default()
        };
        let trace = Trace::of(unit, &operands, &Modifiers::default()).expect("lengths fit");
        let words: Vec<&str> = trace.steps.iter().map(|step| step.word.as_str()).collect();
        assert_eq!(words, [first, second], "{trace}");
    }
}
