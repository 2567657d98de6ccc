//! Recorded results: two hardware rows of every set, and all of `../shared/vectors` when it is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mmascope::isa::Catalogue;
use mmascope::vector::{Lines, Reader};
use rayon::prelude::*;

/// What a file or a folder of vector lines came to.
#[derive(Debug, Default)]
struct Tally {
    rows: usize,
    /// Lines that the model contradicts or that cannot be read.
    failures: Vec<String>,
    /// Architecture and instruction as the lines name them.
    names: BTreeSet<(String, String)>,
}

impl Tally {
    fn add(mut self, other: Self) -> Self {
        self.rows += other.rows;
        self.failures.extend(other.failures);
        self.names.extend(other.names);
        self
    }

    fn assert_passed(&self) {
        let shown = self.failures.iter().take(50).cloned().collect::<Vec<_>>();
        assert!(
            self.failures.is_empty(),
            "{} of {} rows failed\n{}",
            self.failures.len(),
            self.rows,
            shown.join("\n")
        );
    }
}

/// Checks one stream of lines; lines that begin with `#` are comments.
fn check(mut lines: Lines) -> Tally {
    let mut reader = Reader::new(Catalogue::built_in());
    let mut tally = Tally::default();
    let file = lines.file().to_owned();
    while let Some(line) = lines.next_line().expect("the file is readable") {
        let place = format!("{file}:{}", line.number);
        let text = line.text.unwrap_or_else(|error| panic!("{place}: {error}"));
        if text.starts_with('#') {
            continue;
        }
        tally.rows += 1;
        match check_line(&mut reader, &text) {
            Ok(names) => _ = tally.names.insert(names),
            Err(message) => tally.failures.push(format!("{place}: {message}\n  {text}")),
        }
    }
    tally
}

/// The names in the line, or what is wrong.
fn check_line(reader: &mut Reader<'_>, text: &str) -> Result<(String, String), String> {
    let bad = |bad: mmascope::vector::BadLine| format!("column {}: {}", bad.column, bad.message);
    let vector = reader.read(text).map_err(bad)?;
    let got = vector.compute().map_err(|error| error.to_string())?;
    match vector.agrees(got) {
        Ok(true) => reader.names(text).map_err(bad),
        Ok(false) => Err(format!("the model has {got:x}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks every file of a folder of `../shared/vectors`; `None`, with a note, when it is not there.
fn check_folder(name: &str) -> Option<Tally> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../../shared/vectors", name]
        .iter()
        .collect();
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return None;
    };
    let files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let check_file = |file: &PathBuf| {
        let lines = Lines::open(file.to_str().expect("a UTF-8 path"));
        check(lines.expect("the file can be opened"))
    };
    let tally = files
        .par_iter()
        .map(check_file)
        .reduce(Tally::default, Tally::add);
    println!(
        "{name}: {} rows, {} instructions",
        tally.rows,
        tally.names.len()
    );
    Some(tally)
}

#[test]
fn two_rows_of_every_hardware_set() {
    let rows = include_bytes!("recorded/rows.txt").as_slice();
    let tally = check(Lines::new("rows.txt", Box::new(rows)).expect("bytes are readable"));
    tally.assert_passed();
    assert_eq!(tally.rows, 88);
}

#[test]
fn every_recorded_hardware_row() {
    if let Some(tally) = check_folder("hardware") {
        tally.assert_passed();
        assert_eq!(tally.rows, 88_000);
    }
}

#[test]
fn every_row_of_the_public_model() {
    if let Some(tally) = check_folder("model") {
        tally.assert_passed();
        assert_eq!(tally.names.len(), 326);
    }
}

/// The check itself: a wrong word, an unknown instruction and a broken line are failures.
#[test]
fn wrong_lines_fail() {
    let right = r#"{"arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32","a":"3c003c003c003c00","b":"3c003c003c003c00","c":"3f800000","d":"40a00000"}"#;
    let wrong = [
        right.replace("40a00000", "40a00001"),
        right.replace("volta", "voltage"),
        right.replace("m8n8k4", "m8n8k5"),
        right.replace("\"c\"", "\"d\""),
    ];
    let mut reader = Reader::new(Catalogue::built_in());
    assert!(check_line(&mut reader, right).is_ok());
    for line in wrong {
        assert!(check_line(&mut reader, &line).is_err(), "{line}");
    }
}
