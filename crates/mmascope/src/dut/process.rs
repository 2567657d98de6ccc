//! A process on a pipe as a device: lines of JSON in batches, each ended by an empty line.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::{Batch, Dut, Interface};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::vector::{Answer, MAX_LINE};

/// The most lines before an empty one.
const BATCH: usize = 4096;
/// How much of the process's standard error is kept for messages.
const KEPT_STDERR: usize = 2000;
/// Time allowed for the answers of one batch, unless told otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// A running process.
#[derive(Debug)]
pub struct ProcessDut {
    name: String,
    interface: Interface,
    timeout: Duration,
    child: Child,
    /// `None` after a failure: the conversation is out of step and cannot go on.
    questions: Option<std::sync::mpsc::Sender<String>>,
    answers: Receiver<std::result::Result<String, String>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    asked: u64,
}

/// One line of an answer.
#[derive(Deserialize)]
struct Line {
    id: Option<u64>,
    d: Option<String>,
    error: Option<String>,
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
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| fail(format!("cannot start '{program}': {error}")))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(fail("the process has no pipes".to_owned()));
        };
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (questions, to_write) = channel();
        // A bounded channel, so that a process that babbles fills its own pipe and not our memory.
        let (read, answers) = sync_channel(2 * BATCH);
        thread::spawn(move || write_all(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, |line| read.send(line).is_ok()));
        let keep = Arc::clone(&kept);
        thread::spawn(move || keep_tail(stderr, &keep));
        Ok(Self {
            name,
            interface,
            timeout,
            child,
            questions: Some(questions),
            answers,
            stderr: kept,
            asked: 0,
        })
    }

    fn ask(&mut self, batch: &Batch, first: usize, count: usize) -> Result<Vec<Answer>> {
        let mut text = String::new();
        for index in first..first + count {
            text.push_str(
                &self
                    .interface
                    .line(self.asked + (index - first) as u64, batch, index),
            );
            text.push('\n');
        }
        text.push('\n');
        let asked = self.asked;
        self.asked += count as u64;
        let sent = self
            .questions
            .as_ref()
            .is_some_and(|questions| questions.send(text).is_ok());
        if !sent {
            return Err(self.broken(first, "the process no longer takes questions".to_owned()));
        }
        let deadline = Instant::now() + self.timeout;
        let mut found = Vec::with_capacity(count);
        loop {
            let query = (first + found.len()).min(first + count - 1);
            let line = match self.next_line(deadline) {
                Ok(line) => line,
                Err(message) => {
                    let message = format!("{message} ({} of {count} answered)", found.len());
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
                Err(message) => return Err(self.broken(query, message)),
            }
        }
    }

    fn next_line(&self, deadline: Instant) -> std::result::Result<String, String> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(left) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no answer within {} s", self.timeout.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => Err("the process ended".to_owned()),
        }
    }

    fn answer(&self, text: &str, id: u64) -> std::result::Result<Answer, String> {
        let malformed = |what: String| format!("malformed answer '{}': {what}", start_of(text));
        let line: Line =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if let Some(error) = line.error {
            return Err(format!("the device reports: {error}"));
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
        self.questions = None;
        // A process that has ended by itself gets a moment to say how.
        let status = (0..20).find_map(|_| match self.child.try_wait() {
            Ok(Some(status)) => Some(status.to_string()),
            _ => {
                thread::sleep(Duration::from_millis(5));
                None
            }
        });
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut message = message;
        if let Some(status) = status {
            message.push_str(&format!("; {status}"));
        }
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&kept.iter().copied().collect::<Vec<_>>()).into_owned();
        if !words.trim().is_empty() {
            message.push_str(&format!("; it wrote: {}", words.trim()));
        }
        Error::Device {
            device: self.name.clone(),
            query: Some(query),
            message,
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

impl Drop for ProcessDut {
    fn drop(&mut self) {
        // End of input means exit; a process that does not listen is ended.
        self.questions = None;
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_all(mut stdin: ChildStdin, questions: &Receiver<String>) {
    while let Ok(text) = questions.recv() {
        // A closed pipe shows as a missing answer, with the process's own words beside it.
        if stdin
            .write_all(text.as_bytes())
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}

fn read_lines(
    stream: impl Read,
    mut take: impl FnMut(std::result::Result<String, String>) -> bool,
) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut bytes = Vec::new();
        let limit = MAX_LINE as u64;
        let line = match (&mut stream).take(limit).read_until(b'\n', &mut bytes) {
            Ok(0) => return,
            Ok(_) if bytes.last() != Some(&b'\n') && bytes.len() >= MAX_LINE => {
                Err(format!("a line of more than {MAX_LINE} bytes"))
            }
            Ok(_) => String::from_utf8(bytes).map_err(|_| "a line that is not UTF-8".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let failed = line.is_err();
        if !take(line) || failed {
            return;
        }
    }
}

fn keep_tail(mut stream: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 512];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..count]);
        let excess = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..excess);
    }
}

/// The beginning of a text, for messages.
fn start_of(text: &str) -> String {
    text.trim_end().chars().take(80).collect()
}
