//! Rows of the catalogue against the oracle, a bounded part of what `prove.rs` does.

use mmascope::cpu::{Kernel, Level};

use super::adversary::{ELEMENTS, STARTS};
use super::cases::{Case, units};
use super::schedules::Plan;

#[test]
fn every_unit_meets_the_adversary() {
    let levels: Vec<Level> = Level::available().collect();
    let (mut with, mut without, mut outputs) = (0, 0, 0);
    let mut failures = Vec::new();
    for (number, (name, unit)) in units().iter().enumerate() {
        if let Err(reason) = Kernel::at_level(unit, Level::Scalar) {
            without += 1;
            eprintln!("no kernel: {name}: {reason}");
            continue;
        }
        with += 1;
        'unit: for (index, elements) in ELEMENTS.into_iter().enumerate() {
            for (other, start) in STARTS.into_iter().enumerate() {
                let seed = (number * 1000 + index * 10 + other) as u64;
                let second = ELEMENTS[(index + other * 5) % ELEMENTS.len()];
                let second = if other % 2 == 0 { elements } else { second };
                let case = Case::plain([3, 17, 1 + index % 4], [elements, second], start, seed);
                if let Err(failure) = case.compare(name, unit, &levels) {
                    eprintln!("{failure}");
                    failures.push(failure);
                    break 'unit;
                }
                outputs += case.outputs();
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} units differ, the first: {}",
        failures.len(),
        failures[0]
    );
    println!("{with} different units with a kernel, {without} without, {outputs} outputs");
}

/// Every schedule at every level, on units of every kernel and on one without: one in seven of the
/// catalogue's, each with every schedule; tiles end where no kernel's tiles do.
#[test]
fn schedules_are_what_the_reference_gives_step_by_step() {
    let levels: Vec<Level> = Level::available().collect();
    let mut outputs = 0;
    for (number, (name, unit)) in units().iter().enumerate().step_by(7) {
        if !super::cases::chains(unit) {
            continue;
        }
        for (index, plan) in Plan::ALL.into_iter().enumerate() {
            let at = number + index;
            let elements = [
                ELEMENTS[at % ELEMENTS.len()],
                ELEMENTS[(at / 2 + 1) % ELEMENTS.len()],
            ];
            let shape = [14, 75, 3 + at % 3];
            let start = STARTS[at % STARTS.len()];
            let case = Case {
                plan,
                ..Case::plain(shape, elements, start, at as u64)
            };
            let compared = case.compare(name, unit, &levels);
            compared.unwrap_or_else(|failure| panic!("{failure}"));
            outputs += case.outputs();
        }
    }
    println!("{outputs} outputs");
}
