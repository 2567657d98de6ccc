//! `mmascope error`: tables, JSON, drawings, refusals.

#[cfg(unix)]
#[path = "common/interrupt.rs"]
mod interrupt;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use mmascope::array::write_npy;
use mmascope::format::F32;
use serde_json::Value;

#[cfg(unix)]
use interrupt::interrupt;

const F8: &str = "wgmma.m64n8k32.f32.e4m3.e4m3";
const F16: &str = "mma.m16n8k16.f32.f16.f16.f32";

fn error(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("error")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = error(folder, &[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(value["mmascope"].is_string() && value["catalogue"].is_string());
    value
}

#[test]
fn curves_of_schedules_and_architectures() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let report = json(
        folder,
        &[
            "--arch",
            "hopper",
            "--inst",
            F8,
            "--shape",
            "12x12x1024",
            "--dist",
            "positive",
            "--schedule",
            "chain",
            "--schedule",
            "promote=4/f32",
            "-o",
            "c.svg",
        ],
    );
    let curves = report["curves"].as_array().expect("curves");
    let schedules: Vec<&Value> = curves.iter().map(|curve| &curve["schedule"]).collect();
    assert_eq!(schedules, ["chain", "promote=4/f32"]);
    let last = |curve: &Value| {
        let point = curve["points"]
            .as_array()
            .expect("points")
            .last()
            .expect("one")
            .clone();
        assert_eq!(point["k"], 1024);
        point["relative_to_products"]["mean"]
            .as_f64()
            .expect("a number")
    };
    assert!(last(&curves[0]) > 3.0 * last(&curves[1]), "{report}");
    assert_eq!(
        (&report["seed"], &report["dist"]),
        (&1.into(), &"positive".into())
    );
    let drawing = std::fs::read_to_string(folder.join("c.svg")).expect("written");
    assert!(drawing.starts_with("<svg") && drawing.contains("[promote=4/f32]"));
    assert!(
        !drawing.contains("http://") || drawing.matches("http").count() == 1,
        "self-contained"
    );
    // Architectures are measured with the instructions that they have; threads do not matter.
    let arguments = [
        "--arch",
        "volta",
        "--arch",
        "hopper",
        "--inst",
        F16,
        "--inst",
        "mma.m8n8k4.f32.f16.f16.f32",
        "--shape",
        "4x5x64",
        "--seed",
        "9",
    ];
    let one = json(folder, &[&arguments[..], &["--threads", "1"]].concat());
    let three = json(folder, &[&arguments[..], &["--threads", "3"]].concat());
    assert_eq!(one, three);
    let names: Vec<(&str, &str)> = one["curves"]
        .as_array()
        .expect("curves")
        .iter()
        .map(|curve| {
            (
                curve["arch"].as_str().expect("a name"),
                curve["inst"].as_str().expect("a name"),
            )
        })
        .collect();
    assert!(
        names.contains(&("hopper", F16)) && names[0].0 == "volta",
        "{names:?}"
    );
    let other = json(
        folder,
        &[&arguments[..arguments.len() - 1], &["10"]].concat(),
    );
    assert_ne!(one["curves"], other["curves"], "the seed matters");
    // The table, for people.
    let output = error(
        folder,
        &["--arch", "hopper", "--inst", F16, "--shape", "4x4x64"],
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains(&format!("hopper:{F16}")) && text.contains("bias"),
        "{text}"
    );
}

#[test]
fn given_matrices() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let write = |name: &str, shape: [usize; 2]| {
        let words: Vec<u64> = (0..shape[0] * shape[1])
            .map(|index| u64::from(((index % 13) as f32 - 6.0).to_bits()))
            .collect();
        let file = folder.join(name);
        let go = AtomicBool::new(false);
        write_npy(file.to_str().expect("a name"), &shape, &F32, &words, &go).expect("written");
    };
    write("a.npy", [3, 32]);
    write("b.npy", [32, 2]);
    write("short.npy", [31, 2]);
    let report = json(
        folder,
        &["--arch", "hopper", "--inst", F16, "a.npy", "b.npy"],
    );
    assert_eq!(
        (&report["m"], &report["n"], &report["k"]),
        (&3.into(), &2.into(), &32.into())
    );
    assert_eq!(report["seed"], Value::Null);
    for (arguments, wanted) in [
        (
            &["--arch", "hopper", "--inst", F16, "a.npy", "short.npy"][..],
            "B must have 32 rows",
        ),
        (&["--arch", "hopper", "--inst", F16, "a.npy"], "two files"),
        (
            &[
                "--arch", "hopper", "--inst", F16, "a.npy", "b.npy", "--shape", "1x1x16",
            ],
            "not both",
        ),
        (
            &["--arch", "hopper", "--inst", F16],
            "--shape MxNxK or two files",
        ),
        (
            &["--arch", "hopper", "--inst", F16, "--shape", "4x4"],
            "expected MxNxK",
        ),
        (
            &["--arch", "hopper", "--inst", F16, "--shape", "4x4x8"],
            "needs at least 16",
        ),
        (
            &["--arch", "hopper", "--inst", F16, "--shape", "0x4x16"],
            "every length must be",
        ),
        (
            &[
                "--arch", "hopper", "--inst", F16, "--shape", "4x4x16", "--dist", "norml",
            ],
            "nearest: normal",
        ),
        (
            &[
                "--arch", "hopper", "--inst", F16, "--shape", "4x4x16", "--stats", "none",
            ],
            "--stats none",
        ),
        (
            &[
                "--arch", "hopper", "--inst", F16, "--shape", "4x4x16", "-o", "c.png",
            ],
            ".svg",
        ),
        (
            &[
                "--arch",
                "hopper",
                "--inst",
                F16,
                "--shape",
                "4x4x16",
                "--schedule",
                "order=up",
            ],
            "unknown order",
        ),
        (
            &["--arch", "hoper", "--inst", F16, "--shape", "4x4x16"],
            "nearest: hopper",
        ),
        (
            &["--arch", "cdna3", "--inst", F16, "--shape", "4x4x16"],
            "--arch cdna3: unknown instruction",
        ),
        (
            &["--arch", "sm_103", "--inst", F16, "--shape", "4x4x16"],
            "not modelled",
        ),
        (
            &[
                "--arch", "hopper", "--inst", F16, "--inst", "mma.x", "--shape", "4x4x16",
            ],
            "unknown instruction 'mma.x'",
        ),
    ] {
        let output = error(folder, arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(wanted), "{arguments:?}: {message}");
        assert!(!folder.join("c.png").exists());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_drawing() {
    let folder = tempfile::tempdir().expect("a folder");
    // The slowest way, so that any machine is still at work when the interrupt comes.
    let child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["error", "--arch", "hopper", "--inst", F16])
        .args(["--shape", "2000x2000x4096", "-o", "c.svg", "--threads", "1"])
        .env("MMASCOPE_SIMD", "scalar")
        .current_dir(folder.path())
        .spawn()
        .expect("the program runs");
    assert_eq!(interrupt(child).code(), Some(130));
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0
    );
}

