//! One output's chain over K with its opened step, as `explain A B --at` and `diff A B` show it.

use std::ops::RangeInclusive;

use crate::report::Failure;
use mmascope::diff::{self, Contender, DiffStep, Place};
use mmascope::dpa::{Modifiers, OperandWords};
use mmascope::explain::{ChainState, Comparison, OutputChain, Report, Trace};
use mmascope::gemm::{Matrices, Schedule};
use mmascope::isa::Instruction;

/// A unit's chain of an output.
pub(crate) struct Chain<'c> {
    pub(crate) row: &'c Instruction,
    contender: Contender<'c>,
    pub(crate) steps: Vec<DiffStep>,
    /// What makes D of the last sum, where the unit alone does not.
    pub(crate) behind: Option<String>,
}

impl<'c> Chain<'c> {
    pub(crate) fn of(
        row: &'c Instruction,
        matrices: &Matrices,
        schedule: &Schedule,
        place: Place,
    ) -> mmascope::Result<Self> {
        let contender = Contender::new(row)?;
        let is_plain = *schedule == Schedule::default();
        let steps = diff::chain(&contender, matrices, place, is_plain)?;
        Ok(Self {
            row,
            contender,
            steps,
            behind: (!is_plain).then(|| schedule.to_string()),
        })
    }

    /// The same in a sentence.
    pub(crate) fn words_behind(&self) -> Option<String> {
        let behind = self.behind.as_ref()?;
        Some(format!(
            "Behind the chain, outside the unit, {behind} makes D of its result: alpha is the product of the files' tensor scales."
        ))
    }

    /// `ARCH:INST`.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.row.architecture, self.row.name)
    }

    /// What some successive steps compute.
    fn trace(&self, steps: RangeInclusive<usize>) -> mmascope::Result<Trace> {
        let steps = &self.steps[steps];
        let joined = |side: fn(&OperandWords) -> &[u64]| -> Vec<u64> {
            let words = steps.iter().flat_map(|step| side(&step.words));
            words.copied().collect()
        };
        let words = OperandWords {
            a: joined(|words| &words.a),
            b: joined(|words| &words.b),
            c: steps[0].words.c,
            scale_a: joined(|words| &words.scale_a),
            scale_b: joined(|words| &words.scale_b),
        };
        let unit = self.contender.unit();
        Trace::of(unit, &words.operands(), &Modifiers::default())
    }

    /// The step that sums a product, counted from 0.
    pub(crate) fn step_of(&self, k: usize) -> Option<usize> {
        let sums = |step: &usize| (self.steps[*step].first..self.end(*step)).contains(&k);
        (0..self.steps.len()).find(sums)
    }

    fn end(&self, step: usize) -> usize {
        self.steps[step].first + self.contender.unit().signature().k
    }

    fn own(&self) -> (&Contender<'c>, &[DiffStep]) {
        (&self.contender, &self.steps)
    }
}

/// A step of the first unit that ends together with one of the second, after which their sums differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parting {
    pub(crate) step: usize,
    /// The first and the last k that both sum there, in several steps of one unit perhaps.
    pub(crate) k: (usize, usize),
}

impl Parting {
    /// `k = 16 to 31`.
    pub(crate) fn words(self) -> String {
        let (from, to) = self.k;
        format!("k = {from} to {to}")
    }
}

/// The chain on one unit, or on two, and the traces of the opened step.
pub(crate) struct Walk {
    pub(crate) chain: OutputChain,
    /// The first unit's step from which on the sums of two differ, as [`diff::parting`] has it.
    pub(crate) parting: Option<Parting>,
    /// The first one after which they differ.
    pub(crate) first_parting: Option<Parting>,
    /// What [`Chain::words_behind`] says.
    behind: Option<String>,
    /// Every unit's name and trace; the second unit has none where it ends no step there.
    pub(crate) traces: Vec<(String, Trace)>,
}

