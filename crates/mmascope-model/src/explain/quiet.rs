//! Finds steps that hand a sum on because everything that they would add is zero.

use super::step::ZERO_RULE;
use super::text::{product_number, ranges};
use super::trace::TracedStep;
use super::value::TracedValue;

/// Shortest run of such steps that is shown as one.
const SHORTEST: usize = 2;

/// Successive steps that change nothing; never empty.
pub(super) struct Quiet<'a>(&'a [TracedStep]);

impl<'a> Quiet<'a> {
    /// The steps in front that change nothing; `None` for fewer than are worth a line of their own.
    pub(super) fn in_front(steps: &'a [TracedStep]) -> Option<Self> {
        let mut count = usize::from(handed_on(steps.first()?).is_some());
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
            let is_sum = product_number(&term.name).is_none() && !term.value.is_zero();
            (same && is_sum).then_some(Some(&*term.name))
        }
        _ => None,
    }
}
