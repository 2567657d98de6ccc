//! Devices of integer sums: what `infer`, `probe` and `reveal` find of every different integer unit, and of wrong ones.

use mmascope::dpa::{Signature, Unit};
use mmascope::dut::{Batch, Dut, ModelDut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::integers;
use mmascope::isa::Catalogue;
use mmascope::probe::probe;
use mmascope::reveal::Nature;
use mmascope::vector::Answer;

/// Every different unit with the name of a row that has it.
fn units() -> Vec<(String, Unit)> {
    let mut found: Vec<(String, Unit)> = Vec::new();
    for row in Catalogue::built_in().instructions() {
        let Ok(unit) = row.unit() else { continue };
        if unit.program().sums_integers() && !found.iter().any(|(_, own)| own == unit) {
            found.push((format!("{}:{}", row.architecture, row.name), unit.clone()));
        }
    }
    assert!(found.len() > 40, "{} units", found.len());
    found
}

#[test]
fn every_unit_is_found_again() {
    for (name, unit) in units() {
        let mut device = ModelDut::new("a black box", unit.clone());
        let found = infer(
            &mut device,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        );
        let found = found.expect("answers");
        let Outcome::Model(model) = &found.outcome else {
            panic!("{name}: {:?}", found.outcome);
        };
        assert_eq!(model.program, *unit.program(), "{name}");
        assert!(
            model.equivalent.contains(&name),
            "{name}: {:?}",
            model.equivalent
        );
        let features = probe(&mut device).expect("answers");
        let wanted = if unit.program().to_string().contains("wraps") {
            "wraps"
        } else {
            "saturates"
        };
        assert_eq!(features.value("overflow-sum"), Some(wanted), "{name}");
        let report = integers::reveal(&mut device, 3).expect("answers");
        assert!(report.holds(), "{name}: {}", report.verdict());
        assert_eq!(report.tree.leaves(), unit.signature().k + 1);
    }
}

/// Blocks show where a sum saturates between them.
#[test]
fn blocks_that_saturate_are_counted() {
    let signature: Signature = "a=int8 b=int8 c=int32 d=int32 k=16".parse().expect("right");
    for l in [1, 2, 4, 8, 16] {
        let text = format!("int-dot L={l} beyond=saturates -> rz int32");
        let unit = Unit::new(signature, text.parse().expect("right")).expect("fits");
        let mut device = ModelDut::new("blocks", unit);
        let features = probe(&mut device).expect("answers");
        assert_eq!(features.value("step"), Some(&*l.to_string()));
    }
}

/// A unit with one wrong bit in rare sums, and one that rounds.
struct Wrong {
    model: ModelDut,
    change: fn(u64) -> u64,
}

impl Dut for Wrong {
    fn signature(&self) -> &Signature {
        self.model.signature()
    }

    fn name(&self) -> &str {
        "wrong"
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let answers = self.model.run(batch)?;
        let changed = answers.into_iter().map(|answer| match answer {
            Answer::Word(word) => Answer::Word((self.change)(word)),
            other => other,
        });
        Ok(changed.collect())
    }
}

#[test]
fn other_units_are_no_integer_sums() {
    let changes: [fn(u64) -> u64; 3] = [
        |word| word & !1,
        |word| word & 0x7fff_ffff,
        |word| {
            if word == 0x8000_0000 {
                0x8000_0001
            } else {
                word
            }
        },
    ];
    let (_, unit) = units().swap_remove(0);
    for change in changes {
        let model = ModelDut::new("right", unit.clone());
        let mut device = Wrong { model, change };
        let found = infer(
            &mut device,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        );
        let outcome = found.expect("answers").outcome;
        assert!(
            matches!(
                outcome,
                Outcome::NoModel {
                    example: Some(_),
                    ..
                }
            ),
            "{outcome:?}"
        );
        let report = integers::reveal(&mut device, 3).expect("answers");
        assert!(matches!(report.nature, Nature::NoSingleTree(_)));
    }
}