/// Where no exact result is a number there is no error, and none is shown as 0.
#[test]
fn what_has_no_error_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, value: f32, shape: [usize; 2]| {
        let words: Vec<u64> = vec![u64::from(value.to_bits()); shape[0] * shape[1]];
        let file = folder.path().join(name);
        write_npy(
            file.to_str().expect("UTF-8"),
            &shape,
            &F32,
            &words,
            &AtomicBool::new(false),
        )
        .expect("written");
    };
    write("inf.npy", f32::INFINITY, [4, 16]);
    write("big.npy", 1e6, [4, 16]);
    write("b.npy", 1.0, [16, 4]);
    let unit = ["--arch", "hopper", "--inst", F16];
    let run = |arguments: &[&str]| error(folder.path(), &[&unit[..], arguments].concat());
    let output = run(&["inf.npy", "b.npy"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        !text.contains("0.000e0") && text.contains("exact result of 16 of 16 outputs"),
        "{text}"
    );
    // The advice of a refusal can be followed.
    let refused = run(&["big.npy", "b.npy"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--saturate"));
    assert_eq!(
        run(&["big.npy", "b.npy", "--saturate"]).status.code(),
        Some(0)
    );
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("A: big.npy"),
        "{refused:?}"
    );
    // Operands that all round to 0, and one output, whose error has no spread.
    let tiny = run(&["--shape", "2x2x16", "--dist", "normal*2^-60"]);
    let text = String::from_utf8_lossy(&tiny.stdout);
    assert!(
        text.contains("every product of 4 of 4 outputs is 0") && !text.contains("e0"),
        "{text}"
    );
    let one = run(&["--shape", "1x1x16", "--json"]);
    let one: Value = serde_json::from_slice(&one.stdout).expect("JSON");
    let point = &one["curves"][0]["points"][0];
    assert!(
        point["bias"].is_f64() && point["bias_error"].is_null(),
        "{point}"
    );
    let tiny = run(&["--shape", "2x2x16", "--dist", "normal*2^-60", "--json"]);
    let tiny: Value = serde_json::from_slice(&tiny.stdout).expect("JSON");
    let point = &tiny["curves"][0]["points"][0];
    assert!(
        point["bias"].is_null() && point["relative"]["mean"].is_null(),
        "{point}"
    );
    // Names that nothing is near, and options that would be without effect, and matrices that no memory holds.
    for (arguments, words) in [
        (
            &["--arch", "nosuch", "--inst", F16, "--shape", "1x1x16"][..],
            "`mmascope list` has all",
        ),
        (
            &["--arch", "hopper", "--inst", "qqqq", "--shape", "1x1x16"],
            "list ARCH",
        ),
    ] {
        let output = error(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && text.contains(words),
            "{text}"
        );
    }
    for arguments in [
        &["b.npy", "b.npy", "--dist", "normal"][..],
        &["inf.npy", "b.npy", "--seed", "4"],
        &["--shape", "1x1x16", "--dist", "foo"],
        &["--shape", "4x4x16", "--saturate"],
        &["--shape", "1x16777216x16777216"],
    ] {
        assert_eq!(run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
