//! Reads the lines of files: plain or gzip, counted, and never longer than a limit.

use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// Longest line in bytes; the longest real one has about 1,000.
pub const MAX_LINE: usize = 1 << 20;

/// The longest line that is passed over, in bytes: what goes on beyond it (a device, a binary file) has no lines.
const MAX_SKIPPED: usize = 1 << 30;

/// How a gzip stream begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A numbered line without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// The text; `Err` says why it cannot be one (too long, not UTF-8).
    pub text: std::result::Result<String, String>,
}

/// The lines of a stream.
pub struct Lines {
    file: String,
    stream: Box<dyn BufRead + Send>,
    number: usize,
}

impl Lines {
    /// The lines of a file; `-` is standard input. Gzip is recognised by its first bytes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read.
    pub fn open(file: &str) -> Result<Self> {
        let stream: Box<dyn Read + Send> = if file == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(std::fs::File::open(file).map_err(|error| io_error(file, &error))?)
        };
        Self::new(file, stream)
    }

    /// The lines of any stream; `file` is its name in messages.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read.
    pub fn new(file: &str, stream: Box<dyn Read + Send>) -> Result<Self> {
        let mut stream = stream;
        let start = first_bytes(&mut stream).map_err(|error| io_error(file, &error))?;
        let is_gzip = start == GZIP;
        let stream = BufReader::with_capacity(1 << 16, Cursor::new(start).chain(stream));
        let stream: Box<dyn BufRead + Send> = if is_gzip {
            Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(stream),
            ))
        } else {
            Box::new(stream)
        };
        Ok(Self {
            file: file.to_owned(),
            stream,
            number: 0,
        })
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Io`] when the stream breaks off (a damaged gzip file, for example), or a line does not end within
    /// 1 GiB.
    pub fn next_line(&mut self) -> Result<Option<Line>> {
        let mut bytes = Vec::new();
        let limit = MAX_LINE as u64 + 1;
        let mut limited = (&mut self.stream).take(limit);
        limited
            .read_until(b'\n', &mut bytes)
            .map_err(|error| io_error(&self.file, &error))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let ended = bytes.last() == Some(&b'\n');
        if !ended && bytes.len() > MAX_LINE {
            self.skip_line()?;
            let text = Err(format!("the line has more than {MAX_LINE} bytes"));
            return Ok(Some(Line {
                number: self.number,
                text,
            }));
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            format!(
                "byte {} of the line is not UTF-8",
                error.utf8_error().valid_up_to() + 1
            )
        });
        Ok(Some(Line {
            number: self.number,
            text,
        }))
    }

    fn skip_line(&mut self) -> Result<()> {
        let mut skipped = MAX_LINE;
        loop {
            let buffer = self
                .stream
                .fill_buf()
                .map_err(|error| io_error(&self.file, &error))?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let (length, done) = (buffer.len(), buffer.is_empty() || end.is_some());
            self.stream.consume(end.map_or(length, |end| end + 1));
            if done {
                return Ok(());
            }
            skipped += length;
            if skipped > MAX_SKIPPED {
                return Err(Error::Io {
                    file: self.file.clone(),
                    message: format!(
                        "line {} does not end within {MAX_SKIPPED} bytes: this is no file of lines",
                        self.number
                    ),
                });
            }
        }
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Lines")
            .field("file", &self.file)
            .field("number", &self.number)
            .finish()
    }
}

/// The first bytes of a stream: as many as tell whether it is gzip, and never one more, because a
/// peer on a pipe may wait for the answer to its first line.
fn first_bytes(stream: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    while GZIP.starts_with(&start) && start.len() < GZIP.len() {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => start.extend(byte),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(start)
}

fn io_error(file: &str, error: &std::io::Error) -> Error {
    Error::Io {
        file: file.to_owned(),
        message: error.to_string(),
    }
}
