//! Compares the explanations of two units: the first step and bit where they part.

use std::fmt::{self, Write};

use serde::Serialize;

use super::quiet::Quiet;
use super::trace::{Trace, TracedStep, TracedTerm};
use crate::exact::Dyadic;

/// Two explanations of the same operands, and where they part.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison<'a> {
    /// Name of the first unit.
    pub left_name: &'a str,
    /// Name of the second unit.
    pub right_name: &'a str,
    /// The first unit's trace.
    pub left: &'a Trace,
    /// The second unit's trace.
    pub right: &'a Trace,
    /// Where they part; `None` when every step gives the same numbers.
    pub parting: Option<Parting>,
    /// Where they part, in a sentence.
    pub words: String,
}

/// The first step that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parting {
    /// Index of the first unit's step.
    pub left: usize,
    /// Index of the second unit's step.
    pub right: usize,
    /// What differs there.
    pub part: TracedPart,
}

/// What differs first in two steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TracedPart {
    /// A term that both add has different bits after alignment.
    Term {
        /// The first unit's name of it.
        left: String,
        /// The second unit's name of it.
        right: String,
        /// Place of the first bit that differs.
        bit: i64,
    },
    /// They add different terms.
    Terms,
    /// The sum, floored or scaled, differs at this bit.
    Sum {
        /// Place of the first bit that differs.
        bit: i64,
    },
    /// The rounded result differs at this bit.
    Rounding {
        /// Place of the first bit that differs.
        bit: i64,
    },
    /// The same numbers, but another result: a special one, or the sign of a zero.
    Word,
}

impl<'a> Comparison<'a> {
    /// Compares two traces of the same operands.
    #[must_use]
    pub fn of(
        (left_name, left): (&'a str, &'a Trace),
        (right_name, right): (&'a str, &'a Trace),
    ) -> Self {
        let parting = parting(left, right);
        let mut difference = Self {
            left_name,
            right_name,
            left,
            right,
            parting,
            words: String::new(),
        };
        difference.words = difference.describe();
        difference
    }

    /// The sentence, and that values were compared where words cannot be.
    fn describe(&self) -> String {
        let mut words = self.describe_parting();
        if !same_format(self.left, self.right) {
            let (left, right) = (result_format(self.left), result_format(self.right));
            words.push_str(&format!(
                "; the results are in {left} and {right}, and compared by value"
            ));
        }
        words
    }

    fn describe_parting(&self) -> String {
        let Some(Parting { left, right, part }) = &self.parting else {
            return "nowhere: every step gives the same numbers".to_owned();
        };
        let (a, b) = (&self.left.steps[*left], &self.right.steps[*right]);
        let place = if left == right {
            format!("at step {}", left + 1)
        } else {
            format!("at step {} of A, step {} of B", left + 1, right + 1)
        };
        let what = match part {
            TracedPart::Term { left, right, bit } => {
                let name = if left == right {
                    left.clone()
                } else {
                    format!("{left} of A, {right} of B")
                };
                let term = |step: &'a TracedStep, name: &str| {
                    step.terms.iter().find(|term| term.name == name)
                };
                let terms = (term(a, left), term(b, right));
                // Files are rounded to each unit's own formats, and some units round products.
                if let (Some(one), Some(other)) = terms
                    && left == right
                    && one.value != other.value
                {
                    let (one, other) = (&one.value, &other.value);
                    return format!(
                        "{place}, term {name}: before the alignment it is {one} in A and {other} in B"
                    );
                }
                let side = |step: &TracedStep, term: Option<&TracedTerm>| {
                    term.map_or_else(String::new, |term| treatment(step, term, *bit))
                };
                let (a, b) = (side(a, terms.0), side(b, terms.1));
                format!("term {name}: bit 2^{bit} is {a} by A and {b} by B")
            }
            TracedPart::Terms => format!(
                "A adds {} ({}), B adds {} ({})",
                a.formula(),
                a.role,
                b.formula(),
                b.role
            ),
            TracedPart::Sum { bit } => format!(
                "the sum's bit 2^{bit}: A has {}, B has {}",
                a.value, b.value
            ),
            TracedPart::Rounding { bit } => format!(
                "the rounding: bit 2^{bit} of the result ({} of A, {} of B)",
                rounding_words(a),
                rounding_words(b)
            ),
            TracedPart::Word => format!(
                "the result: A gives {} = {}, B gives {} = {}",
                a.word, a.value, b.word, b.value
            ),
        };
        format!("{place}, {what}")
    }
}

