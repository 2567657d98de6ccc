//! Units that no row describes are recovered: the inferred model gives the mutant's bits on fresh
//! inputs, and says the parameters.

use mmascope::cases::{Family, Generator};
use mmascope::dpa::Modifiers;
use mmascope::dut::{Batch, Dut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

use crate::ieee::{BRAIN, HALF, Mode, SINGLE, TENSOR};
use crate::mutant::{Device, Mutant, Over, Place, Rule, Sum};

fn truncated(f: i32, align: Mode) -> Sum {
    Sum::Truncated {
        f,
        f_c: f,
        e0: Some(-133),
        align,
        align_c: align,
    }
}

pub(crate) fn mutants() -> Vec<Mutant> {
    let new = Mutant::new;
    let mut found = Vec::new();
    // Bits kept, roundings of the alignment.
    for f in [10, 12, 16, 20, 22, 27, 30, 34, 40] {
        found.push(new(&format!("F={f}"), "bf16", 8).with(|m| m.sum = truncated(f, Mode::Rz)));
    }
    for (align, end) in [
        (Mode::Rd, Mode::Rz),
        (Mode::Ru, Mode::Rz),
        (Mode::Rna, Mode::Rz),
        (Mode::Rne, Mode::Rz),
        (Mode::Ra, Mode::Rne),
        (Mode::Rnz, Mode::Rne),
        (Mode::Rd, Mode::Rd),
        (Mode::Ru, Mode::Rna),
        (Mode::Rz, Mode::Ru),
    ] {
        found.push(
            new(&format!("align {align:?} end {end:?}"), "f16", 8).with(|m| {
                m.sum = truncated(24, align);
                m.end = end;
                m.between = end;
            }),
        );
    }
    // Block lengths and orders.
    for l in [2, 3, 4, 5, 6, 12] {
        found.push(new(&format!("L={l}"), "bf16", 12).chunks(l));
    }
    found.push(
        new("L=8 between rne, end rz", "bf16", 16)
            .chunks(8)
            .with(|m| m.between = Mode::Rne),
    );
    found.push(
        new("L=4 between rz, end rne", "f16", 16)
            .chunks(4)
            .with(|m| m.end = Mode::Rne),
    );
    found.push(
        new("interleaved mod 2", "f16", 16).order(
            (0..8)
                .map(|i| 2 * i)
                .chain((0..8).map(|i| 2 * i + 1))
                .collect(),
            8,
        ),
    );
    found.push(
        new("interleaved mod 4", "bf16", 16).order((0..16).map(|i| i % 4 * 4 + i / 4).collect(), 4),
    );
    found.push(new("permuted", "f16", 8).order(vec![3, 1, 6, 0, 7, 2, 5, 4], 4));
    found.push(new("reversed", "bf16", 8).order((0..8).rev().collect(), 2));
    // c.
    for end in [Mode::Rne, Mode::Rz] {
        found.push(new(&format!("c last {end:?}"), "f16", 8).with(|m| {
            m.place = Place::Last;
            m.end = end;
        }));
        found.push(
            new(&format!("c last L=4 {end:?}"), "bf16", 8)
                .chunks(4)
                .with(|m| {
                    m.place = Place::Last;
                    m.end = end;
                }),
        );
    }
    found.push(
        new("c after the first step", "bf16", 8)
            .chunks(4)
            .with(|m| m.place = Place::AfterFirst),
    );
    found.push(
        new("c absent", "f16", 8)
            .chunks(4)
            .with(|m| m.place = Place::Absent),
    );
    found.push(
        new("steps added one by one", "bf16", 16)
            .chunks(4)
            .with(|m| {
                m.separate = true;
                m.end = Mode::Rne;
                m.between = Mode::Rne;
            }),
    );
    found.push(new("c with more bits", "bf16", 8).with(|m| {
        m.sum = Sum::Truncated {
            f: 24,
            f_c: 27,
            e0: Some(-133),
            align: Mode::Rz,
            align_c: Mode::Rz,
        }
    }));
    found.push(new("c floored", "f16", 8).with(|m| {
        m.sum = Sum::Truncated {
            f: 25,
            f_c: 25,
            e0: Some(-133),
            align: Mode::Rz,
            align_c: Mode::Rd,
        }
    }));
    found.push(new("c late", "bf16", 8).with(|m| {
        m.sum = Sum::Late {
            f: 24,
            join: 28,
            align: Mode::Rz,
        };
        m.end = Mode::Rne;
    }));
    // Two levels.
    found.push(new("groups of 4", "bf16", 16).with(|m| m.groups = Some((4, false))));
    found.push(new("strided groups", "bf16", 16).with(|m| m.groups = Some((8, true))));
    // Exact and rounded sums.
    found.push(new("exact rz", "f16", 8).with(|m| m.sum = Sum::Exact));
    found.push(new("exact L=4 rne", "bf16", 8).chunks(4).with(|m| {
        m.sum = Sum::Exact;
        m.end = Mode::Rne;
        m.between = Mode::Rne;
    }));
    for sequential in [false, true] {
        found.push(
            new(&format!("rounded, sequential {sequential}"), "f16", 8).with(|m| {
                m.sum = Sum::Rounded { sequential };
                m.end = Mode::Rne;
                m.between = Mode::Rne;
                m.negative_zero = true;
            }),
        );
    }
    found.push(new("rounded pairs", "bf16", 8).chunks(2).with(|m| {
        m.sum = Sum::Rounded { sequential: false };
        m.end = Mode::Rne;
        m.between = Mode::Rne;
    }));
    found.push(new("fma chain", "f16", 4).chunks(1).with(|m| {
        m.sum = Sum::Exact;
        m.end = Mode::Rne;
        m.between = Mode::Rne;
    }));
    found.push(
        new("fma chain rz", "bf16", 4)
            .chunks(1)
            .with(|m| m.sum = Sum::Exact),
    );
    // Products.
    found.push(new("products in f16", "f16", 8).with(|m| m.products = Some((HALF, Mode::Rne))));
    found.push(new("products in bf16", "f16", 8).with(|m| m.products = Some((BRAIN, Mode::Rz))));
    found.push(new("products in f32", "bf16", 4).with(|m| m.products = Some((SINGLE, Mode::Rne))));
    // Flushes, overflow, NaN, zeros, floors.
    found.push(new("flush in", "bf16", 8).with(|m| m.flush_in = true));
    found.push(new("flush out", "bf16", 8).with(|m| m.flush_out = true));
    found.push(new("flush both", "f16", 8).with(|m| {
        m.flush_in = true;
        m.flush_out = true;
    }));
    found.push(new("largest", "bf16", 8).with(|m| m.over = Over::Largest));
    found.push(new("overflow NaN", "bf16", 8).with(|m| {
        m.over = Over::Nan;
        m.nan = 0x7fc0_0000;
    }));
    found.push(new("NaN -1", "f16", 8).with(|m| m.nan = 0xffff_ffff));
    found.push(new("-0", "bf16", 8).with(|m| m.negative_zero = true));
    for e0 in [None, Some(-126), Some(-140), Some(-120)] {
        found.push(new(&format!("e0 {e0:?}"), "bf16", 8).with(|m| {
            m.sum = Sum::Truncated {
                f: 24,
                f_c: 24,
                e0,
                align: Mode::Rz,
                align_c: Mode::Rz,
            }
        }));
    }
    // Habits that few units have.
    found.push(new("flush a alone", "bf16", 8).with(|m| {
        m.flush_in = true;
        m.twists.only_a = true;
    }));
    found.push(
        new("operands cut to bf16", "f16", 8).with(|m| m.twists.operands = Some((BRAIN, Mode::Rz))),
    );
    found.push(new("c cut to bf16", "bf16", 8).with(|m| m.twists.c = Some((BRAIN, Mode::Rz))));
    found.push(new("c rounded to f16", "f16", 8).with(|m| m.twists.c = Some((HALF, Mode::Rne))));
    found.push(new("c beside the grid", "bf16", 8).with(|m| {
        m.twists.c_outside_alignment = true;
        m.sum = truncated(24, Mode::Rz);
    }));
    found.push(new("sticky", "bf16", 8).with(|m| {
        m.twists.sticky = Some(400);
        m.sum = truncated(25, Mode::Rz);
        m.end = Mode::Rne;
    }));
    found.push(new("sticky bit in the sum", "bf16", 8).with(|m| {
        m.twists.sticky = Some(3);
        m.sum = truncated(25, Mode::Rz);
        m.end = Mode::Rne;
    }));
    found.push(new("few bits, c nearest", "bf16", 8).chunks(4).with(|m| {
        m.sum = Sum::Truncated {
            f: 10,
            f_c: 16,
            e0: Some(-133),
            align: Mode::Rz,
            align_c: Mode::Rne,
        };
    }));
    found.push(new("c cut, added last", "bf16", 8).chunks(4).with(|m| {
        m.place = Place::Last;
        m.twists.c = Some((TENSOR, Mode::Rne));
        m.sum = truncated(24, Mode::Rz);
    }));
    for rule in [Rule::Zero, Rule::Signed, Rule::Plus] {
        found.push(
            new(&format!("0 times infinity: {rule:?}"), "f16", 8)
                .with(|m| m.twists.zero_times_infinity = rule),
        );
    }
    found.push(new("opposite infinities", "bf16", 8).with(|m| m.twists.opposite = Rule::Plus));
    found.push(new("groups by a permutation", "bf16", 16).with(|m| {
        m.groups = Some((4, false));
        m.twists.partition = Some(vec![0, 2, 1, 3, 1, 0, 3, 3, 2, 0, 1, 2, 0, 3, 2, 1]);
    }));
    found.push(new("f16 between steps", "f16", 8).chunks(4).with(|m| {
        m.inner = Some(HALF);
        m.between = Mode::Rne;
    }));
    found.push(new("rounded one by one", "bf16", 6).chunks(1).with(|m| {
        m.sum = Sum::Rounded { sequential: true };
        m.end = Mode::Rne;
        m.between = Mode::Rne;
    }));
    // Narrow results and operands.
    found.push(new("f16 result", "f16", 8).with(|m| {
        m.result = "f16";
        m.sum = truncated(14, Mode::Rz);
        m.end = Mode::Rne;
        m.nan = 0x7fff;
    }));
    found.push(new("f16 result through f32", "f16", 8).chunks(4).with(|m| {
        m.result = "f16";
        m.inner = Some(SINGLE);
        m.between = Mode::Rz;
        m.end = Mode::Rne;
        m.nan = 0x7fff;
        m.sum = truncated(24, Mode::Rz);
    }));
    found.push(
        new("e5m2", "e5m2", 32)
            .chunks(16)
            .with(|m| m.sum = truncated(17, Mode::Rz)),
    );
    found
}

/// Answers of a model and of a mutant on inputs that the inference has not seen.
pub(crate) fn mismatch(device: &mut dyn Dut, model: &mmascope::infer::Found) -> Option<String> {
    let signature = *device.signature();
    let mut count = 0;
    for family in Family::ALL {
        for unit in [None, Some(&model.unit)] {
            let generator = match unit {
                Some(unit) => Generator::for_unit(family, 99, unit),
                None => Generator::new(
                    family,
                    98,
                    &signature,
                    mmascope::cases::Hints::of_signature(&signature),
                ),
            };
            let Ok(generator) = generator else { continue };
            let mut batch = Batch::new(signature);
            for index in 0..400 {
                batch.push(&generator.case(index).operands()).expect("fits");
            }
            let answers = device.run(&batch).expect("answers");
            for (index, answer) in answers.into_iter().enumerate() {
                let word = model
                    .unit
                    .dot(&batch.query(index), &Modifiers::default())
                    .expect("computes");
                let same = match answer {
                    Answer::Word(wanted) => model.unit.agrees(word, wanted),
                    Answer::AnyNan => model.unit.is_nan(word),
                };
                if !same {
                    count += 1;
                    if count == 1 {
                        eprintln!(
                            "{family} {index}: device {answer}, model {word:x}: {:?}",
                            batch.query(index)
                        );
                    }
                }
            }
        }
    }
    (count > 0).then(|| format!("{count} fresh inputs differ"))
}

#[test]
fn mutants_are_recovered() {
    let only = std::env::var("MMASCOPE_MUTANT").ok();
    let mut failures = Vec::new();
    let mutants = mutants();
    println!("{} mutants", mutants.len());
    for mutant in mutants {
        let is_asked = |only: &String| only.split(';').any(|name| name == mutant.name);
        if !only.as_ref().is_none_or(is_asked) {
            continue;
        }
        let mut device = Device::new(mutant.clone());
        let inference = infer(
            &mut device,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        )
        .expect("answers");
        let outcome = match &inference.outcome {
            Outcome::Model(model) => {
                println!(
                    "{:24} {:6} queries {:5.2} s  {}",
                    mutant.name, inference.queries, inference.seconds, model.program
                );
                if only.is_some() {
                    for rejected in model.rejected.iter().take(12) {
                        println!("        rejected {} {}", rejected.row, rejected.input);
                    }
                }
                for open in &model.unobservable {
                    println!(
                        "        unobservable {}: {}",
                        open.parameter,
                        open.values.join(" ")
                    );
                }
                mismatch(&mut device, model)
            }
            other => {
                println!(
                    "{:24} {:6} queries {:5.2} s  NOT FOUND",
                    mutant.name, inference.queries, inference.seconds
                );
                Some(format!("{other:?}"))
            }
        };
        if let Some(outcome) = outcome {
            println!("   FAILED {}", outcome);
            failures.push(format!("{}: {outcome}", mutant.name));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures.join("\n")
    );
}
