//! Reads the text of the catalogue: blocks of lines, one line a family of instructions.
//!
//! The notation is described at the head of `isa/nvidia.txt`.

use std::collections::HashMap;

use super::evidence::PARAMETERS;
use super::{Architecture, Evidence, Instruction, Level, Model, Shape, name};
use crate::dpa::{self, Flaw, Scale, Signature, Token, Unit, at, tokens};
use crate::error::{Error, Position, Result, shortened};
use crate::format::Format;

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

/// Reads a whole text.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Block>> {
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
    let mut reader = Reader {
        file,
        blocks: Vec::new(),
        sets: HashMap::new(),
        work: 0,
        family: None,
    };
    for line in logical_lines(text).map_err(located)? {
        reader.line(&line).map_err(located)?;
    }
    Ok(reader.blocks)
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
    /// `let` names of the current block.
    sets: HashMap<String, Vec<TypeName>>,
    work: usize,
    /// Instructions of the family that `note`, `source` and `mods` lines belong to.
    family: Option<std::ops::Range<usize>>,
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
        if keyword.text == "arch" {
            return self.arch(head, rest);
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
        let rows = family.map(|range| &mut block.architecture.instructions[range]);
        match keyword.text {
            "title" | "vendor" | "unmodelled" | "note" | "source" | "mods" | "let" if missing => {
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
                    Some(rows) => rows.iter_mut().for_each(|row| row.notes.push(text.clone())),
                    None => block.architecture.notes.push(text),
                }
                Ok(())
            }
            "source" => {
                match rows {
                    Some(rows) => rows
                        .iter_mut()
                        .for_each(|row| row.sources.push(text.clone())),
                    None => block.architecture.sources.push(text),
                }
                Ok(())
            }
            "mods" => {
                let Some(rows) = rows else {
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
            "let" => self.set(head, rest),
            other => {
                let known = ["arch", "title", "vendor", "let", "note", "source", "mods"];
                let names = known.into_iter().chain(["unmodelled"]);
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

    fn arch(&mut self, head: Field<'_>, words: &[Token<'_>]) -> Outcome<()> {
        let aliases = match words {
            [_] => &[][..],
            [_, equals, aliases @ ..] if equals.text == "=" => aliases,
            _ => return fault(head.line, head.end(), "expected 'arch NAME = ALIAS …'"),
        };
        self.sets.clear();
        self.family = None;
        self.blocks.push(Block {
            architecture: Architecture {
                name: words[0].text.to_owned(),
                aliases: aliases.iter().map(|word| word.text.to_owned()).collect(),
                title: String::new(),
                vendor: String::new(),
                sources: Vec::new(),
                notes: Vec::new(),
                unmodelled: None,
                instructions: Vec::new(),
                keys: HashMap::new(),
            },
            position: Position {
                file: self.file.to_owned(),
                line: head.line,
                column: head.column,
            },
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
        self.sets.insert(name.text.to_owned(), types);
        Ok(())
    }

    /// The types that a word stands for.
    fn types(&self, line: usize, word: Token<'_>) -> Outcome<Vec<TypeName>> {
        if let Some(types) = self.sets.get(word.text) {
            return Ok(types.clone());
        }
        let format = on_line(line, at(word, Format::named(word.text)))?;
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

    fn family(&mut self, fields: &[Field<'_>]) -> Outcome<()> {
        let head = fields[0];
        self.block(head)?;
        let (names, types, shapes, arithmetic, evidence) = match *fields {
            [names, types, shapes, model] => (names, types, shapes, model, None),
            [names, types, shapes, model, evidence] => {
                (names, types, shapes, model, Some(evidence))
            }
            _ => {
                let message = "expected 5 columns: name | types | shapes | arithmetic | evidence";
                return fault(head.line, head.column, message);
            }
        };
        let types = self.type_alternatives(types)?;
        let shapes = parse_shapes(shapes)?;
        let per_type: usize = shapes
            .iter()
            .map(|group| {
                let sets = group.iter().map(|shape| shape.m.len() + shape.n.len() + 16);
                group[0].k as usize + sets.sum::<usize>() + names.text.len() + arithmetic.text.len()
            })
            .sum();
        self.charge(head, types.len().saturating_mul(per_type))?;
        let model = parse_model(arithmetic, evidence)?;
        let architecture = self.block(head)?.architecture.name.clone();
        let position = Position {
            file: self.file.to_owned(),
            line: head.line,
            column: head.column,
        };
        let mut rows = Vec::new();
        for types in &types {
            for shapes in &shapes {
                let row = Row {
                    types,
                    shapes,
                    names,
                    arithmetic,
                    architecture: &architecture,
                };
                rows.push(row.instruction(&model, position.clone())?);
            }
        }
        let architecture = &mut self.block(head)?.architecture;
        let start = architecture.instructions.len();
        for row in rows {
            for key in &row.keys {
                let index = architecture.instructions.len();
                if *architecture.keys.entry(key.clone()).or_insert(index) != index {
                    let message = format!("{} is described twice in this block", row.name);
                    return fault(head.line, head.column, message);
                }
            }
            architecture.instructions.push(row);
        }
        self.family = Some(start..architecture.instructions.len());
        Ok(())
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

    /// `A x B + C -> D [scale S/BLOCK]`, alternatives separated by commas.
    fn type_alternatives(&self, field: Field<'_>) -> Outcome<Vec<Types>> {
        let words = field.words();
        let mut found = Vec::new();
        for part in words.split(|word| word.text == ",") {
            let expected = "expected 'A x B + C -> D', optionally 'scale FORMAT/BLOCK'";
            let (core, scale) = match part {
                [core @ .., scale, word] if scale.text == "scale" => (core, Some(*word)),
                _ => (part, None),
            };
            let [a_word, times, b, plus, c, arrow, d] = core else {
                let column = part.first().map_or(field.end(), |word| word.column);
                return fault(field.line, column, expected);
            };
            for (word, wanted) in [(times, "x"), (plus, "+"), (arrow, "->")] {
                if word.text != wanted {
                    let message = format!("{expected}; found '{}'", word.text);
                    return fault(field.line, word.column, message);
                }
            }
            let (c, d) = (
                self.single_type(field.line, *c)?,
                self.single_type(field.line, *d)?,
            );
            let scale = scale.map(|word| self.scale(field.line, word)).transpose()?;
            let b_types = self.types(field.line, *b)?;
            if found.len() > MAX_WORK / 64 {
                let message = "more types than a family may have";
                return fault(field.line, a_word.column, message);
            }
            for a in self.types(field.line, *a_word)? {
                for b in &b_types {
                    found.push(Types {
                        a: a.clone(),
                        b: b.clone(),
                        c: c.clone(),
                        d: d.clone(),
                        scale: scale.clone(),
                    });
                }
            }
        }
        Ok(found)
    }

    fn scale(&self, line: usize, word: Token<'_>) -> Outcome<(TypeName, usize)> {
        let parts = word.text.split_once('/');
        let block = parts.and_then(|(_, block)| block.parse().ok());
        match (parts, block) {
            (Some((format, _)), Some(block @ 1..=4096)) => {
                let token = Token {
                    column: word.column,
                    text: format,
                };
                Ok((self.single_type(line, token)?, block))
            }
            _ => fault(
                line,
                word.column,
                format!("'{}': expected FORMAT/BLOCK", word.text),
            ),
        }
    }
}

/// The types of one row.
struct Types {
    a: TypeName,
    b: TypeName,
    c: TypeName,
    d: TypeName,
    scale: Option<(TypeName, usize)>,
}

/// The arithmetic column with its evidence, or why there is none.
enum Arithmetic {
    Known(dpa::Program, Evidence),
    Unmodelled(String),
}

/// Shapes grouped by K, in the order of first appearance.
fn parse_shapes(field: Field<'_>) -> Outcome<Vec<Vec<Shape>>> {
    let mut groups: Vec<Vec<Shape>> = Vec::new();
    for word in field.words() {
        let shape = match Shape::parse(word.text) {
            Ok(shape) => shape,
            Err(message) => return fault(field.line, word.column, message),
        };
        match groups.iter_mut().find(|group| group[0].k == shape.k) {
            Some(group) => group.push(shape),
            None => groups.push(vec![shape]),
        }
    }
    if groups.is_empty() {
        return fault(field.line, field.end(), "expected at least one shape");
    }
    Ok(groups)
}

fn parse_model(arithmetic: Field<'_>, evidence: Option<Field<'_>>) -> Outcome<Arithmetic> {
    if let Some(reason) = arithmetic.text.trim().strip_prefix("unmodelled") {
        return match evidence {
            None => Ok(Arithmetic::Unmodelled(reason.trim().to_owned())),
            Some(field) => fault(
                field.line,
                field.column,
                "an unmodelled family has 4 columns",
            ),
        };
    }
    let line = arithmetic.line;
    let program = on_line(line, dpa::parse(&arithmetic.words(), arithmetic.end()))?;
    let Some(field) = evidence else {
        return fault(
            line,
            arithmetic.end(),
            "expected '| evidence' behind the arithmetic",
        );
    };
    let words = field.words();
    let Some((first, rest)) = words.split_first() else {
        return fault(
            field.line,
            field.end(),
            "expected evidence: hw, 2team, 1team, doc or open",
        );
    };
    let default = on_line(field.line, at(*first, Level::named(first.text)))?;
    let mut exceptions = Vec::new();
    for word in rest {
        let Some((parameter, level)) = word.text.split_once('=') else {
            let message = format!("'{}': expected PARAMETER=LEVEL", word.text);
            return fault(field.line, word.column, message);
        };
        if !PARAMETERS.contains(&parameter) {
            let error = Error::unknown("parameter", parameter, PARAMETERS);
            return fault(field.line, word.column, error.to_string());
        }
        let level = on_line(field.line, at(*word, Level::named(level)))?;
        exceptions.push((parameter.to_owned(), level));
    }
    Ok(Arithmetic::Known(
        program,
        Evidence {
            default,
            exceptions,
        },
    ))
}

/// What one row is made from.
struct Row<'a> {
    types: &'a Types,
    shapes: &'a [Shape],
    names: Field<'a>,
    arithmetic: Field<'a>,
    architecture: &'a str,
}

impl Row<'_> {
    fn instruction(&self, model: &Arithmetic, position: Position) -> Outcome<Instruction> {
        let Types { a, b, c, d, scale } = self.types;
        let signature = Signature {
            a: a.format,
            b: b.format,
            c: c.format,
            d: d.format,
            k: self.shapes[0].k as usize,
            scale: scale.as_ref().map(|(s, block)| Scale {
                format: s.format,
                block: *block,
            }),
        };
        let (model, evidence) = match model {
            Arithmetic::Known(program, evidence) => {
                let unit = Unit::new(signature, program.clone());
                let first = self
                    .arithmetic
                    .words()
                    .first()
                    .map_or(1, |word| word.column);
                let unit = unit.map_err(|error| Fault {
                    line: self.arithmetic.line,
                    column: first,
                    message: error.to_string(),
                })?;
                (Model::Known(Box::new(unit)), evidence.clone())
            }
            Arithmetic::Unmodelled(reason) => (
                Model::Unmodelled(reason.clone()),
                Evidence {
                    default: Level::Open,
                    exceptions: Vec::new(),
                },
            ),
        };
        let mut names = Vec::new();
        for template in self.names.words() {
            names.push(self.name(template)?);
        }
        let Some(name) = names.first().cloned() else {
            return fault(
                self.names.line,
                self.names.end(),
                "expected an instruction name",
            );
        };
        let mut keys: Vec<String> = names.iter().map(|name| name::normalise(name).key).collect();
        keys.dedup();
        Ok(Instruction {
            architecture: self.architecture.to_owned(),
            name,
            shapes: self.shapes.to_vec(),
            signature,
            model,
            evidence,
            modifiers: Vec::new(),
            notes: Vec::new(),
            sources: Vec::new(),
            position,
            keys,
        })
    }

    /// Fills a template in.
    fn name(&self, template: Token<'_>) -> Outcome<String> {
        let Types { a, b, c, d, scale } = self.types;
        let mut name = template
            .text
            .replace("{shape}", &self.shapes[0].canonical());
        for (mark, spelling) in [("{a}", a), ("{b}", b), ("{c}", c), ("{d}", d)] {
            name = name.replace(mark, &spelling.spelling);
        }
        if let Some((scale, _)) = scale {
            name = name.replace("{s}", &scale.spelling);
        }
        if name.contains(['{', '}']) {
            let message = format!(
                "'{}': the marks are {{shape}} {{a}} {{b}} {{c}} {{d}} and, with scales, {{s}}",
                template.text
            );
            return fault(self.names.line, template.column, message);
        }
        Ok(name)
    }
}
