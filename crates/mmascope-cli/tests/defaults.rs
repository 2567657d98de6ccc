//! `--inst` left out, or replaced by operand types.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn npy(folder: &Path, name: &str, descr: &str, bytes: &[u8]) {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (16, 16), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    file.extend(header.bytes());
    file.extend(bytes);
    std::fs::write(folder.join(name), file).expect("a file");
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn matmul_takes_the_types_of_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    npy(folder, "half.npy", "<f2", &[0x3c; 512]);
    npy(folder, "bf16.npy", "<V2", &[0x3f; 512]);
    npy(folder, "single.npy", "<f4", &[0x3f; 1024]);
    npy(folder, "codes.npy", "|u1", &[0x38; 256]);
    for (arch, file, types, inst) in [
        ("h100", "half.npy", "f16,f16", "wgmma.m64n8k16.f32.f16.f16"),
        (
            "a100",
            "bf16.npy",
            "bf16,bf16",
            "mma.m16n8k16.f32.bf16.bf16.f32",
        ),
        ("mi300x", "single.npy", "f32,f32", "v_mfma_f32_16x16x4_f32"),
    ] {
        let arguments = ["matmul", "--arch", arch, file, file, "-o", "d.npy"];
        let text = out(&run(folder, &arguments));
        let wanted = format!("{inst} (the default of {types})");
        assert!(text.contains(&wanted), "{text}");
        let json = out(&run(folder, &[&arguments[..], &["--json"]].concat()));
        let body: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(body["inst"], inst);
        assert_eq!(body["default_of"], types);
        // The same D as under the name.
        let default = std::fs::read(folder.join("d.npy")).expect("D");
        let named = [&arguments[..], &["--inst", inst]].concat();
        assert!(!out(&run(folder, &named)).contains("default of"));
        assert_eq!(std::fs::read(folder.join("d.npy")).expect("D"), default);
    }
    // C decides too: an f16 one asks for f16 accumulators.
    let with_c = [
        "matmul", "--arch", "h100", "half.npy", "half.npy", "-o", "d.npy", "--c", "half.npy",
    ];
    assert!(out(&run(folder, &with_c)).contains("wgmma.m64n8k16.f16.f16.f16 "));
    let codes = [
        "matmul",
        "--arch",
        "h100",
        "codes.npy",
        "codes.npy",
        "-o",
        "d.npy",
        "--pad",
    ];
    for more in [["--types", "e5m2,e4m3"], ["--inst", "e5m2,e4m3"]] {
        let text = out(&run(folder, &[&codes[..], &more].concat()));
        assert!(text.contains("wgmma.m64n8k32.f32.e5m2.e4m3"), "{text}");
    }
    for (arguments, wanted) in [
        (&codes[..], "codes, and no format is named"),
        (
            &[
                "matmul",
                "--arch",
                "h100",
                "single.npy",
                "single.npy",
                "-o",
                "e.npy",
            ],
            "unknown operand types 'f32,f32' of 'hopper'; nearest: tf32",
        ),
        (
            &[
                "matmul", "--arch", "h100", "--types", "f61", "half.npy", "half.npy", "-o", "e.npy",
            ],
            "--types f61: unknown format 'f61'",
        ),
        (
            &[
                "matmul", "--arch", "cdna4", "half.npy", "half.npy", "-o", "e.npy",
            ],
            "not modelled",
        ),
    ] {
        let output = run(folder, arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(wanted), "{message}");
    }
    assert!(!folder.join("e.npy").exists());
}

#[test]
fn other_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    npy(folder, "half.npy", "<f2", &[0x3c; 512]);
    let errors = [
        &[
            "error",
            "--arch",
            "a100,h100",
            "--types",
            "f16",
            "--shape",
            "4x4x32",
        ][..],
        &[
            "error",
            "--arch",
            "a100,h100",
            "--inst",
            "f16",
            "--shape",
            "4x4x32",
        ],
        &[
            "error", "--arch", "a100", "--arch", "h100:f16", "half.npy", "half.npy",
        ],
    ];
    for arguments in errors {
        let text = out(&run(folder, arguments));
        assert!(
            text.contains("\nampere:mma.m16n8k16.f32.f16.f16.f32\n"),
            "{text}"
        );
        assert!(
            text.contains("\nhopper:wgmma.m64n8k16.f32.f16.f16\n"),
            "{text}"
        );
    }
    let names = [
        "ampere:mma.m16n8k16.f32.f16.f16.f32",
        "hopper:wgmma.m64n8k16.f32.f16.f16",
    ];
    let generate = [
        "gen", "--arch", "volta", "--inst", "f16", "--family", "normal", "-n", "20", "-o",
        "v.jsonl",
    ];
    out(&run(folder, &generate));
    for more in [
        &["--types", "f16,f16,f32", "--family", "normal", "-n", "50"][..],
        &["--vectors", "v.jsonl"],
    ] {
        let output = run(folder, &[&["diff", "--arch", "a100,h100"], more].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() < Some(2), "{output:?}");
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
    }
    let explain = [
        "explain", "--arch", "h100", "--types", "f16", "--a", "1", "--b", "2",
    ];
    let text = out(&run(folder, &explain));
    assert!(
        text.starts_with("hopper:wgmma.m64n8k16.f32.f16.f16\n"),
        "{text}"
    );
    let missing = common::mmascope("diff --arch a100,h100 --family normal");
    assert_eq!(missing.status, 2, "{}", missing.err);
    assert!(missing.err.contains("--types"), "{}", missing.err);
}

#[test]
fn listed() {
    let list = common::mmascope("list --arch hopper --json");
    let body: Value = serde_json::from_str(&list.out).expect("JSON");
    let rows = body["architectures"][0]["instructions"].as_array();
    let rows = rows.expect("instructions");
    let default = |row: &&Value| row["default"] == true && row["a"] == "f16" && row["d"] == "f16";
    let names: Vec<_> = rows
        .iter()
        .filter(default)
        .map(|row| &row["inst"])
        .collect();
    assert_eq!(
        names,
        [
            "wmma.m16n16k16.f16.f16.f16.f32",
            "wgmma.m64n8k16.f16.f16.f16"
        ]
    );
    let unmarked = rows.iter().filter(|row| row["default"] == false).count();
    assert!(unmarked > 20, "{unmarked}");
}
