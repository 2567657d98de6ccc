//! Streams of lines: plain, gzip, broken, hostile.

use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use mmascope::Error;
use mmascope::vector::{Line, Lines, MAX_LINE};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn open(bytes: Vec<u8>) -> Lines {
    Lines::new("x.jsonl", Box::new(Cursor::new(bytes))).expect("memory can be read")
}

/// Every line, then the error if there is one.
fn all(bytes: Vec<u8>) -> (Vec<Line>, Option<Error>) {
    let mut lines = open(bytes);
    let mut found = Vec::new();
    loop {
        match lines.next_line() {
            Ok(Some(line)) => found.push(line),
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error)),
        }
    }
}

fn texts(bytes: &[u8]) -> Vec<String> {
    let (lines, error) = all(bytes.to_vec());
    assert_eq!(error, None);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line.number, index + 1);
    }
    lines
        .into_iter()
        .map(|line| line.text.expect("UTF-8"))
        .collect()
}

#[test]
fn lines_of_every_kind() {
    assert_eq!(texts(b""), [""; 0]);
    assert_eq!(texts(b"\n"), [""]);
    assert_eq!(texts(b"a"), ["a"]);
    assert_eq!(texts(b"a\r\nb\n\nc"), ["a", "b", "", "c"]);
    assert_eq!(texts("é\u{2028}x\n".as_bytes()), ["é\u{2028}x"]);
    assert_eq!(texts(&gzip(b"a\nb")), ["a", "b"]);
    assert_eq!(texts(&gzip(b"")), [""; 0]);
    // Several gzip members one after the other are one stream.
    let two = [gzip(b"a\nb"), gzip(b"c\nd\n")].concat();
    assert_eq!(texts(&two), ["a", "bc", "d"]);
}

#[test]
fn lines_that_are_no_text() {
    let (lines, error) = all(b"a\n\xc3\xa9x\xff\xff\nb\n".to_vec());
    assert_eq!(error, None);
    let texts: Vec<_> = lines.into_iter().map(|line| line.text).collect();
    let expected = [
        Ok("a".into()),
        Err("byte 4 of the line is not UTF-8".into()),
        Ok("b".into()),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn lines_that_are_too_long() {
    let longest = "x".repeat(MAX_LINE);
    let text = format!("{longest}\n{longest}y\n{}\nend\n", "z".repeat(3 * MAX_LINE));
    let (lines, error) = all(text.into_bytes());
    assert_eq!(error, None);
    let refused = Err(format!("the line has more than {MAX_LINE} bytes"));
    let texts: Vec<_> = lines
        .iter()
        .map(|line| (line.number, line.text.clone()))
        .collect();
    let expected = [
        (1, Ok(longest)),
        (2, refused.clone()),
        (3, refused),
        (4, Ok("end".into())),
    ];
    assert!(
        texts == expected,
        "{:?}",
        texts
            .iter()
            .map(|(n, t)| (n, t.is_ok()))
            .collect::<Vec<_>>()
    );
}

/// A line that does not end is given up: the stream may be a device.
#[test]
fn a_line_without_an_end() {
    let endless = Box::new(std::io::repeat(b'x'));
    let mut lines = Lines::new("x.jsonl", endless).expect("it can be read");
    let Err(Error::Io { file, message }) = lines.next_line() else {
        panic!("a line without an end was read");
    };
    assert_eq!(file, "x.jsonl");
    assert!(
        message.starts_with("line 1 does not end within"),
        "{message}"
    );
}

#[test]
fn damaged_gzip_is_an_error_of_the_file() {
    let good = gzip("{\"a\":1}\n".repeat(1000).as_bytes());
    for cut in 2..good.len() {
        let (lines, error) = all(good[..cut].to_vec());
        let Some(Error::Io { file, message }) = error else {
            panic!("cut at {cut}: {} lines, {error:?}", lines.len())
        };
        assert_eq!(file, "x.jsonl");
        assert!(!message.is_empty());
    }
    let mut changed = good.clone();
    let last = changed.len() - 6;
    changed[last] ^= 1; // the checksum
    assert!(all(changed).1.is_some());
}

/// 1 GiB of zeros in a megabyte of gzip, without a line end: one refused line, little memory.
#[test]
fn a_gzip_bomb_is_one_line_too_long() {
    let block = vec![b'0'; 1 << 22];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        encoder.write_all(&block).expect("memory");
    }
    let start = Instant::now();
    let (lines, error) = all(encoder.finish().expect("memory"));
    assert_eq!((lines.len(), error), (1, None));
    assert!(lines[0].text.is_err());
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

/// A stream that gives one byte at a time, and one that fails.
struct Drip(Vec<u8>, Option<std::io::ErrorKind>);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match (self.0.is_empty(), self.1) {
            (true, Some(kind)) => Err(kind.into()),
            (true, None) => Ok(0),
            (false, _) => {
                buffer[0] = self.0.remove(0);
                Ok(1)
            }
        }
    }
}

#[test]
fn slow_and_failing_streams() {
    for bytes in [b"a\nbc\n\nd".to_vec(), gzip(b"a\nbc\n\nd")] {
        let mut lines = Lines::new("drip", Box::new(Drip(bytes, None))).expect("open");
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().expect("no error") {
            found.push(line.text.expect("UTF-8"));
        }
        assert_eq!(found, ["a", "bc", "", "d"]);
    }
    let failing = Drip(b"a\nb".to_vec(), Some(std::io::ErrorKind::ConnectionReset));
    let mut lines = Lines::new("drip", Box::new(failing)).expect("open");
    assert_eq!(
        lines.next_line().expect("a line").expect("a line").number,
        1
    );
    assert!(matches!(lines.next_line(), Err(Error::Io { .. })));
}

#[test]
fn files_that_cannot_be_read() {
    for name in ["/no/such/file.jsonl", "/"] {
        match Lines::open(name).map(|mut lines| lines.next_line()) {
            Err(Error::Io { file, .. }) | Ok(Err(Error::Io { file, .. })) => assert_eq!(file, name),
            other => panic!("{other:?}"),
        }
    }
}
