//! Bytes of known number: never reads or allocates beyond them.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// A file or bytes in memory, read from front to back.
pub(super) struct Source<R> {
    stream: R,
    left: u64,
}

impl Source<File> {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("this is no regular file".into());
        }
        let stream = File::open(path).map_err(|error| error.to_string())?;
        let left = stream.metadata().map_err(|error| error.to_string())?.len();
        Ok(Self { stream, left })
    }
}

impl<'a> Source<Cursor<&'a [u8]>> {
    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            stream: Cursor::new(bytes),
            left: bytes.len() as u64,
        }
    }
}

impl<R: Read + Seek> Source<R> {
    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next `count` bytes; `what` is what they hold, for the message when they are not there.
    pub(super) fn take(&mut self, count: u64, what: &str) -> Result<Vec<u8>, String> {
        let too_large = || format!("{what} of {count} bytes does not fit the memory");
        self.must_have(count, what)?;
        let length = usize::try_from(count).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| too_large())?;
        bytes.resize(length, 0);
        self.stream
            .read_exact(&mut bytes)
            .map_err(|error| format!("{what}: {error}"))?;
        self.left -= count;
        Ok(bytes)
    }

    /// Leaves the next `count` bytes out.
    pub(super) fn skip(&mut self, count: u64, what: &str) -> Result<(), String> {
        self.must_have(count, what)?;
        let offset = i64::try_from(count).map_err(|error| error.to_string())?;
        self.stream
            .seek(SeekFrom::Current(offset))
            .map_err(|error| format!("{what}: {error}"))?;
        self.left -= count;
        Ok(())
    }

    fn must_have(&self, count: u64, what: &str) -> Result<(), String> {
        if count <= self.left {
            return Ok(());
        }
        Err(format!(
            "the file is cut short or damaged: {what} should have {count} bytes, {} are there",
            self.left
        ))
    }
}
