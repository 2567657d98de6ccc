//! Reads the header of an `.npy` file: a Python dictionary of three entries, without recursion.
//!
//! An own parser, because the crates for `.npy` refuse the `f1` that NumPy writes for
//! `ml_dtypes.float8_e5m2`, and nothing in this grammar nests.

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Type string, for example `<f4`.
    pub(super) descr: String,
    /// Whether the first index runs fastest.
    pub(super) fortran_order: bool,
    /// Dimensions, outermost first.
    pub(super) shape: Vec<usize>,
}

/// Reads the dictionary.
pub(super) fn parse(text: &str) -> Result<Header, String> {
    let mut cursor = Cursor {
        rest: text.trim_start(),
    };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    cursor.expect('{')?;
    while !cursor.accept('}') {
        let key = cursor.string()?;
        cursor.expect(':')?;
        let first = match key {
            "descr" => descr.replace(cursor.descr()?).is_none(),
            "fortran_order" => fortran_order.replace(cursor.boolean()?).is_none(),
            "shape" => shape.replace(cursor.shape()?).is_none(),
            _ => return Err(format!("the header has an entry '{}'", key.escape_debug())),
        };
        if !first {
            return Err(format!("the header has two entries '{key}'"));
        }
        if !cursor.accept(',') {
            cursor.expect('}')?;
            break;
        }
    }
    if !cursor.rest.is_empty() {
        return Err(cursor.wrong("the end of the header"));
    }
    let missing = |key: &str| format!("the header has no entry '{key}'");
    Ok(Header {
        descr: descr.ok_or_else(|| missing("descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// What is left of the header; white space in front is always gone.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        taken
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.rest.starts_with(wanted);
        if found {
            self.advance(wanted.len_utf8());
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) {
            return Ok(());
        }
        Err(self.wrong(&format!("'{wanted}'")))
    }

    fn wrong(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        match &*found {
            "" => format!("the header ends where {wanted} is expected"),
            _ => format!(
                "the header has '{}' where {wanted} is expected",
                found.escape_debug()
            ),
        }
    }

    /// A string without escapes, in either kind of quotes.
    fn string(&mut self) -> Result<&'a str, String> {
        let quote = match self.rest.chars().next() {
            Some(quote @ ('\'' | '"')) => quote,
            _ => return Err(self.wrong("a string")),
        };
        let text = &self.rest[1..];
        let Some(end) = text.find(quote) else {
            return Err(self.wrong("a string with an end"));
        };
        self.advance(end + 2);
        Ok(&text[..end])
    }

    fn descr(&mut self) -> Result<String, String> {
        if self.rest.starts_with('[') {
            return Err("the elements have several fields; one number each is needed".into());
        }
        Ok(self.string()?.to_owned())
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        self.advance(end.unwrap_or(self.rest.len()))
    }

    fn boolean(&mut self) -> Result<bool, String> {
        let before = self.rest;
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(Cursor { rest: before }.wrong("True or False")),
        }
    }

    /// A tuple of whole numbers; Python 2 wrote an `L` after large ones.
    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let before = self.rest;
            let word = self.word();
            let digits = word.strip_suffix('L').unwrap_or(word);
            let number = digits.bytes().all(|byte| byte.is_ascii_digit());
            match digits.parse() {
                Ok(dimension) if number => shape.push(dimension),
                _ => return Err(Cursor { rest: before }.wrong("a dimension of the shape")),
            }
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}
