//! Reads the text of the catalogue: blocks of lines, one line a family of instructions.
//!
//! The notation is described at the head of `isa/nvidia.txt`.

use std::collections::HashMap;
use std::sync::Arc;

mod evidence;
mod family;
mod format;
mod row;

use super::Architecture;
use crate::dpa::{self, Flaw, Token, at, tokens};
use crate::error::{Error, Position, Result, is_control, quoted, shortened};
use crate::format::{Format, Formats};

/// Limits that keep hostile texts from taking memory or time.
const MAX_TEXT: usize = 16 << 20;
/// What all rows may take together: every row counts its K, its shapes and its texts. The shipped
/// texts stay below a tenth of it.
const MAX_WORK: usize = 8 << 20;
const MAX_SET: usize = 64;

/// One `arch` block.
pub(super) struct Block {
    pub(super) architecture: Architecture,
    pub(super) position: Position,
    /// Columns of the name and of each alias.
    pub(super) columns: Vec<usize>,
    /// The block is one of several architectures.
    pub(super) is_shared: bool,
}

/// A part of a line between `|`.
#[derive(Clone, Copy)]
struct Field<'a> {
    text: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Field<'a> {
    fn words(&self) -> Vec<Token<'a>> {
        tokens(self.text, self.column)
    }

    fn end(&self) -> usize {
        self.column + self.text.chars().count()
    }
}

/// What was found, where, and what was expected.
struct Fault {
    line: usize,
    column: usize,
    message: String,
}

type Outcome<T> = std::result::Result<T, Fault>;

fn fault<T>(line: usize, column: usize, message: impl Into<String>) -> Outcome<T> {
    Err(Fault {
        line,
        column,
        message: message.into(),
    })
}

/// Puts the line to a flaw that knows its column.
fn on_line<T>(line: usize, result: std::result::Result<T, Flaw>) -> Outcome<T> {
    result.map_err(|(column, message)| Fault {
        line,
        column,
        message,
    })
}

/// Reads a whole text: its architectures and the formats that it declares.
pub(super) fn parse(file: &str, text: &str) -> Result<(Vec<Block>, Vec<Format>)> {
    let position = |line, column| Position {
        file: file.to_owned(),
        line,
        column,
    };
    let located = |Fault {
                       line,
                       column,
                       message,
                   }| Error::Text {
        position: position(line, column),
        message: shortened(&message),
    };
    if text.len() > MAX_TEXT {
        let message = format!("the text has more than {MAX_TEXT} bytes");
        return Err(located(Fault {
            line: 1,
            column: 1,
            message,
        }));
    }
    // What a catalogue says is printed: nothing of it may be a command to a terminal.
    for (index, line) in text.lines().enumerate() {
        if let Some(column) = line.chars().position(|c| is_control(c) && c != '\t') {
            let message = "a control character".to_owned();
            let (line, column) = (index + 1, column + 1);
            return Err(located(Fault {
                line,
                column,
                message,
            }));
        }
    }
    let mut reader = Reader {
        file,
        blocks: Vec::new(),
        formats: Formats::default(),
        sets: HashMap::new(),
        work: 0,
        family: None,
        together: Vec::new(),
    };
    let lines = logical_lines(text).map_err(located)?;
    for block in lines.chunk_by(|_, next| !begins_block(next)) {
        let Some((head, rest)) = block.split_first() else {
            continue;
        };
        if !begins_block(head) {
            for line in block {
                reader.line(line).map_err(located)?;
            }
            continue;
        }
        // A block of several architectures is one of each.
        let names = names_of_block(head);
        let again = (names.len() - 1).saturating_mul(rest.len());
        reader.charge(head[0], again).map_err(located)?;
        let is_shared = names.len() > 1;
        let first_word = |words: &Vec<Token<'_>>| words.first().map(|word| word.text.to_owned());
        reader.together = names.iter().filter_map(first_word).collect();
        for name in names {
            reader.arch(head[0], &name, is_shared).map_err(located)?;
            for line in rest {
                reader.line(line).map_err(located)?;
            }
        }
    }
    Ok((reader.blocks, reader.formats.declared().to_vec()))
}

