//! The four standard configurations (`precision.md` §8).

use mmascope_model::precision::resolve::{Fmf, Policy, Preset, Request, Severity};

use crate::{answer, ask};

fn with(
    preset: &str,
    operation: &'static str,
    target: &str,
) -> (Vec<String>, Vec<(Severity, String)>) {
    let request = Request {
        preset: Some(preset.parse::<Preset>().expect(preset)),
        flags: None,
        ..ask(operation, "", target, "", Policy::Llvm)
    };
    let answer = answer(&request);
    let ptx = answer.ptx();
    (
        ptx,
        answer
            .notes
            .into_iter()
            .map(|note| (note.severity, note.text))
            .collect(),
    )
}

#[test]
fn inference_approximates_contracts_and_flushes() {
    assert_eq!(
        with("inference", "sqrt", "sm_90").0,
        ["sqrt.approx.ftz.f32"]
    );
    assert_eq!(with("inference", "a*b+c", "sm_90").0, ["fma.rn.ftz.f32"]);
}

#[test]
fn training_contracts_and_keeps_subnormals() {
    for preset in ["training-forward", "training-backward"] {
        assert_eq!(with(preset, "a*b+c", "sm_90").0, ["fma.rn.f32"]);
        assert_eq!(with(preset, "sqrt", "sm_90").0, ["sqrt.rn.f32"]);
    }
}

#[test]
fn the_reference_does_nothing_of_that() {
    assert_eq!(
        with("reference", "a*b+c", "sm_90").0,
        ["mul.rn.f32", "add.rn.f32"]
    );
    let preset: Preset = "reference".parse().expect("a preset");
    assert_eq!(
        (preset.flags(), preset.flushes(), preset.formats().0),
        (Fmf::NONE, false, "f32")
    );
}

#[test]
fn the_composed_effect_is_shown_with_the_targets_answer() {
    let (_, notes) = with("inference", "sqrt", "sm_80");
    let warns = |part: &str| {
        notes
            .iter()
            .any(|(severity, text)| *severity == Severity::Warning && text.contains(part))
    };
    assert!(
        warns("e4m3.e4m3") && warns("cvt.rn.satfinite.e4m3x2.f32"),
        "{notes:?}"
    );
    let (_, notes) = with("training-forward", "sqrt", "sm_80");
    assert!(
        notes
            .iter()
            .all(|(severity, _)| *severity == Severity::Note),
        "{notes:?}"
    );
}
