//! Runs a BLAS routine in a process of its own, so that a library that crashes or hangs is an error like any other.
//!
//! The host program loads the library and announces in a line of JSON how it is called; then every
//! question is a line and so is its answer. Numbers are the bits of f64 in hexadecimal digits:
//!
//! * `units W …` sets the weights that the leaves have from then on, and has no answer;
//! * `measure P,M,O …` names the leaves of a query's masks and of its only unit, `-` for none; the
//!   answer is a number a query;
//! * `evaluate V …` gives a term a leaf, a product as `A*B`, input after input; the answer is a number
//!   an input;
//! * an answer may be `error MESSAGE`.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::blas::{self, Blas};
use super::{Masks, Query, Summation};
use crate::dut::Child;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::tree::Term;

/// Queries of a line: their answers fit a line that is read back.
const MOST_QUERIES: usize = 4096;
/// Leaves of all queries of a line: about what a slow library multiplies within a second.
const MOST_LEAVES: usize = 1 << 22;

/// The first line of a host program.
#[derive(Default, Serialize, Deserialize)]
struct Announcement {
    error: Option<String>,
    #[serde(default)]
    capacity: usize,
    #[serde(default)]
    remarks: Vec<String>,
}

/// A BLAS routine with n products a result, behind a host program.
pub struct BlasProcess {
    name: String,
    n: usize,
    format: Format,
    said: Announcement,
    /// The weights that the host has.
    units: Vec<u64>,
    child: Child,
}

impl BlasProcess {
    /// As [`Blas::load`], by the program `host`: it is started as `host library-host PATH SYMBOL N`
    /// and has to call [`serve_blas`]; `mmascope` does. The library is to be loaded and tried, and
    /// every line answered, within `timeout`.
    ///
    /// # Errors
    /// As [`Blas::load`]; [`Error::Device`] when the host cannot be started, the library ends it, or
    /// it is not ready in time.
    pub fn start(
        path: &str,
        symbol: &str,
        n: usize,
        host: &Path,
        timeout: Duration,
    ) -> Result<Self> {
        let name = blas::subject(path, symbol);
        let format = Blas::format_of(path, symbol, n)?;
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        let mut command = Command::new(host);
        command.args(["library-host", path, symbol, &n.to_string()]);
        let mut child = Child::start(&mut command, timeout)
            .map_err(|error| fail(format!("cannot start '{}': {error}", host.display())))?;
        let line = child.next_line(child.deadline()).map_err(|message| {
            let message = format!("{message} (while the library was loaded and tried)");
            fail(child.end(message))
        })?;
        let said: Announcement = serde_json::from_str(&line)
            .map_err(|error| fail(child.end(format!("malformed announcement: {error}"))))?;
        if let Some(error) = said.error {
            return Err(fail(error));
        }
        Ok(Self {
            name,
            n,
            format,
            said,
            units: Vec::new(),
            child,
        })
    }

    /// Sends lines and reads the numbers of the one answer that they have.
    fn ask(&mut self, lines: String, count: usize) -> Result<Vec<f64>> {
        let deadline = self.child.deadline();
        if !self.child.send(lines) {
            return Err(self.broken("the process no longer takes questions".to_owned()));
        }
        let line = match self.child.next_line(deadline) {
            Ok(line) => line,
            Err(message) => return Err(self.broken(message)),
        };
        let line = line.trim_end();
        if let Some(error) = line.strip_prefix("error ") {
            return Err(self.fault(error.to_owned()));
        }
        let numbers: Option<Vec<f64>> = line.split(' ').map(number).collect();
        match numbers {
            Some(numbers) if numbers.len() == count => Ok(numbers),
            _ => {
                let start: String = line.chars().take(80).collect();
                Err(self.broken(format!("malformed answer '{start}'")))
            }
        }
    }

    fn fault(&self, message: String) -> Error {
        Error::Device {
            device: self.name.clone(),
            query: None,
            message,
        }
    }

    /// Ends the process and says what was wrong, with its last words.
    fn broken(&mut self, message: String) -> Error {
        let message = self.child.end(message);
        self.fault(message)
    }
}

impl Summation for BlasProcess {
    fn name(&self) -> &str {
        &self.name
    }

    fn leaves(&self) -> usize {
        self.n
    }

    fn format(&self) -> Format {
        self.format
    }

    fn products(&self) -> bool {
        true
    }

    fn capacity(&self) -> usize {
        self.said.capacity
    }

    fn remarks(&self) -> Vec<String> {
        self.said.remarks.clone()
    }

