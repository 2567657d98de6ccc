//! Exit status, JSON envelope and tables: how results leave the program.

use std::io::{self, IsTerminal, Write};

use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressStyle};
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
    /// The device failed.
    DeviceFailed = 3,
}

/// Why a command could not go on.
pub(crate) enum Failure {
    /// Nobody reads our output any more.
    ClosedPipe,
    /// The user stopped it.
    Interrupted,
    /// Wrong input, with the message for people.
    Input(String),
    /// A device under test failed, with the message for people.
    Device(String),
}

impl From<mmascope::Error> for Failure {
    fn from(error: mmascope::Error) -> Self {
        match error {
            mmascope::Error::Device { .. } => Self::Device(error.to_string()),
            mmascope::Error::Cancelled => Self::Interrupted,
            other => Self::Input(told(&other)),
        }
    }
}

/// An error in words, and where all valid names are where none is near.
pub(crate) fn told(error: &mmascope::Error) -> String {
    let everything = match error {
        mmascope::Error::Unknown {
            what,
            nearest,
            allowed,
            ..
        } if nearest.is_empty() && allowed.is_empty() => match *what {
            "architecture" => "; `mmascope list` has all",
            "instruction" => "; `mmascope list --arch ARCH` has all of an architecture",
            _ => "",
        },
        _ => "",
    };
    format!("{error}{everything}")
}

/// What printing came to, where the answer stands without its reader: a closed pipe is no failure.
pub(crate) fn unless_closed(printed: Result<(), Failure>) -> Result<(), Failure> {
    match printed {
        Err(Failure::ClosedPipe) => Ok(()),
        other => other,
    }
}

/// A yes or no as exit status, once it is printed or its reader has left.
pub(crate) fn answer(yes: bool, printed: Result<(), Failure>) -> Result<Status, Failure> {
    unless_closed(printed)?;
    Ok(if yes { Status::Done } else { Status::No })
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(format!("standard output: {error}")),
        }
    }
}

/// A JSON object with the version and the catalogue's hash in front, as text.
pub(crate) fn json_text(
    catalogue: &Catalogue,
    body: Map<String, Value>,
) -> Result<String, Failure> {
    let mut object = Map::new();
    object.insert("mmascope".into(), env!("CARGO_PKG_VERSION").into());
    object.insert("catalogue".into(), catalogue.hash().into());
    object.extend(body);
    serde_json::to_string_pretty(&Value::Object(object))
        .map_err(|error| Failure::Input(error.to_string()))
}

/// Prints a JSON object with the version and the catalogue's hash in front.
pub(crate) fn print_json(catalogue: &Catalogue, body: Map<String, Value>) -> Result<(), Failure> {
    let text = json_text(catalogue, body)?;
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

/// A line on standard error; that nobody reads it any more is no error.
pub(crate) fn tell(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
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

/// A counter on the terminal, if there is one; `what` is counted.
pub(crate) fn progress(what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{spinner}} {{human_pos}} {what}, {{per_sec}}  {{msg}}");
    let style = ProgressStyle::with_template(&template);
    ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
