//! Bytes of known number: never reads or allocates beyond them.
//!
//! An archive claims how many bytes it unpacks; memory is then taken as the bytes come.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// A file or bytes in memory, read from front to back.
pub(super) struct Source<R> {
    stream: R,
    left: u64,
    /// Most bytes that are allocated before they are read.
    step: usize,
}

/// The first piece of a stream whose length is only claimed.
const FIRST_PIECE: usize = 1 << 16;

impl Source<File> {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("this is no regular file".into());
        }
        let stream = File::open(path).map_err(|error| error.to_string())?;
        let left = stream.metadata().map_err(|error| error.to_string())?.len();
        Ok(Self {
            stream,
            left,
            step: usize::MAX,
        })
    }
}

impl<'a> Source<Cursor<&'a [u8]>> {
    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            stream: Cursor::new(bytes),
            left: bytes.len() as u64,
            step: usize::MAX,
        }
    }
}

impl<R> Source<R> {
    /// What can be read and sought, before anything is taken.
    pub(super) fn into_stream(self) -> R {
        self.stream
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        self.left
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

impl<R: Read> Source<R> {
    /// A stream that claims to have so many bytes.
    pub(super) fn claiming(stream: R, left: u64) -> Self {
        Self {
            stream,
            left,
            step: FIRST_PIECE,
        }
    }

    /// The next `count` bytes; `what` is what they hold, for the message when they are not there.
    pub(super) fn take(&mut self, count: u64, what: &str) -> Result<Vec<u8>, String> {
        let too_large = || format!("{what} of {count} bytes does not fit the memory");
        self.must_have(count, what)?;
        let length = usize::try_from(count).map_err(|_| too_large())?;
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let have = bytes.len();
            // As much again as has come already.
            let piece = (length - have).min(self.step.max(have));
            bytes.try_reserve_exact(piece).map_err(|_| too_large())?;
            bytes.resize(have + piece, 0);
            self.stream
                .read_exact(&mut bytes[have..])
                .map_err(|error| format!("{what}: {error}"))?;
        }
        self.left -= count;
        Ok(bytes)
    }

    /// Checks that nothing follows. An archive compares its checksum here.
    pub(super) fn end(&mut self) -> Result<(), String> {
        match self.stream.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err("the file is damaged: more bytes follow than it claims".to_owned()),
            Err(error) => Err(format!("the file is damaged: {error}")),
        }
    }
}

impl<R: Read + Seek> Source<R> {
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
}
