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
                    default: Strength::Open,
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
