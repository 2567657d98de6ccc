//! A device that is a unit of the library.

use std::sync::atomic::AtomicBool;

use super::{Answers, Batch, Dut};
use crate::dpa::{Modifiers, Signature, Unit};
use crate::error::Result;
use crate::format::{Class, Format};
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

/// What a model states: no word for a NaN where it does not know which one the unit gives.
pub(super) fn stated(unit: &Unit, d: &Format, words: impl IntoIterator<Item = u64>) -> Vec<Answer> {
    let is_known = unit.program().nan_is_known();
    let is_nan = |word| d.decode(d.from_register(word)).class == Class::Nan;
    let answer = |word| match is_known || !is_nan(word) {
        true => Answer::Word(word),
        false => Answer::AnyNan,
    };
    words.into_iter().map(answer).collect()
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
        let d = self.signature().d;
        Ok(stated(&self.unit, &d, words))
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
        let d = d.into_words();
        if self.unit.program().nan_is_known() {
            return Ok(Answers::Words(d));
        }
        Ok(Answers::Each(stated(
            &self.unit,
            &self.signature().d,
            d.iter(),
        )))
    }
}