/// Whether a line is `arch NAME …`.
fn begins_block(line: &[Field<'_>]) -> bool {
    line.len() == 1
        && line[0]
            .words()
            .first()
            .is_some_and(|word| word.text == "arch")
}

/// The words behind `arch` for each of its architectures: `NAME, NAME` are two, without aliases.
fn names_of_block<'a>(head: &[Field<'a>]) -> Vec<Vec<Token<'a>>> {
    let words = head[0].words();
    let rest = words.get(1..).unwrap_or_default();
    let names: Vec<Vec<Token<'a>>> = rest
        .split(|word| word.text == ",")
        .map(<[Token<'a>]>::to_vec)
        .collect();
    match names.iter().all(|name| name.len() == 1) {
        true => names,
        false => vec![rest.to_vec()],
    }
}

/// Joins continuation lines: each logical line is its list of fields.
fn logical_lines(text: &str) -> Outcome<Vec<Vec<Field<'_>>>> {
    let mut lines: Vec<Vec<Field<'_>>> = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let trimmed = raw.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let mut column = 1 + raw.chars().count() - trimmed.chars().count();
        let continues = trimmed.starts_with('|');
        let mut fields = Vec::new();
        for text in trimmed.split('|') {
            fields.push(Field { text, line, column });
            column += text.chars().count() + 1;
        }
        if !continues {
            lines.push(fields);
        } else if let Some(last) = lines.last_mut() {
            last.extend(&fields[1..]);
        } else {
            return fault(line, 1, "the first line cannot begin with '|'");
        }
    }
    Ok(lines)
}

struct Reader<'a> {
    file: &'a str,
    blocks: Vec<Block>,
    /// Formats of the text.
    formats: Formats,
    /// `let` names of the current block.
    sets: HashMap<String, Vec<TypeName>>,
    work: usize,
    /// Instructions of the family that `note`, `source` and `mods` lines belong to.
    family: Option<std::ops::Range<usize>>,
    /// The architectures of the current block.
    together: Vec<String>,
}

/// A type as it stands in names, and its format.
#[derive(Clone)]
struct TypeName {
    spelling: String,
    format: Format,
}

