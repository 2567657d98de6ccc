//! Reads the text form of schedules.
//!
//! ```text
//! schedule  := "chain" | clause { ";" clause }         each clause at most once, in any order
//! clause    := "emulate=" FORMAT split "products=" products [ "within=" ( "step" | "pass" ) ]
//!                  [ "unpromoted=" GROUPS ] [ "join=" join ]
//!            | "order=ascending" | "order=descending"
//!            | "order=stride/" N | "order=blocks/" i "," j "," …
//!            | "split-k=" COUNT reduce
//!            | "stream-k=" WORKERS "tile=" ROWS "x" COLUMNS [ "iteration=" STEPS ] reduce
//!            | "promote=" STEPS "/" type [ "scale=" ROWS "x" COLUMNS [ "by=" by ] ]
//!            | "c=first" | "c=epilogue" [ "/" type ] [ "alpha=" NUMBER ] [ "beta=" NUMBER ] [ "by=" by ]
//!            | "out=" ROUNDING FORMAT [ "overflow=" POLICY ]
//! reduce    := "reduce=" ( "ascending" | "descending" | "pairwise" ) "/" type
//! type      := FORMAT [ "/" ROUNDING ]                 default: f32 in the epilogue; rne
//! by        := "fma" | "mul-add"                       default: fma
//! split     := "parts=" COUNT [ "/" ROUNDING ] [ "shift=" BITS ]
//!            | "slices=" COUNT [ "/" ROUNDING ] "bits=" BITS
//!            | "residues=" N "," N "," … [ "/" ROUNDING ] "bits=" BITS
//! products  := group { "+" group } | ( "levels" | "pairs" ) "/" N          group := PxQ { "," PxQ }
//! join      := ( "ascending" | "descending" | "pairwise" | "residues" ) "/" type
//! ```

mod emulate;
mod write;

use std::str::FromStr;

use super::{
    CEntry, MultiplyAdd, Order, Promotion, Reduction, ReductionOrder, Schedule, SoftwareScale,
    Split,
};
use crate::dpa::{Flaw, Scalar, Token, at, tokens};
use crate::error::{Error, Position, Result, shortened};
use crate::format::{F32, F64, Format, Overflow, Rounding};

/// What a clause may begin with.
const CLAUSES: [&str; 8] = [
    "chain", "emulate", "order", "split-k", "stream-k", "promote", "c", "out",
];
/// The largest count of anything.
const MOST: usize = 1 << 24;
/// The longest list of blocks.
const MOST_BLOCKS: usize = 1 << 12;

type Parsed<T> = std::result::Result<T, Flaw>;

impl FromStr for Schedule {
    type Err = Error;

    /// Reads a schedule. Errors carry the column; the file name is `(schedule)`.
    fn from_str(text: &str) -> Result<Self> {
        parse(text).map_err(|(column, message)| Error::Text {
            position: Position {
                file: "(schedule)".to_owned(),
                line: 1,
                column,
            },
            message: shortened(&message),
        })
    }
}

fn parse(text: &str) -> Parsed<Schedule> {
    let mut schedule = Schedule::default();
    let mut seen: Vec<&str> = Vec::new();
    let mut column = 1;
    for clause in text.split(';') {
        let words = tokens(clause, column);
        let end = column + clause.chars().count();
        column = end + 1;
        let Some((first, rest)) = words.split_first() else {
            let message = format!("expected {}, found nothing", CLAUSES.join(", "));
            return Err((end, message));
        };
        let (key, value) = key_and_value(*first);
        let Some(&known) = CLAUSES.iter().find(|known| **known == key) else {
            return at(*first, Err(Error::unknown("clause", key, CLAUSES)));
        };
        let is_split = |name: &str| name == "split-k" || name == "stream-k";
        if let Some(other) = seen
            .iter()
            .find(|other| **other == known || is_split(other) && is_split(known))
        {
            return Err((
                first.column,
                format!("{known}= after {other}=: one of them"),
            ));
        }
        seen.push(known);
        let mut clause = Clause {
            words: rest,
            value,
            end,
        };
        match known {
            "chain" if value.is_none() && text.trim() == "chain" => {}
            "chain" => return Err((first.column, "chain stands alone".into())),
            "emulate" => schedule.emulation = Some(emulate::emulation(&mut clause)?),
            "order" => schedule.order = order(clause.value()?)?,
            "split-k" => schedule.split = split_k(&mut clause)?,
            "stream-k" => schedule.split = stream_k(&mut clause)?,
            "promote" => schedule.promotion = Some(promotion(&mut clause)?),
            "c" => schedule.c = c(&mut clause)?,
            _ => schedule.output = Some(output(&mut clause)?),
        }
        if let Some(extra) = clause.words.first() {
            let message = format!("expected ';' or the end, found '{}'", extra.text);
            return Err((extra.column, message));
        }
    }
    Ok(schedule)
}

