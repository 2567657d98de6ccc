//! Differences between units: results, verdicts, carried operands, the smallest inputs.

use mmascope::cases::{Family, Generator};
use mmascope::diff::{self, Contender, DiffInput, Tally, Verdict};
use mmascope::dpa::Modifiers;
use mmascope::dpa::OperandWords;
use mmascope::explain::PairTrace;
use mmascope::isa::Catalogue;

const F16: &str = "mma.m16n8k16.f32.f16.f16.f32";

fn subject(arch: &str, inst: &str) -> Contender<'static> {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    Contender::new(row).expect("a model")
}

/// A catalogue of made-up units, `row N` with the arithmetic of the list.
fn made_up(types: &str, arithmetics: &[&str]) -> Catalogue {
    let mut text = "arch made\n".to_owned();
    for (index, arithmetic) in arithmetics.iter().enumerate() {
        text += &format!("row{index}.{{shape}} | {types} | m8n8k4 | {arithmetic} | open\n");
    }
    let mut catalogue = Catalogue::empty();
    catalogue.extend("made up", &text).expect("a catalogue");
    catalogue
}

fn made(catalogue: &Catalogue, index: usize) -> Contender<'_> {
    let row = catalogue.find("made", &format!("row{index}.m8n8k4"));
    Contender::new(row.expect("a row")).expect("a model")
}

/// c = 2^23 and the products −2^23, −1/2, −1/4, −1/8.
fn one_input(k: usize) -> OperandWords {
    let mut case = OperandWords {
        a: vec![0xf000, 0xb800, 0xb400, 0xb000],
        b: vec![0x6400, 0x3c00, 0x3c00, 0x3c00],
        c: 0x4b00_0000,
        ..OperandWords::default()
    };
    case.a.resize(k, 0);
    case.b.resize(k, 0);
    case
}

#[test]
fn a_unit_does_not_differ_from_itself() {
    for (arch, inst) in [
        ("hopper", F16),
        ("cdna3", "v_mfma_f32_16x16x16_f16"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        ),
        ("cdna2", "v_mfma_f64_16x16x4_f64"),
    ] {
        let units = [subject(arch, inst), subject(arch, inst)];
        for family in Family::ALL {
            let Ok(generator) = Generator::for_unit(family, 5, units[0].unit()) else {
                continue;
            };
            let mut tally: Tally<u64> = Tally::default();
            for index in 0..200 {
                let input = DiffInput::new(units[0].instruction(), generator.case(index));
                let compared = diff::compare(&units, &input).expect("results");
                tally.add(compared.verdicts[0], || (index, input.clone()));
            }
            assert_eq!(
                (tally.equal, tally.different()),
                (200, 0),
                "{arch} {inst} {family}"
            );
        }
    }
}

