//! Instructions of other processors, executed by QEMU (`examples/devices/arm.c`, `power10.c`), against their rows.
//!
//! Cross compilers and QEMU are looked for in the path; `$MMASCOPE_QEMU_AARCH64` names another QEMU, which may know newer
//! instructions. What is missing is said, and its instructions are left out.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The signal of an instruction that a processor lacks.
const SIGILL: i32 = 4;

/// A processor that is emulated.
struct Machine {
    arch: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    source: &'static str,
    emulator: String,
    processor: &'static str,
}

fn arm() -> Machine {
    Machine {
        arch: "arm",
        compiler: "aarch64-linux-gnu-gcc",
        flags: &[],
        source: "arm.c",
        emulator: std::env::var("MMASCOPE_QEMU_AARCH64").unwrap_or_else(|_| "qemu-aarch64".into()),
        processor: "max",
    }
}

fn power10() -> Machine {
    Machine {
        arch: "power10",
        compiler: "powerpc64le-linux-gnu-gcc",
        flags: &["-mcpu=power10"],
        source: "power10.c",
        emulator: "qemu-ppc64le".into(),
        processor: "power10",
    }
}

/// Instructions that an emulator rounds otherwise than the vendor's text says: QEMU rounds the sum of two products of
/// bf16 to f32, POWER10 to 24 bits whatever the exponent. These rows are QEMU's; what POWER10 gives is a test of the
/// catalogue.
const OF_QEMU: &str = "
arch qemu
title QEMU's forms of POWER10
vendor QEMU
source QEMU 7.2 to 11.1
xv{a}ger2pp | bf16 x bf16 + f32 -> f32 | m4n4k2
  | s = fused L=2 F=exact from product -> rne f32 zero=ieee ; d = add s c -> rne f32 | doc nan=open
xv{a}ger2pn | bf16 x bf16 + f32 -> f32 | m4n4k2
  | s = fused L=2 F=exact from product -> rne f32 zero=ieee ; m = negate c -> rne f32 ; d = add s m -> rne f32 | doc nan=open
xv{a}ger2np | bf16 x bf16 + f32 -> f32 | m4n4k2
  | s = fused L=2 F=exact from product -> rne f32 zero=ieee ; n = negate s -> rne f32 ; d = add n c -> rne f32 | doc nan=open
xv{a}ger2nn | bf16 x bf16 + f32 -> f32 | m4n4k2
  | s = fused L=2 F=exact from product -> rne f32 zero=ieee ; n = negate s -> rne f32 ; m = negate c -> rne f32 ; d = add n m -> rne f32 | doc nan=open
";

/// Names of a device, each with its row.
fn arm_instructions() -> Vec<(String, String)> {
    let mut names: Vec<String> = [
        "bfdot",
        "bfmmla",
        "bfmlalb",
        "bfmlalt",
        "fmlal",
        "fmlal2",
        "fmmla.f32",
        "fmmla.f64",
        "fmopa.f32",
        "fmopa.f64",
        "fmopa.f32.f16",
        "bfmopa",
        "sdot",
        "udot",
        "usdot",
        "smmla",
        "ummla",
        "usmmla",
        "bfdot.ebf1",
        "bfmopa.ebf1",
        "bfmmla.ebf1",
        "fdot.f32.f16",
        "fmopa.f16",
        "bfmopa.bf16",
    ]
    .map(str::to_owned)
    .to_vec();
    for d in ["f32", "f16"] {
        for name in ["fdot", "fmmla", "fmopa"] {
            for a in ["e5m2", "e4m3fn"] {
                for b in ["e5m2", "e4m3fn"] {
                    names.push(format!("{name}.{d}.{a}.{b}"));
                }
            }
        }
    }
    let row = |name: String| (name.clone(), format!("arm:{name}"));
    names.into_iter().map(row).collect()
}

fn power10_instructions() -> Vec<(String, String)> {
    let mut names = Vec::new();
    for (arch, name) in [
        ("qemu", "xvbf16ger2"),
        ("power10", "xvf16ger2"),
        ("power10", "xvf32ger"),
        ("power10", "xvf64ger"),
    ] {
        for form in ["pp", "pn", "np", "nn"] {
            names.push((format!("{name}{form}"), format!("{arch}:{name}{form}")));
        }
    }
    for name in [
        "xvi8ger4pp",
        "xvi8ger4spp",
        "xvi16ger2pp",
        "xvi16ger2spp",
        "xvi4ger8pp",
    ] {
        names.push((name.to_owned(), format!("power10:{name}")));
    }
    names
}

