//! Expressions as people write them: `a*b+c`, `x-x`, `1/sqrt(x)`.

use super::graph::{Graph, Op, Settings};
use crate::error::{Error, Result, quoted};
use crate::explain::number_word;
use crate::format::Format;

/// The functions that have names here, with their number of operands.
pub(super) const FUNCTIONS: &[(&str, usize)] = &[
    ("add", 2),
    ("sub", 2),
    ("mul", 2),
    ("div", 2),
    ("fma", 3),
    ("neg", 1),
    ("abs", 1),
    ("min", 2),
    ("max", 2),
    ("sqrt", 1),
    ("rsqrt", 1),
    ("rcp", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("tanh", 1),
    ("exp", 1),
    ("exp2", 1),
    ("exp10", 1),
    ("log", 1),
    ("log2", 1),
    ("log10", 1),
    ("pow", 2),
    ("ex2", 1),
    ("lg2", 1),
];

/// Deepest nesting of parentheses and signs.
const DEEPEST: usize = 100;

/// How many operands a function takes; library symbols by their name.
pub(super) fn arity(name: &str) -> Option<usize> {
    let known = FUNCTIONS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, arity)| *arity);
    known.or_else(|| super::library::arity(name))
}

/// The names of all functions and symbols.
fn every_function() -> impl Iterator<Item = &'static str> {
    let known = FUNCTIONS.iter().map(|(known, _)| *known);
    known.chain(super::library::names())
}

/// A function that nobody knows, with the nearest names, or with all where none is near.
pub(super) fn unknown_function(what: &'static str, name: &str) -> Error {
    let error = Error::unknown(what, name, every_function());
    let is_near = !matches!(&error, Error::Unknown { nearest, .. } if nearest.is_empty());
    if is_near {
        return error;
    }
    let short: Vec<&str> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
    Error::Argument(format!(
        "unknown {what} '{}'; functions are {}, and symbols of the device library such as __nv_fast_expf; \
         for example a*b+c, 1/sqrt(x), sqrt or add.rn.f32",
        quoted(name),
        short.join(" ")
    ))
}

/// Reads an expression. `settings` are what every operation in it asks for.
///
/// # Errors
/// [`Error::Argument`] with the place, [`Error::Unknown`] for a function that nobody knows.
pub(super) fn read(text: &str, format: Format, settings: Settings) -> Result<Graph> {
    let mut reader = Reader {
        text,
        letters: text.char_indices().collect(),
        at: 0,
        depth: 0,
        graph: Graph::new(format),
        settings,
    };
    let trimmed = text.trim();
    if let Some(count) = arity(trimmed) {
        let args = (0..count)
            .map(|index| reader.graph.parameter(["a", "b", "c"][index]))
            .collect();
        reader.graph.root = reader.call(trimmed, args);
        return Ok(reader.graph);
    }
    reader.graph.root = reader.sum()?;
    if reader.peek().is_some() {
        return Err(reader.wrong("an operator or the end"));
    }
    if let Op::Parameter(number) = reader.graph.nodes[reader.graph.root].op {
        let name = reader.graph.parameters[number].clone();
        return Err(unknown_function("operation", &name));
    }
    Ok(reader.graph)
}

