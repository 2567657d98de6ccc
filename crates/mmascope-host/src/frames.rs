//! Binary messages between this program and its own host programs: a length, then so many bytes.
//!
//! Numbers are little-endian. Text lines of hexadecimal digits took fifty times as long as the library
//! that they asked.

use std::io::{self, Read, Write};

/// The longest message in bytes; more is no message of ours.
const LONGEST: usize = 1 << 28;
/// The first piece of a message whose length is only claimed.
const PIECE: u64 = 1 << 20;

/// The messages of a stream, one after the other.
#[derive(Debug)]
pub struct Frames<R>(R);

impl<R: Read> Frames<R> {
    /// What a stream has.
    pub fn of(stream: R) -> Self {
        Self(stream)
    }
}

impl<R: Read> Iterator for Frames<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let mut length = [0; 4];
        match self.0.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return None,
            Err(error) => return Some(Err(error)),
            Ok(()) => {}
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            let message = format!("a message of {length} bytes");
            return Some(Err(io::Error::other(message)));
        }
        let mut bytes = Vec::with_capacity(length.min(PIECE as usize));
        let read = (&mut self.0).take(length as u64).read_to_end(&mut bytes);
        match read {
            Err(error) => Some(Err(error)),
            Ok(_) if bytes.len() < length => None,
            Ok(_) => Some(Ok(bytes)),
        }
    }
}

/// Begins a message of that kind.
pub(crate) fn begin(kind: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, kind]
}

/// Writes the length in front of a message that [`begin`] began.
pub(crate) fn finish(message: &mut [u8]) {
    let length = u32::try_from(message.len() - 4).unwrap_or(u32::MAX);
    message[..4].copy_from_slice(&length.to_le_bytes());
}

/// Writes a message of that kind.
pub(crate) fn write(out: &mut impl Write, kind: u8, content: &[u8]) -> io::Result<()> {
    let mut message = begin(kind);
    message.extend(content);
    finish(&mut message);
    out.write_all(&message)?;
    out.flush()
}

/// Adds numbers.
pub(crate) fn put(message: &mut Vec<u8>, numbers: impl IntoIterator<Item = f64>) {
    for number in numbers {
        message.extend(number.to_bits().to_le_bytes());
    }
}

/// The numbers of a content; `None` when it is cut short.
pub(crate) fn numbers(content: &[u8]) -> Option<Vec<f64>> {
    let (chunks, rest) = content.as_chunks::<8>();
    let number = |bytes: &[u8; 8]| f64::from_bits(u64::from_le_bytes(*bytes));
    rest.is_empty().then(|| chunks.iter().map(number).collect())
}
