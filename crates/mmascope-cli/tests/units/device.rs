//! examples/devices/unit.c as a plugin and as a process, asked by the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// How the unit is asked.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Interface {
    Plugin,
    Process,
}

/// The compiled unit.
pub(crate) struct Device {
    interface: Interface,
    folder: tempfile::TempDir,
}

impl Device {
    /// `None`, printed, without a compiler.
    pub(crate) fn compiled(interface: Interface) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let source = |name: &str| root.join("examples/devices").join(name);
        let mut command = Command::new("cc");
        command.args(["-O2", "-I"]);
        command.arg(root.join("crates/mmascope-host/include"));
        match interface {
            Interface::Plugin => command.args(["-shared", "-fPIC"]),
            Interface::Process => command.arg(source("process.c")),
        };
        let unit = folder.path().join("unit");
        command.arg(source("unit.c")).arg("-o").arg(unit);
        match command.status() {
            Err(error) => {
                println!("skipped: no C compiler: {error}");
                None
            }
            Ok(status) => {
                assert!(status.success(), "the unit does not compile");
                Some(Self { interface, folder })
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What a command of the program prints about the unit with these settings.
    pub(crate) fn run(&self, settings: &str, before: &[&str], after: &[&str]) -> Output {
        let unit = self.path("unit");
        let unit = unit.to_str().expect("a path");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
        command.args(before);
        match self.interface {
            Interface::Plugin => command.arg(format!("plugin:{unit}")),
            Interface::Process => {
                let signature = signature(settings);
                command
                    .arg(format!("cmd:{}", shell_words::quote(unit)))
                    .args(["--signature", &signature])
            }
        };
        command.args(after).env("UNIT", settings);
        command.output().expect("the program")
    }

    /// The result of `infer`.
    pub(crate) fn infer(&self, settings: &str) -> Value {
        let output = self.run(settings, &["infer"], &["--json"]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let text = String::from_utf8_lossy(&output.stderr);
            panic!("{settings}: {error}: {text}")
        })
    }

    /// What tells the row that was printed from the unit, over the families that reach the borders.
    pub(crate) fn mismatch(&self, settings: &str, found: &Value) -> Option<String> {
        let file = self.path(&format!("{}.txt", settings.replace([' ', ','], "_")));
        std::fs::write(&file, found["row"].as_str().expect("a row")).expect("written");
        let of = |name: &str, other: &str| word(settings, name).unwrap_or(other).to_owned();
        let (a, b, d, k) = (of("a", "f16"), of("b", "f16"), of("d", "f32"), of("k", "8"));
        let against = format!("inferred:dot.m1n1k{k}.{d}.{a}.{b}.{d}");
        let file = file.to_str().expect("a path");
        let options = ["--against", &against, "--isa", file];
        let rest = ["--families", "boundary,stress", "--trials", "8192"];
        let after = [&options[..], &rest, &["--json"]].concat();
        let output = self.run(settings, &["validate"], &after);
        if output.status.code() == Some(0) {
            return None;
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        Some(format!("the row differs: {} {text}", found["mismatches"]))
    }
}

fn word<'a>(settings: &'a str, name: &str) -> Option<&'a str> {
    let mut words = settings.split_whitespace();
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn signature(settings: &str) -> String {
    let of = |name: &str, other: &'static str| word(settings, name).unwrap_or(other).to_owned();
    let d = of("d", "f32");
    format!(
        "a={} b={} c={d} d={d} k={}",
        of("a", "f16"),
        of("b", "f16"),
        of("k", "8")
    )
}
