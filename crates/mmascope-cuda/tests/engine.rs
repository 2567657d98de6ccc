//! The engine's kernels on a chip in C++ have the bits of the reference.
//!
//! `cargo xtask prove cuda` takes all units and more outputs of each; `MMASCOPE_PROVE_OUTPUTS` and `MMASCOPE_PROVE_EVERY` say how
//! many outputs a unit has and which units are taken.

mod emulated;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use emulated::{EmulatedChip, has_compiler};
use mmascope_cuda::engine::CudaEngine;
use mmascope_gemm::array::Words;
use mmascope_gemm::engine::{Engine, Watch};
use mmascope_gemm::gemm::{Matrices, Matrix, Product, Schedule};
use mmascope_lab::cases::{Family, Generator};
use mmascope_model::dpa::{Modifiers, Unit};
use mmascope_model::isa::Catalogue;

fn watch() -> Watch<'static> {
    static GO: AtomicBool = AtomicBool::new(false);
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

/// Operands of some steps of a unit, of a family each row and column of its own.
fn matrices(unit: &Unit, family: Family, [m, n, steps]: [usize; 3], seed: u64) -> Matrices {
    let signature = unit.signature();
    let generator = Generator::for_unit(family, seed, unit).expect("a generator");
    let case = |line: usize, step: usize| generator.case((line * steps + step) as u64);
    let lines = |count: usize, of: &dyn Fn(usize, usize) -> Vec<u64>, format| {
        let words: Vec<u64> = (0..count)
            .flat_map(|line| (0..steps).flat_map(move |step| of(line, step)))
            .collect();
        let length = words.len() / count;
        Matrix::row_major(count, length, Words::of(format, words).expect("words"))
            .expect("a matrix")
    };
    let a = lines(m, &|line, step| case(line, step).a, &signature.a);
    let b = lines(n, &|line, step| case(line, step).b, &signature.b).transposed();
    let c: Vec<u64> = (0..m * n).map(|at| case(at, 0).c).collect();
    let c = Matrix::row_major(m, n, Words::of(&signature.c, c).expect("words")).expect("a matrix");
    let matrices = Matrices::new(a, b)
        .expect("operands")
        .with_c(c)
        .expect("operands");
    let Some(scale) = signature.scale else {
        return matrices;
    };
    let of_a = lines(m, &|line, step| case(line, step).scale_a, &scale.format);
    let of_b = lines(n, &|line, step| case(line, step).scale_b, &scale.format).transposed();
    matrices.with_scales(of_a, of_b).expect("operands")
}

fn compare(name: &str, engine: &dyn Engine, unit: &Unit, outputs: usize) -> usize {
    let families: Vec<Family> = Family::ALL
        .into_iter()
        .filter(|family| {
            *family != Family::Exhaustive && Generator::for_unit(*family, 1, unit).is_ok()
        })
        .collect();
    let mut done = 0;
    let modified = Modifiers {
        negate_a: unit.signature().a.float().is_some(),
        negate_c: unit.signature().c.float().is_some(),
        ..Modifiers::default()
    };
    let side = if outputs > 10_000 { 64 } else { 16 };
    for turn in 0.. {
        if done >= outputs {
            break;
        }
        let family = families[turn % families.len()];
        let is_chain = unit.signature().c == unit.signature().d
            && unit.check_chain(2 * unit.signature().k).is_ok();
        let steps = if is_chain { 2 } else { 1 };
        let matrices = matrices(
            unit,
            family,
            [side + turn % 3, side - 3, steps],
            turn as u64,
        );
        let modifiers = if turn % 4 == 3 {
            modified
        } else {
            Modifiers::default()
        };
        let reference = Product::by_reference(unit, &matrices, modifiers).expect("a product");
        let product = Product::with_engine(unit, &matrices, modifiers, engine).expect("a product");
        assert!(!product.is_by_reference(), "{name}: {:?}", product.reason());
        let schedule = Schedule::default();
        let expected = schedule
            .run(&reference, None, &watch())
            .expect("a product")
            .to_vec();
        let got = schedule
            .run(&product, None, &watch())
            .expect("a product")
            .to_vec();
        for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(
                unit.agrees(*expected, *got),
                "{name}, {family}, turn {turn}, output {at}: {got:x}, the reference {expected:x}"
            );
        }
        done += got.len();
    }
    done
}

fn number(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
        .max(1)
}

/// Units of every kind of arithmetic.
#[test]
fn products_have_the_bits_of_the_reference() {
    if has_compiler() {
        all_units(2_000, 37);
    }
}

/// Every unit, 10⁵ outputs each. `MMASCOPE_PROVE_FROM=n` goes on at unit n.
#[test]
#[ignore = "most of an hour; cargo xtask prove cuda"]
fn prove_cuda() {
    if has_compiler() {
        all_units(
            number("MMASCOPE_PROVE_OUTPUTS", 100_000),
            number("MMASCOPE_PROVE_EVERY", 1),
        );
    }
}

fn all_units(outputs: usize, every: usize) {
    let mut seen = HashSet::new();
    let mut units = Vec::new();
    for architecture in Catalogue::built_in().architectures() {
        for row in architecture.instructions() {
            if let Ok(unit) = row.unit()
                && seen.insert(format!("{} {}", unit.signature(), unit.program()))
            {
                units.push((format!("{} {}", row.architecture, row.name), unit));
            }
        }
    }
    let from = number("MMASCOPE_PROVE_FROM", 1) - 1;
    let (mut all, mut count, mut fast) = (0, 0, 0);
    for (number, (name, unit)) in units.iter().enumerate().skip(from).step_by(every) {
        let chip = EmulatedChip::new(80).unchecked();
        let engine = CudaEngine::new("cuda:0", Arc::new(chip));
        if let Err(reason) = engine.plan(unit) {
            println!("{number} {name}: no source: {reason}");
            continue;
        }
        let plan = engine.plan(unit).expect("a plan").to_string();
        let mut done = compare(name, &engine, unit, outputs);
        if plan.contains("round down") {
            fast += 1;
            let plain = CudaEngine::new("cuda:0", Arc::new(EmulatedChip::new(80).unchecked()))
                .in_integers();
            // What is fast is held to more.
            done += compare(name, &plain, unit, outputs / 4);
        }
        if outputs >= 100_000 {
            println!("{number} {name}: {done} outputs equal the reference");
        }
        (all, count) = (all + done, count + 1);
    }
    println!(
        "{count} units of {}, {fast} of them by multiply-adds, {all} outputs",
        units.len()
    );
    // A part of them may have none that is fast.
    assert!(count > 0 && (fast > 0 || from > 0));
}
