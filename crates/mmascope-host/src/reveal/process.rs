//! Runs a BLAS routine in a process of its own, so that a library that crashes or hangs is an error like any other.
//!
//! The host program loads the library and announces in a line of JSON how it is called; then every
//! question is a binary message and so is its answer ([`crate::frames`]). The first byte is the kind:
//!
//! * `C` takes a choice of masks, a byte, and has no answer;
//! * `U` sets the weights that the leaves have from then on, numbers of f64, and has no answer;
//! * `M` names the leaves of the queries' masks and of their only units, three u32 a query, all ones for
//!   none; the answer is a number a query;
//! * `E` gives a term a leaf, input after input: a byte, 0 for a value and 1 for a product, and two
//!   numbers; the answer is a number an input;
//! * `B` gives a term, which is at every leaf but a few, and then for each input their number, u32, and these leaves:
//!   a number, u32, and a term each; the answer is that of `E`;
//! * `S` says how many inputs, u64, lie in the shared memory ([`crate::memory`]) that the host program was
//!   told of: n first and n second factors each, in the routine's type; the answer is that of `E`;
//! * an answer is `N` and numbers, or `X` and a message.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::blas::{self, Blas, Scalar};
use super::{Masks, Query, Summation, spread_term};
use crate::dut::{Child, Speech};
use crate::error::{Error, Result};
use crate::format::{F64, Format};
use crate::frames;
use crate::memory::Memory;
use crate::tree::Term;

/// Queries of a message: the time-out is that of one message.
const MOST_QUERIES: usize = 4096;
/// Leaves of all queries of a message: about what a slow library multiplies within a second.
const MOST_LEAVES: usize = 1 << 22;

/// Bytes of shared memory: all leaves of a message, two numbers each.
const MEMORY: u64 = 16 * MOST_LEAVES as u64;
/// In place of a leaf's number.
const NO_LEAF: u32 = u32::MAX;
/// Bytes of a term.
const TERM: usize = 17;

/// The first line of a host program.
#[derive(Default, Serialize, Deserialize)]
struct Announcement {
    error: Option<String>,
    #[serde(default)]
    capacity: usize,
    #[serde(default)]
    remarks: Vec<String>,
    /// Whether it has the shared memory.
    #[serde(default)]
    memory: bool,
}

/// A BLAS routine with n products a result, behind a host program.
pub struct BlasProcess {
    name: String,
    n: usize,
    operands: Format,
    format: Format,
    /// The choice of masks, which the host has too.
    choice: usize,
    said: Announcement,
    /// The weights that the host has.
    units: Vec<u64>,
    child: Child,
    /// Memory that the host has too, where the system has such memory.
    memory: Option<Memory>,
}

