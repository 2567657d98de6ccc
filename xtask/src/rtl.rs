//! The example unit in SystemVerilog: `make -C examples/rtl`, with what cargo has built.

use std::path::PathBuf;
use std::process::Command;

/// Programs that it cannot do without; it says itself what else it skips.
const WANTED: [&str; 3] = ["make", "g++", "verilator"];

/// Compares the unit with the model in simulators; says what is skipped, and why.
pub(crate) fn test() -> bool {
    let missing = WANTED
        .iter()
        .find(|program| !crate::is_there(&[program, "--version"]));
    if let Some(program) = missing {
        println!("skipped: examples/rtl: {program} is not installed");
        return true;
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let Ok(target) = std::path::absolute(folder) else {
        return false;
    };
    let python = std::env::var_os("MMASCOPE_PYTHON").unwrap_or_else(|| "python3".into());
    let Ok(package) = std::path::absolute("python") else {
        return false;
    };
    let variable = |name: &str, path: PathBuf| format!("{name}={}", path.display());
    println!("running: make -C examples/rtl");
    let status = Command::new("make")
        .args(["--no-print-directory", "-C", "examples/rtl"])
        // The program and the library of the workspace's tests.
        .arg(variable("MMASCOPE", target.join("debug/mmascope")))
        .arg(variable("LIBRARY", target.join("debug/deps")))
        .arg(variable("BUILD", target.join("rtl")))
        .arg(variable("PYTHON", python.into()))
        .env("PYTHONPATH", package)
        .status();
    status.is_ok_and(|status| status.success())
}
