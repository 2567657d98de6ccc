//! The golden files as text: lines, columns and words.

use std::fs;
use std::path::Path;

/// The lines of a file of `golden/hopper`, without its head.
pub(crate) fn lines(name: &str) -> Vec<String> {
    all_lines(name)
        .into_iter()
        .filter(|line| !line.starts_with('#'))
        .collect()
}

/// The lines of a file, head and all.
pub(crate) fn all_lines(name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/hopper");
    let text = fs::read_to_string(folder.join(name)).expect("the golden file is there");
    text.lines().map(str::to_owned).collect()
}

/// Words of so many hexadecimal digits each, one behind the other.
pub(crate) fn words(text: &str, digits: usize) -> Vec<u64> {
    assert_eq!(text.len() % digits, 0, "whole words in '{text}'");
    let word = |at: usize| u64::from_str_radix(&text[at..at + digits], 16).expect("digits");
    (0..text.len()).step_by(digits).map(word).collect()
}
