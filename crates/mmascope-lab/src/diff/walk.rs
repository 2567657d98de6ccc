//! The chain of an output as it is shown: every step's sums, and where two units have the same ones.

use super::products::Own;
use super::{Contender, DiffStep, Verdict};
use crate::dpa::Modifiers;
use crate::error::Result;
use crate::explain::{ChainState, ChainStep, ChainSum, OutputChain, TracedCode, TracedValue};
use crate::format::Format;

/// The chain of an output, with the second unit's sums beside the first one's. Opened is the step at which they
/// part ([`parting`](super::parting)), or the last one that adds anything.
///
/// # Errors
/// As [`chain`](super::chain).
pub fn walk(own: Own<'_>, other: Option<Own<'_>>) -> Result<OutputChain> {
    let last = own.1.len().saturating_sub(1);
    let steps = own.1.iter().enumerate();
    let steps = steps.map(|(at, step)| shown(own.0, step, at == last, other));
    let steps = steps.collect::<Result<Vec<_>>>()?;
    let parting = other.and_then(|other| super::parting(own, other));
    let last = steps.iter().rposition(|it| it.state != ChainState::Idle);
    let opened = parting.map_or(last.unwrap_or(steps.len().saturating_sub(1)), |(at, _)| at);
    let names = [Some(own), other].into_iter().flatten();
    Ok(OutputChain {
        names: names.map(|(unit, _)| unit.name()).collect(),
        steps,
        opened,
    })
}

fn shown(
    unit: &Contender<'_>,
    step: &DiffStep,
    is_last: bool,
    other: Option<Own<'_>>,
) -> Result<ChainStep> {
    let end = step.end(unit);
    let beside = other.and_then(|(other, steps)| {
        let same_end = steps.iter().find(|it| it.end(other) == end);
        // Padded to another multiple each, chains still end together.
        let last = same_end.or_else(|| steps.last().filter(|_| is_last))?;
        // Its shorter steps since this one began, or the longer one that this one is a part of.
        let first = steps.iter().find(|it| it.end(other) > step.first)?;
        Some((other, first, last))
    });
    let verdict = beside.map(|(other, _, last)| Verdict::of((unit, step.d), (other, last.d)));
    let state = match verdict.map(Verdict::differs) {
        Some(true) => ChainState::Apart,
        _ if is_idle(unit, step)? => ChainState::Idle,
        Some(false) => ChainState::Equal,
        None => ChainState::Adds,
    };
    Ok(ChainStep {
        k: (step.first, end - 1),
        own: sums(unit, step, step),
        other: beside.map(|(other, first, last)| sums(other, first, last)),
        state,
    })
}

/// Whether every product of a step is zero and its result is its c.
fn is_idle(unit: &Contender<'_>, step: &DiffStep) -> Result<bool> {
    let (c, d) = (unit.unit().signature().c, unit.unit().result_format());
    if Verdict::of_words((step.words.c, &c), (step.d, &d)).differs() {
        return Ok(false);
    }
    let code = TracedCode::of_unit(unit.unit(), &step.words.operands(), &Modifiers::default())?;
    let is_zero = |value: &TracedValue| matches!(value, TracedValue::Zero { .. });
    Ok(code.pairs.iter().all(|pair| is_zero(&pair.product)))
}

/// The c of a step and the D of one that ends later or is the same.
fn sums(unit: &Contender<'_>, first: &DiffStep, last: &DiffStep) -> [ChainSum; 2] {
    let (c, d) = (unit.unit().signature().c, unit.unit().result_format());
    [sum(&c, first.words.c), sum(&d, last.d)]
}

fn sum(format: &Format, word: u64) -> ChainSum {
    ChainSum {
        word: format!("{word:0digits$x}", digits = format.digits()),
        value: TracedValue::of_word(format, word),
    }
}
