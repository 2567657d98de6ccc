//! The committed pictures and tables of the documents are what the program makes.

use std::process::Command;

#[test]
fn no_generated_part_of_the_documents_is_stale() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["generate", "--check"])
        .output()
        .expect("the program runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
}