/// `key=value`; the value's token has its own column.
fn key_and_value(word: Token<'_>) -> (&str, Option<Token<'_>>) {
    match word.text.split_once('=') {
        None => (word.text, None),
        Some((key, value)) => {
            let column = word.column + key.chars().count() + 1;
            let value = Token {
                column,
                text: value,
            };
            (key, Some(value))
        }
    }
}

/// The rest of a clause, taken from the front.
struct Clause<'a, 'b> {
    words: &'b [Token<'a>],
    value: Option<Token<'a>>,
    end: usize,
}

impl<'a> Clause<'a, '_> {
    /// What stands behind the clause's own `=`.
    fn value(&self) -> Parsed<Token<'a>> {
        match self.value {
            Some(value) if !value.text.is_empty() => Ok(value),
            Some(value) => Err((value.column, "expected a value after '='".into())),
            None => Err((
                self.words.first().map_or(self.end, |word| word.column),
                "expected '=' and a value".into(),
            )),
        }
    }

    /// Takes `key=value` when it is next.
    fn optional(&mut self, key: &str) -> Option<Token<'a>> {
        let (first, rest) = self.words.split_first()?;
        let (found, value) = key_and_value(*first);
        if found != key {
            return None;
        }
        self.words = rest;
        value
    }

    fn required(&mut self, key: &str, example: &str) -> Parsed<Token<'a>> {
        let column = self.words.first().map_or(self.end, |word| word.column);
        self.optional(key)
            .ok_or_else(|| (column, format!("expected {key}=, as in {example}")))
    }

    fn by(&mut self) -> Parsed<MultiplyAdd> {
        match self.optional("by") {
            None => Ok(MultiplyAdd::Fma),
            Some(word) => by(word),
        }
    }
}

