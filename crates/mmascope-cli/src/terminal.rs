//! Standard output for people to read: names and keys from files reach no terminal as commands, and lines fit it.

use std::io::{self, StdoutLock, Write};

use crate::{layout, report};

/// Standard output that shows control characters escaped, in lines that fit the terminal where there is one.
/// Reports are written to it; data and files are not.
pub(crate) struct Terminal {
    out: StdoutLock<'static>,
    columns: Option<usize>,
    /// The line begun: where it is broken depends on all of it.
    line: Vec<u8>,
}

pub(crate) fn out() -> Terminal {
    Terminal {
        out: io::stdout().lock(),
        columns: layout::terminal(),
        line: Vec::new(),
    }
}

impl Terminal {
    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let shown = report::shown(&String::from_utf8_lossy(&line));
        self.out
            .write_all(layout::fitted(&shown, self.columns).as_bytes())
    }
}

impl Write for Terminal {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for part in text.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A line without an end; nothing can be said any more where it cannot be written.
        let _ = self.write_line();
    }
}
