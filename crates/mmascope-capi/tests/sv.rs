//! The package for SystemVerilog, as `install.sh` installs it, in a simulator.

mod common;

use std::path::Path;
use std::process::Command;

use common::{expect_success, has, prefix};

#[test]
fn every_function_answers_and_refuses_in_a_simulator() {
    if !has("verilator") || !has("make") || !has("c++") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (library, package) = (prefix().join("lib"), prefix().join("share/mmascope"));
    let output = Command::new("verilator")
        .args(["--binary", "--top-module", "dpi", "-Mdir"])
        .arg(folder.path())
        .arg("-CFLAGS")
        .arg(format!("-I{}", prefix().join("include").display()))
        .arg("-LDFLAGS")
        .arg(format!("-L{} -lmmascope", library.display()))
        .arg(package.join("mmascope_pkg.sv"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dpi.sv"))
        .arg(package.join("mmascope_dpi.c"))
        .output()
        .expect("the simulator's compiler runs");
    expect_success(&output);
    let output = Command::new(folder.path().join("Vdpi"))
        .env("LD_LIBRARY_PATH", library)
        .output()
        .expect("the simulation runs");
    let printed = expect_success(&output);
    assert!(printed.starts_with("42 checks, 0 failures\n"), "{printed}");
}

/// Simulators compile C as C, too.
#[test]
fn the_functions_for_simulators_are_c() {
    let include = Path::new("/usr/share/verilator/include/vltstd");
    if !has("cc") || !include.join("svdpi.h").exists() {
        println!("skipped: svdpi.h is not installed");
        return;
    }
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(include)
        .arg("-I")
        .arg(prefix().join("include"))
        .arg(prefix().join("share/mmascope/mmascope_dpi.c"))
        .output()
        .expect("the compiler runs");
    expect_success(&output);
}
