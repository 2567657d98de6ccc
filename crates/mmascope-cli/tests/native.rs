//! Instructions of this machine's own processor, as devices in C (`examples/devices/x86.c`), against their rows.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "common/c.rs"]
mod c;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The instructions that the device has: sums of floating-point numbers, and of integers.
const FLOATS: [&str; 2] = ["vdpbf16ps", "tdpbf16ps"];
const INTEGERS: [&str; 8] = [
    "vpdpbusd",
    "vpdpbusds",
    "vpdpwssd",
    "vpdpwssds",
    "tdpbssd",
    "tdpbsud",
    "tdpbusd",
    "tdpbuud",
];

/// The device; `None`, printed, where a compiler is missing or the processor has none of the instructions.
fn device(folder: &Path) -> Option<PathBuf> {
    // (Assemblers of the time of older processors do not know them.)
    if !std::is_x86_feature_detected!("avx512f") {
        println!("skipped: this processor has no AVX-512");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/devices/x86.c");
    let text = std::fs::read_to_string(source).expect("the device");
    c::compiled(folder, "x86", &text)
}

/// Settings of MXCSR: every rounding, with and without flushes of results and of operands.
fn settings() -> impl Iterator<Item = u32> {
    (0..16).map(|bits| 0x1f80 | (bits & 3) << 13 | (bits >> 2 & 1) << 15 | (bits >> 3) << 6)
}

/// Asks an instruction under a setting, `trials` cases of all families; the mismatches that were found. `None`, printed,
/// where the processor or its system lacks it.
fn mismatches(device: &Path, name: &str, mxcsr: u32, seed: u32, trials: u64) -> Option<u64> {
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .env("INSTRUCTION", name)
        .env("MXCSR", format!("{mxcsr:x}"))
        .args(["validate", &format!("plugin:{}", device.display())])
        .args([
            "--against",
            &format!("x86:{name}"),
            "--in-process",
            "--json",
        ])
        .args(["--trials", &trials.to_string(), "--seed", &seed.to_string()])
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("has no such instruction") {
        println!("skipped: this processor or its system has no {name}");
        return None;
    }
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{name}: {error}: {errors}"));
    let mismatches = report["mismatches"].as_u64().expect("a count");
    assert_eq!(
        output.status.code(),
        Some(i32::from(mismatches > 0)),
        "{report}"
    );
    assert!(report["trials"].as_u64() >= Some(trials), "{report}");
    Some(mismatches)
}

#[test]
fn instructions_are_their_rows_whatever_mxcsr_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = device(folder.path()) else {
        return;
    };
    for name in FLOATS {
        for (seed, mxcsr) in settings().enumerate() {
            match mismatches(&device, name, mxcsr, seed as u32, 10_000) {
                Some(found) => assert_eq!(found, 0, "{name}, MXCSR {mxcsr:x}"),
                None => break,
            }
        }
    }
    for name in INTEGERS {
        let found = mismatches(&device, name, 0x1f80, 1, 20_000);
        assert_eq!(found.unwrap_or(0), 0, "{name}");
    }
}

/// Another row than the instruction's is found out, so that the comparison can fail.
#[test]
fn an_instruction_is_not_another_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = device(folder.path()) else {
        return;
    };
    if mismatches(&device, "vdpbf16ps", 0x1f80, 1, 100).is_none() {
        return;
    }
    let status = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .env("INSTRUCTION", "vdpbf16ps")
        .args(["validate", &format!("plugin:{}", device.display())])
        .args(["--against", "arm:bfdot", "--in-process", "--trials", "5000"])
        .output()
        .expect("the program runs")
        .status;
    assert_eq!(status.code(), Some(1));
}

/// Sums of two products just below the smallest normal number, of the even and of the odd k: the processor judges them as
/// if exponents had no limit, and random cases hardly meet them.
#[test]
fn sums_just_below_the_normal_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = device(folder.path()) else {
        return;
    };
    if mismatches(&device, "tdpbf16ps", 0x1f80, 1, 100).is_none() {
        return;
    }
    let power = |exponent: i32| (127 + exponent) << 7;
    let hex = |words: &[i32; 32]| words.map(|word| format!("{word:04x}")).concat();
    let mut lines = String::new();
    for first in [0, 1] {
        for below in 149..=153 {
            // 2^-126 − 2^-below.
            let (mut a, mut b) = ([0; 32], [0; 32]);
            (a[first], b[first]) = (power(-63), power(-63));
            (a[first + 2], b[first + 2]) = (0x8000 | power(-75), power(75 - below));
            let [a, b] = [&a, &b].map(hex);
            let line = format!(
                r#"{{"arch":"x86","inst":"tdpbf16ps","a":"{a}","b":"{b}","c":"00000000"}}"#
            );
            lines += &(line + "\n");
        }
    }
    let vectors = folder.path().join("below.jsonl");
    std::fs::write(&vectors, lines).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .env("INSTRUCTION", "tdpbf16ps")
        .args(["check", "--in-process", "--subject"])
        .arg(format!("plugin:{}", device.display()))
        .arg(&vectors)
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("10 passed, 0 failed\n"), "{output:?}");
}

/// Millions of cases of every instruction at every setting: `cargo xtask prove x86`.
#[test]
#[ignore = "a long proof: cargo xtask prove x86"]
fn prove_x86() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = device(folder.path()) else {
        return;
    };
    for name in FLOATS.into_iter().chain(INTEGERS) {
        let trials = if name.starts_with('v') {
            6_400_000
        } else {
            1_600_000
        };
        for (seed, mxcsr) in settings().enumerate() {
            let Some(found) = mismatches(&device, name, mxcsr, 100 + seed as u32, trials) else {
                break;
            };
            println!("{name}, MXCSR {mxcsr:04x}: {trials} elements, {found} mismatches");
            assert_eq!(found, 0, "{name}, MXCSR {mxcsr:x}");
        }
    }
}
