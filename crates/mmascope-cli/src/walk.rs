//! One output's chain over K with its opened step, as `explain A B --at` and `diff A B` show it.

use std::ops::RangeInclusive;

use crate::report::Failure;
use mmascope::diff::{self, Contender, DiffStep, Place};
use mmascope::dpa::{Modifiers, OperandWords};
use mmascope::explain::{ChainState, Comparison, OutputChain, Report, Trace};
use mmascope::gemm::Matrices;
use mmascope::isa::Instruction;

/// A unit's chain of an output.
pub(crate) struct Chain<'c> {
    pub(crate) row: &'c Instruction,
    contender: Contender<'c>,
    pub(crate) steps: Vec<DiffStep>,
}

impl<'c> Chain<'c> {
    pub(crate) fn of(
        row: &'c Instruction,
        matrices: &Matrices,
        place: Place,
    ) -> mmascope::Result<Self> {
        let contender = Contender::new(row)?;
        let steps = diff::chain(&contender, matrices, place)?;
        Ok(Self {
            row,
            contender,
            steps,
        })
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

/// The chain on one unit, or on two, and the traces of the opened step.
pub(crate) struct Walk {
    pub(crate) chain: OutputChain,
    /// The steps of both units from which on their sums differ, as [`diff::parting`] has it.
    pub(crate) parting: Option<(usize, usize)>,
    /// The first unit's first step after which they differ.
    pub(crate) first_parting: Option<usize>,
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
        let parting = other.and_then(|other| diff::parting(own.own(), other.own()));
        let first = other.and_then(|other| diff::first_parting(own.own(), other.own()));
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
            first_parting: first.map(|(at, _)| at),
            traces,
        })
    }

    /// What became of the sums before the step that parts them or after it, where they were equal there.
    pub(crate) fn meeting(&self) -> Option<String> {
        let steps = &self.chain.steps;
        let ((at, _), first) = self.parting.zip(self.first_parting)?;
        let k = |step: usize| {
            let (from, to) = steps[step].k;
            format!("k = {from} to {to}")
        };
        let is_equal = steps.last()?.state != ChainState::Apart;
        match (first == at, is_equal) {
            (false, _) => Some(format!(
                "before it their sums part in the step of {} and become equal again",
                k(first)
            )),
            (true, true) => Some("their sums are equal again in the end".to_owned()),
            (true, false) => None,
        }
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
        if let Some((at, _)) = self.parting {
            let (from, to) = self.chain.steps[at].k;
            let words = match (self.meeting(), self.first_parting == Some(at)) {
                (meeting, _) if self.chain.opened != at => {
                    let meeting = meeting.map_or_else(String::new, |it| format!("; {it}"));
                    format!("They part in the step of k = {from} to {to}{meeting}.")
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
