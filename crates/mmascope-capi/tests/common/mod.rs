//! The library as `install.sh` installs it, and the programs that tests use.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub(crate) fn has(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    let found = output.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Where the library is installed, once for all tests.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        // A folder of cargo's: nothing is left behind elsewhere.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let output = Command::new("sh")
            .arg(script)
            .arg(&folder)
            .env("PROFILE", "dev")
            .output()
            .expect("a shell");
        expect_success(&output);
        folder
    })
}

pub(crate) fn expect_success(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{message}");
    printed
}
