//! The error of a file with several arrays of which the wrong one, or none, is named.

use crate::error::{Error, escaped};

/// How many names a message shows.
const SHOWN: usize = 20;

/// No array of the file has that name.
pub(super) fn unknown(file: &str, name: &str, names: &[String]) -> Error {
    match Error::unknown("array", name, names) {
        Error::Unknown { name, nearest, .. } if nearest.is_empty() => Error::Argument(format!(
            "{file}: unknown array '{name}'; the file has {}",
            listed(names)
        )),
        Error::Unknown { name, nearest, .. } => Error::Argument(format!(
            "{file}: unknown array '{name}'; nearest: {}; the file has {}",
            nearest.join(", "),
            listed(names)
        )),
        other => other,
    }
}

/// None is named, and there is not just one.
pub(super) fn missing(file: &str, names: &[String]) -> Error {
    Error::Argument(format!(
        "{file}: name one of its arrays, as {file}:NAME; the file has {}",
        listed(names)
    ))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN);
    let shown = shown.map(|name| format!("'{}'", escaped(name)));
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "no arrays".into(),
        count if count > SHOWN => format!("{text} and {} more", count - SHOWN),
        _ => text,
    }
}
