//! Makes one row of a family: a type of each operand, shapes of one K.

use super::family::Arithmetic;
use super::{Fault, Field, Outcome, TypeName, fault};
use crate::dpa::{Scale, Signature, Token, Unit};
use crate::error::Position;
use crate::isa::{Evidence, FlagBits, Instruction, Model, Shape, Strength, name};

/// The types of one row.
pub(super) struct Types {
    pub(super) a: TypeName,
    pub(super) b: TypeName,
    pub(super) c: TypeName,
    pub(super) d: TypeName,
    pub(super) scale: Option<(TypeName, usize)>,
}

/// What one row is made from.
pub(super) struct Row<'a> {
    pub(super) types: &'a Types,
    pub(super) shapes: &'a [Shape],
    pub(super) names: Field<'a>,
    /// The words of `names`.
    pub(super) templates: &'a [Token<'a>],
    pub(super) arithmetic: Field<'a>,
    pub(super) architecture: &'a str,
}

impl Row<'_> {
    pub(super) fn instruction(
        &self,
        model: &Arithmetic,
        position: Position,
    ) -> Outcome<Instruction> {
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
                let unit = unit.map_err(|error| Fault {
                    line: self.arithmetic.line,
                    column: (self.arithmetic.words().first()).map_or(1, |word| word.column),
                    message: error.to_string(),
                })?;
                (Model::Known(Box::new(unit)), evidence.clone())
            }
            Arithmetic::Unmodelled(reason) => (
                Model::Unmodelled(reason.clone()),
                Evidence {
                    default: Strength::Open,
                    exceptions: Vec::new(),
                },
            ),
        };
        let mut names = Vec::new();
        for template in self.templates {
            names.push(self.name(*template)?);
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
            is_default: false,
            modifiers: Vec::new(),
            notes: Vec::new(),
            sources: Vec::new(),
            chained: false,
            flags: FlagBits::default(),
            position,
            keys,
        })
    }

    /// Fills a template in.
    fn name(&self, template: Token<'_>) -> Outcome<String> {
        let Types { a, b, c, d, scale } = self.types;
        let mut name = String::with_capacity(template.text.len() + 16);
        let mut rest = template.text;
        while let Some(start) = rest.find(['{', '}']) {
            name.push_str(&rest[..start]);
            let mark = rest[start..]
                .find('}')
                .map(|end| &rest[start..=start + end]);
            match (mark, scale) {
                (Some("{shape}"), _) => name.push_str(&self.shapes[0].canonical()),
                (Some("{a}"), _) => name.push_str(&a.spelling),
                (Some("{b}"), _) => name.push_str(&b.spelling),
                (Some("{c}"), _) => name.push_str(&c.spelling),
                (Some("{d}"), _) => name.push_str(&d.spelling),
                (Some("{s}"), Some((scale, _))) => name.push_str(&scale.spelling),
                _ => {
                    let message = format!(
                        "'{}': the marks are {{shape}} {{a}} {{b}} {{c}} {{d}} and, with scales, {{s}}",
                        template.text
                    );
                    return fault(self.names.line, template.column, message);
                }
            }
            rest = &rest[start + mark.map_or(0, str::len)..];
        }
        name.push_str(rest);
        Ok(name)
    }
}
