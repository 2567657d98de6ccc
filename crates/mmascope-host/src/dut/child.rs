//! A process at the other end of two pipes: sends lines, reads lines before a deadline, keeps its last words.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::group::Group;
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
    to_write: Option<Sender<String>>,
    lines: Receiver<Result<String, String>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

impl Child {
    /// Starts a program.
    pub(crate) fn start(command: &mut Command, timeout: Duration) -> io::Result<Self> {
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
        let (read, lines) = sync_channel(WAITING_LINES);
        thread::spawn(move || write_all(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, |line| read.send(line).is_ok()));
        let keep = Arc::clone(&kept);
        thread::spawn(move || keep_tail(stderr, &keep));
        Ok(Self {
            timeout,
            group,
            to_write: Some(send),
            lines,
            stderr: kept,
        })
    }

    /// Sends a text; whether that is still possible.
    pub(crate) fn send(&self, text: String) -> bool {
        let to_write = self.to_write.as_ref();
        to_write.is_some_and(|to_write| to_write.send(text).is_ok())
    }

    /// When answers to what is sent now are late.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// The next line, or why there is none.
    pub(crate) fn next_line(&self, deadline: Instant) -> Result<String, String> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => line,
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

fn write_all(mut stdin: ChildStdin, texts: &Receiver<String>) {
    while let Ok(text) = texts.recv() {
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

fn read_lines(stream: impl Read, mut take: impl FnMut(Result<String, String>) -> bool) {
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
