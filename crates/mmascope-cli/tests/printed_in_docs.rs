//! Blocks of the documents that show output are what the program prints.
//!
//! A block ```` ```text ```` shows, line by line, a part of what the last command before it prints; a line `…`
//! stands for lines that are left out. A command that fails with status 2 or 3 shows its message. A block below a comment
//! `<!-- from FILE -->` shows a part of that file. A block that shows something else has a comment before it that begins with
//! `<!-- not printed:` and says what it is instead.

#[path = "common/python.rs"]
mod python;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A block that shows something printed.
struct Shown {
    /// Page and line.
    place: String,
    /// The last command before it.
    command: String,
    /// The file that it shows a part of, if it shows no output.
    file: Option<String>,
    lines: Vec<String>,
}

/// The blocks of a page, and how many are marked as something else.
fn shown(page: &Path) -> (Vec<Shown>, usize) {
    let text = std::fs::read_to_string(page).expect("a page");
    let (mut found, mut others) = (Vec::new(), 0);
    let (mut command, mut last) = (String::new(), String::new());
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if !line.starts_with("```") {
            if !line.trim().is_empty() {
                line.clone_into(&mut last);
            }
            continue;
        }
        let block = lines.by_ref().map(|(_, line)| line);
        let block: Vec<&str> = block.take_while(|line| !line.starts_with("```")).collect();
        match line.trim_start_matches('`') {
            "sh" => (*block.last().expect("a command")).clone_into(&mut command),
            "text" if last.contains("<!-- not printed:") => others += 1,
            "text" => found.push(Shown {
                place: format!("{}:{}", page.display(), number + 1),
                command: command.clone(),
                file: quoted(&last),
                lines: block.into_iter().map(str::to_owned).collect(),
            }),
            "rust" | "c" | "python" | "json" => {}
            other => panic!("{}:{}: a block of '{other}'", page.display(), number + 1),
        }
        last.clear();
    }
    (found, others)
}

/// The file of `<!-- from FILE -->`.
fn quoted(line: &str) -> Option<String> {
    let file = line.strip_prefix("<!-- from ")?.strip_suffix(" -->")?;
    Some(file.to_owned())
}

/// What a command prints; the message of one that fails. `None` where the software that it looks at is not installed.
fn printed(place: &str, command: &str) -> Option<String> {
    if command.contains("numpy") && !python::has_numpy() {
        println!("skipped: {place}: python3 has no NumPy");
        return None;
    }
    // A comment at its end says the exit status.
    let words = shell_words::split(command).expect("words");
    let program = words.first().map(String::as_str);
    assert_eq!(program, Some("mmascope"), "{place}: {command}");
    let writes = ["-o", "--html", "--svg", "--cuda", "--hip", "--state"];
    assert!(
        !words.iter().any(|word| writes.contains(&&**word)),
        "{place}: {command} writes a file"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(&words[1..])
        .current_dir(root())
        .env("PATH", python::path())
        .output()
        .expect("the program runs");
    let text = match output.status.code() {
        Some(0 | 1) => output.stdout,
        _ => output.stderr,
    };
    Some(String::from_utf8(text).expect("text"))
}

#[test]
fn every_printed_block_is_what_its_command_prints() {
    let mut pages = vec![root().join("README.md"), root().join("examples/README.md")];
    let entries = std::fs::read_dir(root().join("docs")).expect("the documents");
    let entries = entries.map(|entry| entry.expect("an entry").path());
    pages.extend(entries.filter(|path| path.extension().is_some_and(|it| it == "md")));
    let (mut compared, mut others) = (0, 0);
    for page in pages {
        let (blocks, marked) = shown(&page);
        others += marked;
        for block in blocks {
            let Shown {
                place,
                command,
                file,
                lines,
            } = block;
            if command.contains("--example ten_architectures") && file.is_none() {
                continue; // the library's tests/example_programs.rs runs it
            }
            let (what, text) = match file {
                Some(file) => {
                    let text = std::fs::read_to_string(root().join(&file)).expect(&file);
                    (format!("{file} does not have"), text)
                }
                None => match printed(&place, &command) {
                    Some(text) => (format!("{command} does not print"), text),
                    None => continue,
                },
            };
            let printed: Vec<&str> = text.lines().map(str::trim_end).collect();
            let mut left = &printed[..];
            // A block may begin or end with lines that are left out.
            let parts = lines.split(|line| line == "…");
            for part in parts.filter(|part| !part.is_empty()) {
                let at = left.windows(part.len()).position(|window| window == part);
                let at = at.unwrap_or_else(|| {
                    panic!(
                        "{place}: {what}\n{}\nbut\n{}",
                        part.join("\n"),
                        printed.join("\n")
                    )
                });
                left = &left[at + part.len()..];
            }
            compared += 1;
        }
    }
    assert!(compared >= 1 && others >= 1, "{compared} and {others}");
}
