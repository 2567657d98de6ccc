//! `mmascope matmul --schedule`: the file holds what the schedule says; software scales; refusals.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use mmascope::array::{self, Casting, write_npy};
use mmascope::dpa::Operands;
use mmascope::format::{BF16, E4M3FN, F16, F32, Format};
use mmascope::isa::{Catalogue, Instruction};
use serde_json::Value;

const F16_INST: &str = "mma.m16n8k16.f32.f16.f16.f32";
const F8_INST: &str = "wgmma.m64n8k32.f32.e4m3.e4m3";

fn write(folder: &Path, name: &str, shape: [usize; 2], format: &Format, words: &[u64]) {
    let file = folder.join(name);
    let go = AtomicBool::new(false);
    write_npy(file.to_str().expect("a name"), &shape, format, words, &go).expect("written");
}

fn read(folder: &Path, name: &str, format: &Format) -> Vec<u64> {
    let file = folder.join(name);
    let array = array::read(file.to_str().expect("a name")).expect("right");
    array
        .words(format, &Casting::default())
        .expect("fits")
        .to_vec()
}

fn matmul(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(["matmul", "--arch", "hopper"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = matmul(folder, &[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn row(inst: &str) -> &'static Instruction {
    Catalogue::built_in().find("hopper", inst).expect("found")
}

/// The unit's sum over some steps, from +0 or c.
fn chain(inst: &str, a: &[u64], b: &[u64], c: u64, steps: std::ops::Range<usize>) -> f32 {
    let k = row(inst).signature.k;
    let sum = steps.fold(c, |c, step| {
        let operands = Operands {
            a: &a[step * k..(step + 1) * k],
            b: &b[step * k..(step + 1) * k],
            c,
            ..Operands::default()
        };
        row(inst).dot(&operands, &Default::default()).expect("fits")
    });
    f32::from_bits(sum as u32)
}

#[test]
fn the_file_holds_what_the_schedule_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (m, n, k) = (5, 3, 64);
    let number = |index: usize| 0x3000 + 83 * (index as u64 * 37 % 97) + ((index as u64 & 1) << 15);
    let a: Vec<u64> = (0..m * k).map(number).collect();
    let b: Vec<u64> = (0..k * n).map(|index| number(index + 5)).collect();
    let c: Vec<u64> = (0..m * n)
        .map(|index| u64::from((index as f32 * 0.3).to_bits()))
        .collect();
    write(folder, "a.npy", [m, k], &F16, &a);
    write(folder, "b.npy", [k, n], &F16, &b);
    write(folder, "c.npy", [m, n], &F32, &c);
    let schedule = "split-k=2 reduce=ascending/f32; c=epilogue alpha=0.5 beta=2; out=rne bf16";
    let report = json(
        folder,
        &[
            "--inst",
            F16_INST,
            "a.npy",
            "b.npy",
            "--c",
            "c.npy",
            "-o",
            "d.npy",
            "--schedule",
            schedule,
        ],
    );
    assert_eq!(
        (&report["d"], &report["steps"]),
        (&"bf16".into(), &4.into())
    );
    assert_eq!(
        report["schedule"],
        "split-k=2 reduce=ascending/f32; c=epilogue/f32 alpha=0.5 beta=2 by=fma; out=rne bf16"
    );
    let got = read(folder, "d.npy", &BF16);
    for (index, got) in got.iter().enumerate() {
        let (i, j) = (index / n, index % n);
        let column: Vec<u64> = (0..k).map(|at| b[at * n + j]).collect();
        let part = |steps| chain(F16_INST, &a[i * k..(i + 1) * k], &column, 0, steps);
        let c = f32::from_bits(c[index] as u32);
        let d = (part(0..2) + part(2..4)).mul_add(0.5, 2.0 * c);
        // bf16 is the upper half of f32, to nearest even.
        let bits = d.to_bits();
        let rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        assert_eq!(*got, u64::from(rounded), "{i}, {j}");
    }
    // The exact result has α and β: errors are those of bf16.
    let worst = report["statistics"]["ulps"]["max"]
        .as_f64()
        .expect("a number");
    assert!(worst > 0.0 && worst <= 0.6, "{report}");
    let output = matmul(
        folder,
        &[
            "--inst",
            F16_INST,
            "a.npy",
            "b.npy",
            "-o",
            "d.npy",
            "--schedule",
            "order=descending",
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("schedule     order=descending\n"), "{text}");
}

#[test]
fn software_scales_come_from_the_scale_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (m, n, k) = (2, 3, 256);
    let a: Vec<u64> = (0..m * k)
        .map(|index| 0x30 + index as u64 * 7 % 16)
        .collect();
    let b: Vec<u64> = (0..k * n)
        .map(|index| 0x30 + index as u64 * 5 % 16)
        .collect();
    let scale_a = [0.3_f32, 1.7, 0.01, 5.0];
    let scale_b = [0.7_f32, 1.3];
    let words = |of: &[f32]| -> Vec<u64> { of.iter().map(|x| u64::from(x.to_bits())).collect() };
    write(folder, "a.npy", [m, k], &E4M3FN, &a);
    write(folder, "b.npy", [k, n], &E4M3FN, &b);
    write(folder, "sa.npy", [m, 2], &F32, &words(&scale_a));
    write(folder, "sb.npy", [2, 1], &F32, &words(&scale_b));
    let base = ["--inst", F8_INST, "a.npy", "b.npy", "-o", "d.npy"];
    let schedule = ["--schedule", "promote=4/f32 scale=1x128"];
    let scales = ["--scale-a", "sa.npy", "--scale-b", "sb.npy"];
    let report = json(folder, &[&base[..], &schedule, &scales].concat());
    let got = read(folder, "d.npy", &F32);
    for (index, got) in got.iter().enumerate() {
        let (i, j) = (index / n, index % n);
        let column: Vec<u64> = (0..k).map(|at| b[at * n + j]).collect();
        let part = |steps| chain(F8_INST, &a[i * k..(i + 1) * k], &column, 0, steps);
        let first = part(0..4).mul_add(scale_a[i * 2] * scale_b[0], 0.0);
        let d = part(4..8).mul_add(scale_a[i * 2 + 1] * scale_b[1], first);
        assert_eq!(*got, u64::from(d.to_bits()), "{i}, {j}");
    }
    let worst = report["statistics"]["relative"]["max"]
        .as_f64()
        .expect("a number");
    assert!(worst < 1e-2, "the exact result has the scales: {report}");
    for (arguments, wanted) in [
        (&schedule[..], "needs software scales"),
        (&scales[..], "no block scales"),
        (
            &[schedule[0], schedule[1], scales[0], scales[1]],
            "--scale-a without --scale-b",
        ),
        (
            // Codes are no numbers.
            &[
                schedule[0],
                schedule[1],
                scales[0],
                "a.npy",
                scales[2],
                scales[3],
            ],
            "a.npy: software scales are numbers",
        ),
        (
            &[
                "--schedule",
                "promote=2/f32 scale=1x128",
                scales[0],
                scales[1],
                scales[2],
                scales[3],
            ],
            "2 × 4 is needed",
        ),
        (
            &["--schedule", "promot=4/f32"],
            "--schedule: (schedule):1:1: unknown clause 'promot'; nearest: promote",
        ),
        (
            &["--schedule", "split-k=9 reduce=pairwise/f32"],
            "K takes only 8 steps",
        ),
    ] {
        std::fs::remove_file(folder.join("d.npy")).ok();
        let output = matmul(folder, &[&base[..], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(wanted), "{arguments:?}: {message}");
        assert!(!folder.join("d.npy").exists());
    }
}
