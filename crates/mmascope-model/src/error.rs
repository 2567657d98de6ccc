//! The one error type of the library.

use std::fmt;

mod alike;

/// Where in a text an error was found; lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// File name as given by the caller (`-` for standard input, `(built in)` for shipped data).
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Column number in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Everything that can go wrong in this library.
///
/// Every message names the argument, the value it had, what is allowed and, for names, the nearest
/// valid one. The kinds are what a caller may want to tell apart; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An argument has a wrong value, length or shape.
    Argument(String),
    /// A name (architecture, instruction, format, algorithm) is not known.
    Unknown {
        /// What was looked for, for example `instruction`.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// Valid names near it, best first; may be empty. Where there are also all valid names: the one that it is known to
        /// mean, and what that is.
        nearest: Vec<String>,
        /// All valid names, where none is near and they are few, or where it is known which one is meant.
        allowed: Vec<String>,
        /// Who else has one of that name: for an instruction, other architectures.
        elsewhere: Vec<String>,
    },
    /// The instruction exists, but nobody has published its arithmetic.
    Unmodelled {
        /// Architecture and instruction.
        name: String,
        /// Why there is no model.
        reason: String,
    },
    /// A text (catalogue, vector line) does not follow its grammar.
    Text {
        /// Where.
        position: Position,
        /// What was found and what was expected.
        message: String,
    },
    /// A device under test failed: it hangs, died, answered too little, nonsense or differently.
    Device {
        /// The device as the user named it.
        device: String,
        /// Index of the query in its batch, if one is to blame.
        query: Option<usize>,
        /// What happened.
        message: String,
    },
    /// A file could not be read or written.
    Io {
        /// File name.
        file: String,
        /// The operating system's words, or what is wrong with the file.
        message: String,
    },
    /// The caller asked to stop before the result was there.
    Cancelled,
}

/// Names longer than this (in bytes) are not compared with the valid ones.
pub const LONGEST_NAME: usize = 200;

/// As many valid names are all listed when none of them is near the given one.
const FEW_NAMES: usize = 12;

/// A text with its control characters escaped: what a file says must not reach a terminal as commands.
/// Those are ESC and its kin (C0, C1) and the marks that turn the direction of writing round.
pub fn escaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.into()
}

/// Whether a terminal may take this character for a command.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A message, or its beginning when it repeats too much of a hostile text.
pub fn shortened(message: &str) -> String {
    beginning(message, 800)
}

/// A name as messages repeat it.
pub fn quoted(name: &str) -> String {
    beginning(name, 120)
}

fn beginning(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error of an argument with the operand that it was given for in front.
pub fn named<T>(operand: &str, result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Argument(message) => Error::Argument(format!("{operand}: {message}")),
        other => other,
    })
}

/// Shorthand for results of this library.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Unknown`] whose nearest names are chosen from `candidates`.
    pub fn unknown<I, S>(what: &'static str, name: &str, candidates: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let names: Vec<S> = candidates.into_iter().collect();
        let names = || names.iter().map(AsRef::as_ref);
        let nearest = alike::most_alike(name, names(), 0.75);
        // Where there are too many, none is listed.
        let few = nearest.is_empty() && names().count() <= FEW_NAMES;
        let allowed = names().filter(|_| few).map(str::to_owned).collect();
        Self::Unknown {
            what,
            name: quoted(name),
            nearest,
            allowed,
            elsewhere: Vec::new(),
        }
    }

    /// An [`Error::Unknown`] for a word that is known to mean `meant`; every name that is allowed is listed too.
    pub(crate) fn meant<'a>(
        what: &'static str,
        name: &str,
        meant: &str,
        allowed: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            what,
            name: quoted(name),
            nearest: vec![meant.to_owned()],
            allowed: allowed.map(str::to_owned).collect(),
            elsewhere: Vec::new(),
        }
    }

    /// The three names that are most alike, even if not much.
    pub(crate) fn closest<'a>(
        name: &str,
        candidates: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        alike::most_alike(name, candidates, 0.5)
    }
}

/// Names in a list. Some are lists themselves, as operand types are.
fn listed(names: &[String]) -> String {
    let are_lists = names.iter().any(|name| name.contains(','));
    names.join(if are_lists { " or " } else { ", " })
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(message) => out.write_str(message),
            Self::Unknown {
                what,
                name,
                nearest,
                allowed,
                elsewhere,
            } => {
                write!(out, "unknown {what} '{name}'")?;
                // Both are there where it is known what the name means.
                match (&nearest[..], &allowed[..]) {
                    ([], []) => {}
                    ([], allowed) => write!(out, "; allowed: {}", listed(allowed))?,
                    (nearest, []) => write!(out, "; nearest: {}", listed(nearest))?,
                    (nearest, allowed) => write!(
                        out,
                        "; did you mean {}? allowed: {}",
                        listed(nearest),
                        listed(allowed)
                    )?,
                }
                match &elsewhere[..] {
                    [] => {}
                    [only] => write!(out, "; {only} has it")?,
                    [names @ .., last] => write!(out, "; {} and {last} have it", names.join(", "))?,
                }
                Ok(())
            }
            Self::Unmodelled { name, reason } => {
                write!(out, "'{name}' is known but not modelled: {reason}")
            }
            Self::Text { position, message } => write!(out, "{position}: {message}"),
            Self::Device {
                device,
                query: Some(query),
                message,
            } => {
                write!(out, "{device}: query {query}: {message}")
            }
            Self::Device {
                device,
                query: None,
                message,
            } => write!(out, "{device}: {message}"),
            Self::Io { file, message } => write!(out, "{file}: {message}"),
            Self::Cancelled => out.write_str("cancelled before the result was there"),
        }
    }
}

impl std::error::Error for Error {}
