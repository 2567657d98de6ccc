//! The Python package: its tests, and a wheel.

use std::path::PathBuf;
use std::process::Command;

/// The module as cargo builds it.
const MODULE: &str = "mmascope_core";

/// Runs the package's tests with the Python that `MMASCOPE_PYTHON` names; says what is skipped, and why.
pub(crate) fn test() -> bool {
    let Some(python) = python() else { return true };
    let probe = ["-c", "import numpy, pytest"];
    if !Command::new(&python)
        .args(probe)
        .output()
        .is_ok_and(|it| it.status.success())
    {
        println!("skipped: the Python package: {python} has no NumPy and pytest");
        return true;
    }
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let built = PathBuf::from(folder)
        .join("debug/deps")
        .join(format!("{prefix}{MODULE}{suffix}"));
    // `cargo test --workspace` has built it there.
    if !built.exists() {
        println!("failed: {} is not there", built.display());
        return false;
    }
    let ending = if cfg!(windows) { "pyd" } else { "abi3.so" };
    let module = format!("python/mmascope/_core.{ending}");
    // (`target/debug` has the unoptimised one of another build, whose kernels need more stack than threads have.)
    // A file in use must not change under its users: the new one takes its place.
    let fresh = format!("{module}.new");
    let placed = std::fs::copy(&built, &fresh).and_then(|_| std::fs::rename(&fresh, &module));
    if let Err(error) = placed {
        println!("failed: {} to {module}: {error}", built.display());
        return false;
    }
    println!("running: {python} -m pytest");
    let status = Command::new(&python)
        .args(["-m", "pytest", "-q", "-rs", "python/tests"])
        .env("PYTHONPATH", "python")
        .status();
    status.is_ok_and(|status| status.success())
}

/// Builds a wheel for this platform into `dist`; on Linux maturin checks it and names the oldest manylinux that it fits.
pub(crate) fn wheel() -> bool {
    let Some(python) = python() else { return false };
    let status = Command::new(&python)
        .args(["-m", "maturin", "build", "--release", "--out", "dist"])
        .status();
    status.is_ok_and(|status| status.success())
}

fn python() -> Option<String> {
    let python = std::env::var("MMASCOPE_PYTHON").ok();
    if python.is_none() {
        println!("skipped: the Python package: MMASCOPE_PYTHON names no Python");
    }
    python
}
