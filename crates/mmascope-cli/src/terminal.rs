//! Standard output for people to read: names and keys from files reach no terminal as commands.

use std::io::{self, StdoutLock, Write};

use crate::report;

/// Standard output that shows control characters escaped. Reports are written to it; data and files are not.
pub(crate) struct Terminal(StdoutLock<'static>);

pub(crate) fn out() -> Terminal {
    Terminal(io::stdout().lock())
}

impl Write for Terminal {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let shown = report::shown(&String::from_utf8_lossy(text));
        self.0.write_all(shown.as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
