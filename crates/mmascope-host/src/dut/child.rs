//! A process at the other end of two pipes: sends lines, reads lines before a deadline, keeps its last words.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::group::Group;
use crate::frames::Frames;
use crate::vector::MAX_LINE;

/// Lines that are taken in advance; a process that babbles fills its own pipe and not our memory.
const WAITING_LINES: usize = 8192;
/// How much of the process's standard error is kept for messages.
const KEPT_STDERR: usize = 2000;

/// A running process.
#[derive(Debug)]
pub(crate) struct Child {
    timeout: Duration,
    group: Group,
    /// `None` after a failure: the conversation is out of step and cannot go on.
    to_write: Option<Sender<Vec<u8>>>,
    answers: Receiver<Result<Vec<u8>, String>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

/// How a process answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// In lines.
    Lines,
    /// In one line, then in binary messages.
    Frames,
}

impl Child {
    /// Starts a program.
    pub(crate) fn start(
        command: &mut Command,
        speech: Speech,
        timeout: Duration,
    ) -> io::Result<Self> {
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut group = Group::start(command)?;
        let process = group.leader();
        let (Some(stdin), Some(stdout), Some(stderr)) = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        ) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (send, to_write) = channel();
        let (read, answers) = sync_channel(WAITING_LINES);
        thread::spawn(move || write_all(stdin, &to_write));
        thread::spawn(move || {
            let mut stdout = BufReader::with_capacity(1 << 16, stdout);
            let take = |answer| read.send(answer).is_ok();
            match speech {
                Speech::Lines => while read_line(&mut stdout, &take) {},
                Speech::Frames => {
                    if read_line(&mut stdout, &take) {
                        read_frames(stdout, &take);
                    }
                }
            }
        });
        let keep = Arc::clone(&kept);
        thread::spawn(move || keep_tail(stderr, &keep));
        Ok(Self {
            timeout,
            group,
            to_write: Some(send),
            answers,
            stderr: kept,
        })
    }

    /// Sends a text or a message; whether that is still possible.
    pub(crate) fn send(&self, question: impl Into<Vec<u8>>) -> bool {
        let to_write = self.to_write.as_ref();
        to_write.is_some_and(|to_write| to_write.send(question.into()).is_ok())
    }

    /// When answers to what is sent now are late.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// The next line, or why there is none.
    pub(crate) fn next_line(&self, deadline: Instant) -> Result<String, String> {
        let line = self.next(deadline)?;
        String::from_utf8(line).map_err(|_| "a line that is not UTF-8".to_owned())
    }

    /// The next line or message, or why there is none.
    pub(crate) fn next(&self, deadline: Instant) -> Result<Vec<u8>, String> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(left) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no answer within {} s", self.timeout.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => Err("the process ended".to_owned()),
        }
    }

    /// Ends the process and completes the message of what was wrong with its last words.
    pub(crate) fn end(&mut self, mut message: String) -> String {
        self.to_write = None;
        let status = self.group.end();
        if let Some(status) = status {
            message.push_str(&format!("; {status}"));
        }
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&kept.iter().copied().collect::<Vec<_>>()).into_owned();
        if !words.trim().is_empty() {
            message.push_str(&format!("; it wrote: {}", words.trim()));
        }
        message
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // End of input means exit; the group ends what does not listen.
        self.to_write = None;
    }
}

fn write_all(mut stdin: ChildStdin, texts: &Receiver<Vec<u8>>) {
    while let Ok(text) = texts.recv() {
        // A closed pipe shows as a missing answer, with the process's own words beside it.
        if stdin.write_all(&text).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads a line; whether another one may follow.
fn read_line(stream: &mut impl BufRead, take: &impl Fn(Result<Vec<u8>, String>) -> bool) -> bool {
    let mut bytes = Vec::new();
    let limit = MAX_LINE as u64;
    let line = match stream.take(limit).read_until(b'\n', &mut bytes) {
        Ok(0) => return false,
        Ok(_) if bytes.last() != Some(&b'\n') && bytes.len() >= MAX_LINE => {
            Err(format!("a line of more than {MAX_LINE} bytes"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    };
    let failed = line.is_err();
    take(line) && !failed
}

fn read_frames(stream: impl Read, take: &impl Fn(Result<Vec<u8>, String>) -> bool) {
    for frame in Frames::of(stream) {
        let failed = frame.is_err();
        if !take(frame.map_err(|error| error.to_string())) || failed {
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