fn rounding_words(step: &TracedStep) -> String {
    match &step.rounding {
        Some(rounded) => format!(
            "{} {} at 2^{}",
            rounded.rounding, step.format, rounded.place
        ),
        None => "unrounded".to_owned(),
    }
}

/// What a step does with a bit of a term.
fn treatment(step: &TracedStep, term: &TracedTerm, bit: i64) -> String {
    let Some((cut, alignment)) = term.cut.as_ref().zip(step.alignment.as_ref()) else {
        return "kept (exact sum)".to_owned();
    };
    let verb = match (
        bit < cut.place,
        term.value.bit(bit) == step.aligned(term).bit(bit),
    ) {
        (true, _) => "cut",
        (false, true) => "kept",
        (false, false) => "changed",
    };
    let (e, set_by) = (alignment.exponent, &alignment.set_by);
    let below = e - cut.place;
    format!(
        "{verb} ({} to 2^{} = 2^(E-{below}), E={e} from {set_by})",
        alignment.rounding, cut.place
    )
}

/// A step that hands its one term on as it is.
fn is_trivial(step: &TracedStep) -> bool {
    let mut terms = step.terms.iter().filter(|term| !term.value.is_zero());
    let term = terms.next();
    let same = term.is_none_or(|term| step.value.number().as_ref() == Some(&term.value));
    terms.next().is_none() && same && step.special.is_none() && step.losses.is_empty()
}

fn parting(left: &Trace, right: &Trace) -> Option<Parting> {
    let steps = |trace: &Trace| -> Vec<usize> {
        let all = 0..trace.steps.len();
        all.filter(|&index| !is_trivial(&trace.steps[index]))
            .collect()
    };
    let (lefts, rights) = (steps(left), steps(right));
    let last = |trace: &Trace| trace.steps.len().saturating_sub(1);
    for index in 0..lefts.len().max(rights.len()) {
        let l = lefts.get(index).copied();
        let r = rights.get(index).copied();
        let part = match (l, r) {
            (Some(l), Some(r)) => compare(&left.steps[l], &right.steps[r]),
            _ => Some(TracedPart::Terms),
        };
        if let Some(part) = part {
            return Some(Parting {
                left: l.unwrap_or_else(|| last(left)),
                right: r.unwrap_or_else(|| last(right)),
                part,
            });
        }
    }
    // Words of different formats differ where the values do not, and one NaN may stand for any.
    let comparable = same_format(left, right) && !left.any_nan && !right.any_nan;
    let differ = left.result.value != right.result.value
        || comparable && left.result.word != right.result.word;
    differ.then(|| Parting {
        left: last(left),
        right: last(right),
        part: TracedPart::Word,
    })
}

fn result_format(trace: &Trace) -> &'static str {
    trace.steps.last().map_or("", |step| step.format)
}

fn same_format(left: &Trace, right: &Trace) -> bool {
    result_format(left) == result_format(right)
}

