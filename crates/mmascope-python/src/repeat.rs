//! Finds callables that change between calls: remembers some questions with their answers, and asks them again.

use mmascope::cases::{Family, Generator};
use mmascope::dpa::{Operands, Signature, Unit};
use mmascope::dut::{Batch, Dut};
use mmascope::validate::Mismatch;
use mmascope::vector::{Answer, question};

/// The most questions that are remembered, and of how many the first is.
const MOST: usize = 256;
const EVERY: usize = 8;

/// Some of the questions that a device was asked.
pub(crate) struct Memory {
    asked: Batch,
    answers: Vec<Answer>,
    /// One question in so many is remembered.
    every: usize,
    /// Questions until the next one that is.
    skipped: usize,
}

impl Memory {
    pub(crate) fn new(signature: Signature) -> Self {
        Self {
            asked: Batch::new(signature),
            answers: Vec::new(),
            every: EVERY,
            skipped: 0,
        }
    }

    /// Remembers some of a batch.
    pub(crate) fn note(&mut self, batch: &Batch, answers: &[Answer]) -> mmascope::Result<()> {
        let mut place = self.skipped;
        while place < answers.len().min(batch.len()) {
            self.add(&batch.query(place), answers[place])?;
            if self.answers.len() == MOST {
                self.thin()?;
            }
            place += self.every;
        }
        self.skipped = place - answers.len().min(batch.len());
        Ok(())
    }

    fn add(&mut self, operands: &Operands<'_>, answer: Answer) -> mmascope::Result<()> {
        self.asked.push(operands)?;
        self.answers.push(answer);
        Ok(())
    }

    /// Forgets every other question.
    fn thin(&mut self) -> mmascope::Result<()> {
        let mut fewer = Self::new(*self.asked.signature());
        for place in (0..self.answers.len()).step_by(2) {
            fewer.add(&self.asked.query(place), self.answers[place])?;
        }
        (self.asked, self.answers) = (fewer.asked, fewer.answers);
        self.every *= 2;
        Ok(())
    }

    /// Remembers what a device answered otherwise than its model: rare noise is seen there.
    pub(crate) fn note_mismatch(
        &mut self,
        unit: &Unit,
        mismatch: &Mismatch,
    ) -> mmascope::Result<()> {
        let Ok(word) = u64::from_str_radix(&mismatch.device, 16) else {
            return Ok(());
        };
        let family = Family::named(&mismatch.family)?;
        let case = Generator::for_unit(family, mismatch.seed, unit)?
            .crossed(mismatch.index, mismatch.column.unwrap_or(mismatch.index));
        self.add(&case.operands(), Answer::Word(word))
    }

    /// Asks again, the last question first: a device that counts its questions gives itself away. What has another
    /// answer now, in words.
    pub(crate) fn ask_again(&self, device: &mut dyn Dut) -> mmascope::Result<Option<String>> {
        let signature = *self.asked.signature();
        let mut again = Batch::new(signature);
        for place in (0..self.answers.len()).rev() {
            again.push(&self.asked.query(place))?;
        }
        if again.is_empty() {
            return Ok(None);
        }
        let seconds = device.run(&again)?;
        let firsts = self.answers.iter().rev().enumerate();
        let changed = firsts
            .zip(&seconds)
            .find(|((_, first), second)| first != second);
        Ok(changed.map(|((place, first), second)| {
            let line = question(
                "dut",
                &signature.to_string(),
                &[],
                &signature,
                &again.query(place),
            );
            format!("first {first}, then {second}, for {line}")
        }))
    }
}
