//! A process on a pipe as a device: lines of JSON in batches, each ended by an empty line.

use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::child::{Child, Speech};
use super::{Batch, Dut, Interface};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::vector::Answer;

/// The most queries that are asked at once, in lines before an empty one or in a message.
pub(super) const BATCH: usize = 4096;
/// Time allowed for the answers of one batch, unless told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// A running process.
#[derive(Debug)]
pub struct ProcessDut {
    name: String,
    interface: Interface,
    child: Child,
    asked: u64,
}

/// One line of an answer.
#[derive(Deserialize)]
struct Line {
    id: Option<u64>,
    d: Option<String>,
    error: Option<String>,
}

/// Why a line is no answer.
enum Wrong {
    /// It is malformed, or answers another question.
    Answer(String),
    /// The device reports an error, for this id or for all that it was asked.
    Reported(Option<u64>, String),
}

impl ProcessDut {
    /// Starts `command`, words separated as in a shell (quotes work, other shell features do not:
    /// for those write `sh -c '…'`).
    ///
    /// # Errors
    /// [`Error::Device`] when it cannot be started.
    pub fn spawn(command: &str, interface: Interface, timeout: Duration) -> Result<Self> {
        let name = format!("cmd:{command}");
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        let words = shell_words::split(command).map_err(|error| fail(error.to_string()))?;
        let Some((program, arguments)) = words.split_first() else {
            return Err(fail("the command line is empty".to_owned()));
        };
        let child = Child::start(
            Command::new(program).args(arguments),
            Speech::Lines,
            timeout,
        )
        .map_err(|error| fail(format!("cannot start '{program}': {error}")))?;
        Ok(Self {
            name,
            interface,
            child,
            asked: 0,
        })
    }

    fn ask(&mut self, batch: &Batch, first: usize, count: usize) -> Result<Vec<Answer>> {
        let mut text = String::new();
        for index in first..first + count {
            let id = self.asked + (index - first) as u64;
            text.push_str(&self.interface.line(id, batch, index));
            text.push('\n');
        }
        text.push('\n');
        let asked = self.asked;
        self.asked += count as u64;
        let deadline = self.child.deadline();
        if !self.child.send(text) {
            return Err(self.broken(first, "the process no longer takes questions".to_owned()));
        }
        let mut found = Vec::with_capacity(count);
        loop {
            let query = (first + found.len()).min(first + count - 1);
            let line = match self.child.next_line(deadline) {
                Ok(line) => line,
                Err(message) => {
                    let (answered, last) = (found.len(), first + count - 1);
                    let message = format!(
                        "{message} ({answered} of {count} answered, queries {first} to {last})"
                    );
                    return Err(self.broken(query, message));
                }
            };
            if line.trim().is_empty() && found.len() == count {
                return Ok(found);
            }
            if line.trim().is_empty() {
                let message = format!("short answer: {} of {count} lines", found.len());
                return Err(self.broken(query, message));
            }
            if found.len() == count {
                let message = format!("more than {count} answers: '{}'", start_of(&line));
                return Err(self.broken(query, message));
            }
            match self.answer(&line, asked + found.len() as u64) {
                Ok(answer) => found.push(answer),
                Err(Wrong::Answer(message)) => return Err(self.broken(query, message)),
                Err(Wrong::Reported(id, error)) => {
                    let mut message = format!("the device reports: {error}");
                    let blamed = id.and_then(|id| usize::try_from(id.checked_sub(asked)?).ok());
                    let blamed = blamed.filter(|&blamed| blamed < count);
                    if blamed.is_none() {
                        message.push_str(&format!(" (queries {first} to {})", first + count - 1));
                    }
                    return Err(self.broken(first + blamed.unwrap_or(0), message));
                }
            }
        }
    }

    fn answer(&self, text: &str, id: u64) -> std::result::Result<Answer, Wrong> {
        let malformed = |what: String| {
            let start = start_of(text);
            Wrong::Answer(format!("malformed answer '{start}': {what}"))
        };
        let line: Line =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if let Some(error) = line.error {
            return Err(Wrong::Reported(line.id, error));
        }
        if line.id != Some(id) {
            return Err(malformed(format!("expected id {id}")));
        }
        let d = line
            .d
            .ok_or_else(|| malformed("it has no \"d\"".to_owned()))?;
        if d == "nan" {
            return Ok(Answer::AnyNan);
        }
        let digits = self.interface.signature.d.digits();
        let is_hex = d.len() == digits && d.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(&d, 16) {
            Ok(word) if is_hex => Ok(Answer::Word(word)),
            _ => Err(malformed(format!(
                "\"d\" must be {digits} hex digits or \"nan\""
            ))),
        }
    }

    /// Ends the process and says what was wrong, with its last words.
    fn broken(&mut self, query: usize, message: String) -> Error {
        Error::Device {
            device: self.name.clone(),
            query: Some(query),
            message: printable(&self.child.end(message)),
        }
    }
}

impl Dut for ProcessDut {
    fn signature(&self) -> &Signature {
        &self.interface.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.interface.signature)?;
        let mut answers = Vec::with_capacity(batch.len());
        for first in (0..batch.len()).step_by(BATCH) {
            answers.extend(self.ask(batch, first, BATCH.min(batch.len() - first))?);
        }
        Ok(answers)
    }
}

/// The beginning of a text, for messages.
pub(super) fn start_of(text: &str) -> String {
    printable(text.trim_end()).chars().take(80).collect()
}

/// A device's text without what would change a terminal.
pub(super) fn printable(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}
