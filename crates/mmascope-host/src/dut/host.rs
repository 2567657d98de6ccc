//! Runs a plugin in a process of its own: the messages of the host program, and the device that talks to it.
//!
//! A host program loads one plugin and announces its signature in a line of JSON. Then every question
//! is a binary message and so is its answer ([`crate::frames`]). The first byte is the kind:
//!
//! * `S` says how many queries, u64, lie in the shared memory ([`crate::memory`]) that the host program
//!   was told of: the words of every a, every b, every c and the scales of both. The answer is `D`, and
//!   the words of d lie behind those of the queries;
//! * `Q` is the same where there is no such memory: the words follow in the message, and in the answer;
//! * an answer may be `X` instead: u64, which query is to blame (all ones: none), and a message.
//!
//! [`serve`] is a host program; `mmascope` is one when it is started as `mmascope plugin-host PATH`.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::child::{Child, Speech};
use super::plugin::{Fault, too_wide, words_of};
use super::process::{BATCH, printable, start_of};
use super::{Batch, Dut, PluginDut};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::frames;
use crate::memory::Memory;
use crate::vector::Answer;

/// Words of shared memory, and the most that a message has: few enough to stay in a processor's caches, since
/// both processes go through them.
const WORDS: usize = 1 << 20;
/// In place of a query's number.
const NO_QUERY: u64 = u64::MAX;

/// The first line of a host program.
#[derive(Default, Serialize, Deserialize)]
struct Announcement {
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether it has the shared memory.
    #[serde(default)]
    memory: bool,
}

/// A C library behind a host program: one that hangs or crashes is an error like any other.
#[derive(Debug)]
pub struct PluginProcess {
    name: String,
    signature: Signature,
    child: Child,
    /// Memory that the host has too, where the system has such memory.
    memory: Option<Memory>,
}

impl PluginProcess {
    /// The plugin at `path`, loaded by the program `host`: it is started as `host plugin-host PATH
    /// [MEMORY]` and has to [`serve`] the plugin; `mmascope` does. The plugin is to be loaded, and
    /// every batch answered, within `timeout`.
    ///
    /// # Errors
    /// [`Error::Device`] when the host cannot be started, or the plugin cannot be loaded within the
    /// time of a batch.
    pub fn start(path: &str, host: &Path, timeout: Duration) -> Result<Self> {
        let name = format!("plugin:{path}");
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        let mut command = Command::new(host);
        command.arg("plugin-host").arg(path);
        let memory = Memory::create((WORDS * size_of::<u64>()) as u64).ok();
        command.args(memory.as_ref().and_then(Memory::path));
        let mut child = Child::start(&mut command, Speech::Frames, timeout)
            .map_err(|error| fail(format!("cannot start '{}': {error}", host.display())))?;
        let line = child.next_line(child.deadline()).map_err(|message| {
            fail(child.end(format!("{message} (while the plugin was loaded)")))
        })?;
        let said: Announcement = serde_json::from_str(&line).map_err(|error| {
            let line = start_of(&line);
            fail(child.end(format!("malformed announcement '{line}': {error}")))
        })?;
        if let Some(error) = said.error {
            return Err(fail(error));
        }
        let Some(signature) = said.signature else {
            return Err(fail(format!("announcement '{}' is empty", start_of(&line))));
        };
        Ok(Self {
            signature: signature.parse()?,
            child,
            memory: memory.filter(|_| said.memory),
            name,
        })
    }

    /// Asks `count` queries of a batch from query `first` on, in one message.
    fn ask(&mut self, batch: &Batch, first: usize, count: usize) -> Result<Vec<u64>> {
        let last = first + count - 1;
        let asked = words_of(batch, first, count);
        let room = Room::of(&self.signature, count);
        let memory = self.memory.as_mut().filter(|memory| {
            room.as_ref()
                .is_some_and(|room| room.all <= memory.room::<u64>())
        });
        let is_shared = memory.is_some();
        let mut message = frames::begin(if is_shared { b'S' } else { b'Q' });
        message.extend((count as u64).to_le_bytes());
        match memory {
            Some(memory) => {
                let mut at = 0;
                for words in asked {
                    memory.write(at, words);
                    at += words.len();
                }
            }
            None => {
                for words in asked {
                    put(&mut message, words);
                }
            }
        }
        frames::finish(&mut message);
        let deadline = self.child.deadline();
        if !self.child.send(message) {
            return Err(self.broken(first, "the process no longer takes questions".to_owned()));
        }
        let answer = match self.child.next(deadline) {
            Ok(answer) => answer,
            Err(message) => {
                let message =
                    format!("{message} (0 of {count} answered, queries {first} to {last})");
                return Err(self.broken(first, message));
            }
        };
        let words = match answer.split_first() {
            Some((b'X', content)) => {
                let (query, error) = content.split_first_chunk().unwrap_or((&[0xff; 8], content));
                let query = usize::try_from(u64::from_le_bytes(*query)).ok();
                let fault = Fault {
                    query: query.filter(|&query| query < count),
                    message: String::from_utf8_lossy(error).into_owned(),
                };
                return Err(self.reported(fault, first, last));
            }
            Some((b'D', [])) if is_shared => {
                let memory = self.memory.as_ref();
                room.and_then(|room| memory?.read(room.questions, count))
            }
            Some((b'D', content)) if !is_shared => take(content),
            _ => None,
        };
        let words = words.filter(|words| words.len() == count);
        let Some(words) = words else {
            let message = format!(
                "malformed answer of {} bytes (queries {first} to {last})",
                answer.len()
            );
            return Err(self.broken(first, message));
        };
        // The host has looked at them; but a plugin that writes where it may not reaches this memory.
        match too_wide(&self.signature, &words) {
            Some(fault) => Err(self.reported(fault, first, last)),
            None => Ok(words),
        }
    }

