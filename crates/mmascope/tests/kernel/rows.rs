//! Rows of the catalogue against the oracle.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use mmascope::dpa::{Modifiers, Unit};
use mmascope::gemm::{Product, Watch};
use mmascope::isa::Catalogue;
use mmascope::kernel::{Kernel, Level};

use super::adversary::{ELEMENTS, Elements, STARTS, Start, matrices};
use super::oracle::by_dots;

static GO: AtomicBool = AtomicBool::new(false);

/// Compares all levels with the oracle on one product; gives the number of outputs.
pub(crate) fn compare(
    name: &str,
    unit: &Unit,
    shape: [usize; 3],
    elements: [Elements; 2],
    start: Start,
    modifiers: &Modifiers,
    seed: u64,
) -> Result<usize, String> {
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
            return Ok(0);
        };
        let product = Product::with_kernel(unit, &matrices, *modifiers, Some(kernel));
        let product = product.expect("operands fit");
        let mut got = product.c(product.whole()).expect("memory");
        let steps = 0..product.steps();
        product
            .advance(steps, true, &mut got, &watch)
            .expect("a product");
        let got = got.words().to_vec();
        let expected = expected.get_or_insert_with(|| by_dots(unit, &matrices, modifiers));
        if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
            let wrong = (0..got.len()).filter(|&at| got[at] != expected[at]).count();
            let (i, j) = (at / shape[1], at % shape[1]);
            return Err(format!(
                "{name} at {level}: {wrong} of {} outputs differ, first [{i}, {j}]: {:x} instead of {:x}; \
                 {shape:?} {elements:?} {start:?} {modifiers:?} seed {seed}; c {:x?}",
                got.len(),
                got[at],
                expected[at],
                matrices.c().map(|c| c.at(0, i, j))
            ));
        }
    }
    Ok(expected.map_or(0, |expected| expected.len()))
}

/// Every different unit of the catalogue, with the name of a row that has it.
pub(crate) fn units() -> Vec<(String, &'static Unit)> {
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
                let shape = [3, 17, 1 + index % 4];
                let modifiers = Modifiers::default();
                match compare(
                    name,
                    unit,
                    shape,
                    [elements, second],
                    start,
                    &modifiers,
                    seed,
                ) {
                    Ok(count) => outputs += count,
                    Err(failure) => {
                        eprintln!("{failure}");
                        failures.push(failure);
                        break 'unit;
                    }
                }
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

/// ≥ 10⁶ outputs for every row of the catalogue, each different unit once: the command is
/// `cargo xtask prove kernels`. `MMASCOPE_PROVE_FROM=n` takes it up at unit n.
#[test]
#[ignore = "minutes to an hour: cargo xtask prove kernels"]
fn prove_kernels() {
    const OUTPUTS: usize = 1_000_000;
    const SIZES: [usize; 4] = [1, 3, 17, 255];
    let from =
        std::env::var("MMASCOPE_PROVE_FROM").map_or(0, |text| text.parse().expect("a number"));
    let levels: Vec<&str> = Level::available().map(Level::name).collect();
    let units = units();
    println!(
        "{} different units, levels {}",
        units.len(),
        levels.join(" ")
    );
    let (mut with, mut all) = (0, 0);
    for (number, (name, unit)) in units.iter().enumerate().skip(from) {
        if let Err(reason) = Kernel::at_level(unit, Level::Scalar) {
            println!("{number} {name}: no kernel: {reason}");
            continue;
        }
        with += 1;
        let (mut outputs, mut index) = (0, 0);
        while outputs < OUTPUTS {
            let elements = [
                ELEMENTS[index % 18],
                ELEMENTS[(index + index / 18 * 5) % 18],
            ];
            let start = STARTS[index % 7];
            // Odd sizes first, then squares that give many outputs.
            let shape = match index {
                0..64 => [SIZES[index % 4], SIZES[index / 4 % 4], 1 + index % 5],
                _ => [65, 129, 1 + index % 3],
            };
            let seed = (number * 100_000 + index) as u64;
            let modifiers = Modifiers::default();
            match compare(name, unit, shape, elements, start, &modifiers, seed) {
                Ok(count) => outputs += count,
                Err(failure) => panic!("unit {number}: {failure}"),
            }
            index += 1;
        }
        all += outputs;
        println!("{number} {name}: {outputs} outputs equal");
    }
    println!(
        "{with} different units with a kernel, {all} outputs, at {}",
        levels.join(" ")
    );
}
