//! Pictures and tables of the documents, made from the workspace and from the model itself.
//!
//! `cargo xtask generate` writes them; with `--check` it writes nothing and fails where the committed file is another.

mod architectures;
mod crates;
mod evidence;
mod facts;
mod generations;
mod limits;
mod marks;
mod svg;

use std::path::Path;

/// A file, and what makes its text.
type Generated = (&'static str, fn(&Path) -> Result<String, String>);

const GENERATED: [Generated; 7] = [
    ("README.md", architectures::readme),
    (evidence::HOPPER, evidence::hopper),
    ("docs/pictures/crates.svg", crates::draw),
    ("docs/pictures/generations.svg", generations::draw),
    ("docs/pictures/limits.svg", limits::draw),
    // The changes are those since the facts that are recorded, and so come before them.
    (facts::CHANGES, facts::changes),
    (facts::FACTS, facts::facts),
];

/// Writes every file, or compares it with the committed one. Says which failed.
pub(crate) fn generate(check: bool) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    let outcomes = GENERATED.map(|(file, draw)| {
        let outcome = draw(root).and_then(|text| match check {
            true => compare(&root.join(file), &text),
            false => write(&root.join(file), &text),
        });
        if let Err(message) = &outcome {
            eprintln!("{file}: {message}");
        }
        outcome.is_ok()
    });
    outcomes.iter().all(|passed| *passed)
}

fn compare(path: &Path, text: &str) -> Result<(), String> {
    let committed = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    // A checkout may have turned line ends.
    match committed.replace("\r\n", "\n") == text {
        true => Ok(()),
        false => Err("is stale; `cargo xtask generate` writes it again".to_owned()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().ok_or("has no folder")?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    std::fs::write(path, text).map_err(|error| error.to_string())?;
    println!("written: {}", path.display());
    Ok(())
}
