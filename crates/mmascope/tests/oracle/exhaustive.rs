//! All 65,536 pairs (a0, b0) of 8-bit operands with sixteen c, other products zero.

use std::time::Instant;

use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::isa::Catalogue;
use rayon::prelude::*;

use super::codes::{chosen, compose};
use super::lowered::emulated_fp8;
use super::program::knows;
use super::proof::{compare, report, scaled_unit, unit};

/// Block scales that go with each c: mostly 1, with both ends of the range among them.
const SCALE_EXPONENTS: [(i32, i32); 4] = [(0, 0), (-60, -70), (3, -1), (64, 60)];

/// Every pair of codes at the first k. Returns how many cases there were, or the first mismatch.
pub(crate) fn all_pairs(unit: &Unit) -> Result<u64, String> {
    let signature = unit.signature();
    assert!(
        signature.a.bits == 8 && signature.b.bits == 8,
        "{signature}"
    );
    let all_c = chosen(&signature.c);
    let mismatch = (0..256_u64).into_par_iter().find_map_first(|a0| {
        let mut a = vec![0; signature.k];
        let mut b = vec![0; signature.k];
        a[0] = a0;
        for (index, c) in all_c.into_iter().enumerate() {
            let (exponent_a, exponent_b) = SCALE_EXPONENTS[index % SCALE_EXPONENTS.len()];
            let scales = |exponent: i32| {
                let format = signature.scale.map(|scale| scale.format);
                let word = format.map_or(0, |format| compose(&format, false, exponent, 0));
                vec![word; signature.scales()]
            };
            let (scale_a, scale_b) = (scales(exponent_a), scales(exponent_b));
            for b0 in 0..256 {
                b[0] = b0;
                let operands = Operands {
                    a: &a,
                    b: &b,
                    c,
                    scale_a: &scale_a,
                    scale_b: &scale_b,
                };
                if let Some(report) = compare(unit, &operands, &Modifiers::default()) {
                    return Some(format!("{report}\n  all pairs, a0={a0:02x} b0={b0:02x}"));
                }
            }
        }
        None
    });
    mismatch.map_or(Ok(256 * 256 * all_c.len() as u64), Err)
}

const OCP: [&str; 2] = ["e4m3", "e5m2"];
const FNUZ: [&str; 2] = ["e4m3fnuz", "e5m2fnuz"];

/// The four mixes of two formats.
fn mixes(formats: [&str; 2], build: impl Fn(&str, &str) -> Unit) -> Vec<Unit> {
    formats
        .iter()
        .flat_map(|a| formats.map(|b| build(a, b)))
        .collect()
}

fn prove_all_pairs(name: &str, units: &[Unit]) {
    let start = Instant::now();
    let mut total = 0;
    let mut mismatches = Vec::new();
    for unit in units {
        match all_pairs(unit) {
            Ok(cases) => total += cases,
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    report(name, total, start, &mismatches);
}

/// Truncated sums by K, L, F and both accumulators' e0 and conversions.
fn truncated(k: usize, l: usize, f: u32, e0: [i32; 2]) -> Vec<Unit> {
    let narrow = if f == 13 { "e8m13" } else { "f32" };
    let single = format!(
        "t-fdpa L={l} F={f} e0={} -> rz {narrow} nan=7fffffff",
        e0[0]
    );
    let half = format!("t-fdpa L={l} F={f} e0={} -> rne f16 nan=7fff", e0[1]);
    let mut units = mixes(OCP, |a, b| unit(a, b, "f32", k, &single));
    units.extend(mixes(OCP, |a, b| unit(a, b, "f16", k, &half)));
    units
}

#[test]
fn ada_k16() {
    prove_all_pairs(
        "all pairs, L=16 F=13 K=16",
        &truncated(16, 16, 13, [-132, -20]),
    );
}

#[test]
fn ada_k32() {
    prove_all_pairs(
        "all pairs, L=16 F=13 K=32",
        &truncated(32, 16, 13, [-132, -20]),
    );
}

#[test]
fn hopper_wgmma() {
    prove_all_pairs(
        "all pairs, L=32 F=13 K=32",
        &truncated(32, 32, 13, [-133, -21]),
    );
}

#[test]
fn blackwell_f8f6f4() {
    prove_all_pairs(
        "all pairs, L=32 F=25 K=32",
        &truncated(32, 32, 25, [-133, -21]),
    );
}

#[test]
fn block_scaled() {
    let program = "st-fdpa L=32 F=25 e0=-133 -> rz f32 nan=7fffffff";
    let units = mixes(OCP, |a, b| {
        scaled_unit([a, b], "f32", 32, ("ue8m0", 32), program)
    });
    prove_all_pairs("all pairs, block scales", &units);
}

#[test]
fn cdna3() {
    let program = "gtr-fdpa L=16 F=24 F2=31 -> rne f32";
    let units = mixes(FNUZ, |a, b| unit(a, b, "f32", 32, program));
    prove_all_pairs("all pairs, even and odd k apart", &units);
}

#[test]
fn emulated_hopper() {
    for output in ["f32", "f16"] {
        for (k, l, old_compiler) in [(32, 16, false), (16, 8, true)] {
            let program = emulated_fp8(output, l, old_compiler);
            let units = mixes(OCP, |a, b| unit(a, b, output, k, &program));
            prove_all_pairs("all pairs, emulated fp8", &units);
        }
    }
}

/// Every modelled row of the catalogue with two 8-bit operands whose algorithms the oracle has. A result
/// depends on nothing but the unit, so that rows with equal units are proved together.
#[test]
#[ignore = "minutes of work; run it with: cargo xtask prove fp8"]
fn prove_fp8_every_row_of_the_catalogue() {
    let rows: Vec<&Unit> = Catalogue::built_in()
        .instructions()
        .filter(|row| row.signature.a.bits == 8 && row.signature.b.bits == 8)
        .filter_map(|row| row.unit().ok())
        .collect();
    let all = rows.len();
    let rows: Vec<&Unit> = rows
        .into_iter()
        .filter(|unit| knows(unit.program()))
        .collect();
    println!("{} rows have oracles of their own", all - rows.len());
    let mut units: Vec<Unit> = Vec::new();
    for unit in &rows {
        if !units.contains(unit) {
            units.push((*unit).clone());
        }
    }
    println!("{} rows, {} different units", rows.len(), units.len());
    prove_all_pairs("every fp8 row of the catalogue", &units);
}
