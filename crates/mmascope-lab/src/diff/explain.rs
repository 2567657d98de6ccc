//! Explains one input: the value of each operand, and the step where two units part.

use super::{Contender, DiffInput};
use crate::error::Result;
use crate::explain::{Comparison, Parting, Trace, TracedCode};
use crate::vector::answer;

/// An input taken apart, with what two units make of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The operands as the input has them, and the exact sum.
    pub operands: TracedCode,
    /// The steps of each unit.
    pub sides: [Party; 2],
    /// The first step that differs; `None` when none does, or a unit cannot take the input.
    pub parting: Option<Parting>,
    /// A sentence on where they part, which calls the units A and B; empty when one cannot take the input.
    pub words: String,
}

/// One unit's part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The unit, `ARCH:INST`.
    pub name: String,
    /// Its steps, and its result as vector lines write it; `None` where its formats do not hold the
    /// input.
    pub trace: Option<(Trace, String)>,
}

/// The operands as the first unit that takes them unchanged reads them.
fn operands(left: &Contender<'_>, right: &Contender<'_>, input: &DiffInput) -> Result<TracedCode> {
    let case = input.case.operands();
    let own = [left, right]
        .into_iter()
        .find(|it| *it.unit().signature() == input.signature);
    match own {
        Some(own) => TracedCode::of_unit(own.unit(), &case, &input.modifiers),
        None => TracedCode::of(&input.signature, &case, &input.modifiers),
    }
}

/// Takes an input apart and goes through the steps of two units.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn explain(
    left: &Contender<'_>,
    right: &Contender<'_>,
    input: &DiffInput,
) -> Result<Explanation> {
    let side = |subject: &Contender<'_>| {
        let (name, trace) = (subject.name(), subject.trace(input)?);
        let trace = trace.map(|trace| {
            let word = answer(subject.unit(), trace.word());
            (trace, word)
        });
        Ok(Party { name, trace })
    };
    let sides: [Party; 2] = [side(left)?, side(right)?];
    let (mut parting, mut words) = (None, String::new());
    if let [
        Party {
            name: a,
            trace: Some((left, _)),
        },
        Party {
            name: b,
            trace: Some((right, _)),
        },
    ] = &sides
    {
        let difference = Comparison::of((a, left), (b, right));
        (parting, words) = (difference.parting, difference.words);
    }
    Ok(Explanation {
        operands: operands(left, right, input)?,
        sides,
        parting,
        words,
    })
}