/// The parts between slashes, each with its column.
fn slashes(word: Token<'_>) -> Vec<Token<'_>> {
    let mut column = word.column;
    let part = |text| {
        let token = Token { column, text };
        column += text.chars().count() + 1;
        token
    };
    word.text.split('/').map(part).collect()
}

fn number(word: Token<'_>) -> Parsed<usize> {
    let digits = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    match word.text.parse() {
        Ok(number @ 1..=MOST) if digits => Ok(number),
        _ => Err((
            word.column,
            format!(
                "'{}' is no whole number from 1 to {MOST}",
                crate::error::quoted(word.text)
            ),
        )),
    }
}

fn named<T: Copy>(word: Token<'_>, what: &'static str, all: &[(&str, T)]) -> Parsed<T> {
    match all.iter().find(|(name, _)| *name == word.text) {
        Some((_, value)) => Ok(*value),
        None => at(
            word,
            Err(Error::unknown(
                what,
                word.text,
                all.iter().map(|(name, _)| *name),
            )),
        ),
    }
}

const BY: [(&str, MultiplyAdd); 2] = [("fma", MultiplyAdd::Fma), ("mul-add", MultiplyAdd::MulAdd)];

const REDUCTIONS: [(&str, ReductionOrder); 3] = [
    ("ascending", ReductionOrder::Ascending),
    ("descending", ReductionOrder::Descending),
    ("pairwise", ReductionOrder::Pairwise),
];

fn by(word: Token<'_>) -> Parsed<MultiplyAdd> {
    named(word, "way to multiply and add", &BY)
}

/// `FORMAT[/ROUNDING]` from the parts of a word; `end` is the column behind it.
fn scalar(parts: &[Token<'_>], end: usize) -> Parsed<Scalar> {
    let (format, rounding) = match *parts {
        [format] => (format, None),
        [format, rounding] => (format, Some(rounding)),
        [_, _, extra, ..] => {
            return Err((extra.column, format!("'{}' is too much", extra.text)));
        }
        [] => return Err((end, "expected /FORMAT, as in /f32".into())),
    };
    let rounding = match rounding {
        None => Rounding::Rne,
        Some(word) => at(word, Rounding::named(word.text))?,
    };
    arithmetic(format, rounding)
}

/// The arithmetic of a format that a word names.
fn arithmetic(word: Token<'_>, rounding: Rounding) -> Parsed<Scalar> {
    match Format::named(word.text) {
        Err(error @ Error::Unknown { .. }) => {
            let formats = Scalar::formats();
            Err((word.column, format!("{error}; possible: {formats}")))
        }
        named => at(word, named.and_then(|it| Scalar::new(it, rounding))),
    }
}

fn end_of(word: Token<'_>) -> usize {
    word.column + word.text.chars().count()
}

fn order(word: Token<'_>) -> Parsed<Order> {
    let parts = slashes(word);
    let simple = |order: Order| match parts.get(1) {
        None => Ok(order),
        Some(extra) => Err((extra.column, format!("'{}' is too much", extra.text))),
    };
    let argument = |example: &str| match parts[1..] {
        [one] => Ok(one),
        _ => Err((end_of(parts[0]), format!("expected {example}"))),
    };
    match parts[0].text {
        "ascending" => simple(Order::Ascending),
        "descending" => simple(Order::Descending),
        "stride" => Ok(Order::Stride(number(argument("/N, as in stride/4")?)?)),
        "blocks" => blocks(argument("/i,j,…, as in blocks/1,0")?).map(Order::Blocks),
        other => at(
            parts[0],
            Err(Error::unknown(
                "order",
                other,
                ["ascending", "descending", "stride/N", "blocks/i,j,…"],
            )),
        ),
    }
}

/// A permutation of 0 … n−1.
fn blocks(word: Token<'_>) -> Parsed<Vec<usize>> {
    let texts: Vec<&str> = word.text.split(',').collect();
    let numbers: Option<Vec<usize>> = texts.iter().map(|text| text.parse().ok()).collect();
    let is_permutation = |numbers: &Vec<usize>| {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..sorted.len())
    };
    match numbers {
        Some(numbers) if numbers.len() <= MOST_BLOCKS && is_permutation(&numbers) => Ok(numbers),
        _ => Err((
            word.column,
            format!(
                "'{}': expected every number from 0 to n−1 once, n at most {MOST_BLOCKS}",
                crate::error::quoted(word.text)
            ),
        )),
    }
}

fn reduction(clause: &mut Clause<'_, '_>) -> Parsed<Reduction> {
    let word = clause.required("reduce", "reduce=ascending/f32")?;
    let parts = slashes(word);
    Ok(Reduction {
        order: named(parts[0], "order of reduction", &REDUCTIONS)?,
        scalar: scalar(&parts[1..], end_of(word))?,
    })
}

fn split_k(clause: &mut Clause<'_, '_>) -> Parsed<Split> {
    Ok(Split::SplitK {
        count: number(clause.value()?)?,
        reduction: reduction(clause)?,
    })
}

fn stream_k(clause: &mut Clause<'_, '_>) -> Parsed<Split> {
    let workers = number(clause.value()?)?;
    let (rows, columns) = by_columns(clause.required("tile", "tile=128x128")?)?;
    let iteration = clause.optional("iteration").map_or(Ok(1), number)?;
    Ok(Split::StreamK {
        workers,
        rows,
        columns,
        iteration,
        reduction: reduction(clause)?,
    })
}

/// `ROWSxCOLUMNS`.
fn by_columns(word: Token<'_>) -> Parsed<(usize, usize)> {
    let Some((rows, columns)) = word.text.split_once('x') else {
        return Err((word.column, "expected ROWSxCOLUMNS, as in 128x128".into()));
    };
    let column = word.column + rows.chars().count() + 1;
    let rows = Token {
        column: word.column,
        text: rows,
    };
    let columns = Token {
        column,
        text: columns,
    };
    Ok((number(rows)?, number(columns)?))
}

fn promotion(clause: &mut Clause<'_, '_>) -> Parsed<Promotion> {
    let word = clause.value()?;
    let parts = slashes(word);
    let steps = number(parts[0])?;
    let scalar = scalar(&parts[1..], end_of(word))?;
    let scale = match clause.optional("scale") {
        None => None,
        Some(word) => {
            let (rows, columns) = by_columns(word)?;
            let by = clause.by()?;
            Some(SoftwareScale { rows, columns, by })
        }
    };
    Ok(Promotion {
        steps,
        scalar,
        scale,
    })
}

fn c(clause: &mut Clause<'_, '_>) -> Parsed<CEntry> {
    let word = clause.value()?;
    let parts = slashes(word);
    match (parts[0].text, parts.len()) {
        ("first", 1) => Ok(CEntry::First),
        ("epilogue", _) => {
            let scalar = match parts.len() {
                1 => at(word, Scalar::new(F32, Rounding::Rne))?,
                _ => scalar(&parts[1..], end_of(word))?,
            };
            let factor = |given: Option<Token<'_>>| {
                let text = given.map_or("1", |given| given.text);
                value(&scalar, text).ok_or_else(|| {
                    let (column, format) = (given.unwrap_or(word).column, scalar.format());
                    let text = crate::error::quoted(text);
                    let message = match text.parse::<f64>().is_ok_and(f64::is_finite) {
                        true if format == F32 => format!("'{text}' is beyond f32"),
                        true => format!(
                            "'{text}' is not exact in {format}, as a factor in another type than f32 and \
                             f64 must be"
                        ),
                        false => format!("'{text}' is no finite number"),
                    };
                    (column, message)
                })
            };
            Ok(CEntry::Epilogue {
                scalar,
                alpha: factor(clause.optional("alpha"))?,
                beta: factor(clause.optional("beta"))?,
                by: clause.by()?,
            })
        }
        _ => {
            let names = ["first", "epilogue/f32"];
            at(word, Err(Error::unknown("place of C", word.text, names)))
        }
    }
}

fn output(clause: &mut Clause<'_, '_>) -> Parsed<Scalar> {
    let word = clause.value()?;
    let rounding = at(word, Rounding::named(word.text))?;
    let Some((format, rest)) = clause.words.split_first() else {
        return Err((clause.end, "expected a format, as in out=rne bf16".into()));
    };
    clause.words = rest;
    let scalar = arithmetic(*format, rounding)?;
    match clause.optional("overflow") {
        None => Ok(scalar),
        Some(word) => Ok(scalar.with_overflow(at(word, Overflow::named(word.text))?)),
    }
}

/// A decimal number in a format: the nearest f32 or f64, exact in any other.
fn value(scalar: &Scalar, text: &str) -> Option<u64> {
    let format = scalar.format();
    let exact = |from: Format, word: u64| {
        let there = Scalar::new(format, Rounding::Rne).ok()?;
        let back = Scalar::new(from, Rounding::Rne).ok()?;
        let converted = there.convert(&from, word);
        (back.convert(&format, converted) == word).then_some(converted)
    };
    if format == F32 {
        let number: f32 = text.parse().ok()?;
        return number.is_finite().then(|| u64::from(number.to_bits()));
    }
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    exact(F64, number.to_bits())
}
