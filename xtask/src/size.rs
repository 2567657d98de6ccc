//! Where the bytes of the released program are: its sections, and its code by crate, from the symbols of a build that has them.

use std::collections::BTreeMap;
use std::process::Command;

/// Sections and crates below this share of the program are one line.
const SMALL: f64 = 0.01;

/// Prints the tables of a program, which has symbols, and the size of the one without.
pub(crate) fn size(program: &str) -> bool {
    match tables(program) {
        Ok(text) => {
            print!("{text}");
            true
        }
        Err(message) => {
            eprintln!("failed: {message}");
            false
        }
    }
}

fn tables(program: &str) -> Result<String, String> {
    let sections = output(&["size", "-A", "-d", program])?;
    let mut sections: BTreeMap<String, u64> = sections
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, bytes) = (words.next()?, words.next()?.parse().ok()?);
            let is_loaded = name.starts_with('.') && !name.starts_with(".debug");
            is_loaded.then(|| (name.to_owned(), bytes))
        })
        .collect();
    sections.retain(|name, _| name != ".comment");
    let whole: u64 = sections.values().sum();
    let mut text =
        format!("{whole} bytes without symbols\n\n| section | bytes | share |\n|---|---|---|\n");
    text += &rows(sections, whole);
    let symbols = output(&["nm", "--print-size", "--demangle", program])?;
    let mut crates: BTreeMap<String, u64> = BTreeMap::new();
    for line in symbols.lines() {
        let mut words = line.splitn(4, ' ');
        let (_, bytes, kind, name) = (words.next(), words.next(), words.next(), words.next());
        let (Some(bytes), Some("t" | "T" | "w" | "W"), Some(name)) = (bytes, kind, name) else {
            continue;
        };
        let bytes = u64::from_str_radix(bytes, 16).unwrap_or(0);
        *crates.entry(crate_of(name).to_owned()).or_default() += bytes;
    }
    text += "\n| code of | bytes | share |\n|---|---|---|\n";
    text += &rows(crates, whole);
    Ok(text)
}

/// The crate whose name comes first in that of a function; generic code counts to the crate that wrote it.
fn crate_of(name: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = name;
    while let Some(at) = rest.find("::") {
        let before = &rest[..at];
        let start = before.rfind(|c| !is_name(c)).map_or(0, |place| place + 1);
        if start < at {
            return &before[start..];
        }
        rest = &rest[at + 2..];
    }
    "C"
}

/// Lines by size, the largest first.
fn rows(all: BTreeMap<String, u64>, whole: u64) -> String {
    let share = |bytes: u64| bytes as f64 / whole as f64;
    let (mut large, small): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(_, bytes)| share(*bytes) >= SMALL);
    large.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let rest = small.iter().map(|(_, bytes)| bytes).sum();
    large.push((format!("{} others", small.len()), rest));
    let line = |(name, bytes): &(String, u64)| {
        format!("| {name} | {bytes} | {:.1} % |\n", 100.0 * share(*bytes))
    };
    large.iter().map(line).collect()
}

fn output(command: &[&str]) -> Result<String, String> {
    let output = Command::new(command[0]).args(&command[1..]).output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(format!("{}: {}", command.join(" "), output.status)),
        Err(error) => Err(format!("{}: {error}", command.join(" "))),
    }
}
