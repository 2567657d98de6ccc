//! A unit of the library as a device.

use super::{Batch, Dut};
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::Result;
use crate::vector::Answer;

/// A model: answers by computing.
#[derive(Clone, Debug)]
pub struct ModelDut {
    name: String,
    unit: Unit,
}

impl ModelDut {
    /// A device that computes with this unit.
    #[must_use]
    pub fn new(name: &str, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            unit,
        }
    }
}

impl Dut for ModelDut {
    fn signature(&self) -> &Signature {
        self.unit.signature()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(self.signature())?;
        (0..batch.len())
            .map(|index| {
                self.unit
                    .dot(&batch.query(index), &Modifiers::default())
                    .map(Answer::Word)
            })
            .collect()
    }
}