impl BlasProcess {
    /// As [`Blas::load`], by the program `host`: it is started as `host library-host PATH SYMBOL N [MEMORY]`
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
        let operands = Blas::operands_of(path, symbol, n)?;
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        let mut command = Command::new(host);
        command.args(["library-host", path, symbol, &n.to_string()]);
        let memory = Memory::create(MEMORY).ok();
        command.args(memory.as_ref().and_then(Memory::path));
        let mut child = Child::start(&mut command, Speech::Frames, timeout)
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
        let has_memory = said.memory;
        Ok(Self {
            name,
            n,
            operands,
            format,
            choice: 0,
            said,
            units: Vec::new(),
            child,
            memory: memory.filter(|_| has_memory),
        })
    }

    /// Sends messages and reads the numbers of the one answer that they have.
    fn ask(&mut self, messages: Vec<u8>, count: usize) -> Result<Vec<f64>> {
        let deadline = self.child.deadline();
        if !self.child.send(messages) {
            return Err(self.broken("the process no longer takes questions".to_owned()));
        }
        let answer = match self.child.next(deadline) {
            Ok(answer) => answer,
            Err(message) => return Err(self.broken(message)),
        };
        match answer.split_first() {
            Some((b'X', error)) => Err(self.fault(String::from_utf8_lossy(error).into_owned())),
            Some((b'N', content)) => match frames::numbers(content) {
                Some(numbers) if numbers.len() == count => Ok(numbers),
                _ => Err(self.broken(format!("an answer of {} bytes", content.len()))),
            },
            _ => Err(self.broken("malformed answer".to_owned())),
        }
    }

    /// Writes inputs to the shared memory; whether that was possible.
    fn share<T: Scalar>(&mut self, inputs: &[Vec<Term>]) -> bool {
        let Some(memory) = &mut self.memory else {
            return false;
        };
        if inputs.len() * 2 * self.n > memory.room::<T>() {
            return false;
        }
        for (index, input) in inputs.iter().enumerate() {
            let (a, b) = blas::factors::<T>(input);
            memory.write(2 * index * self.n, &a);
            memory.write((2 * index + 1) * self.n, &b);
        }
        true
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

    fn operand_format(&self) -> Format {
        self.operands
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
        Masks::choice(self.operands, self.format, self.choice)
    }

    fn random_term(&self, _leaf: usize, bits: u64) -> Term {
        spread_term(self.operand_format(), true, bits)
    }

    fn choices(&self) -> usize {
        Masks::choices(self.operands)
    }

    fn choose(&mut self, choice: usize) {
        if choice != self.choice {
            self.choice = choice;
            let mut message = frames::begin(b'C');
            message.push(choice as u8);
            frames::finish(&mut message);
            // A process that takes no messages says so when it is asked.
            self.child.send(message);
        }
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let mut messages = Vec::new();
        let same = units.len() == self.units.len()
            && units
                .iter()
                .zip(&self.units)
                .all(|(new, old)| new.to_bits() == *old);
        if !same {
            self.units = units.iter().map(|x| x.to_bits()).collect();
            messages = frames::begin(b'U');
            frames::put(&mut messages, units.iter().copied());
            frames::finish(&mut messages);
        }
        let most = (MOST_LEAVES / self.n).clamp(1, MOST_QUERIES);
        let calls = most / self.capacity().max(1);
        let most = most.max(1).max(calls * self.capacity());
        let mut results = Vec::with_capacity(queries.len());
        for part in queries.chunks(most) {
            let mut message = frames::begin(b'M');
            for query in part {
                for leaf in [query.plus, query.minus, query.only] {
                    let leaf = leaf.map_or(NO_LEAF, |leaf| leaf as u32);
                    message.extend(leaf.to_le_bytes());
                }
            }
            frames::finish(&mut message);
            messages.append(&mut message);
            results.extend(self.ask(std::mem::take(&mut messages), part.len())?);
        }
        Ok(results)
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let mut results = Vec::with_capacity(inputs.len());
        for part in inputs.chunks((MOST_LEAVES / self.n).clamp(1, MOST_QUERIES)) {
            let is_shared = if self.format == F64 {
                self.share::<f64>(part)
            } else {
                self.share::<f32>(part)
            };
            if is_shared {
                let mut message = frames::begin(b'S');
                message.extend((part.len() as u64).to_le_bytes());
                frames::finish(&mut message);
                results.extend(self.ask(message, part.len())?);
                continue;
            }
            let mut message = frames::begin(b'E');
            message.reserve(part.len() * self.n * TERM);
            for &term in part.iter().flatten() {
                put_term(&mut message, term);
            }
            frames::finish(&mut message);
            results.extend(self.ask(message, part.len())?);
        }
        Ok(results)
    }

    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let most = (MOST_LEAVES / self.n).clamp(1, MOST_QUERIES);
        let calls = (most / self.capacity().max(1)).max(1);
        let mut results = Vec::with_capacity(inputs.len());
        for part in inputs.chunks(calls * self.capacity().max(1)) {
            let mut message = frames::begin(b'B');
            put_term(&mut message, background);
            for input in part {
                message.extend((input.len() as u32).to_le_bytes());
                for &(leaf, term) in input {
                    message.extend((leaf as u32).to_le_bytes());
                    put_term(&mut message, term);
                }
            }
            frames::finish(&mut message);
            results.extend(self.ask(message, part.len())?);
        }
        Ok(results)
    }
}

fn put_term(message: &mut Vec<u8>, term: Term) {
    let (kind, a, b) = match term {
        Term::Value(value) => (0, value, 0.0),
        Term::Product(a, b) => (1, a, b),
    };
    message.push(kind);
    frames::put(message, [a, b]);
}

/// A background, and the other terms of each input with their leaves.
type SparseInputs = (Term, Vec<Vec<(usize, Term)>>);

