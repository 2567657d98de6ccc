//! GPUs from the command line: without one every command says what is missing, and kernels can be read.

use std::process::{Command, Output};

fn mmascope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
    command.args(arguments).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether this machine has a GPU: then nothing is missing, and what it answers is no matter of these tests.
fn has_gpu() -> bool {
    text(&mmascope(&["doctor"]).stdout).contains("cuda:0")
}

#[test]
fn doctor_names_every_part() {
    let output = mmascope(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let parts = json["parts"].as_array().expect("parts");
    for name in [
        "vector instructions",
        "CUDA driver",
        "NVRTC",
        "nvdisasm",
        "cuBLAS",
        "Python",
    ] {
        let part = parts
            .iter()
            .find(|part| part["part"] == name)
            .unwrap_or_else(|| panic!("no {name}"));
        // What is missing says why.
        assert!(
            part["found"].is_string() || part["why"].is_string(),
            "{part}"
        );
        assert!(part["needed_for"].is_string(), "{part}");
    }
}

#[test]
fn without_a_gpu_the_message_says_what_is_missing() {
    if has_gpu() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.jsonl");
    let file = file.to_str().expect("a name");
    for arguments in [
        &["probe", "cuda:0:mma.m16n8k16.f32.f16.f16.f32"][..],
        &["validate", "cuda:0", "--all"],
        &[
            "validate",
            "cuda:0:mma.m16n8k16.f32.f16.f16.f32",
            "--against",
            "h100:f16",
        ],
        &["record", "cuda:0", "--all", "-o", file],
        &["reveal", "cuda:0:cublas:sgemm", "-n", "8"],
        &["reveal", "cuda:0:cublaslt:e4m3-f32", "-n", "32"],
    ] {
        let output = mmascope(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert!(
            said.contains("libcuda.so.1") || said.contains("GPUs, numbered from 0"),
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
    assert!(!std::path::Path::new(file).exists());
}

#[test]
fn kernels_can_be_read() {
    let of = |inst: &str| {
        let output = mmascope(&[
            "validate",
            "cuda:0",
            "--dry-run",
            "--arch",
            "hopper",
            "--inst",
            inst,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let shared = of("wgmma.m64n8k16.f32.f16.f16");
    for part in [
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "make_case",
        "namespace model",
        "compare(",
    ] {
        assert!(shared.contains(part), "{part}");
    }
    assert!(
        !shared.contains("own[r] = (unsigned)packed")
            && of("wgmma.m64n8k16.f32.f16.f16+registers").contains("own[r] = (unsigned)packed")
    );
}

#[test]
fn wrong_arguments_are_named() {
    for (arguments, part) in [
        (&["validate", "model:h100:f16"][..], "--against"),
        (
            &[
                "validate",
                "model:h100:f16",
                "--all",
                "--against",
                "h100:f16",
            ],
            "cuda:N",
        ),
        (
            &["validate", "cuda:0", "--against", "h100:f16", "--all"],
            "--against",
        ),
        (&["probe", "cmd:cat", "--inst", "f16"], "--arch"),
        (&["record", "model:h100:f16", "--all", "-o", "x"], "cuda:N"),
        (&["reveal", "cuda:0:cublas:xgemm", "-n", "8"], "sgemm"),
        (&["reveal", "cuda:0:cublas:e4m3-f32", "-n", "8"], "f16-f32"),
        (
            &["reveal", "cuda:0:cublaslt:e4m3-f16", "-n", "8"],
            "e4m3-f32",
        ),
        (&["reveal", "cuda:x:cublaslt:sgemm", "-n", "8"], "cublaslt"),
        (&["reveal", "cuda:0:cublas:sgemm"], "-n N"),
        (&["probe", "cuda:x:mma"], "cuda:N:INST"),
    ] {
        let output = mmascope(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
    let output = command
        .args(["list"])
        .env("MMASCOPE_ENGINE", "gpu")
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("MMASCOPE_ENGINE=gpu"));
}
