//! Every `mmascope` command of the README, of those of the examples and of the pages in `docs` runs, on the examples.

#[path = "common/python.rs"]
mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the `sh` blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect(page);
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.trim() {
            "```sh" => inside = true,
            line if line.starts_with("```") => inside = false,
            line if inside
                && ["mmascope ", "cc "]
                    .iter()
                    .any(|word| line.starts_with(word)) =>
            {
                found.push(line.to_owned());
            }
            _ => {}
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the examples") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The README, those of the examples, and every page of `docs`.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = std::fs::read_dir(root().join("docs"))
        .expect("the documents")
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| Some(format!("docs/{}", name.to_str()?)))
        .filter(|page| page.ends_with(".md"))
        .collect();
    pages.sort();
    let others = [
        "README.md",
        "examples/README.md",
        "examples/devices/README.md",
    ];
    others.map(str::to_owned).into_iter().chain(pages).collect()
}

/// Why a command cannot run here: the software that it looks at is not installed.
fn missing(line: &str) -> Option<&'static str> {
    let fails = |command: &mut Command| !command.output().is_ok_and(|it| it.status.success());
    if line.contains("numpy") && !python::has_numpy() {
        return Some("python3 has no NumPy");
    }
    // (What a GPU answers, and how long it takes, is no matter of the documents.)
    let asks_gpu = line.contains("cuda:") && !line.contains("--dry-run");
    if asks_gpu || line.contains("my-gpu.jsonl") {
        return Some("it asks a GPU");
    }
    let subject = "lib:libopenblas.so.0:cblas_sdot";
    let mut probe = Command::new(env!("CARGO_BIN_EXE_mmascope"));
    if line.contains("libopenblas") && fails(probe.args(["reveal", subject, "-n", "2"])) {
        return Some("libopenblas.so.0 is not installed");
    }
    None
}

#[test]
fn every_command_of_the_documents_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&root().join("examples"), &folder.path().join("examples"));
    let include = "crates/mmascope-host/include";
    copy(&root().join(include), &folder.path().join(include));
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let (has_python, has_compiler) = (is_there("python3"), is_there("cc"));
    let path = python::path();
    let mut count = 0;
    for page in pages() {
        for line in commands(&page) {
            if line.contains("python3") && !has_python {
                println!("skipped: {line}: python3 does not run");
                continue;
            }
            if let Some(missing) = missing(&line) {
                println!("skipped: {line}: {missing}");
                continue;
            }
            let needs_compiler = line.starts_with("cc ") || line.contains("plugin:");
            if needs_compiler && !has_compiler {
                println!("skipped: {line}: no C compiler");
                continue;
            }
            // "# exit status 1" at its end: the answer is no.
            let (line, expected) = match line.split_once(" # exit status ") {
                Some((line, status)) => (line.trim().to_owned(), status.parse().expect("a status")),
                None => (line, 0),
            };
            let mut words = shell_words::split(&line).expect("words");
            // "> FILE" at its end: what is printed goes to the file.
            let file = match words.iter().position(|word| word == ">") {
                Some(at) => words.split_off(at).pop(),
                None => None,
            };
            let program = match &*words[0] {
                "cc" => "cc",
                _ => env!("CARGO_BIN_EXE_mmascope"),
            };
            let output = Command::new(program)
                .args(&words[1..])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("OPENBLAS_NUM_THREADS", "1")
                .output()
                .expect("the program runs");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(
                output.status.code(),
                Some(expected),
                "{page}: {line}\n{message}"
            );
            // A command that fails prints its message.
            let printed = match expected {
                0 | 1 => &output.stdout,
                _ => &output.stderr,
            };
            let prints = program == "cc" || !printed.is_empty();
            assert!(prints, "{page}: {line} prints nothing");
            if let Some(file) = file {
                std::fs::write(folder.path().join(file), &output.stdout).expect("the file");
            }
            count += 1;
        }
    }
    assert!(count >= 40, "only {count} commands were found");
}