impl Walk {
    /// Walks a chain of one step or more. A step that is asked for is opened in place of the last or the parting one.
    pub(crate) fn of(
        own: &Chain<'_>,
        other: Option<&Chain<'_>>,
        asked: Option<usize>,
    ) -> Result<Self, Failure> {
        let mut chain = diff::walk(own.own(), other.map(Chain::own))?;
        chain.opened = asked.unwrap_or(chain.opened);
        let of = |found: fn(_, _) -> Option<(usize, usize)>| {
            let other = other?;
            let at = found(own.own(), other.own())?;
            let k = diff::parted_k(own.own(), other.own(), at);
            Some(Parting { step: at.0, k })
        };
        let (parting, first_parting) = (of(diff::parting), of(diff::first_parting));
        let opened = chain.opened;
        let beside = other.and_then(|other| {
            let ends = |step: &usize| other.end(*step) == own.end(opened);
            Some((other, (0..other.steps.len()).find(ends)?))
        });
        let traces = match beside {
            None => vec![(own.name(), own.trace(opened..=opened)?)],
            Some((other, beside)) => {
                // From where both begin a step, so that both sum the same k.
                let begins = |step: usize| {
                    let first = own.steps[step].first;
                    let same = (0..=beside).find(|&it| other.steps[it].first == first)?;
                    Some((step, same))
                };
                let (from, same) = (0..=opened).rev().find_map(begins).unwrap_or_default();
                vec![
                    (own.name(), own.trace(from..=opened)?),
                    (other.name(), other.trace(same..=beside)?),
                ]
            }
        };
        Ok(Self {
            chain,
            parting,
            first_parting,
            behind: own.words_behind(),
            traces,
        })
    }

    /// What became of the sums before the step that parts them or after it, where they were equal there.
    pub(crate) fn meeting(&self) -> Option<String> {
        let steps = &self.chain.steps;
        let (parting, first) = self.parting.zip(self.first_parting)?;
        let is_equal = steps.last()?.state != ChainState::Apart;
        match (first == parting, is_equal) {
            (false, _) => Some(format!(
                "before it their sums part in the step of {} and become equal again",
                first.words()
            )),
            (true, true) => Some("their sums are equal again in the end".to_owned()),
            (true, false) => None,
        }
    }

    /// Whether the first unit sums the k of a parting in several steps, so that its step alone does not name them.
    pub(crate) fn is_longer_than_its_step(&self, parting: Parting) -> bool {
        self.chain.steps[parting.step].k != parting.k
    }

    /// Both traces, compared, where there are two.
    pub(crate) fn comparison(&self) -> Option<Comparison<'_>> {
        let [(left, own), (right, other)] = &self.traces[..] else {
            return None;
        };
        Some(Comparison::of((left, own), (right, other)))
    }

    /// Draws the chain and the opened step.
    pub(crate) fn draw(&self, report: &mut Report) {
        report.chain(&self.chain);
        if self.chain.names.len() > 1 && self.parting.is_none() {
            let words = "The units agree: their sums are equal after every step that both end.";
            report.html(&format!("<p class=\"how\"><b>{words}</b></p>"));
        }
        if let Some(words) = &self.behind {
            report.html(&format!("<p class=\"how\">{words}</p>"));
        }
        if let Some(parting) = self.parting {
            let is_shown = !self.is_longer_than_its_step(parting);
            let words = match (self.meeting(), self.first_parting == Some(parting)) {
                (meeting, _) if self.chain.opened != parting.step || !is_shown => {
                    let meeting = meeting.map_or_else(String::new, |it| format!("; {it}"));
                    format!("They part in the step of {}{meeting}.", parting.words())
                }
                (None, _) => String::new(),
                (Some(meeting), true) => {
                    format!("The opened step is the first after which they differ; {meeting}.")
                }
                (Some(meeting), false) => {
                    format!("From the opened step on the sums differ to the end; {meeting}.")
                }
            };
            if !words.is_empty() {
                report.html(&format!("<p class=\"how\">{words}</p>"));
            }
        }
        match (self.comparison(), self.traces.first()) {
            (Some(comparison), _) => report.explanation_against(&comparison),
            (None, Some((name, trace))) => report.explanation(name, trace),
            (None, None) => {}
        }
    }
}
