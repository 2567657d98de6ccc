//! Reads a line of the catalogue that is a family of instructions: names, types, shapes, arithmetic, evidence.

use std::sync::Arc;

use super::row::{Row, Types};
use super::{Field, MAX_WORK, Outcome, Reader, TypeName, evidence, fault, on_line};
use crate::dpa::{self, Token};
use crate::error::Position;
use crate::format::Formats;
use crate::isa::{Evidence, Shape};

impl Reader<'_> {
    pub(super) fn family(&mut self, fields: &[Field<'_>]) -> Outcome<()> {
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
        let (is_default, names) = without_mark(names);
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
        let model = parse_model(arithmetic, evidence, &self.formats)?;
        let architecture = self.block(head)?.architecture.name.clone();
        let position = Position {
            file: self.file.to_owned(),
            line: head.line,
            column: head.column,
        };
        if is_default && matches!(model, Arithmetic::Unmodelled(_)) {
            let message = "an unmodelled family cannot be the default of its types";
            return fault(head.line, head.column, message);
        }
        // Of the rows of one family the default is the one with the most products.
        let widest = shapes.iter().map(|group| group[0].k).max();
        let templates = names.words();
        let mut rows = Vec::with_capacity(types.len() * shapes.len());
        for types in &types {
            for shapes in &shapes {
                let row = Row {
                    types,
                    shapes,
                    names,
                    templates: &templates,
                    arithmetic,
                    architecture: &architecture,
                };
                let mut row = row.instruction(&model, position.clone())?;
                row.is_default = is_default && Some(shapes[0].k) == widest;
                rows.push(row);
            }
        }
        let architecture = &mut self.block(head)?.architecture;
        let start = architecture.instructions.len();
        for mut row in rows {
            let index = architecture.instructions.len();
            if row.is_default {
                let before = architecture.defaults.get(&row.types()).copied();
                let other =
                    before.map(|before| Arc::make_mut(&mut architecture.instructions[before]));
                match other {
                    // Of several marked families the one with the most products.
                    Some(other) if other.signature.k < row.signature.k => other.is_default = false,
                    Some(other) if other.signature.k > row.signature.k => row.is_default = false,
                    Some(other) => {
                        let message = format!(
                            "{} is marked default, and so is {} of the same types and K",
                            row.name, other.name
                        );
                        return fault(head.line, head.column, message);
                    }
                    None => {}
                }
                if row.is_default {
                    architecture.defaults.insert(row.types(), index);
                }
            }
            for key in &row.keys {
                if *architecture.keys.entry(key.clone()).or_insert(index) != index {
                    let message = format!("{} is described twice in this block", row.name);
                    return fault(head.line, head.column, message);
                }
            }
            architecture.instructions.push(Arc::new(row));
        }
        self.family = Some(start..architecture.instructions.len());
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

/// Whether the mark `default` stands in front of the names, and the names.
fn without_mark(names: Field<'_>) -> (bool, Field<'_>) {
    let rest = names.text.strip_prefix("default");
    match rest.filter(|rest| rest.starts_with(char::is_whitespace)) {
        None => (false, names),
        Some(rest) => {
            let text = rest.trim_start();
            let skipped = names.text[..names.text.len() - text.len()].chars().count();
            let column = names.column + skipped;
            (
                true,
                Field {
                    text,
                    column,
                    ..names
                },
            )
        }
    }
}

/// The arithmetic column with its evidence, or why there is none.
pub(super) enum Arithmetic {
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

fn parse_model(
    arithmetic: Field<'_>,
    evidence: Option<Field<'_>>,
    formats: &Formats,
) -> Outcome<Arithmetic> {
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
    let program = on_line(
        line,
        dpa::parse(&arithmetic.words(), arithmetic.end(), formats),
    )?;
    let Some(field) = evidence else {
        return fault(
            line,
            arithmetic.end(),
            "expected '| evidence' behind the arithmetic",
        );
    };
    let evidence = evidence::levels(field.line, &field.words(), field.end())?;
    Ok(Arithmetic::Known(program, evidence))
}