/// Inputs with a background; `None` where the message is none of them.
fn sparse_inputs(leaves: usize, content: &[u8]) -> Option<SparseInputs> {
    let (background, mut rest) = content.split_first_chunk::<TERM>()?;
    let mut inputs = Vec::new();
    while let Some((count, after)) = rest.split_first_chunk::<4>() {
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (own, after) = after.split_at_checked(count.checked_mul(4 + TERM)?)?;
        let terms = own.chunks_exact(4 + TERM).map(|bytes| {
            let (leaf, bytes) = bytes.split_first_chunk::<4>()?;
            let leaf = u32::from_le_bytes(*leaf) as usize;
            (leaf < leaves).then_some((leaf, term(bytes.first_chunk()?)))
        });
        inputs.push(terms.collect::<Option<Vec<_>>>()?);
        rest = after;
    }
    rest.is_empty().then(|| (term(background), inputs))
}

/// The other side of [`BlasProcess`]: loads the routine, announces it, and answers messages, with the shared
/// memory that it was started with,
/// ([`Frames`](crate::dut::Frames)) until there are no more. Nothing else may write to `answers`.
///
/// # Errors
/// Those of reading messages and writing answers; a message that is none of the protocol's.
pub fn serve_blas(
    path: &str,
    symbol: &str,
    n: usize,
    memory: Option<&Path>,
    questions: impl Iterator<Item = io::Result<Vec<u8>>>,
    answers: &mut impl Write,
) -> io::Result<()> {
    // Without it, numbers come with the messages.
    let memory = memory.and_then(|path| Memory::open(path).ok());
    let (blas, said) = match Blas::load(path, symbol, n) {
        Ok(blas) => {
            let said = Announcement {
                capacity: blas.capacity(),
                remarks: blas.remarks(),
                memory: memory.is_some(),
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
    for question in questions {
        let question = question?;
        let malformed = || io::Error::other("a message that is no question");
        let (kind, content) = question.split_first().ok_or_else(malformed)?;
        let found = match kind {
            b'U' => {
                units = frames::numbers(content).ok_or_else(malformed)?;
                continue;
            }
            b'C' => {
                let [choice] = content else {
                    return Err(malformed());
                };
                blas.choose(usize::from(*choice));
                continue;
            }
            b'M' => {
                let (parts, rest) = content.as_chunks::<12>();
                if !rest.is_empty() {
                    return Err(malformed());
                }
                blas.measure(&units, &parts.iter().map(query).collect::<Vec<_>>())
            }
            b'E' => {
                let (parts, rest) = content.as_chunks::<TERM>();
                if !rest.is_empty() || !parts.len().is_multiple_of(n) {
                    return Err(malformed());
                }
                let inputs = parts.chunks(n);
                let inputs: Vec<Vec<Term>> = inputs
                    .map(|terms| terms.iter().map(term).collect())
                    .collect();
                blas.evaluate(&inputs)
            }
            b'B' => {
                let (background, inputs) = sparse_inputs(n, content).ok_or_else(malformed)?;
                blas.evaluate_sparse(background, &inputs)
            }
            b'S' => {
                let count = content.try_into().map_err(|_| malformed())?;
                let count = usize::try_from(u64::from_le_bytes(count)).map_err(|_| malformed())?;
                let memory = memory.as_ref().ok_or_else(malformed)?;
                blas.evaluate_shared(memory, count).ok_or_else(malformed)?
            }
            _ => return Err(malformed()),
        };
        match found {
            Ok(numbers) => {
                let mut content = Vec::with_capacity(8 * numbers.len());
                frames::put(&mut content, numbers);
                frames::write(answers, b'N', &content)?;
            }
            Err(error) => frames::write(answers, b'X', message(error).as_bytes())?,
        }
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

fn query(bytes: &[u8; 12]) -> Query {
    let (leaves, _) = bytes.as_chunks::<4>();
    let leaf = |at: usize| match u32::from_le_bytes(leaves[at]) {
        NO_LEAF => None,
        leaf => Some(leaf as usize),
    };
    Query {
        plus: leaf(0),
        minus: leaf(1),
        only: leaf(2),
    }
}

fn term(bytes: &[u8; TERM]) -> Term {
    let (numbers, _) = bytes[1..].as_chunks::<8>();
    let [a, b] = [numbers[0], numbers[1]].map(|bytes| f64::from_bits(u64::from_le_bytes(bytes)));
    match bytes[0] {
        0 => Term::Value(a),
        _ => Term::Product(a, b),
    }
}
