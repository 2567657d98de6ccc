//! One output's chain over K with its opened step, as `explain A B --at` and `diff A B` show it.

use crate::report::Failure;
use mmascope::diff::{self, Contender, DiffStep, Place};
use mmascope::dpa::Modifiers;
use mmascope::explain::{Comparison, OutputChain, Report, Trace};
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

    fn trace(&self, step: usize) -> mmascope::Result<Trace> {
        let operands = self.steps[step].words.operands();
        Trace::of(self.contender.unit(), &operands, &Modifiers::default())
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
    /// The steps of both units after which their sums first differ.
    pub(crate) parting: Option<(usize, usize)>,
    /// Every unit's name and trace; the second unit has none where it ends no step there.
    pub(crate) traces: Vec<(String, Trace)>,
}

impl Walk {
    /// Walks a chain of one step or more.
    pub(crate) fn of(own: &Chain<'_>, other: Option<&Chain<'_>>) -> Result<Self, Failure> {
        let chain = diff::walk(own.own(), other.map(Chain::own))?;
        let parting = other.and_then(|other| diff::parting(own.own(), other.own()));
        let opened = chain.opened;
        let mut traces = vec![(own.name(), own.trace(opened)?)];
        if let Some(other) = other {
            let beside = (0..other.steps.len()).find(|&it| other.end(it) == own.end(opened));
            if let Some(beside) = beside {
                traces.push((other.name(), other.trace(beside)?));
            }
        }
        Ok(Self {
            chain,
            parting,
            traces,
        })
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
        match (self.comparison(), self.traces.first()) {
            (Some(comparison), _) => report.explanation_against(&comparison),
            (None, Some((name, trace))) => report.explanation(name, trace),
            (None, None) => {}
        }
    }
}
