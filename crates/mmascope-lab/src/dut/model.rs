//! A device that is a unit of the library.

use std::sync::atomic::AtomicBool;

use super::{Answers, Batch, Dut};
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::Result;
use crate::gemm::{Matrices, Product, Watch};
use crate::vector::Answer;

/// A model: answers by computing; tiles by way of the engine.
#[derive(Clone, Debug)]
pub struct ModelDut {
    name: String,
    unit: Unit,
    by_reference: bool,
}

impl ModelDut {
    /// A device that computes with this unit.
    #[must_use]
    pub fn new(name: &str, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            by_reference: false,
        }
    }

    /// The same with the reference for tiles too.
    #[must_use]
    pub fn by_reference(self) -> Self {
        Self {
            by_reference: true,
            ..self
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
        let words = self.unit.dots(&batch.queries())?;
        // Which NaN a unit gives may not be known; a word would state it.
        let is_known = self.unit.program().nan_is_known();
        let answer = |word| match is_known || !self.unit.is_nan(word) {
            true => Answer::Word(word),
            false => Answer::AnyNan,
        };
        Ok(words.into_iter().map(answer).collect())
    }

    fn has_tiles(&self) -> bool {
        true
    }

    fn tile(&mut self, tile: &Matrices) -> Result<Answers> {
        let modifiers = Modifiers::default();
        let product = if self.by_reference {
            Product::by_reference(&self.unit, tile, modifiers)?
        } else {
            Product::new(&self.unit, tile, modifiers)?
        };
        let watch = Watch {
            progress: &|_| (),
            cancel: &AtomicBool::new(false),
        };
        let mut d = product.c(product.whole())?;
        product.advance(0..1, true, &mut d, &watch)?;
        Ok(Answers::Words(d.into_words()))
    }
}
