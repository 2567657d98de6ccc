//! Asks a device, remembers each question with its answer but for those that confirm a model, and finds noise.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::parallel;
use crate::dpa::OperandWords;
use crate::dpa::{Decoded, Signature, Unit};
use crate::dut::{Batch, Dut};
use crate::error::{Error, Result};
use crate::vector::Answer;

/// The number of queries in one call of the device.
const BATCH: usize = 4096;
/// The queries that refute the neighbours of most models.
const OF_NEIGHBOURS: u64 = 200;

/// A question with its answer.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) case: OperandWords,
    decoded: Decoded,
    pub(crate) answer: Answer,
}

impl Asked {
    /// # Errors
    /// [`Error::Argument`] when the case does not fit the signature.
    pub(crate) fn new(signature: &Signature, case: OperandWords, answer: Answer) -> Result<Self> {
        Ok(Self {
            decoded: Decoded::new(signature, &case.operands())?,
            case,
            answer,
        })
    }

    /// A unit's result.
    fn word(&self, unit: &Unit) -> u64 {
        unit.dot_decoded(&self.decoded, &self.case.operands())
    }

    /// Whether a unit gives this answer; which NaN is not compared.
    pub(crate) fn fits(&self, unit: &Unit) -> bool {
        let word = self.word(unit);
        match self.answer {
            Answer::AnyNan => unit.is_nan(word),
            Answer::Word(wanted) => word == wanted || unit.is_nan(word) && unit.is_nan(wanted),
        }
    }

    /// Whether a unit gives this answer, NaN words included.
    pub(crate) fn fits_exactly(&self, unit: &Unit) -> bool {
        let word = self.word(unit);
        match self.answer {
            Answer::AnyNan => unit.is_nan(word),
            Answer::Word(wanted) => unit.agrees(word, wanted),
        }
    }
}

/// The same input gave different answers.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    pub(crate) case: OperandWords,
    pub(crate) answers: [Answer; 2],
}

/// A device and all its answers so far.
pub(crate) struct Asker<'a> {
    device: &'a mut dyn Dut,
    pub(crate) asked: Vec<Asked>,
    known: HashMap<OperandWords, usize>,
    pub(crate) queries: u64,
    budget: u64,
    /// Queries about orders, and how many of them count against no budget.
    of_order: u64,
    beside: u64,
    /// The device's time for queries that confirm a model. These count against no budget.
    pub(crate) confirming: Duration,
    pub(crate) noise: Option<Noise>,
}

impl<'a> Asker<'a> {
    pub(crate) fn new(device: &'a mut dyn Dut, budget: u64) -> Self {
        Self {
            device,
            asked: Vec::new(),
            known: HashMap::new(),
            queries: 0,
            budget,
            of_order: 0,
            beside: 0,
            confirming: Duration::ZERO,
            noise: None,
        }
    }

    /// Whether the budget has room for that many further questions.
    pub(crate) fn affords(&self, count: usize) -> bool {
        count as u64 <= self.left()
    }

    /// What is left of the budget beside what the neighbours of a model will take.
    pub(crate) fn spare(&self) -> u64 {
        self.left()
            .saturating_sub(OF_NEIGHBOURS.min(self.budget / 8))
    }

    /// What is left of the budget.
    fn left(&self) -> u64 {
        (self.budget + self.beside).saturating_sub(self.queries)
    }

    fn answers(&mut self, cases: &[OperandWords]) -> Result<Vec<Answer>> {
        let answers = self.uncounted(cases)?;
        self.queries += cases.len() as u64;
        Ok(answers)
    }

    fn uncounted(&mut self, cases: &[OperandWords]) -> Result<Vec<Answer>> {
        let mut found = Vec::with_capacity(cases.len());
        for chunk in cases.chunks(BATCH) {
            let mut batch = Batch::new(*self.device.signature());
            for case in chunk {
                batch.push(&case.operands())?;
            }
            let answers = self.device.run(&batch)?;
            if answers.len() != chunk.len() {
                return Err(Error::Device {
                    device: self.device.name().to_owned(),
                    query: None,
                    message: format!("{} answers to {} queries", answers.len(), chunk.len()),
                });
            }
            found.extend(answers);
        }
        Ok(found)
    }

