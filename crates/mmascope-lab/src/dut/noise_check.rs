//! Finds noise: asks a device some questions twice and compares the answers.

use super::{Batch, Dut};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::vector::Answer;

/// A device whose batches are asked again in part, and compared.
#[derive(Debug)]
pub struct NoiseCheckedDut<D> {
    device: D,
    every: usize,
}

impl<D: Dut> NoiseCheckedDut<D> {
    /// Asks every `every`-th query of each batch twice (1: all of them), in a second batch, so
    /// that a state carried from query to query shows as well.
    #[must_use]
    pub fn new(device: D, every: usize) -> Self {
        Self {
            device,
            every: every.max(1),
        }
    }
}

impl<D: Dut> Dut for NoiseCheckedDut<D> {
    fn signature(&self) -> &Signature {
        self.device.signature()
    }

    fn name(&self) -> &str {
        self.device.name()
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        let answers = self.device.run(batch)?;
        let mut again = Batch::new(*batch.signature());
        let repeated: Vec<usize> = (0..batch.len()).step_by(self.every).collect();
        for &index in repeated.iter().rev() {
            again.push(&batch.query(index))?;
        }
        let second = self.device.run(&again).map_err(|error| match error {
            // The query as the caller numbers it.
            Error::Device {
                device,
                query: Some(query),
                message,
            } => Error::Device {
                device,
                query: repeated.iter().rev().nth(query).copied(),
                message: format!("{message}; the question was asked the second time"),
            },
            other => other,
        })?;
        for (&index, second) in repeated.iter().rev().zip(second) {
            if answers[index] != second {
                return Err(Error::Device {
                    device: self.name().to_owned(),
                    query: Some(index),
                    message: format!(
                        "noise: the same input gave {} and then {second}",
                        answers[index]
                    ),
                });
            }
        }
        Ok(answers)
    }
}
