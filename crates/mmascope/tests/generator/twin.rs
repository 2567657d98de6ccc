//! The twin in Python, written from docs/generator.md: the same bytes for every family and format.

use std::io::Write as _;
use std::process::{Command, Stdio};

use mmascope::cases::{Family, Generator, Hints};

use super::{signature, text};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/generator.py");

/// Signatures of every operand format, with the hints of a unit that has such operands.
const SIGNATURES: [(&str, [i32; 5]); 17] = [
    ("f16 f16 f32 f32 16", [16, 25, 25, -133, 23]),
    ("f16 f16 f16 f16 8", [8, 24, 24, -20, 10]),
    ("f16 f16 f32 f32 4", [4, 23, 23, -131, 23]),
    ("bf16 bf16 f32 f32 16", [8, 24, 31, -126, 23]),
    ("tf32 tf32 f32 f32 8", [4, 24, 24, -132, 23]),
    ("f32 f32 f32 f32 2", [1, 23, 23, -126, 23]),
    ("f64 f64 f64 f64 4", [1, 52, 52, -1022, 52]),
    ("e4m3 e5m2 f32 f32 32", [16, 13, 13, -132, 13]),
    ("e5m2 e4m3 f16 f16 16", [16, 13, 13, -20, 10]),
    ("e3m2 e2m3 f32 f32 12", [32, 25, 25, -133, 23]),
    ("e2m1 e2m1 f16 f16 32", [32, 25, 25, -21, 10]),
    ("e4m3 e2m1 f32 f32 64 ue8m0/32", [32, 25, 25, -133, 23]),
    ("e2m1 e2m1 f32 f32 64 ue4m3/16", [64, 35, 35, -139, 23]),
    ("e2m1 e2m1 f32 f32 64 ue8m0/32", [64, 35, 35, -139, 23]),
    ("e4m3fnuz e5m2fnuz f32 f32 16", [16, 24, 31, -126, 23]),
    ("e5m2fnuz e5m2fnuz f32 f32 1", [16, 24, 31, -126, 23]),
    ("e4m3fnuz e4m3fnuz f32 f32 5", [3, 24, 31, -126, 23]),
];

/// Seed, first index, how many.
const RUNS: [(u64, u64, u64); 3] = [
    (0, 0, 40),
    (0x0123_4567_89ab_cdef, 1_000_003, 24),
    (u64::MAX, u64::MAX - 8, 8),
];

fn python() -> Option<String> {
    let program = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let runs = Command::new(&program).arg("--version").output();
    if runs.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    println!("skipped: `{program}` does not run here (MMASCOPE_PYTHON names another)");
    None
}

fn run(python: &str, argument: &str, input: String) -> String {
    let mut child = Command::new(python)
        .args([SCRIPT, argument])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("python ends");
    writer.join().expect("no panic").expect("the input is read");
    assert!(output.status.success(), "{SCRIPT} failed");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn hints(values: [i32; 5]) -> Hints {
    let [l, f, f2, e0, m] = values;
    Hints {
        l: l as u32,
        f: f as u32,
        f2: f2 as u32,
        e0,
        m: m as u32,
    }
}

#[test]
fn the_twin_makes_the_same_bytes() {
    let Some(python) = python() else { return };
    let (mut requests, mut ours) = (String::new(), Vec::new());
    for (index, (signature_text, values)) in SIGNATURES.into_iter().enumerate() {
        let signature = signature(signature_text);
        for family in Family::ALL {
            // The long K's take the twin long; every family sees each at least with two seeds.
            let runs = if signature.k > 32 { &RUNS[..2] } else { &RUNS };
            for &(seed, first, count) in runs {
                let seed = seed.wrapping_sub(index as u64);
                let Ok(generator) = Generator::new(family, seed, &signature, hints(values)) else {
                    assert_eq!(family, Family::Exhaustive, "{signature_text}");
                    continue;
                };
                let (scale, block) = signature
                    .scale
                    .map_or(("-", 0), |scale| (scale.format.name, scale.block));
                let [l, f, f2, e0, m] = values;
                requests += &format!(
                    "{family} {seed} {first} {count} {} {} {} {} {} {scale} {block} {l} {f} {f2} {e0} {m}\n",
                    signature.a, signature.b, signature.c, signature.d, signature.k,
                );
                for index in first..first + count {
                    let words = text(&generator.case(index), &signature);
                    ours.push((format!("{family} {seed} {index} {signature_text}"), words));
                }
            }
        }
    }
    let theirs = run(&python, "cases", requests);
    let theirs: Vec<&str> = theirs.lines().collect();
    assert_eq!(theirs.len(), ours.len());
    for ((name, words), twin) in ours.iter().zip(theirs) {
        assert_eq!(words, twin, "{name}");
    }
    println!("{} cases are equal", ours.len());
}

#[test]
fn the_table_of_the_normal_deviate_is_not_stale() {
    let Some(python) = python() else { return };
    let source = include_str!("../../../mmascope-lab/src/cases/quantiles.rs");
    let (_, rows) = source.split_once("= [\n").expect("the table");
    let committed: Vec<&str> = rows
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.strip_prefix("0x"))
        .collect();
    let made = run(&python, "table", String::new());
    assert_eq!(committed, made.lines().collect::<Vec<_>>());
}