    /// Asks the questions that have no answer yet. Returns the places of all answers in [`Asker::asked`].
    pub(crate) fn ask(&mut self, cases: Vec<OperandWords>) -> Result<Vec<usize>> {
        let mut places = Vec::with_capacity(cases.len());
        let mut new: Vec<OperandWords> = Vec::new();
        for case in cases {
            let next = self.asked.len() + new.len();
            let place = *self.known.entry(case.clone()).or_insert(next);
            if place == next {
                new.push(case);
            }
            places.push(place);
        }
        let answers = self.answers(&new)?;
        let signature = *self.device.signature();
        let answered = new.into_iter().zip(answers).collect();
        let asked = parallel::each(answered, parallel::PIECE, |(case, answer)| {
            Asked::new(&signature, case, answer)
        });
        for asked in asked {
            self.asked.push(asked?);
        }
        Ok(places)
    }

    /// Whether a unit gives every answer; which NaN is not compared.
    pub(crate) fn all_fit(&self, unit: &Unit) -> bool {
        parallel::position(&self.asked, |asked| !asked.fits(unit)).is_none()
    }

    /// Those of the cases that a unit answers otherwise than the device, with the device's answers. None is remembered, and the time that
    /// the device took is added to [`Asker::confirming`].
    pub(crate) fn contradicting(
        &mut self,
        unit: &Unit,
        cases: &[OperandWords],
    ) -> Result<Vec<Asked>> {
        let begin = Instant::now();
        let answers = self.uncounted(cases)?;
        self.confirming += begin.elapsed();
        let signature = *self.device.signature();
        let answered = cases.iter().zip(answers).collect();
        let contradicting = parallel::each(answered, parallel::PIECE, |(case, answer)| {
            let asked = Asked::new(&signature, case.clone(), answer)?;
            Ok((!asked.fits(unit)).then_some(asked))
        });
        let contradicting: Result<Vec<Option<Asked>>> = contradicting.into_iter().collect();
        Ok(contradicting?.into_iter().flatten().collect())
    }

    /// Asks one in `every` known questions again, in another order, with at most a quarter of what can be spared.
    pub(crate) fn recheck(&mut self, every: usize) -> Result<()> {
        let most = (self.spare() / 4) as usize;
        let every = every.max(self.asked.len().div_ceil(most.max(1)));
        self.recheck_at((0..self.asked.len()).rev().step_by(every.max(1)).collect())
    }

    /// Asks the questions at some places again.
    pub(crate) fn recheck_at(&mut self, places: Vec<usize>) -> Result<()> {
        let cases: Vec<OperandWords> = places.iter().map(|&i| self.asked[i].case.clone()).collect();
        let answers = self.answers(&cases)?;
        for (&place, answer) in places.iter().zip(answers) {
            self.compare(place, answer);
        }
        Ok(())
    }

    /// Compares another answer to a known question with the first.
    pub(crate) fn compare(&mut self, place: usize, answer: Answer) {
        let Asked {
            case,
            answer: first,
            ..
        } = &self.asked[place];
        if *first != answer && self.noise.is_none() {
            self.noise = Some(Noise {
                case: case.clone(),
                answers: [*first, answer],
            });
        }
    }

    /// The device itself, for other kinds of questions, which [`Asker::spend`] counts.
    pub(crate) fn device(&mut self) -> &mut dyn Dut {
        self.device
    }

    /// Counts queries about the order, which were asked of the device itself. They count as a quarter of the budget at most: masks over a
    /// long sum are more, and would leave too few questions to see whether a model is right.
    pub(crate) fn spend(&mut self, queries: u64) {
        self.queries += queries;
        self.of_order += queries;
        self.beside = self.of_order.saturating_sub(self.budget / 4);
    }
}