    fn masks(&self) -> Masks {
        Masks::of(self.format)
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let mut lines = String::new();
        if !units
            .iter()
            .map(|x| x.to_bits())
            .eq(self.units.iter().copied())
        {
            self.units = units.iter().map(|x| x.to_bits()).collect();
            lines.push_str("units");
            for bits in &self.units {
                lines.push_str(&format!(" {bits:x}"));
            }
            lines.push('\n');
        }
        let most = (MOST_LEAVES / self.n).clamp(1, MOST_QUERIES);
        let calls = most / self.capacity().max(1);
        let most = most.max(1).max(calls * self.capacity());
        let mut results = Vec::with_capacity(queries.len());
        for part in queries.chunks(most) {
            lines.push_str("measure");
            for query in part {
                let [plus, minus, only] = [query.plus, query.minus, query.only]
                    .map(|leaf| leaf.map_or("-".to_owned(), |leaf| leaf.to_string()));
                lines.push_str(&format!(" {plus},{minus},{only}"));
            }
            lines.push('\n');
            results.extend(self.ask(std::mem::take(&mut lines), part.len())?);
        }
        Ok(results)
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let mut results = Vec::with_capacity(inputs.len());
        for part in inputs.chunks((MOST_LEAVES / self.n).clamp(1, MOST_QUERIES)) {
            let mut line = "evaluate".to_owned();
            for term in part.iter().flatten() {
                line.push(' ');
                line.push_str(&match term {
                    Term::Value(value) => hex(*value),
                    Term::Product(a, b) => format!("{}*{}", hex(*a), hex(*b)),
                });
            }
            line.push('\n');
            results.extend(self.ask(line, part.len())?);
        }
        Ok(results)
    }
}

/// The other side of [`BlasProcess`]: loads the routine, announces it, and answers lines until there
/// are no more. Nothing else may write to `answers`.
///
/// # Errors
/// Those of reading lines and writing answers; a line that is none of the protocol's.
pub fn serve_blas(
    path: &str,
    symbol: &str,
    n: usize,
    lines: impl Iterator<Item = io::Result<String>>,
    answers: &mut impl Write,
) -> io::Result<()> {
    let (blas, said) = match Blas::load(path, symbol, n) {
        Ok(blas) => {
            let said = Announcement {
                capacity: blas.capacity(),
                remarks: blas.remarks(),
                ..Announcement::default()
            };
            (Some(blas), said)
        }
        Err(error) => {
            let said = Announcement {
                error: Some(message(error)),
                ..Announcement::default()
            };
            (None, said)
        }
    };
    writeln!(answers, "{}", serde_json::to_string(&said)?)?;
    answers.flush()?;
    let Some(mut blas) = blas else {
        return Ok(());
    };
    let mut units = Vec::new();
    for line in lines {
        let line = line?;
        let malformed = || io::Error::other("a line that is no question");
        let (kind, rest) = line.split_once(' ').ok_or_else(malformed)?;
        let words = rest.split(' ');
        let found = match kind {
            "units" => {
                units = words
                    .map(number)
                    .collect::<Option<_>>()
                    .ok_or_else(malformed)?;
                continue;
            }
            "measure" => {
                let queries: Option<Vec<Query>> = words.map(query).collect();
                blas.measure(&units, &queries.ok_or_else(malformed)?)
            }
            "evaluate" => {
                let terms: Option<Vec<Term>> = words.map(term).collect();
                let terms = terms.filter(|terms| terms.len().is_multiple_of(n));
                let terms = terms.ok_or_else(malformed)?;
                let inputs: Vec<Vec<Term>> = terms.chunks(n).map(<[Term]>::to_vec).collect();
                blas.evaluate(&inputs)
            }
            _ => return Err(malformed()),
        };
        match found {
            Ok(numbers) => {
                let words: Vec<String> = numbers.into_iter().map(hex).collect();
                writeln!(answers, "{}", words.join(" "))?;
            }
            Err(error) => writeln!(answers, "error {}", message(error).replace('\n', " "))?,
        }
        answers.flush()?;
    }
    Ok(())
}

/// What a message of the library says; the asker names the subject itself.
fn message(error: Error) -> String {
    match error {
        Error::Device { message, .. } => message,
        other => other.to_string(),
    }
}

fn hex(number: f64) -> String {
    format!("{:x}", number.to_bits())
}

fn number(word: &str) -> Option<f64> {
    u64::from_str_radix(word, 16).ok().map(f64::from_bits)
}

fn query(word: &str) -> Option<Query> {
    let leaf = |word: &str| match word {
        "-" => Some(None),
        word => word.parse().ok().map(Some),
    };
    let mut leaves = word.split(',').map(leaf);
    let query = Query {
        plus: leaves.next()??,
        minus: leaves.next()??,
        only: leaves.next()??,
    };
    leaves.next().is_none().then_some(query)
}

fn term(word: &str) -> Option<Term> {
    match word.split_once('*') {
        Some((a, b)) => Some(Term::Product(number(a)?, number(b)?)),
        None => Some(Term::Value(number(word)?)),
    }
}
