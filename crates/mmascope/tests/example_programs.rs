//! The example programs print what the README of the examples shows.

use std::path::PathBuf;
use std::process::Command;

/// Cargo builds the examples beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("it lies in a folder of the build");
    folder.join("examples").join(name)
}

#[test]
fn ten_architectures_prints_the_table_that_is_shown() {
    let program = example("ten_architectures");
    if !program.exists() {
        return println!("skipped: {} is not built", program.display());
    }
    let output = Command::new(program).output().expect("the example runs");
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("text");
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/README.md");
    let readme = std::fs::read_to_string(readme).expect("the README of the examples");
    let shown = readme
        .split("```text\n")
        .nth(1)
        .and_then(|block| block.split("```").next());
    let shown: Vec<&str> = shown.expect("a block of output").lines().collect();
    assert!(shown.len() >= 8);
    for line in shown {
        assert!(
            printed.lines().any(|printed| printed == line),
            "not printed: {line}\n{printed}"
        );
    }
}

/// Ranks of a ring pass the sum on; in a tree, rank r adds what 2r+1 and 2r+2 send.
#[test]
fn all_reduces_across_processes_are_revealed() {
    let program = example("all_reduce");
    if !program.exists() {
        return println!("skipped: {} is not built", program.display());
    }
    for (kind, order) in [
        ("ring", "(add f32 (add f32 (add f32 (add f32 0 1) 2) 3) 4)"),
        ("tree", "(add f32 (add f32 0 (add f32 (add f32 1 3) 4)) 2)"),
    ] {
        let output = Command::new(&program).args([kind, "5"]).output();
        let output = output.expect("the example runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success(), "{printed}");
        assert!(printed.contains(order), "{kind}: {printed}");
        assert!(printed.contains("verified over"), "{kind}: {printed}");
    }
}