fn compare(left: &TracedStep, right: &TracedStep) -> Option<TracedPart> {
    if left.special.is_some() || right.special.is_some() {
        let same = left.special.is_some() == right.special.is_some() && left.value == right.value;
        return (!same).then_some(TracedPart::Word);
    }
    let terms = |step: &'_ TracedStep| -> Vec<TracedTerm> {
        let terms = step.terms.iter().filter(|term| !term.value.is_zero());
        terms.cloned().collect()
    };
    let (lefts, rights) = (terms(left), terms(right));
    let same_cover = |one: &TracedTerm| rights.iter().find(|other| other.cover == one.cover);
    for (one, other) in lefts.iter().filter_map(|one| Some((one, same_cover(one)?))) {
        if let Some(bit) = first_bit(&left.aligned(one), &right.aligned(other)) {
            return Some(TracedPart::Term {
                left: one.name.clone(),
                right: other.name.clone(),
                bit,
            });
        }
    }
    let matched = lefts.iter().filter(|one| same_cover(one).is_some()).count();
    if matched < lefts.len().max(rights.len()) {
        return Some(TracedPart::Terms);
    }
    let before = |step: &TracedStep| match &step.floor {
        Some(floor) => floor.value(),
        None => step.sum.clone(),
    };
    if let Some(bit) = first_bit(&before(left), &before(right)) {
        return Some(TracedPart::Sum { bit });
    }
    match (left.value.number(), right.value.number()) {
        (Some(one), Some(other)) => first_bit(&one, &other).map(|bit| TracedPart::Rounding { bit }),
        _ => (left.value != right.value).then_some(TracedPart::Word),
    }
}

/// Place of the highest bit in which two numbers differ; numbers of different signs differ in the
/// highest bit that either has.
fn first_bit(one: &Dyadic, other: &Dyadic) -> Option<i64> {
    if one == other {
        return None;
    }
    let top = one.top().max(other.top())?;
    if one.is_negative() != other.is_negative() {
        return Some(top);
    }
    let low = one.exponent().min(other.exponent());
    (low..=top)
        .rev()
        .find(|&place| one.bit(place) != other.bit(place))
}

/// Results, the parting in words, and both traces up to it: in two columns, or with `{:#}` one below the other.
impl fmt::Display for Comparison<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, name, trace) in [
            ("A", self.left_name, self.left),
            ("B", self.right_name, self.right),
        ] {
            writeln!(out, "{letter}        {name}")?;
            writeln!(out, "         {}", trace.types)?;
            writeln!(out, "         {}", trace.arithmetic)?;
            for note in trace.remarks() {
                writeln!(out, "         note: {note}")?;
            }
            write!(
                out,
                "         result {} = {}",
                trace.result.word, trace.result.value
            )?;
            match &trace.error {
                Some(error) => writeln!(out, ", error {}", error.difference)?,
                None => writeln!(out)?,
            }
        }
        writeln!(out, "exact    {}", self.left.exact)?;
        writeln!(out, "part     {}", self.words)?;
        writeln!(out)?;
        let (left, right) = (self.column(true), self.column(false));
        if out.alternate() {
            return write!(out, "{}\n\n{}\n", left.join("\n"), right.join("\n"));
        }
        let width = left
            .iter()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        for row in 0..left.len().max(right.len()) {
            let line = |lines: &'_ [String]| lines.get(row).cloned().unwrap_or_default();
            let text = format!("{:<width$} │ {}", line(&left), line(&right));
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

impl Comparison<'_> {
    /// One trace's steps up to the parting, with a mark under the bit that differs.
    fn column(&self, is_left: bool) -> Vec<String> {
        let (letter, trace) = if is_left {
            ("A", self.left)
        } else {
            ("B", self.right)
        };
        let (mut last, mut mark) = (trace.steps.len().saturating_sub(1), None);
        if let Some(parting) = &self.parting {
            last = if is_left { parting.left } else { parting.right };
            if let TracedPart::Term { left, right, bit } = &parting.part {
                mark = Some((if is_left { left.as_str() } else { right }, *bit));
            }
        }
        let mut text = format!("{letter}\n");
        let end = trace.steps.len().min(last + 1);
        let mut index = 0;
        while index < end {
            // The step at which they part is shown by itself.
            let quiet = Quiet::in_front(trace, index..end - 1);
            let count = match quiet {
                Some(quiet) => quiet.write(&mut text, index + 1),
                None => {
                    let mark = mark.filter(|_| index == last);
                    let step = trace.steps[index].write(&mut text, index + 1, mark);
                    step.map(|()| 1)
                }
            };
            writeln!(text).ok();
            // Writing to a String cannot fail.
            index += count.unwrap_or(1);
        }
        text.trim_end().lines().map(str::to_owned).collect()
    }
}
