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

/// Infers every unit given; prints how long it took, and the slowest.
fn close(units: &[&(String, Unit)]) {
    let mut failures = Vec::new();
    let mut times = Vec::new();
    for (name, unit) in units {
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
        if let Outcome::Model(model) = &inference.outcome {
            let open: Vec<String> = model
                .unobservable
                .iter()
                .map(|open| format!("{}: {}", open.parameter, open.values.join(" ")))
                .collect();
            println!(
                "{name} | {} | {} | {:.2} | {}",
                unit.program(),
                inference.queries,
                inference.seconds,
                open.join("; ")
            );
        }
    }
    times.sort_by(|x, y| x.0.total_cmp(&y.0));
    let at = |share: usize| &times[(times.len() - 1) * share / 100];
    let most = times.iter().map(|time| time.1).max();
    println!(
        "{} units: median {:.2} s, 95 % within {:.2} s, slowest {:.2} s ({}); at most {} queries",
        times.len(),
        at(50).0,
        at(95).0,
        at(100).0,
        at(100).2,
        most.unwrap_or(0)
    );
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn a_part_of_the_catalogue_closes() {
    let units = units();
    close(&units.iter().step_by(9).collect::<Vec<_>>());
}

/// `cargo xtask prove infer`
#[test]
#[ignore = "minutes: cargo xtask prove infer"]
fn prove_infer() {
    let units = units();
    close(&units.iter().collect::<Vec<_>>());
}
