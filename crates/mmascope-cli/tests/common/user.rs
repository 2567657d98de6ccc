//! Runs the program as a user does, on small matrices.

use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[track_caller]
pub(crate) fn printed(arguments: &[&str], status: i32) -> String {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {}",
        err(&output)
    );
    out(&output)
}

/// A `.npy` file of f16 words.
pub(crate) fn npy(
    folder: &Path,
    name: &str,
    shape: [usize; 2],
    words: impl Iterator<Item = u16>,
) -> String {
    let header = format!(
        "{{'descr': '<f2', 'fortran_order': False, 'shape': ({}, {}), }}",
        shape[0], shape[1]
    );
    let width = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let header = format!("{header:<0$}\n", width - 1);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(words.take(shape[0] * shape[1]).flat_map(u16::to_le_bytes));
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// Finite numbers of many sizes.
pub(crate) fn words(seed: u64) -> impl Iterator<Item = u16> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = (state >> 40) as u16;
        (word & 0x83ff) | (0x2c00 + (word & 0x1c00))
    })
}
