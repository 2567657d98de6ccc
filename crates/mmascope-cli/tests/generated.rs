//! The manual pages are those of the arguments, and every shell gets completions.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).expect("a folder");
    files
        .map(|file| {
            let file = file.expect("a file");
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read_to_string(file.path()).expect("text"))
        })
        .collect()
}

#[test]
fn the_manual_pages_are_not_stale() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("man-pages")
        .arg(folder.path())
        .status()
        .expect("the program runs");
    assert!(status.success());
    let made = pages(folder.path());
    let committed = pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("man"));
    assert!(made.len() > 15, "{} pages", made.len());
    for (name, text) in &made {
        assert!(
            committed.get(name) == Some(text),
            "{name} is stale: cargo xtask generate"
        );
    }
    assert_eq!(
        made.len(),
        committed.len(),
        "pages of commands that are gone"
    );
    let matmul = &made["mmascope-matmul.1"];
    assert!(matmul.contains("transpose") && matmul.contains(".TH mmascope-matmul"));
}

#[test]
fn completions_of_every_shell() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef mmascope"),
        ("fish", "complete -c mmascope"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let run = common::mmascope(&format!("completions {shell}"));
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(
            run.out.contains(part) && run.out.contains("matmul"),
            "{shell}"
        );
    }
    let run = common::mmascope("completions tcsh");
    assert_eq!(run.status, 2);
    assert!(run.err.contains("bash"), "{}", run.err);
}
