//! Reads the text form of programs: the arithmetic column of the catalogue.
//!
//! ```text
//! program   := [ "codes=numbers|largest" ";" ] statement { ";" statement }
//!                                                      the last one is d; "d =" may be left out
//! statement := [ name "=" ] operation "->" output
//! operation := algorithm { PARAMETER=value } [ "as" format ] [ "part" a=FIRST:COUNT b=FIRST:COUNT ] [ "over" select ] [ "from" source ]
//!            | "add" source source | "convert" source | "negate" source
//!            | "join" algorithm { PARAMETER=value } [ "over" "k=0,1" ] "of" source { source }
//! select    := "k=0,1,2" | "k=0..15" | "k%4=0,1"       default: every k, ascending
//!                                                      "as": operands widened to that format first
//!                                                      "part": these bits of significands alone, 0 being the hidden one
//! source    := "c" | "+0" | "product" | name           default of "from": c
//! output    := rounding format { PARAMETER=value }     those of `RESULT_PARAMETERS`: nan zero overflow flush …
//! ```

mod write;

use std::str::FromStr;

use super::schema::{Given, Typed, parameters};
use super::{
    Codes, Dpa, Operation, Output, Part, Program, Reading, Select, Source, Start, Statement, Token,
    tokens,
};
use crate::error::{Error, Position, Result, shortened};
use crate::format::{Formats, Rounding};

/// Longest program; the longest of a shipped row has five statements.
const MAX_STATEMENTS: usize = 256;

/// An error in a notation: the column and what is wrong.
pub type Flaw = (usize, String);

fn flaw<T>(token: Token<'_>, message: impl Into<String>) -> std::result::Result<T, Flaw> {
    Err((token.column, message.into()))
}

/// Carries an [`Error`]'s text to the column of a token.
pub fn at<T>(token: Token<'_>, result: Result<T>) -> std::result::Result<T, Flaw> {
    result.map_err(|error| (token.column, error.to_string()))
}

impl FromStr for Program {
    type Err = Error;

    /// Reads a program. Errors carry the column; the file name is empty.
    fn from_str(text: &str) -> Result<Self> {
        let end = text.chars().count() + 1;
        parse(&tokens(text, 1), end, &Formats::default()).map_err(|(column, message)| Error::Text {
            position: Position {
                file: "(arithmetic)".to_owned(),
                line: 1,
                column,
            },
            message: shortened(&message),
        })
    }
}

/// Reads a program from its words; `end` is the column behind the last one.
pub(crate) fn parse(
    words: &[Token<'_>],
    end: usize,
    formats: &Formats,
) -> std::result::Result<Program, Flaw> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut codes = None;
    for (place, part) in words.split(|word| word.text == ";").enumerate() {
        if let (0, [word]) = (place, part)
            && let Some((name, value)) = word.text.split_once('=')
            && name == parameters::CODES.symbol
        {
            said(&mut codes, *word, value, formats)?;
            continue;
        }
        if statements.len() == MAX_STATEMENTS {
            let column = part.first().map_or(end, |word| word.column);
            return Err((
                column,
                format!("a program has at most {MAX_STATEMENTS} statements"),
            ));
        }
        let statement = parse_statement(part, &statements, &mut codes, end, formats)?;
        statements.push(statement);
    }
    if let Some(last) = statements.last_mut()
        && last.name.is_empty()
    {
        last.name = "d".to_owned();
    }
    for (index, statement) in statements.iter().enumerate() {
        let is_last = index + 1 == statements.len();
        if statement.name.is_empty() {
            let message = format!(
                "statement {} has no name; only the last may leave 'd =' out",
                index + 1
            );
            return Err((words.first().map_or(end, |word| word.column), message));
        }
        if is_last != (statement.name == "d") {
            let message = format!(
                "statement {} is called '{}'; the last statement, and only the last, is d",
                index + 1,
                statement.name
            );
            return Err((words.first().map_or(end, |word| word.column), message));
        }
    }
    let numbers = |statement: &Statement| match &statement.operation {
        Operation::Dot { algorithm, .. } => algorithm.knows_numbers_only(),
        _ => false,
    };
    // Steps that know numbers only say by themselves what codes are.
    let implied = match statements.iter().any(numbers) {
        true => Codes::Numbers,
        false => Codes::Special,
    };
    Ok(Program {
        codes: codes.unwrap_or(implied),
        statements,
    })
}

/// What the ∞ and NaN codes of a and b mean, for the whole program.
fn said(
    codes: &mut Option<Codes>,
    word: Token<'_>,
    value: &str,
    formats: &Formats,
) -> std::result::Result<(), Flaw> {
    let row = &parameters::CODES;
    let known = row.parse(value, formats);
    let known = known.map_err(|message| (word.column, message))?;
    let Some(known) = Typed::of(known, row) else {
        return flaw(word, format!("codes={value}: a program has no such value"));
    };
    match codes.replace(known) {
        Some(earlier) if earlier != known => flaw(
            word,
            format!(
                "codes={value}: the program says codes={earlier} before, and it holds for all statements"
            ),
        ),
        _ => Ok(()),
    }
}

