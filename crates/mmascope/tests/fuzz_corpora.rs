//! The inputs that the fuzzers kept (`fuzz/corpora`): each target takes all of its own, and none panics.

#[path = "../../../fuzz/entry.rs"]
mod entry;

use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use flate2::read::GzDecoder;

/// Gives every input that is kept of a target to its function, and returns the sum of the answers.
fn replay(target: &str, least: usize, run: impl Fn(&[u8]) -> usize) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpora")
        .join(format!("{target}.tar.gz"));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut inputs, mut sum) = (0, 0);
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an archive that is whole");
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("an input");
        let answer = catch_unwind(AssertUnwindSafe(|| run(&bytes)));
        sum += answer.unwrap_or_else(|_| {
            panic!("{target}: {:?} panics", entry.path().expect("a name"));
        });
        inputs += 1;
    }
    assert!(inputs >= least, "{target}: {inputs} inputs");
    sum
}

#[test]
fn vector_lines() {
    let good = replay("vector_lines", 4000, entry::vector_lines);
    assert!(good > 500, "{good} good lines");
}

#[test]
fn texts_of_the_catalogue() {
    let rows = replay("catalogue", 2000, entry::catalogue);
    assert!(rows > 100, "{rows} rows simulated");
}

#[test]
fn files_of_arrays() {
    for (target, least, run) in [
        ("npy", 200, entry::npy as fn(&[u8])),
        ("npz", 1000, entry::npz),
        ("safetensors", 1000, entry::safetensors),
    ] {
        replay(target, least, |bytes| {
            run(bytes);
            0
        });
    }
}
