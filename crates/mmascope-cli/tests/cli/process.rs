//! Runs the program and holds its results.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Standard output, standard error, exit status.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) out: String,
    pub(super) err: String,
    pub(super) status: i32,
}

impl Run {
    fn new(output: Output) -> Self {
        let run = Self {
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
            status: output.status.code().expect("no signal"),
        };
        assert!(!run.err.contains("panicked"), "{run:?}");
        run
    }

    /// The output as JSON, which must carry version and catalogue.
    pub(super) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(value["mmascope"], env!("CARGO_PKG_VERSION"));
        let hash = value["catalogue"].as_str().expect("a hash");
        assert!(
            hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()),
            "{hash}"
        );
        value
    }

    pub(super) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }

    #[track_caller]
    pub(super) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub(super) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmascope"));
    command.args(arguments).env_remove("CLICOLOR_FORCE");
    command
}

/// Runs it with nothing on standard input.
pub(super) fn run(arguments: &[&str]) -> Run {
    run_with(arguments, b"")
}

pub(super) fn run_with(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // It may end before it has read everything: that is not this thread's business.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic");
    Run::new(output)
}

/// A folder of files for one test.
pub(super) struct Files(TempDir);

impl Files {
    pub(super) fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        text(&path)
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

pub(super) const NAME: &str = "mma.m8n8k4.f32.f16.f16.f32";

/// A question about Volta: 4 products of 1 and c.
pub(super) fn question(c: &str) -> String {
    format!(
        r#"{{"arch":"volta","inst":"{NAME}","a":"3c003c003c003c00","b":"3c003c003c003c00","c":"{c}"}}"#
    )
}

/// The same with an answer.
pub(super) fn answered(c: &str, d: &str) -> String {
    format!("{},\"d\":\"{d}\"}}", question(c).trim_end_matches('}'))
}