impl Reader<'_> {
    fn line(&mut self, fields: &[Field<'_>]) -> Outcome<()> {
        let head = fields[0];
        let words = head.words();
        let (keyword, rest) = (words[0], &words[1..]);
        if fields.len() > 1 {
            return self.family(fields);
        }
        if keyword.text == "format" {
            return self.declare(head, rest);
        }
        let text = head
            .text
            .trim()
            .strip_prefix(keyword.text)
            .unwrap_or("")
            .trim()
            .to_owned();
        let missing = text.is_empty();
        let family = self.family.clone();
        if let Some(rows) = &family {
            self.charge(head, rows.len().saturating_mul(text.len()))?;
        }
        let block = self.block(head)?;
        let rows = family.map(|range| {
            let rows = block.architecture.instructions[range].iter_mut();
            rows.map(Arc::make_mut).collect::<Vec<_>>()
        });
        match keyword.text {
            "title" | "vendor" | "unmodelled" | "note" | "source" | "mods" | "let" | "features"
            | "chained" | "flags" | "evidence"
                if missing =>
            {
                fault(
                    head.line,
                    head.end(),
                    format!("'{}' needs a text", keyword.text),
                )
            }
            "title" => {
                block.architecture.title = text;
                Ok(())
            }
            "vendor" => {
                block.architecture.vendor = text;
                Ok(())
            }
            "unmodelled" => {
                block.architecture.unmodelled = Some(text);
                Ok(())
            }
            "note" => {
                match rows {
                    Some(rows) => rows
                        .into_iter()
                        .for_each(|row| row.notes.push(text.clone())),
                    None => block.architecture.notes.push(text),
                }
                Ok(())
            }
            "source" => {
                match rows {
                    Some(rows) => rows
                        .into_iter()
                        .for_each(|row| row.sources.push(text.clone())),
                    None => block.architecture.sources.push(text),
                }
                Ok(())
            }
            "mods" => {
                let Some(mut rows) = rows else {
                    return fault(
                        head.line,
                        keyword.column,
                        "'mods' must follow a family line",
                    );
                };
                for word in rest {
                    let known = if word.text == "scaleD" {
                        "scaleD=0"
                    } else {
                        word.text
                    };
                    let mut any = dpa::Modifiers::default();
                    on_line(head.line, at(*word, any.add(known)))?;
                    rows.iter_mut()
                        .for_each(|row| row.modifiers.push(word.text.to_owned()));
                }
                Ok(())
            }
            "features" => {
                let names = rest.iter().map(|word| word.text.to_owned());
                block.architecture.features.extend(names);
                Ok(())
            }
            "chained" => match (rows, rest) {
                (Some(rows), [k]) if k.text == "k" => {
                    rows.into_iter().for_each(|row| row.chained = true);
                    Ok(())
                }
                _ => fault(
                    head.line,
                    keyword.column,
                    "expected 'chained k' after a family line",
                ),
            },
            "flags" => {
                let Some(mut rows) = rows else {
                    return fault(
                        head.line,
                        keyword.column,
                        "'flags' must follow a family line",
                    );
                };
                for word in rest {
                    for row in rows.iter_mut() {
                        let added = row.flags.add(word.text);
                        on_line(head.line, added.map_err(|message| (word.column, message)))?;
                    }
                }
                Ok(())
            }
            "evidence" => self.evidence(head, rest),
            "let" => self.set(head, rest),
            other => {
                let known = [
                    "arch", "format", "title", "vendor", "let", "note", "source", "mods",
                ];
                let names = known.into_iter().chain([
                    "unmodelled",
                    "features",
                    "chained",
                    "flags",
                    "evidence",
                ]);
                let error = Error::unknown("line", other, names);
                let message = format!(
                    "{error}; a family is written: name | types | shapes | arithmetic | evidence"
                );
                fault(head.line, keyword.column, message)
            }
        }
    }

    fn block(&mut self, head: Field<'_>) -> Outcome<&mut Block> {
        match self.blocks.last_mut() {
            Some(block) => Ok(block),
            None => fault(
                head.line,
                head.column,
                "expected 'arch NAME = ALIAS …' first",
            ),
        }
    }

    fn arch(&mut self, head: Field<'_>, words: &[Token<'_>], is_shared: bool) -> Outcome<()> {
        let aliases = match words {
            [_] => &[][..],
            [_, equals, aliases @ ..] if equals.text == "=" => aliases,
            _ => return fault(head.line, head.end(), "expected 'arch NAME = ALIAS …'"),
        };
        for (index, alias) in aliases.iter().enumerate() {
            let is_same = |other: &Token<'_>| other.text.eq_ignore_ascii_case(alias.text);
            let what = match () {
                () if is_same(&words[0]) => "an alias of itself",
                () if aliases[..index].iter().any(is_same) => "named twice",
                () => continue,
            };
            let message = format!("'{}' is {what}", quoted(alias.text));
            return fault(head.line, alias.column, message);
        }
        self.sets.clear();
        self.family = None;
        let columns = std::iter::once(&words[0])
            .chain(aliases)
            .map(|word| word.column)
            .collect();
        self.blocks.push(Block {
            architecture: Architecture {
                aliases: aliases.iter().map(|word| word.text.to_owned()).collect(),
                ..Architecture::empty(words[0].text)
            },
            position: Position {
                file: self.file.to_owned(),
                line: head.line,
                column: head.column,
            },
            columns,
            is_shared,
        });
        Ok(())
    }

    fn set(&mut self, head: Field<'_>, words: &[Token<'_>]) -> Outcome<()> {
        let [name, equals, members @ ..] = words else {
            return fault(head.line, head.end(), "expected 'let NAME = TYPE …'");
        };
        if equals.text != "=" || members.is_empty() || members.len() > MAX_SET {
            return fault(head.line, equals.column, "expected 'let NAME = TYPE …'");
        }
        let mut types = Vec::new();
        for member in members {
            types.extend(self.types(head.line, *member)?);
        }
        if let [only] = &mut types[..] {
            name.text.clone_into(&mut only.spelling);
        }
        if types.len() > MAX_SET {
            return fault(
                head.line,
                name.column,
                format!("a set has at most {MAX_SET} types"),
            );
        }
        if let [only] = &types[..] {
            let format = only.format;
            let block = self.block(head)?;
            let types = &mut block.architecture.types;
            types.insert(name.text.to_owned(), format);
        }
        self.sets.insert(name.text.to_owned(), types);
        Ok(())
    }

    /// The types that a word stands for.
    fn types(&self, line: usize, word: Token<'_>) -> Outcome<Vec<TypeName>> {
        if let Some(types) = self.sets.get(word.text) {
            return Ok(types.clone());
        }
        let format = on_line(line, at(word, self.formats.named(word.text)))?;
        Ok(vec![TypeName {
            spelling: word.text.to_owned(),
            format,
        }])
    }

    fn single_type(&self, line: usize, word: Token<'_>) -> Outcome<TypeName> {
        match &self.types(line, word)?[..] {
            [only] => Ok(only.clone()),
            _ => fault(
                line,
                word.column,
                format!("'{}' is a set; one type is needed", word.text),
            ),
        }
    }

    /// Counts what rows take, before they take it.
    fn charge(&mut self, head: Field<'_>, amount: usize) -> Outcome<()> {
        self.work = self.work.saturating_add(amount);
        if self.work > MAX_WORK {
            let message = "the rows, shapes and K up to here are more than a text may have";
            return fault(head.line, head.column, message);
        }
        Ok(())
    }
}
