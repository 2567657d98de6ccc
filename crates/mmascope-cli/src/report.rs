//! How results leave the program: exit status, JSON envelope, tables.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use serde_json::{Map, Value};

use mmascope::isa::Catalogue;

/// Exit status after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done; the answer is yes.
    Done = 0,
    /// The answer is no.
    No = 1,
    /// Wrong input or an instruction without a model.
    WrongInput = 2,
    /// The device under test failed.
    Device = 3,
}

/// Why a command could not go on.
pub(crate) enum Failure {
    /// Nobody reads our output any more.
    ClosedPipe,
    /// Wrong input, with the message for people.
    Input(String),
    /// A device under test failed, with the message for people.
    Device(String),
}

impl From<mmascope::Error> for Failure {
    fn from(error: mmascope::Error) -> Self {
        match error {
            mmascope::Error::Device { .. } => Self::Device(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(format!("standard output: {error}")),
        }
    }
}

/// Prints a JSON object with the version and the catalogue's hash in front.
pub(crate) fn print_json(catalogue: &Catalogue, body: Map<String, Value>) -> Result<(), Failure> {
    let mut object = Map::new();
    object.insert("mmascope".into(), env!("CARGO_PKG_VERSION").into());
    object.insert("catalogue".into(), catalogue.hash().into());
    object.extend(body);
    let text = serde_json::to_string_pretty(&Value::Object(object))
        .map_err(|error| Failure::Input(error.to_string()))?;
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

/// A table with a ruled header and nothing else; it fits itself to the terminal, if there is one.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─')
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    table
}
