//! Reads evidence: the last column of a family, and `evidence ARCH …` behind it.

use std::sync::Arc;

use super::{Field, Outcome, Reader, fault, on_line};
use crate::dpa::{Token, at};
use crate::error::Error;
use crate::isa::evidence::{Evidence, Strength, parameters};

/// `LEVEL PARAMETER=LEVEL …`, which ends at a column of a line.
pub(super) fn levels(line: usize, words: &[Token<'_>], end: usize) -> Outcome<Evidence> {
    let Some((first, rest)) = words.split_first() else {
        return fault(
            line,
            end,
            "expected evidence: hw, 2team, 1team, sim, doc, open or assumed",
        );
    };
    let default = Strength::named(first.text).or_else(|_| {
        let expected =
            "expected first the level of every parameter: hw, 2team, 1team, sim, doc, open or assumed";
        fault(
            line,
            first.column,
            format!("{expected}; found '{}'", first.text),
        )
    })?;
    let mut exceptions = Vec::new();
    for word in rest {
        let Some((parameter, level)) = word.text.split_once('=') else {
            let message = format!("'{}': expected PARAMETER=LEVEL", word.text);
            return fault(line, word.column, message);
        };
        let known = parameters();
        if !known.clone().any(|known| known == parameter) {
            let error = Error::unknown("parameter", parameter, known);
            return fault(line, word.column, error.to_string());
        }
        let level = on_line(line, at(*word, Strength::named(level)))?;
        exceptions.push((parameter.to_owned(), level));
    }
    Ok(Evidence {
        default,
        exceptions,
    })
}

impl Reader<'_> {
    /// `evidence ARCH LEVEL …`: the evidence of the family on one architecture of the block.
    pub(super) fn evidence(&mut self, head: Field<'_>, words: &[Token<'_>]) -> Outcome<()> {
        let Some((name, rest)) = words.split_first() else {
            return fault(head.line, head.end(), "expected 'evidence ARCH LEVEL …'");
        };
        let Some(range) = self.family.clone() else {
            let message = "'evidence' must follow a family line";
            return fault(head.line, head.column, message);
        };
        if !self.together.iter().any(|known| known == name.text) {
            let names = self.together.iter().map(String::as_str);
            let error = Error::unknown("architecture of this block", name.text, names);
            return fault(head.line, name.column, error.to_string());
        }
        let evidence = levels(head.line, rest, head.end())?;
        let architecture = &mut self.block(head)?.architecture;
        let is_named = architecture.name == name.text;
        for row in &mut architecture.instructions[range] {
            if !row.is_modelled() {
                let message = "an unmodelled family has no evidence";
                return fault(head.line, head.column, message);
            }
            if is_named {
                Arc::make_mut(row).evidence = evidence.clone();
            }
        }
        Ok(())
    }
}
