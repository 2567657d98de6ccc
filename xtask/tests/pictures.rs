//! The committed pictures are what the program draws.

use std::process::Command;

#[test]
fn no_picture_is_stale() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["generate", "--check"])
        .output()
        .expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
}