struct Reader<'a> {
    text: &'a str,
    letters: Vec<(usize, char)>,
    at: usize,
    depth: usize,
    graph: Graph,
    settings: Settings,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        while self
            .letters
            .get(self.at)
            .is_some_and(|(_, letter)| letter.is_whitespace())
        {
            self.at += 1;
        }
        self.letters.get(self.at).map(|(_, letter)| *letter)
    }

    fn wrong(&mut self, expected: &str) -> Error {
        let found = self
            .peek()
            .map_or("the end".to_owned(), |letter| format!("'{letter}'"));
        Error::Argument(format!(
            "operation '{}': {found} at character {}, where {expected} is expected; for example a*b+c, 1/sqrt(x), \
             sqrt or add.rn.f32",
            quoted(self.text),
            self.at + 1
        ))
    }

    fn sum(&mut self) -> Result<usize> {
        let mut left = self.product()?;
        while let Some(letter @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            let op = if letter == '+' { Op::Add } else { Op::Sub };
            left = self.graph.add(op, vec![left, right], self.settings);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<usize> {
        let mut left = self.signed()?;
        while let Some(letter @ ('*' | '/')) = self.peek() {
            self.at += 1;
            let right = self.signed()?;
            let op = if letter == '*' { Op::Mul } else { Op::Div };
            left = self.graph.add(op, vec![left, right], self.settings);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<usize> {
        if self.depth > DEEPEST {
            return Err(Error::Argument(format!(
                "operation '{}': more than {DEEPEST} levels of nesting",
                quoted(self.text)
            )));
        }
        self.depth += 1;
        let node = match self.peek() {
            Some('-') => {
                self.at += 1;
                let inner = self.signed()?;
                let sign = 1 << (self.graph.format.register.bits - 1);
                match self.graph.nodes[inner].op {
                    // A minus in front of a number is part of it.
                    Op::Constant(word) if word & sign == 0 => self.constant(word | sign),
                    _ => self.graph.add(Op::Neg, vec![inner], self.settings),
                }
            }
            _ => self.atom()?,
        };
        self.depth -= 1;
        Ok(node)
    }

    fn constant(&mut self, word: u64) -> usize {
        self.graph
            .add(Op::Constant(word), Vec::new(), Settings::default())
    }

    fn atom(&mut self) -> Result<usize> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.close()?;
                Ok(inner)
            }
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number(),
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.named(),
            _ => Err(self.wrong("a variable, a number, a function or a parenthesis")),
        }
    }

    fn close(&mut self) -> Result<()> {
        if self.peek() != Some(')') {
            return Err(self.wrong("')'"));
        }
        self.at += 1;
        Ok(())
    }

    fn take(&mut self, mut accepts: impl FnMut(Option<char>, char) -> bool) -> String {
        let (mut word, mut last) = (String::new(), None);
        while let Some(&(_, letter)) = self.letters.get(self.at) {
            if !accepts(last, letter) {
                break;
            }
            word.push(letter);
            last = Some(letter);
            self.at += 1;
        }
        word
    }

    fn number(&mut self) -> Result<usize> {
        let word = self.take(|last, letter| {
            let exponent_sign =
                matches!(letter, '+' | '-') && matches!(last, Some('e' | 'E' | 'p' | 'P'));
            letter.is_ascii_alphanumeric() || letter == '.' || exponent_sign
        });
        let word = number_word("number", &word, &self.graph.format, true)?;
        Ok(self.constant(word))
    }

    fn named(&mut self) -> Result<usize> {
        let name = self.take(|_, letter| letter.is_ascii_alphanumeric() || letter == '_');
        let called = self.peek() == Some('(');
        if !called && !name.starts_with("__nv_") {
            return Ok(self.graph.parameter(&name));
        }
        let Some(count) = arity(&name) else {
            return Err(unknown_function("function", &name));
        };
        if !called {
            return Err(self.wrong("'(' after a function's name"));
        }
        self.at += 1;
        let mut args = vec![self.sum()?];
        while self.peek() == Some(',') {
            self.at += 1;
            args.push(self.sum()?);
        }
        self.close()?;
        if args.len() != count {
            return Err(Error::Argument(format!(
                "operation '{}': {name} takes {count} operands, not {}",
                quoted(self.text),
                args.len()
            )));
        }
        Ok(self.call(&name, args))
    }

    /// A call, or the operation that it is another spelling of.
    fn call(&mut self, name: &str, args: Vec<usize>) -> usize {
        let op = match name {
            "add" => Op::Add,
            "sub" => Op::Sub,
            "mul" => Op::Mul,
            "div" => Op::Div,
            "fma" => Op::Fma,
            "neg" => Op::Neg,
            "ex2" => Op::Call("exp2".to_owned()),
            "lg2" => Op::Call("log2".to_owned()),
            "rcp" => {
                let one = number_word("one", "1", &self.graph.format, true).unwrap_or(0);
                let one = self.constant(one);
                return self.graph.add(Op::Div, vec![one, args[0]], self.settings);
            }
            other => Op::Call(other.to_owned()),
        };
        self.graph.add(op, args, self.settings)
    }
}
