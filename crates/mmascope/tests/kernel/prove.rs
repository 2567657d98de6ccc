//! The long proof, `cargo xtask prove kernels`.

use std::time::Instant;

use mmascope::cpu::{Kernel, Level};
use rayon::prelude::*;

use super::cases::{Case, units};

/// A number that an environment variable gives.
pub(super) fn asked(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: a number is expected"))
    })
}

/// The levels that `MMASCOPE_PROVE_LEVELS` names (`avx2,avx512`), else all that there are.
pub(super) fn levels() -> Vec<Level> {
    let Ok(names) = std::env::var("MMASCOPE_PROVE_LEVELS") else {
        return Level::available().collect();
    };
    let named = |name| {
        let level = Level::named(name).unwrap_or_else(|error| panic!("{error}"));
        assert!(level.is_there(), "this machine has no {level}");
        level
    };
    names.split(',').map(named).collect()
}

/// ≥ 10⁶ outputs for every row of the catalogue, each different unit once, at every level of this
/// machine: the command is `cargo xtask prove kernels`. A unit is a line; failures are printed at
/// once, and the rest goes on. `MMASCOPE_PROVE_FROM=n` takes it up at unit n, `MMASCOPE_PROVE_EVERY=n`
/// takes every nth, `MMASCOPE_PROVE_OUTPUTS=n` asks for other than 10⁶.
#[test]
#[ignore = "half an hour: cargo xtask prove kernels"]
fn prove_kernels() {
    let wanted = asked("MMASCOPE_PROVE_OUTPUTS", 1_000_000);
    let from = asked("MMASCOPE_PROVE_FROM", 0);
    let every = asked("MMASCOPE_PROVE_EVERY", 1).max(1);
    let levels = levels();
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    let names = names.join(" ");
    let units = units();
    println!("{} different units, levels {names}", units.len());
    let (mut with, mut without, mut all) = (0, 0, 0);
    let mut failures = Vec::new();
    let (start, count) = (
        Instant::now(),
        (units.len().saturating_sub(from)).div_ceil(every),
    );
    let chosen = units.iter().enumerate().skip(from).step_by(every);
    for (place, (number, (name, unit))) in chosen.enumerate() {
        let kernel = match Kernel::at_level(unit, Level::Scalar) {
            Ok(kernel) => {
                with += 1;
                kernel.to_string()
            }
            Err(reason) => {
                without += 1;
                format!("no kernel: {reason}")
            }
        };
        let mut outputs = 0;
        let mut cases = Vec::new();
        while outputs < wanted {
            let case = Case::of_list(unit, number, cases.len(), wanted < 100_000);
            outputs += case.outputs();
            cases.push(case);
        }
        let failed: Vec<String> = cases
            .par_iter()
            .with_max_len(1)
            .filter_map(|case| {
                let failure = case.compare(name, unit, &levels).err()?;
                println!("FAILED: unit {number}: {failure}");
                Some(failure)
            })
            .collect();
        all += outputs;
        let verdict = match failed.len() {
            0 => format!("{outputs} outputs equal"),
            wrong => format!("{wrong} of {} products differ", cases.len()),
        };
        let spent = start.elapsed().as_secs_f64();
        let left = spent / (place + 1) as f64 * (count - place - 1) as f64 / 60.0;
        println!("{number} {name}: {verdict} ({kernel}); {spent:.0} s, {left:.0} min left");
        failures.extend(failed);
    }
    println!(
        "{with} different units with a kernel, {without} without, {all} outputs, at {names}; \
         {} products differ",
        failures.len()
    );
    assert!(failures.is_empty(), "the first: {}", failures[0]);
}
