//! Rows of the catalogue against the oracle.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use mmascope::dpa::{Modifiers, Unit};
use mmascope::gemm::Watch;
use mmascope::isa::Catalogue;
use mmascope::kernel::{Kernel, Level};

use super::adversary::{ELEMENTS, Elements, STARTS, Start, matrices};
use super::oracle::by_dots;

static GO: AtomicBool = AtomicBool::new(false);

/// Compares all levels with the oracle on one product; gives the number of outputs.
pub fn compare(
    name: &str,
    unit: &Unit,
    shape: [usize; 3],
    elements: [Elements; 2],
    start: Start,
    modifiers: &Modifiers,
    seed: u64,
) -> usize {
    let signature = unit.signature();
    let chained = signature.c.container() == signature.d.container();
    let shape = [shape[0], shape[1], if chained { shape[2] } else { 1 }];
    let matrices = matrices(unit, shape, elements, start, seed);
    let watch = Watch {
        progress: &|_| (),
        cancel: &GO,
    };
    let mut expected = None;
    for level in Level::available() {
        let Ok(kernel) = Kernel::at_level(unit, level) else {
            return 0;
        };
        let Some(got) = kernel.chain(&matrices, modifiers, &watch).expect("a product") else {
            continue;
        };
        let expected = expected.get_or_insert_with(|| by_dots(unit, &matrices, modifiers));
        if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
            let wrong = (0..got.len()).filter(|&at| got[at] != expected[at]).count();
            let (i, j) = (at / shape[1], at % shape[1]);
            panic!(
                "{name} at {level}: {wrong} of {} outputs differ, first [{i}, {j}]: {:x} instead of {:x}; \
                 {shape:?} {elements:?} {start:?} {modifiers:?} seed {seed}; c {:x?}",
                got.len(),
                got[at],
                expected[at],
                matrices.c.as_ref().map(|c| c[at])
            );
        }
    }
    expected.map_or(0, |expected| expected.len())
}

/// Every different unit of the catalogue, with the name of a row that has it.
pub fn units() -> Vec<(String, &'static Unit)> {
    let mut found: BTreeMap<String, (String, &'static Unit)> = BTreeMap::new();
    for architecture in Catalogue::built_in().architectures() {
        for instruction in architecture.instructions() {
            if let Ok(unit) = instruction.unit() {
                let key = format!("{} | {}", unit.program(), unit.signature());
                let name = format!("{} {}", architecture.name, instruction.name);
                found.entry(key).or_insert((name, unit));
            }
        }
    }
    found.into_values().collect()
}

#[test]
fn every_unit_meets_the_adversary() {
    let (mut with, mut without, mut outputs) = (0, 0, 0);
    for (number, (name, unit)) in units().iter().enumerate() {
        if let Err(reason) = Kernel::at_level(unit, Level::Scalar) {
            without += 1;
            eprintln!("no kernel: {name}: {reason}");
            continue;
        }
        with += 1;
        for (index, elements) in ELEMENTS.into_iter().enumerate() {
            for (other, start) in STARTS.into_iter().enumerate() {
                let seed = (number * 1000 + index * 10 + other) as u64;
                let second = ELEMENTS[(index + other * 5) % ELEMENTS.len()];
                let second = if other % 2 == 0 { elements } else { second };
                let shape = [3, 17, 1 + index % 4];
                let modifiers = Modifiers::default();
                outputs += compare(name, unit, shape, [elements, second], start, &modifiers, seed);
            }
        }
    }
    println!("{with} different units with a kernel, {without} without, {outputs} outputs");
}
