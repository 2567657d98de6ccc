//! Finds steps that hand a sum on because everything that they would add is zero.

use std::ops::Range;

use super::step::ZERO_RULE;
use super::text::{product_number, ranges};
use super::trace::{Trace, TracedStep};
use super::value::TracedValue;

/// Shortest run of such steps that is shown as one.
const SHORTEST: usize = 2;

/// Successive steps that change nothing; never empty.
pub(super) struct Quiet<'a>(&'a [TracedStep]);

impl<'a> Quiet<'a> {
    /// Those of some steps that are in front and change nothing; `None` for fewer than are worth a line of their own.
    pub(super) fn in_front(trace: &'a Trace, of: Range<usize>) -> Option<Self> {
        let steps = trace.steps.get(of)?;
        let first = steps.first()?;
        // (Of −0, a sum of zeros may make +0.)
        let begins = match handed_on(first) {
            Some(None) => first.zeros.iter().all(|name| !trace.is_minus_zero(name)),
            other => other.is_some(),
        };
        let mut count = usize::from(begins);
        while count > 0
            && let Some(step) = steps.get(count)
            && continues(&steps[count - 1], step)
        {
            count += 1;
        }
        (count >= SHORTEST).then(|| Self(&steps[..count]))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The last one, which has the name and the value for those that follow.
    pub(super) fn last(&self) -> &'a TracedStep {
        &self.0[self.0.len() - 1]
    }

    /// What the first one is given: the name of a sum, or `0`.
    pub(super) fn given(&self) -> &'a str {
        handed_on(&self.0[0]).flatten().unwrap_or("0")
    }

    /// The names of what is zero, without the sums between these steps: `p0..p7 c`.
    pub(super) fn zero_names(&self) -> String {
        let is_own = |name: &str| self.0.iter().any(|step| step.name == name);
        let zeros = self.0.iter().flat_map(|step| &step.zeros);
        let names = zeros.map(String::as_str).filter(|it| !is_own(it));
        let mut names: Vec<&str> = names.collect();
        // Products first, so that those of successive steps are one range.
        names.sort_by_key(|name| product_number(name).is_none());
        ranges(&names).join(" ")
    }
}

/// Whether a step hands on what the step before it hands on.
fn continues(before: &TracedStep, step: &TracedStep) -> bool {
    match handed_on(step) {
        Some(Some(term)) => term == before.name && step.value == before.value,
        Some(None) => handed_on(before) == Some(None) && step.zeros.contains(&before.name),
        None => false,
    }
}

/// Whether a name is that of a product, or of an operand that is added without being multiplied.
fn is_addend(name: &str) -> bool {
    let number = |side: char| name.strip_prefix(side)?.parse::<usize>().ok();
    ['p', 'a', 'b']
        .into_iter()
        .any(|side| number(side).is_some())
}

impl Trace {
    /// Whether c, or the value of a step, is −0.
    fn is_minus_zero(&self, name: &str) -> bool {
        let of_step = || self.steps.iter().find(|step| step.name == name);
        let value = match name {
            "c" => Some(&self.c.value),
            _ => of_step().map(|step| &step.value),
        };
        value == Some(&TracedValue::Zero { negative: true })
    }
}

/// What a step that changes nothing hands on: the name of the one sum that is not zero, or `None` where all are zero.
fn handed_on(step: &TracedStep) -> Option<Option<&str>> {
    let is_news = |remark: &String| !remark.starts_with(ZERO_RULE);
    let is_busy = step.zeros.is_empty()
        || step.special.is_some()
        || step.dropped.is_some()
        || step.subtracted
        || !step.factors.is_empty()
        || !step.losses.is_empty()
        || !step.flushed.is_empty()
        || step.remarks.iter().any(is_news);
    if is_busy {
        return None;
    }
    match &step.terms[..] {
        [] => (step.value == TracedValue::Zero { negative: false }).then_some(None),
        [term] => {
            let same = step.value.number().as_ref() == Some(&term.value);
            let is_sum = !is_addend(&term.name) && !term.value.is_zero();
            (same && is_sum).then_some(Some(&*term.name))
        }
        _ => None,
    }
}
