//! What a terminal shows: lines that fit it, with the same words as a file gets.

// Elsewhere `script`, which makes the terminal, has other options.
#![cfg(target_os = "linux")]

#[path = "common/user.rs"]
mod user;

use std::process::Command;

use user::{npy, words};

/// What the program shows on a terminal of so many columns; nothing where this machine has no `script`.
fn shown(columns: usize, arguments: &[&str]) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_mmascope");
    let quoted: Vec<String> = std::iter::once(&program)
        .chain(arguments)
        .map(|word| format!("'{word}'"))
        .collect();
    let command = format!("stty rows 40 cols {columns}; {}", quoted.join(" "));
    let output = Command::new("script")
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .env("TERM", "dumb")
        .output();
    let Ok(output) = output else {
        eprintln!(
            "skipped: this machine has no program `script` (util-linux), which makes a terminal"
        );
        return None;
    };
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    Some(text.replace("\r\n", "\n"))
}

/// The words, without what only the lines' ends are for.
fn said(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .filter(|word| *word != "\\")
        .collect()
}

#[test]
fn lines_fit_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 64], words(1));
    let b = npy(folder.path(), "b.npy", [64, 8], words(2));
    let ampere = "ampere:mma.m16n8k16.f32.f16.f16.f32";
    let hopper = "hopper:mma.m16n8k16.f32.f16.f16.f32";
    let pack = folder.path().join("pack.jsonl");
    let pack = pack.to_str().expect("UTF-8");
    user::printed(
        &["gen", "--discriminating", "--arch", hopper, "-o", pack],
        0,
    );
    let both = format!("{ampere},{hopper}");
    let commands: [&[&str]; 10] = [
        &["list"],
        &["list", "hopper", "--types", "f16"],
        &["show", hopper],
        &["formats"],
        &["legal", "add.f32"],
        &["diff", &a, &b, "--arch", &both],
        &[
            "explain",
            &a,
            &b,
            ampere,
            "--at",
            "1,2",
            "--against",
            hopper,
        ],
        &["matmul", &a, &b, "--arch", &both],
        &["check", pack],
        &["infer", "model:ampere:mma.m16n8k8.f32.f16.f16.f32"],
    ];
    for command in commands {
        for columns in [60, 80, 100] {
            let Some(text) = shown(columns, command) else {
                return;
            };
            assert!(text.lines().count() > 1, "{command:?}: {text}");
            for line in text.lines() {
                // A word is never cut, and one may stand behind a label.
                let is_words = line.split_whitespace().count() > 2;
                assert!(
                    line.chars().count() <= columns || !is_words,
                    "{command:?} at {columns} columns: {line}"
                );
            }
        }
    }
    // What is folded says the same.
    let check = user::printed(&["check", pack], 0);
    let narrow = shown(60, &["check", pack]).expect("a terminal, as before");
    assert_eq!(said(&narrow), said(&check));
    assert!(narrow.lines().count() > check.lines().count(), "{narrow}");
}

/// A command that stands over several lines can be copied as it is.
#[test]
fn a_folded_command_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 64], words(1));
    let b = npy(folder.path(), "b.npy", [64, 8], words(2));
    let units = "ampere:mma.m16n8k16.f32.f16.f16.f32,hopper:mma.m16n8k16.f32.f16.f16.f32";
    let products: &[&str] = &["diff", &a, &b, "--arch", units];
    let single: &[&str] = &["diff", "--arch", units, "--family", "boundary", "-n", "100"];
    for arguments in [products, single] {
        let Some(text) = shown(50, arguments) else {
            return;
        };
        let begin = text.find("mmascope explain").expect("a command");
        let mut lines = text[begin..].split_inclusive('\n');
        let mut command = String::new();
        for line in &mut lines {
            command.push_str(line);
            if !line.ends_with("\\\n") {
                break;
            }
        }
        assert!(command.contains(" \\\n"), "{command}");
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_mmascope"));
        let output = Command::new("/bin/sh")
            .args(["-c", &command])
            .env("PATH", program.parent().expect("a folder"))
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(0), "{command}");
        let explained = String::from_utf8_lossy(&output.stdout);
        assert!(
            explained.contains("hopper:"),
            "the second unit: {explained}"
        );
    }
}
