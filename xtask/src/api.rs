//! Writes what the libraries' public items are, and compares the committed lists. `cargo public-api` makes them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that users name, and those whose items it passes on.
const CRATES: [&str; 6] = [
    "mmascope",
    "mmascope-gemm",
    "mmascope-host",
    "mmascope-io",
    "mmascope-lab",
    "mmascope-model",
];

/// Items of the standard library that a newer nightly names by where they have moved to.
const MOVED: [(&str, &str); 3] = [
    ("alloc::rcs::arc::Arc", "alloc::sync::Arc"),
    ("alloc::io::read::Read", "std::io::Read"),
    ("core::io::error::", "std::io::error::"),
];

fn file(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join("docs/api").join(format!("{name}.txt"))
}

/// Writes the lists; with `check`, says which committed ones differ.
pub(crate) fn list(check: bool) -> bool {
    let mut same = true;
    for name in CRATES {
        let Some(listed) = listed(name) else {
            eprintln!("failed: cargo public-api --package {name}");
            return false;
        };
        if !check {
            same &= std::fs::write(file(name), listed).is_ok();
            continue;
        }
        let committed = std::fs::read_to_string(file(name)).unwrap_or_default();
        let gone: Vec<&str> = missing(&committed, &listed).collect();
        let new: Vec<&str> = missing(&listed, &committed).collect();
        for (sign, lines) in [("-", &gone), ("+", &new)] {
            lines
                .iter()
                .for_each(|line| println!("{name}: {sign} {line}"));
        }
        if !(gone.is_empty() && new.is_empty()) {
            println!(
                "public items of {name} differ from docs/api/{name}.txt: run `cargo xtask api` if that is meant"
            );
            same = false;
        }
    }
    same
}

/// The lines of one text that another one does not have.
fn missing<'t>(text: &'t str, other: &'t str) -> impl Iterator<Item = &'t str> {
    let known: std::collections::HashSet<&str> = other.lines().collect();
    text.lines().filter(move |line| !known.contains(line))
}

fn listed(name: &str) -> Option<String> {
    // Without implementations that follow from an item's own: blanket ones, auto traits, derived ones.
    let arguments = ["+nightly", "public-api", "--package", name, "-sss"];
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--color", "never"])
        .output()
        .ok()?;
    let mut text = String::from_utf8(output.stdout).ok()?;
    for (newer, before) in MOVED {
        text = text.replace(newer, before);
    }
    output.status.success().then_some(text)
}
