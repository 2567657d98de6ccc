//! Runs the program.

use std::process::{Command, Output};

/// What a run gave.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `mmascope` with these arguments; spaces separate them.
pub(crate) fn mmascope(arguments: &str) -> Run {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run {
        status: output.status.code().expect("no signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