/// The words of one statement, taken from the front.
struct Words<'a, 'b> {
    left: &'b [Token<'a>],
    end: usize,
    /// What the codes of operands mean, once that is said.
    codes: &'b mut Option<Codes>,
    formats: &'b Formats,
}

impl<'a> Words<'a, '_> {
    fn next(&mut self, expected: &str) -> std::result::Result<Token<'a>, Flaw> {
        match self.left.split_first() {
            Some((first, rest)) => {
                self.left = rest;
                Ok(*first)
            }
            None => Err((self.end, format!("expected {expected}, found the end"))),
        }
    }

    fn take_if(&mut self, text: &str) -> bool {
        let found = self.left.first().is_some_and(|word| word.text == text);
        if found {
            self.left = &self.left[1..];
        }
        found
    }

    /// Takes the `NAME=value` words at the front.
    fn parameters(&mut self) -> Vec<Given<'a>> {
        let mut found = Vec::new();
        while let Some(word) = self.left.first()
            && let Some((name, value)) = word.text.split_once('=')
            && !name.is_empty()
        {
            found.push((*word, name, value));
            self.left = &self.left[1..];
        }
        found
    }
}

fn parse_statement(
    words: &[Token<'_>],
    earlier: &[Statement],
    codes: &mut Option<Codes>,
    end: usize,
    formats: &Formats,
) -> std::result::Result<Statement, Flaw> {
    let mut words = Words {
        left: words,
        end,
        codes,
        formats,
    };
    let mut name = String::new();
    if words.left.get(1).is_some_and(|word| word.text == "=") {
        let word = words.next("a name")?;
        words.left = &words.left[1..];
        let known = earlier.iter().any(|statement| statement.name == word.text);
        let reserved = ["c", "+0", "product"].contains(&word.text);
        if known || reserved || !word.text.chars().all(char::is_alphanumeric) {
            return flaw(
                word,
                format!("'{}' cannot name a statement here", word.text),
            );
        }
        name = word.text.to_owned();
    }
    let operation = parse_operation(&mut words, earlier)?;
    let arrow = words.next("'->' and the output")?;
    if arrow.text != "->" {
        return flaw(arrow, format!("expected '->', found '{}'", arrow.text));
    }
    let output = parse_output(&mut words, &operation)?;
    if let Some(extra) = words.left.first() {
        return flaw(
            *extra,
            format!("expected ';' or the end, found '{}'", extra.text),
        );
    }
    Ok(Statement {
        name,
        operation,
        output,
    })
}

fn parse_operation(
    words: &mut Words<'_, '_>,
    earlier: &[Statement],
) -> std::result::Result<Operation, Flaw> {
    let head = words.next("an algorithm, 'add', 'convert' or 'negate'")?;
    match head.text {
        "add" => {
            let left = parse_source(words, earlier)?;
            Ok(Operation::Add(left, parse_source(words, earlier)?))
        }
        "convert" => Ok(Operation::Convert(parse_source(words, earlier)?)),
        "negate" => Ok(Operation::Negate(parse_source(words, earlier)?)),
        "join" => parse_join(words, earlier),
        _ => {
            let algorithm = parse_algorithm(head, words)?;
            let mut operands = Reading::WHOLE;
            if words.take_if("as") {
                let word = words.next("a format")?;
                operands.widened = Some(at(word, words.formats.named(word.text))?);
            }
            if words.take_if("part") {
                parse_parts(words, head, &mut operands)?;
            }
            let over = if words.take_if("over") {
                parse_select(words)?
            } else {
                Select::All
            };
            let from_at = words.left.first().copied().unwrap_or(head);
            let from = if words.take_if("from") {
                if words.take_if("product") {
                    Start::Product
                } else {
                    parse_source(words, earlier)?.into()
                }
            } else {
                Start::C
            };
            if from == Start::Product && !algorithm.can_begin_with_product() {
                return flaw(
                    from_at,
                    "only fma-chain, fused and add-mul can start 'from product'",
                );
            }
            Ok(Operation::Dot {
                algorithm,
                operands,
                over,
                from,
            })
        }
    }
}

/// The parts of significands behind `part`.
fn parse_parts(
    words: &mut Words<'_, '_>,
    head: Token<'_>,
    operands: &mut Reading,
) -> std::result::Result<(), Flaw> {
    let given = words.parameters();
    let column = words.left.first().copied().unwrap_or(head);
    if given.is_empty() {
        return flaw(
            column,
            "expected a=FIRST:COUNT or b=FIRST:COUNT behind 'part'",
        );
    }
    for (word, name, value) in given {
        let side = match name {
            "a" => &mut operands.a,
            "b" => &mut operands.b,
            _ => return at(word, Err(Error::unknown("operand", name, ["a", "b"]))),
        };
        let Some(part) = Part::parse(value) else {
            return flaw(
                word,
                format!(
                    "{name}={value}: expected FIRST:COUNT, places of a significand from 0 (its hidden bit) to {}",
                    Part::LAST
                ),
            );
        };
        *side = part;
    }
    Ok(())
}

fn parse_join(
    words: &mut Words<'_, '_>,
    earlier: &[Statement],
) -> std::result::Result<Operation, Flaw> {
    let head = words.next("an algorithm")?;
    let algorithm = parse_algorithm(head, words)?;
    if !matches!(algorithm, Dpa::General(_)) {
        return flaw(head, "expected 'fused' or 'add-mul' after 'join'");
    }
    let mut over = Vec::new();
    if words.take_if("over") {
        let word = words.left.first().copied().unwrap_or(head);
        match parse_select(words)? {
            Select::List(list) => over = list,
            _ => return flaw(word, "join takes a list: k=0,1,…"),
        }
    }
    let word = words.next("'of' and values")?;
    if word.text != "of" {
        return flaw(word, format!("expected 'of', found '{}'", word.text));
    }
    let mut of = vec![parse_source(words, earlier)?];
    while words.left.first().is_some_and(|word| word.text != "->") {
        of.push(parse_source(words, earlier)?);
    }
    Ok(Operation::Join {
        algorithm,
        over,
        of,
    })
}

/// The parameters of an algorithm; `codes=` among them is said of the whole program.
fn parse_algorithm(head: Token<'_>, words: &mut Words<'_, '_>) -> std::result::Result<Dpa, Flaw> {
    let mut given = words.parameters();
    if matches!(head.text, "fused" | "add-mul")
        && let Some(index) = given
            .iter()
            .position(|(_, name, _)| *name == parameters::CODES.symbol)
    {
        let (word, _, value) = given.remove(index);
        said(words.codes, word, value, words.formats)?;
    }
    Dpa::parse(head, &given, words.formats)
}

fn parse_select(words: &mut Words<'_, '_>) -> std::result::Result<Select, Flaw> {
    let word = words.next("'k=…' or 'k%n=…'")?;
    let expected = "expected 'k=0,1,…', 'k=0..15' or 'k%n=0,1,…' with whole numbers";
    let Some((left, list)) = word.text.split_once('=') else {
        return flaw(word, expected);
    };
    let numbers = |list: &str| -> Option<Vec<usize>> {
        if let Some((first, last)) = list.split_once("..") {
            let (first, last) = (first.parse().ok()?, last.parse::<usize>().ok()?);
            return (first <= last && last < 4096).then(|| (first..=last).collect());
        }
        list.split(',').map(|number| number.parse().ok()).collect()
    };
    let Some(list) = numbers(list) else {
        return flaw(word, expected);
    };
    let distinct = list.iter().collect::<std::collections::BTreeSet<_>>().len() == list.len();
    if !distinct || list.iter().any(|&k| k >= 4096) {
        return flaw(word, "every k must be below 4096 and stand only once");
    }
    match left
        .strip_prefix('k')
        .map(|rest| rest.strip_prefix('%').map(str::parse::<usize>))
    {
        Some(None) if left == "k" => Ok(Select::List(list)),
        Some(Some(Ok(modulus))) if (1..=4096).contains(&modulus) => {
            if list.iter().any(|&residue| residue >= modulus) {
                return flaw(word, format!("residues must be below {modulus}"));
            }
            Ok(Select::Residues {
                modulus,
                residues: list,
            })
        }
        _ => flaw(word, expected),
    }
}

fn parse_source(
    words: &mut Words<'_, '_>,
    earlier: &[Statement],
) -> std::result::Result<Source, Flaw> {
    let word = words.next("a value: c, +0 or an earlier statement's name")?;
    match word.text {
        "c" => Ok(Source::C),
        "+0" => Ok(Source::Zero),
        "product" => flaw(word, "'product' is no value"),
        name => match earlier.iter().position(|statement| statement.name == name) {
            Some(index) => Ok(Source::Statement(index)),
            None => {
                let names = earlier.iter().map(|statement| statement.name.as_str());
                at(
                    word,
                    Err(Error::unknown("value", name, names.chain(["c", "+0"]))),
                )
            }
        },
    }
}

fn parse_output(
    words: &mut Words<'_, '_>,
    operation: &Operation,
) -> std::result::Result<Output, Flaw> {
    let word = words.next("a rounding")?;
    let rounding = at(word, Rounding::named(word.text))?;
    let word = words.next("a format")?;
    let format = at(word, words.formats.named(word.text))?;
    let of_integers =
        matches!(operation, Operation::Dot { algorithm, .. } if algorithm.sums_integers());
    if !of_integers && (format.float().is_none() || !format.signed) {
        return flaw(
            word,
            format!("{format} cannot be a result format: it is no signed float"),
        );
    }
    let mut output = Output::usual(operation, rounding, format);
    output.read(word, &words.parameters(), words.formats)?;
    Ok(output)
}
