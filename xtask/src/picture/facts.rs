//! The facts of the shipped catalogue, and the dated record of their changes, which the atlas shows.

use std::path::Path;

use mmascope_model::isa::Catalogue;

use crate::record;

/// What the catalogue states.
pub(super) const FACTS: &str = "crates/mmascope-atlas/facts/facts.txt";
/// What changed when, newest first.
pub(super) const CHANGES: &str = "crates/mmascope-atlas/facts/changes.txt";

pub(super) fn facts(_: &Path) -> Result<String, String> {
    Ok(Catalogue::built_in().facts())
}

/// The record, with an entry in front where the facts are others than those recorded.
pub(super) fn changes(root: &Path) -> Result<String, String> {
    let read = |file: &str| {
        let text = std::fs::read_to_string(root.join(file)).map_err(|error| error.to_string())?;
        Ok::<_, String>(text.replace("\r\n", "\n"))
    };
    let (known, recorded) = (read(CHANGES)?, read(FACTS)?);
    let lines = Catalogue::built_in().facts_since(&recorded);
    if lines.is_empty() {
        return Ok(known);
    }
    // A day has one entry.
    let head = format!("# {}\n", record::date()?);
    let earlier = known.strip_prefix(&head).unwrap_or(&known);
    Ok(format!("{head}{}\n{earlier}", lines.join("\n")))
}