#[test]
fn one_input_has_a_different_answer_on_each_generation() {
    let units = [
        subject("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        subject("ampere", F16),
        subject("hopper", F16),
    ];
    // K=4 as it is on the first, padded on the others.
    let input = DiffInput::new(units[0].instruction(), one_input(4));
    let compared = diff::compare(&units, &input).expect("results");
    let wanted = [Some(0), Some(0xbf00_0000), Some(0xbf40_0000)]; // 0, −0.5, −0.75
    assert_eq!(compared.results, wanted);
    assert_eq!(diff::pairs(3), [(0, 1), (0, 2), (1, 2)]);
    let ulps = [0x3f00_0000, 0x3f40_0000, 0x0040_0000].map(|steps| Some(Verdict::Ulps(steps)));
    assert_eq!(compared.verdicts, ulps);
    // K=16 with the products in the first slice: the later slices add zeros.
    let wide = DiffInput::new(units[1].instruction(), one_input(16));
    assert_eq!(
        diff::compare(&units, &wide).expect("results").results,
        wanted
    );
}

#[test]
fn a_smaller_k_is_chained_over_slices() {
    let (narrow, wide) = (
        subject("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        subject("ampere", F16),
    );
    let generator = Generator::for_unit(Family::Normal, 1, wide.unit()).expect("a generator");
    for index in 0..50 {
        let case = generator.case(index);
        let mut c = case.c;
        for slice in 0..4 {
            let range = 4 * slice..4 * slice + 4;
            let part = OperandWords {
                a: case.a[range.clone()].to_vec(),
                b: case.b[range].to_vec(),
                c,
                ..OperandWords::default()
            };
            let modifiers = Modifiers::default();
            c = narrow
                .instruction()
                .dot(&part.operands(), &modifiers)
                .expect("a result");
        }
        let input = DiffInput::new(wide.instruction(), case);
        assert_eq!(narrow.compute(&input), Ok(Some(c)));
    }
    assert!(
        narrow
            .handling(&wide.instruction().signature)
            .is_some_and(|text| text.contains("4 slices"))
    );
    assert!(
        wide.handling(&narrow.instruction().signature)
            .is_some_and(|text| text.contains("padded"))
    );
    assert_eq!(wide.handling(&wide.instruction().signature), None);
}

#[test]
fn what_is_done_to_c_is_done_once() {
    let narrow = subject("hopper", "wgmma.m64n8k16.f32.f16.f16");
    let mut input = DiffInput::new(narrow.instruction(), OperandWords::default());
    input.signature.k = 32;
    input.case = OperandWords {
        a: vec![0x3c00; 32],
        b: vec![0x3c00; 32],
        c: 0x4480_0000, // 1,024
        ..OperandWords::default()
    };
    assert_eq!(narrow.compute(&input), Ok(Some(0x4484_0000))); // 1,056
    input.modifiers.add("noC").expect("a modifier");
    assert_eq!(narrow.compute(&input), Ok(Some(0x4200_0000))); // 32
    input.modifiers = Modifiers::default();
    input.modifiers.add("negC").expect("a modifier");
    assert!(
        narrow.compute(&input).is_err(),
        "this instruction has no negC"
    );
}

#[test]
fn operands_travel_when_the_formats_hold_them() {
    let (f16, bf16) = (
        subject("ampere", F16),
        subject("ampere", "mma.m16n8k16.f32.bf16.bf16.f32"),
    );
    let ones = |word| OperandWords {
        a: vec![word; 16],
        b: vec![0x3c00; 16],
        ..OperandWords::default()
    };
    let compute = |word| {
        bf16.compute(&DiffInput::new(f16.instruction(), ones(word)))
            .expect("no error")
    };
    assert_eq!(compute(0x3c00), Some(0x4180_0000)); // 16
    assert_eq!(compute(0x0001), Some(0x3580_0000)); // subnormal there, normal here
    assert_eq!(compute(0x3c01), None);
    // A result in f32 does not fit c in f16: no chain.
    let mixed = subject("volta", "mma.m8n8k4.f32.f16.f16.f16");
    let narrow_c = subject("ampere", "mma.m16n8k16.f16.f16.f16.f16");
    let mut input = DiffInput::new(narrow_c.instruction(), ones(0x3c01));
    assert_eq!(mixed.compute(&input), Ok(None));
    input.case.a = vec![0x3c00; 16];
    assert_eq!(mixed.compute(&input), Ok(Some(0x4180_0000)));
}

#[test]
fn block_scales_travel_when_the_blocks_agree() {
    let name = |kind: &str| format!("mma.m16n8k64.kind::mxf4nvf4.{kind}");
    let large = subject("rtx-blackwell", &name("block32.f32.e2m1.e2m1.f32.ue8m0"));
    let small = subject("rtx-blackwell", &name("block16.f32.e2m1.e2m1.f32.ue4m3"));
    let plain = subject(
        "rtx-blackwell",
        "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32",
    );
    let case = |scales: [u64; 2]| OperandWords {
        a: vec![2; 64], // 1
        b: vec![2; 64],
        c: 0,
        scale_a: scales.to_vec(),
        scale_b: vec![127; 2], // 1
    };
    let on = |unit: &Contender<'_>, scales| {
        unit.compute(&DiffInput::new(large.instruction(), case(scales)))
            .expect("no error")
    };
    assert_eq!(on(&small, [128, 127]), Some(0x42c0_0000)); // 32·2 + 32
    assert_eq!(on(&small, [127 + 20, 127]), None); // 2^20 is beyond ue4m3
    assert_eq!(on(&plain, [127, 127]), Some(0x4280_0000)); // 64
    assert_eq!(on(&plain, [128, 127]), None);
    // Two blocks of 16 with different scales are no block of 32.
    let narrow = |scales: [u64; 4]| {
        let case = OperandWords {
            scale_a: scales.to_vec(),
            scale_b: vec![0x38; 4], // 1
            ..case([0, 0])
        };
        large
            .compute(&DiffInput::new(small.instruction(), case))
            .expect("no error")
    };
    assert_eq!(narrow([0x40, 0x40, 0x38, 0x38]), Some(0x42c0_0000));
    assert_eq!(narrow([0x40, 0x38, 0x38, 0x38]), None);
}

#[test]
fn verdicts_tell_the_kinds_of_difference_apart() {
    let catalogue = made_up(
        "f16 x f16 + f32 -> f32",
        &[
            "t-fdpa L=4 F=23 e0=-131 -> rz f32 zero=plus nan=7fffffff",
            "t-fdpa L=4 F=23 e0=-131 -> rz f32 zero=ieee nan=7fc00000",
            "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=any",
            "e-fdpa L=4 -> rne f32 overflow=sat",
            "e-fdpa L=4 -> rne f32 overflow=nan",
            "e-fdpa L=4 -> rne f32",
        ],
    );
    let verdict = |left, right, case: &OperandWords| {
        let (left, right) = (made(&catalogue, left), made(&catalogue, right));
        let input = DiffInput::new(left.instruction(), case.clone());
        diff::verdict(&left, &right, &input)
            .expect("no error")
            .expect("both take it")
    };
    let case = |a: [u64; 4], b: [u64; 4], c| OperandWords {
        a: a.to_vec(),
        b: b.to_vec(),
        c,
        ..OperandWords::default()
    };
    let minus_zero = case([0x8000; 4], [0; 4], 1 << 31);
    assert_eq!(verdict(0, 1, &minus_zero), Verdict::ZeroSign);
    let nan = case([0x7e00, 0, 0, 0], [0; 4], 0);
    assert_eq!(verdict(0, 1, &nan), Verdict::NanPayload);
    assert_eq!(verdict(0, 2, &nan), Verdict::Equal);
    let over = case([0x7bff, 0x7bff, 0, 0], [0x7bff, 0x7bff, 0, 0], 0x7f7f_ffff);
    assert_eq!(verdict(3, 5, &over), Verdict::Equal); // the products are below half an ulp of c
    let infinite = case([0x7c00, 0, 0, 0], [0x3c00, 0, 0, 0], 0);
    assert_eq!(verdict(3, 5, &infinite), Verdict::Infinite); // largest number against ∞
    assert_eq!(verdict(4, 5, &infinite), Verdict::Nan);
    // 1 + 2^-24 + 2^-24: truncated one by one, or exact; one step apart.
    let near = case([0x3c00, 0x0001, 0x0001, 0], [0x3c00, 0x3c00, 0x3c00, 0], 0);
    assert_eq!(verdict(0, 5, &near), Verdict::Ulps(1));
    assert!(
        Verdict::Ulps(1).same_kind(Verdict::Ulps(9)) && !Verdict::Nan.same_kind(Verdict::Equal)
    );
}

#[test]
fn distances_are_counted_in_the_wider_result_format() {
    let (f32, f16) = (
        subject("ampere", F16),
        subject("ampere", "mma.m16n8k16.f16.f16.f16.f16"),
    );
    let mut case = one_input(16);
    (case.a[0], case.b[0], case.c) = (0x3c00, 0x3c00, 0); // 1 − 0.875 = 0.125
    let equal = DiffInput::new(f16.instruction(), case.clone());
    let verdict = |input: &DiffInput| diff::verdict(&f32, &f16, input).expect("no error");
    assert_eq!(verdict(&equal), Some(Verdict::Equal));
    // 1 + 2^-20: f16 gives 1, f32 is 8 steps above.
    case.a[1..4].copy_from_slice(&[0x1400, 0, 0]);
    case.b[1] = 0x1400;
    assert_eq!(
        verdict(&DiffInput::new(f16.instruction(), case)),
        Some(Verdict::Ulps(8))
    );
}

#[test]
fn the_tally_counts_and_keeps_the_first() {
    let input = DiffInput::new(subject("ampere", F16).instruction(), one_input(16));
    let mut tally: Tally<usize> = Tally::default();
    let verdicts = [
        Some(Verdict::Equal),
        Some(Verdict::Ulps(1)),
        None,
        Some(Verdict::Ulps(2)),
        Some(Verdict::Ulps(3)),
        Some(Verdict::Ulps(u64::MAX)),
        Some(Verdict::ZeroSign),
        Some(Verdict::Nan),
        Some(Verdict::NanPayload),
        Some(Verdict::Infinite),
    ];
    for (index, verdict) in verdicts.into_iter().enumerate() {
        tally.add(verdict, || (index, input.clone()));
    }
    assert_eq!((tally.compared, tally.equal, tally.left_out), (9, 1, 1));
    assert_eq!(
        (
            tally.zero_sign,
            tally.nan,
            tally.nan_payload,
            tally.infinite
        ),
        (1, 1, 1, 1)
    );
    assert_eq!((tally.different(), tally.largest), (8, u64::MAX));
    let histogram: Vec<_> = tally.histogram().collect();
    assert_eq!(histogram[..2], [(1, 1, 1), (2, 3, 2)]);
    assert_eq!(
        (histogram.len(), histogram[63]),
        (64, (1 << 63, u64::MAX, 1))
    );
    assert_eq!(tally.examples[0].origin, 1);
    assert_eq!(tally.examples.len(), Tally::<usize>::KEPT);
}

#[test]
fn shrunk_inputs_still_differ_and_no_move_makes_them_smaller() {
    let mx = |inst: &str| subject("rtx-blackwell", inst);
    let pairs = [
        (subject("hopper", F16), subject("ampere", F16)),
        (
            subject("cdna3", "v_mfma_f32_16x16x16_f16"),
            subject("cdna1", "v_mfma_f32_16x16x16_f16"),
        ),
        (
            subject("hopper", F16),
            subject("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        ),
        (
            subject("cdna3", "v_mfma_f32_32x32x16_fp8_fp8"),
            subject("cdna3", "v_mfma_f32_32x32x4_2b_bf16"),
        ),
        (
            mx("mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
            mx("mma.m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.f32.ue8m0"),
        ),
    ];
    let mut shrunk = 0;
    for (left, right) in &pairs {
        for family in [
            Family::Normal,
            Family::Stress,
            Family::Close,
            Family::Boundary,
        ] {
            let generator = Generator::for_unit(family, 2, left.unit()).expect("a generator");
            for index in 0..40 {
                let input = DiffInput::new(left.instruction(), generator.case(index));
                let verdict =
                    |input: &DiffInput| diff::verdict(left, right, input).expect("no error");
                let Some(before) = verdict(&input).filter(|verdict| verdict.differs()) else {
                    assert_eq!(diff::shrink(left, right, &input), Ok(input));
                    continue;
                };
                let small = diff::shrink(left, right, &input).expect("no error");
                let after = verdict(&small).expect("both take it");
                assert!(after.same_kind(before), "{before:?} {after:?}");
                assert!(diff::size(&small) <= diff::size(&input));
                assert!(diff::size(&small)[0] <= 4, "{small:?}");
                assert_eq!(diff::shrink(left, right, &small), Ok(small));
                shrunk += 1;
            }
        }
    }
    assert!(shrunk > 100, "{shrunk}");
}

#[test]
fn the_smallest_input_for_one_more_bit_is_one_product_and_c() {
    let (hopper, ampere) = (subject("hopper", F16), subject("ampere", F16));
    let input = DiffInput::new(hopper.instruction(), one_input(16));
    let small = diff::shrink(&hopper, &ampere, &input).expect("no error");
    // c and one negative product just below the last place of one of them.
    assert_eq!(diff::size(&small)[..3], [2, 0, 0], "{small:?}");
    let explanation = diff::explain(&hopper, &ampere, &small).expect("no error");
    let is_live = |pair: &&PairTrace| pair.exponent.is_some();
    let live: Vec<_> = explanation.operands.pairs.iter().filter(is_live).collect();
    assert_eq!(live.len(), 1);
    let c = explanation.operands.c.exponent.expect("finite");
    let apart = c - live[0].exponent.expect("finite");
    assert!((24..=25).contains(&apart), "{explanation:?}");
    let [left, right] = explanation.sides.map(|side| side.trace.expect("a result"));
    assert_ne!(left.1, right.1);
    // Hopper keeps one bit more of it.
    let words = &explanation.words;
    assert!(words.starts_with("at step 1, term "), "{words}");
    assert!(
        words.contains("is kept") && words.contains("by A and cut"),
        "{words}"
    );
}

#[test]
fn an_explanation_shows_values_exponents_and_results() {
    let (volta, hopper) = (
        subject("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        subject("hopper", F16),
    );
    let input = DiffInput::new(volta.instruction(), one_input(4));
    let explanation = diff::explain(&volta, &hopper, &input).expect("no error");
    let operands = &explanation.operands;
    let products: Vec<_> = operands
        .pairs
        .iter()
        .map(|p| {
            (
                p.k,
                p.a.value.to_string(),
                p.b.value.to_string(),
                p.exponent,
            )
        })
        .collect();
    let wanted = [
        (0, "-8192", "1024", Some(23)),
        (1, "-0.5", "1", Some(-1)),
        (2, "-0.25", "1", Some(-2)),
        (3, "-0.125", "1", Some(-3)),
    ]
    .map(|(k, a, b, exponent)| (k, a.to_owned(), b.to_owned(), exponent));
    assert_eq!(products, wanted);
    let c = (operands.c.value.to_string(), operands.c.exponent);
    assert_eq!(c, ("8388608".to_owned(), Some(23)));
    assert_eq!(operands.exact.to_string(), "-0.875");
    let results: Vec<_> = explanation
        .sides
        .iter()
        .map(|side| {
            let (trace, word) = side.trace.as_ref().expect("a result");
            (
                side.name.as_str(),
                word.as_str(),
                trace.result.value.to_string(),
            )
        })
        .collect();
    let wanted = [
        (
            "volta:mma.m8n8k4.f32.f16.f16.f32",
            "00000000",
            "0".to_owned(),
        ),
        (
            "hopper:mma.m16n8k16.f32.f16.f16.f32",
            "bf400000",
            "-0.75".to_owned(),
        ),
    ];
    assert_eq!(results, wanted);
    let wanted = "at step 1, term p1: bit 2^-1 is cut (rz to 2^0 = 2^(E-23), E=23 from p0) by A \
                  and kept (rz to 2^-2 = 2^(E-25), E=23 from p0) by B";
    assert_eq!(explanation.words, wanted);
}

/// The steps are those of the results: also where operands travel to other formats and slices of k.
#[test]
fn steps_end_in_the_results_that_are_compared() {
    let e4m3 = subject("ada", "mma.m16n8k32.f32.e4m3.e4m3.f32");
    let units = [
        e4m3,
        subject("hopper", F16),
        subject("volta", "mma.m8n8k4.f32.f16.f16.f32"),
        subject("hopper", "mma.m16n8k16.f16.f16.f16.f16"),
        subject("cdna2", "v_mfma_f32_32x32x8_f16"),
    ];
    let mut compared = 0;
    for family in [Family::Stress, Family::Close, Family::Bits] {
        let generator = Generator::for_unit(family, 3, e4m3.unit()).expect("cases");
        for index in 0..300 {
            let input = DiffInput::new(e4m3.instruction(), generator.case(index));
            for unit in &units {
                let result = unit.compute(&input).expect("no error");
                let trace = unit.trace(&input).expect("no error");
                assert_eq!(trace.is_some(), result.is_some());
                let (Some(d), Some(trace)) = (result, trace) else {
                    continue;
                };
                let any = unit.unit().is_nan(d) && unit.unit().is_nan(trace.word());
                assert!(
                    any || trace.word() == d,
                    "{} {family} {index}\n{trace}",
                    unit.name()
                );
                compared += 1;
            }
            // Two units part where their results differ.
            let verdict = diff::verdict(&units[1], &units[2], &input).expect("no error");
            let explanation = diff::explain(&units[1], &units[2], &input).expect("no error");
            if verdict.is_some_and(Verdict::differs) {
                assert!(
                    explanation.parting.is_some(),
                    "{family} {index}: {}",
                    explanation.words
                );
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn words_travel_when_the_value_does() {
    use mmascope::diff::translate;
    use mmascope::format::{BF16, E4M3FN, E4M3FNUZ, F16, F32, TF32};
    assert_eq!(translate(0x3c00, &F16, &F32), Some(0x3f80_0000));
    assert_eq!(translate(0x0001, &F16, &BF16), Some(0x3380));
    assert_eq!(translate(0x0001, &BF16, &F16), None); // too small
    assert_eq!(translate(0x3c01, &F16, &BF16), None); // too long
    assert_eq!(translate(0x3f80_1fff, &TF32, &F32), Some(0x3f80_0000)); // ignored bits
    assert_eq!(translate(0x3f80_1000, &F32, &TF32), None);
    assert_eq!(translate(0x7c00, &F16, &E4M3FN), None); // no ∞ there
    assert_eq!(translate(0x7e00, &F16, &E4M3FN), Some(0x7f));
    assert_eq!(translate(0x8000, &F16, &E4M3FNUZ), None); // no −0 there
    assert_eq!(translate(0xfc00, &F16, &F32), Some(0xff80_0000));
}
