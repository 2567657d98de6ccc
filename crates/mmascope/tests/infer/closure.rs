//! infer(model(row)) is that row, or one that nothing tells apart from it.

use mmascope::dpa::{Program, Signature, Unit};
use mmascope::dut::ModelDut;
use mmascope::infer::{Inference, Options, Outcome, infer};
use mmascope::isa::Catalogue;

/// The different units of the catalogue, with a name each.
pub(crate) fn units() -> Vec<(String, Unit)> {
    let mut seen: Vec<(Signature, Program)> = Vec::new();
    let mut found = Vec::new();
    for row in Catalogue::built_in().instructions() {
        let Ok(unit) = row.unit() else { continue };
        let key = (*unit.signature(), unit.program().clone());
        if !seen.contains(&key) {
            seen.push(key);
            found.push((format!("{}:{}", row.architecture, row.name), unit.clone()));
        }
    }
    found
}

pub(crate) fn closes(name: &str, unit: &Unit, inference: &Inference) -> Result<(), String> {
    let Outcome::Model(model) = &inference.outcome else {
        return Err(format!("{name}: {:?}", inference.outcome));
    };
    if !model.equivalent.iter().any(|row| row == name) {
        return Err(format!(
            "{name}: {} found for {}; equivalent: {:?}",
            model.program,
            unit.program(),
            model.equivalent
        ));
    }
    Ok(())
}

#[test]
fn a_part_of_the_catalogue_closes() {
    let units = units();
    let step = if std::env::var_os("MMASCOPE_ALL").is_some() {
        1
    } else {
        9
    };
    let mut failures = Vec::new();
    let mut times = Vec::new();
    for (name, unit) in units.iter().step_by(step) {
        let mut device = ModelDut::new("a black box", unit.clone());
        let inference = infer(
            &mut device,
            Some(Catalogue::built_in()),
            &Options::default(),
        )
        .expect("answers");
        times.push((inference.seconds, inference.queries, name));
        if let Err(failure) = closes(name, unit, &inference) {
            failures.push(failure);
        }
    }
    times.sort_by(|x, y| y.0.total_cmp(&x.0));
    println!("{} units; slowest: {:?}", times.len(), &times[..3]);
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
}
