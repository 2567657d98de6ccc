//! Programs on a chip in C++: threads in lockstep, instructions as the PTX manual describes them. g++ only.

use std::path::Path;
use std::process::Command;

use super::assembly::without_assembly;
use super::{different, other_shapes, whole_numbers};
use mmascope::discriminate::runner;
use mmascope::isa::Catalogue;

/// Whether there is a compiler; says so where not.
fn has_compiler() -> bool {
    let found = Command::new("g++").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no g++");
    }
    found
}

/// Compiles a program for the chip in C++.
fn compiled(text: &str, folder: &Path, name: &str) -> std::path::PathBuf {
    let device = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runners/device.hpp");
    let (chip, host) = text.split_once("// ---- host ----").expect("a mark");
    let chip = without_assembly(chip).replace("<cuda_runtime.h>", &format!("\"{device}\""));
    let (file, program) = (folder.join(format!("{name}.cpp")), folder.join(name));
    std::fs::write(&file, format!("{chip}{host}")).expect("written");
    let mut command = Command::new("g++");
    command
        .args(["-std=c++20", "-O1", "-w", "-pthread"])
        .arg(&file)
        .arg("-o")
        .arg(&program);
    let output = command.output().expect("g++");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// Exit status and output on a chip that is wrong in one way.
fn run(program: &Path, wrong: &str) -> (Option<i32>, String) {
    let output = Command::new(program)
        .env("WRONG", wrong)
        .output()
        .expect("runs");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// Every family: passes on the right chip, learns nothing on one whose layout is another, and finds a result
/// that is not the model's.
#[test]
fn programs_run_on_an_emulated_chip() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mine = other_shapes();
    for (number, (arch, inst, wrong)) in [
        ("ampere", "mma.m16n8k16.f16.f16.f16.f16", "transposed"),
        ("volta", "mma.m8n8k4.f32.f16.f16.f16", "transposed"),
        ("hopper", "mma.m16n8k8.f64.f64.f64.f64", "transposed"),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            "transposed",
        ),
        ("ampere", "wmma.m16n16k16.f32.f16.f16.f16", "transposed"),
        ("mine", "wmma.m8n32k16.f32.bf16.bf16.f32", "transposed"),
        ("tall", "wmma.m32n8k16.f32.bf16.bf16.f32", "transposed"),
        ("hopper", "wgmma.m64n8k8.f32.tf32.tf32", "descriptor"),
        (
            "blackwell",
            "tcgen05.mma.m128n8k32.kind::f8f6f4.f16.e3m2.e2m1",
            "descriptor",
        ),
        (
            "blackwell",
            "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
            "descriptor",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let architecture = Catalogue::built_in().architecture(arch);
        let architecture = architecture
            .or_else(|_| mine.architecture(arch))
            .expect("a chip");
        let row = architecture.find(inst).expect("a row");
        let mut vectors = whole_numbers(row, 3);
        // The last line says what the chip does not compute.
        vectors.lines[2].d ^= 1;
        let text = runner(architecture, row, &vectors, "cuda").expect("a runner");
        let program = compiled(&text, folder.path(), &format!("p{number}"));
        let (status, said) = run(&program, "");
        assert_eq!(status, Some(1), "{inst}: {said}");
        assert!(
            said.contains("line 3") && said.contains("2 passed, 1 failed"),
            "{inst}: {said}"
        );
        let (status, said) = run(&program, wrong);
        assert_eq!(status, Some(3), "{inst}: {said}");
        assert!(
            said.contains("does not hold") && !said.contains("passed"),
            "{inst}: {said}"
        );
    }
}

/// All that differ; pairs of thread blocks are beyond this chip.
/// `cargo test -p mmascope --test runners -- --ignored every_program`
#[test]
#[ignore = "minutes of g++; cargo test -p mmascope --test runners -- --ignored every_program"]
fn every_program_runs_on_an_emulated_chip() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (architecture, row, text) in different("cuda") {
        if row.name.contains("cta_group::2") {
            continue;
        }
        let (status, said) = run(&compiled(&text, folder.path(), "program"), "");
        assert_eq!(
            status,
            Some(0),
            "{} {}: {said}",
            architecture.name,
            row.name
        );
        println!("{} {}: {}", architecture.name, row.name, said.trim());
    }
}
