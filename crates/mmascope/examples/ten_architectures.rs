//! One matrix product under ten architectures: the bits that differ, and the errors.
//!
//! `cargo run --release --package mmascope --example ten_architectures` multiplies `signal.npy`
//! (16 decaying tones of 64 samples) by `dct.npy` (16 vectors of a cosine transform), f16 with f32
//! accumulators.

use std::sync::atomic::AtomicBool;

use mmascope::array::{self, Array, Casting};
use mmascope::dpa::Modifiers;
use mmascope::format::{Exact, F32, Overflow, Rounding};
use mmascope::gemm::{self, Arrays, Matrices, Watch};
use mmascope::isa::Catalogue;

/// The f16 → f32 instruction of each architecture.
const UNITS: [(&str, &str); 10] = [
    ("volta", "mma.m8n8k4.f32.f16.f16.f32"),
    ("turing", "mma.m16n8k8.f32.f16.f16.f32"),
    ("ampere", "mma.m16n8k16.f32.f16.f16.f32"),
    ("ada", "mma.m16n8k16.f32.f16.f16.f32"),
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ("blackwell", "mma.m16n8k16.f32.f16.f16.f32"),
    ("rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32"),
    ("cdna1", "v_mfma_f32_16x16x16_f16"),
    ("cdna2", "v_mfma_f32_16x16x16_f16"),
    ("cdna3", "v_mfma_f32_16x16x16_f16"),
];

fn main() -> mmascope::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let (a, b) = (read(folder, "signal.npy")?, read(folder, "dct.npy")?);
    let arrays = Arrays {
        a: &a,
        b: &b,
        c: None,
        scale_a: None,
        scale_b: None,
        transpose_a: false,
        transpose_b: false,
    };
    let never = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| (),
        cancel: &never,
    };
    let modifiers = Modifiers::default();
    let mut results = Vec::new();
    for (arch, inst) in UNITS {
        let unit = Catalogue::built_in().find(arch, inst)?.unit()?;
        let matrices = Matrices::from_arrays(&arrays, unit.signature(), &Casting::default())?;
        let d = gemm::chain(unit, &matrices, &modifiers, &watch)?;
        let errors = gemm::statistics(unit, &matrices, &modifiers, &d, false, &watch)?;
        results.push((arch, d, errors, matrices));
    }
    // The element on which the ten units give the most different answers.
    let answers = |index: usize| {
        let words: std::collections::BTreeSet<u64> =
            results.iter().map(|(_, d, ..)| d.get(index)).collect();
        words.len()
    };
    let outputs = results[0].1.len();
    let chosen = (0..outputs)
        .rev()
        .max_by_key(|&index| answers(index))
        .unwrap_or(0);
    let n = results[0].3.n();
    println!("D = signal (16 × 64) · dct (64 × 16), f16 with f32 accumulators");
    println!("{} of {outputs} outputs are not the same everywhere", {
        (0..outputs).filter(|&index| answers(index) > 1).count()
    });
    println!();
    let element = format!("D[{}][{}]", chosen / n, chosen % n);
    println!(
        "{:<14} {element:>9}  bits that differ from the first   max ULP  mean ULP",
        "unit"
    );
    let first = results[0].1.get(chosen);
    for (arch, d, errors, _) in &results {
        println!(
            "{arch:<14}  {:08x}  {:032b}  {:>7.2}  {:>8.3}",
            d.get(chosen),
            d.get(chosen) ^ first,
            errors.ulps.max,
            errors.ulps.mean
        );
    }
    println!(
        "{:<14}  {:08x}  (the exact sum, rounded once)",
        "exact",
        exact(&results[0].3, chosen)
    );
    Ok(())
}

fn read(folder: &str, name: &str) -> mmascope::Result<Array> {
    array::read(&format!("{folder}/{name}"))
}

/// The correctly rounded f32 of one element: f16 products are multiples of 2^-48 below 2^32, so
/// that i128 holds their sum.
fn exact(matrices: &Matrices, index: usize) -> u64 {
    let (i, j) = (index / matrices.n(), index % matrices.n());
    let sum: i128 = (0..matrices.k())
        .map(|k| {
            let value = |word: u64| {
                let x = mmascope::format::F16.decode(word);
                let magnitude = i128::from(x.significand) << (x.exponent + 14);
                if x.negative { -magnitude } else { magnitude }
            };
            value(matrices.a().at(0, i, k)) * value(matrices.b().at(0, k, j))
        })
        .sum();
    let exact = Exact {
        negative: sum < 0,
        magnitude: sum.unsigned_abs(),
        exponent: -48,
        sticky: false,
    };
    F32.round(&exact, Rounding::Rne, Overflow::Ieee)
}
