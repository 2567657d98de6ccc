//! `mmascope doctor`: what this machine has, and what each part that is missing is for.

use std::io::Write;
use std::process::Command;

use serde_json::{Map, json};

use crate::args::Common;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use mmascope::cpu::Level;
use mmascope::isa::Catalogue;
use mmascope_cuda::doctor::{Part, parts};

pub(crate) fn run(catalogue: &Catalogue, common: &Common) -> Result<Status, Failure> {
    let mut all = vec![Part::new(
        "vector instructions",
        Level::current()
            .map(|level| level.to_string())
            .map_err(|error| error.to_string()),
        "matrix products at machine speed",
    )];
    all.extend(parts());
    all.push(Part::new(
        "Python",
        python(),
        "the package mmascope; devices that are Python programs",
    ));
    if common.json() {
        let mut body = Map::new();
        body.insert("parts".to_owned(), json!(all));
        report::print_json(catalogue, body)?;
        return Ok(Status::Done);
    }
    let mut table = Table::new(&["part", "here", "needed for"]);
    for part in &all {
        let here = match (&part.found, &part.why) {
            (Some(found), _) => found.clone(),
            (None, why) => format!("missing: {}", why.as_deref().unwrap_or("not found")),
        };
        table.add_row([&part.part, &here, &part.needed_for]);
    }
    writeln!(terminal::out(), "{table}")?;
    Ok(Status::Done)
}

/// The version of Python that `MMASCOPE_PYTHON` names, or of `python3`.
fn python() -> Result<String, String> {
    let program = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    // Old versions say it on standard error.
    let said = [output.stdout, output.stderr].concat();
    Ok(format!(
        "{} ({program})",
        String::from_utf8_lossy(&said).trim()
    ))
}