    fn reported(&mut self, fault: Fault, first: usize, last: usize) -> Error {
        let mut message = format!("the device reports: {}", fault.message);
        if fault.query.is_none() {
            message.push_str(&format!(" (queries {first} to {last})"));
        }
        self.broken(first + fault.query.unwrap_or(0), message)
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

impl Dut for PluginProcess {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.signature)?;
        let of_one = Room::of(&self.signature, 1).map_or(WORDS, |room| room.all);
        let most = (WORDS / of_one).clamp(1, BATCH);
        let mut answers = Vec::with_capacity(batch.len());
        for first in (0..batch.len()).step_by(most) {
            let words = self.ask(batch, first, most.min(batch.len() - first))?;
            answers.extend(words.into_iter().map(Answer::Word));
        }
        Ok(answers)
    }
}

/// How many words a message is about.
struct Room {
    /// Those of the queries.
    questions: usize,
    /// Those of the queries and of d.
    all: usize,
}

impl Room {
    /// `None` when no memory is that large.
    fn of(signature: &Signature, count: usize) -> Option<Self> {
        let mut lengths = PluginDut::lengths(signature, count)?.into_iter();
        let questions = lengths.try_fold(0_usize, usize::checked_add)?;
        let all = questions.checked_add(count)?;
        Some(Self { questions, all })
    }
}

/// Adds words to a message.
fn put(message: &mut Vec<u8>, words: &[u64]) {
    message.reserve(size_of_val(words));
    for word in words {
        message.extend(word.to_le_bytes());
    }
}

/// The words of a content; `None` when it is cut short.
fn take(content: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = content.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    rest.is_empty().then(|| words.iter().map(word).collect())
}

/// The other side of [`PluginProcess`]: loads the plugin at `path`, announces its signature, and answers
/// messages ([`Frames`](super::Frames)), with the shared memory that it was started with, until there are
/// no more. Nothing else may write to `answers`.
///
/// # Errors
/// Those of reading messages and writing answers; a message that is none of the protocol's.
pub fn serve(
    path: &str,
    memory: Option<&Path>,
    questions: impl Iterator<Item = io::Result<Vec<u8>>>,
    answers: &mut impl Write,
) -> io::Result<()> {
    // Without it, words come with the messages.
    let mut memory = memory.and_then(|path| Memory::open(path).ok());
    let (plugin, said) = match PluginDut::load(path) {
        Ok(plugin) => {
            let said = Announcement {
                signature: Some(plugin.signature().to_string()),
                memory: memory.is_some(),
                ..Announcement::default()
            };
            (Some(plugin), said)
        }
        Err(error) => {
            let message = match error {
                Error::Device { message, .. } => message,
                other => other.to_string(),
            };
            let said = Announcement {
                error: Some(message),
                ..Announcement::default()
            };
            (None, said)
        }
    };
    writeln!(answers, "{}", serde_json::to_string(&said)?)?;
    answers.flush()?;
    let Some(plugin) = plugin else {
        return Ok(());
    };
    for question in questions {
        answer(&plugin, &question?, memory.as_mut(), answers)?;
    }
    Ok(())
}

/// Answers one message.
fn answer(
    plugin: &PluginDut,
    question: &[u8],
    memory: Option<&mut Memory>,
    answers: &mut impl Write,
) -> io::Result<()> {
    let malformed = || io::Error::other("a message that is no question");
    let (kind, content) = question.split_first().ok_or_else(malformed)?;
    let (count, content) = content.split_first_chunk().ok_or_else(malformed)?;
    let count = usize::try_from(u64::from_le_bytes(*count)).map_err(|_| malformed())?;
    let signature = plugin.signature();
    let room = Room::of(signature, count).ok_or_else(malformed)?;
    let (found, memory) = match kind {
        b'S' => {
            let memory = memory.ok_or_else(malformed)?;
            if room.all > memory.room::<u64>() {
                return Err(malformed());
            }
            let found = plugin.answers_in(memory, count);
            (found.ok_or_else(malformed)?, Some(memory))
        }
        b'Q' => {
            let words = take(content).filter(|words| words.len() == room.questions);
            let words = words.ok_or_else(malformed)?;
            let lengths = PluginDut::lengths(signature, count).ok_or_else(malformed)?;
            let mut rest = &words[..];
            let words = lengths.map(|length| {
                let (own, others) = rest.split_at(length);
                rest = others;
                own
            });
            (plugin.answers(count, words), None)
        }
        _ => return Err(malformed()),
    };
    match (found, memory) {
        (Ok(d), Some(memory)) => {
            memory.write(room.questions, &d);
            frames::write(answers, b'D', &[])
        }
        (Ok(d), None) => {
            let mut content = Vec::new();
            put(&mut content, &d);
            frames::write(answers, b'D', &content)
        }
        (Err(fault), _) => {
            let query = fault.query.map_or(NO_QUERY, |query| query as u64);
            let mut content = query.to_le_bytes().to_vec();
            content.extend(fault.message.as_bytes());
            frames::write(answers, b'X', &content)
        }
    }
}
