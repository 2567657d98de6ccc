//! Recorded measurements: runs a command and keeps what it prints, with the command, the machine and the date.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Names of records, their titles and what is run: variables, then a command. `xtask` stands for this program.
const RECORDS: [(&str, &str, &[&str]); 17] = [
    (
        "closure",
        "Closure: every unit of the catalogue, inferred from its answers",
        &["xtask", "prove", "infer"],
    ),
    (
        "closure-alone",
        "Every unit of the catalogue, inferred where no row is known",
        &["MMASCOPE_PROVE_ALONE=1", "xtask", "prove", "infer"],
    ),
    (
        "drawn-units",
        "Units drawn at random from the model space",
        &["xtask", "prove", "drawn"],
    ),
    (
        "proofs",
        "All pairs of fp8 operands",
        &["xtask", "prove", "fp8"],
    ),
    (
        "kernel-coverage",
        "Kernels compared with the reference",
        &["xtask", "prove", "kernels"],
    ),
    (
        "kernel-bounds",
        "The compiled loops, by llvm-mca",
        &["xtask", "bounds"],
    ),
    (
        "reference-speed",
        "Speed of the reference",
        &["cargo", "bench", "-p", "mmascope", "--bench", "reference"],
    ),
    (
        "gemm-avx2",
        "Matrix products on AVX2 beside native ones",
        &[
            "MMASCOPE_SIMD=avx2",
            "cargo",
            "bench",
            "-p",
            "mmascope",
            "--bench",
            "gemm",
        ],
    ),
    (
        "gemm",
        "Matrix products beside native ones",
        &["cargo", "bench", "-p", "mmascope", "--bench", "gemm"],
    ),
    ("size", "Size of the program", &["xtask", "size"]),
    (
        "gpu-engine",
        "Speed of the engine on a GPU",
        &[
            "cargo",
            "bench",
            "-p",
            "mmascope-cuda",
            "--bench",
            "engine",
            "--",
            "--record",
        ],
    ),
    (
        "validate-speed",
        "Speed of validate",
        &["cargo", "bench", "-p", "mmascope", "--bench", "validate"],
    ),
    (
        "reveal-cost",
        "What reveal costs",
        &["cargo", "bench", "-p", "mmascope", "--bench", "reveal"],
    ),
    (
        "cast-speed",
        "Speed of casts beside a copy",
        &["cargo", "bench", "-p", "mmascope", "--bench", "cast"],
    ),
    (
        "casts",
        "Casts of random f32 words to every format",
        &["xtask", "prove", "casts"],
    ),
    (
        "quantise",
        "Blocks of every format and recipe against NumPy",
        &["xtask", "prove", "quantise"],
    ),
    (
        "functions",
        "Approximate functions against another library's floats",
        &["xtask", "prove", "functions"],
    ),
];

/// Runs what is recorded under a name and writes `docs/measured/NAME-DATE.md`. A run that fails is not recorded.
pub(crate) fn record(name: &str) -> bool {
    let Some((_, title, words)) = RECORDS.iter().find(|record| record.0 == name) else {
        let names: Vec<&str> = RECORDS.iter().map(|record| record.0).collect();
        eprintln!("'{name}' is no record; NAME is one of: {}", names.join(" "));
        return false;
    };
    match recorded(name, title, words) {
        Ok(()) => true,
        Err(message) => {
            eprintln!("not recorded: {name}: {message}");
            false
        }
    }
}

fn recorded(name: &str, title: &str, words: &[&str]) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let count = words.iter().take_while(|word| word.contains('=')).count();
    let (variables, call) = words.split_at(count);
    let (mut command, shown) = match call {
        ["xtask", ..] => {
            let set: String = variables.iter().map(|word| format!("{word} ")).collect();
            (Command::new(own), format!("{set}cargo {}", call.join(" ")))
        }
        _ => (Command::new(call[0]), words.join(" ")),
    };
    let load_before = load();
    let mut child = command
        .args(&call[1..])
        .envs(variables.iter().filter_map(|word| word.split_once('=')))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().ok_or("no output")?).lines() {
        let line = line.map_err(|error| error.to_string())?;
        println!("{line}");
        lines.push(line);
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("{shown}: {status}"));
    }
    let date = date()?;
    let head = format!(
        "# {title}\n\n| | |\n|---|---|\n| command | `{shown}` |\n| machine | {} |\n| load of the minute before, and of the last one | {load_before}, {} |\n| date | {date} |\n",
        machine(),
        load()
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/measured");
    let path = folder.join(format!("{name}-{date}.md"));
    std::fs::write(&path, head + &page(&lines)).map_err(|error| error.to_string())?;
    println!("written: docs/measured/{name}-{date}.md");
    Ok(())
}

/// Tables in Markdown as they are, everything else as a block of text.
fn page(lines: &[String]) -> String {
    let mut text = String::new();
    let is_table = |line: &String| line.starts_with('|');
    for part in lines.chunk_by(|one, next| is_table(one) == is_table(next)) {
        let words = part.join("\n");
        match is_table(&part[0]) {
            true => text += &format!("\n{words}\n"),
            false if words.trim().is_empty() => {}
            false => text += &format!("\n```text\n{}\n```\n", words.trim_matches('\n')),
        }
    }
    text
}

/// The processor and how many of them the system shows, where it says so.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut models = text.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    match models.next() {
        Some(model) => format!("{model}, {} processors", 1 + models.count()),
        None => "not known; write it here".to_owned(),
    }
}

/// How many programs want a processor, on average over a minute, where the system says so: what else ran.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.unwrap_or("not known").to_owned()
}

/// Today, as `2026-11-25`.
pub(crate) fn date() -> Result<String, String> {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    let output = output.map_err(|error| format!("date: {error}"))?;
    let date = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.success() && !date.is_empty() {
        true => Ok(date),
        false => Err("date gives none".to_owned()),
    }
}