impl Machine {
    /// The device as a program for this processor; `None`, printed, without a compiler or an emulator.
    fn device(&self, folder: &Path) -> Option<PathBuf> {
        let version = Command::new(&self.emulator).arg("--version").output();
        match version {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                println!("{}", text.lines().next().unwrap_or_default());
            }
            _ => {
                println!("skipped: {} is not there", self.emulator);
                return None;
            }
        }
        let program = folder.join(self.arch);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let examples = root.join("examples/devices");
        let compiled = Command::new(self.compiler)
            .args(["-O2", "-static", "-I"])
            .arg(root.join("crates/mmascope-host/include"))
            .args(self.flags)
            .arg("-o")
            .args([
                &program,
                &examples.join("process.c"),
                &examples.join(self.source),
            ])
            .output();
        match compiled {
            Err(error) => {
                println!("skipped: {}: {error}", self.compiler);
                None
            }
            // A compiler without the processor's C library is no compiler.
            Ok(output) if !output.status.success() => {
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                let lacks = error.contains("No such file") || error.contains("cannot find");
                assert!(lacks, "{} does not compile: {error}", self.source);
                println!("skipped: {}: {error}", self.compiler);
                None
            }
            Ok(_) => Some(program),
        }
    }

    /// Whether the emulator executes an instruction.
    fn knows(&self, device: &Path, rows: &Path, name: &str, row: &str) -> bool {
        let (arch, inst) = row.split_once(':').expect("ARCH:INST");
        let question = mmascope()
            .arg("--isa")
            .arg(rows)
            .args([
                "gen", "--arch", arch, "--inst", inst, "--family", "normal", "--count", "1",
            ])
            .output()
            .expect("the program runs");
        assert!(question.status.success(), "{row}");
        let question = String::from_utf8(question.stdout).expect("UTF-8");
        let question = question.replacen('{', r#"{"id":0,"#, 1);
        let mut process = Command::new(&self.emulator)
            .args(["-cpu", self.processor])
            .arg(device)
            .env("INSTRUCTION", name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the emulator runs");
        // A process that ends before it has read everything is told by its status.
        let _ = process
            .stdin
            .take()
            .expect("a pipe")
            .write_all(question.as_bytes());
        let status = process.wait().expect("a status");
        assert!(
            status.success() || status.signal() == Some(SIGILL),
            "{name}: {status}"
        );
        status.success()
    }

    fn compare(&self, instructions: Vec<(String, String)>, trials: u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(device) = self.device(folder.path()) else {
            return;
        };
        let rows = folder.path().join("qemu.txt");
        std::fs::write(&rows, OF_QEMU).expect("a file");
        for (name, row) in instructions {
            if !self.knows(&device, &rows, &name, &row) {
                println!("skipped: {name}: this emulator lacks the instruction");
                continue;
            }
            let (emulator, processor, device) = (&self.emulator, self.processor, device.display());
            let subject =
                format!("cmd:env INSTRUCTION={name} {emulator} -cpu {processor} {device}");
            let output = mmascope()
                .arg("--isa")
                .arg(&rows)
                .args(["validate", &subject, "--against", &row])
                .args(["--trials", &trials.to_string(), "--seed", "5", "--json"])
                // Emulators are slow on machines that do much else.
                .args(["--timeout", "300"])
                .output()
                .expect("the program runs");
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
                panic!(
                    "{name}: {error}: {}",
                    String::from_utf8_lossy(&output.stderr)
                )
            });
            assert_eq!(report["mismatches"].as_u64(), Some(0), "{name}: {report}");
            assert!(
                report["trials"].as_u64() >= Some(trials),
                "{name}: {report}"
            );
            println!("{name}: {} elements, 0 mismatches", report["trials"]);
        }
    }
}

fn mmascope() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
}

#[test]
fn arm_instructions_are_their_rows() {
    arm().compare(arm_instructions(), 1400);
}

#[test]
fn power10_instructions_are_their_rows() {
    power10().compare(power10_instructions(), 1400);
}

/// 10^5 elements an instruction: `cargo xtask prove emulators`, half an hour.
#[test]
#[ignore = "a long proof: cargo xtask prove emulators"]
fn prove_emulators() {
    arm().compare(arm_instructions(), 105_000);
    power10().compare(power10_instructions(), 105_000);
}
