//! Instructions of this machine's own processor, as devices in C (`examples/devices`), against their rows.
#![cfg(all(unix, target_arch = "x86_64"))]

#[path = "common/c.rs"]
mod c;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// VDPBF16PS as a plugin; `None`, printed, where the processor or a compiler is missing.
fn vdpbf16ps(folder: &Path) -> Option<PathBuf> {
    if !std::is_x86_feature_detected!("avx512bf16") {
        println!("skipped: this processor has no AVX512_BF16");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/devices/vdpbf16ps.c");
    let text = std::fs::read_to_string(source).expect("the device");
    c::compiled(folder, "vdpbf16ps", &text)
}

/// Settings of MXCSR: every rounding, with and without flushes of results and of operands.
fn settings() -> impl Iterator<Item = u32> {
    (0..16).map(|bits| 0x1f80 | (bits & 3) << 13 | (bits >> 2 & 1) << 15 | (bits >> 3) << 6)
}

/// Asks the instruction under a setting, `trials` cases of all families; the mismatches that were found.
fn mismatches(device: &Path, against: &str, mxcsr: u32, seed: u32, trials: u64) -> u64 {
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .env("MXCSR", format!("{mxcsr:x}"))
        .args(["validate", &format!("plugin:{}", device.display())])
        .args(["--against", against, "--in-process", "--json"])
        .args(["--trials", &trials.to_string(), "--seed", &seed.to_string()])
        .output()
        .expect("the program runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let mismatches = report["mismatches"].as_u64().expect("a count");
    assert_eq!(
        output.status.code(),
        Some(i32::from(mismatches > 0)),
        "{report}"
    );
    assert!(report["trials"].as_u64() >= Some(trials), "{report}");
    mismatches
}

#[test]
fn the_instruction_is_its_row_whatever_mxcsr_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = vdpbf16ps(folder.path()) else {
        return;
    };
    for (seed, mxcsr) in settings().enumerate() {
        let found = mismatches(&device, "x86:vdpbf16ps", mxcsr, seed as u32, 20_000);
        assert_eq!(found, 0, "MXCSR {mxcsr:x}");
    }
}

/// The 100 million lanes: `cargo xtask prove vdpbf16ps`, ten minutes.
#[test]
#[ignore = "a long proof: cargo xtask prove vdpbf16ps"]
fn prove_vdpbf16ps() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = vdpbf16ps(folder.path()) else {
        return;
    };
    const LANES: u64 = 6_400_000;
    for (seed, mxcsr) in settings().enumerate() {
        let found = mismatches(&device, "x86:vdpbf16ps", mxcsr, 100 + seed as u32, LANES);
        println!("MXCSR {mxcsr:04x}: {LANES} lanes, {found} mismatches");
        assert_eq!(found, 0, "MXCSR {mxcsr:x}");
    }
}
