//! The reference engine: what every faster one has to equal, bit for bit.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Dots, Elements, Engine, Layout, Plan, Prepared, Reason, Steps, Watch};
use crate::array::{Stored, WordsMut};
use crate::dpa::{Modifiers, Unit};
use crate::error::Result;

/// Elements of D that one task computes.
const CHUNK: usize = 64;

/// Computes every output by [`Unit::dot`], element by element. It carries every unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

/// A unit, and nothing prepared: operands are read where they lie.
#[derive(Clone, Debug)]
struct Plain(Arc<Unit>);

impl Engine for Reference {
    fn name(&self) -> Cow<'static, str> {
        "reference".into()
    }

    fn plan(&self, unit: &Unit) -> std::result::Result<Arc<dyn Plan>, Reason> {
        Ok(Arc::new(Plain(Arc::new(unit.clone()))))
    }
}

impl Plan for Plain {
    fn unit(&self) -> &Unit {
        &self.0
    }

    fn is_reference(&self) -> bool {
        true
    }

    fn bytes(&self, _rows: usize, _columns: usize, _layout: Layout) -> usize {
        0
    }

    fn prepare(
        &self,
        _elements: &dyn Elements,
        _modifiers: &Modifiers,
        _layout: Layout,
    ) -> Result<Option<Box<dyn Prepared>>> {
        Ok(Some(Box::new(self.clone())))
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the reference, output by output")
    }
}

impl Prepared for Plain {
    fn advance(
        &self,
        steps: &Steps<'_>,
        accumulators: WordsMut<'_>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        advance(&self.0, steps, accumulators, watch)
    }
}

/// Steps of a part of D by the reference.
///
/// # Errors
/// As [`Prepared::advance`].
pub(crate) fn advance(
    unit: &Unit,
    steps: &Steps<'_>,
    accumulators: WordsMut<'_>,
    watch: &Watch<'_>,
) -> Result<()> {
    match accumulators {
        WordsMut::U8(words) => run(unit, steps, words, watch),
        WordsMut::U16(words) => run(unit, steps, words, watch),
        WordsMut::U32(words) => run(unit, steps, words, watch),
        WordsMut::U64(words) => run(unit, steps, words, watch),
    }
}

fn run<W: Stored>(
    unit: &Unit,
    steps: &Steps<'_>,
    words: &mut [W],
    watch: &Watch<'_>,
) -> Result<()> {
    let columns = steps.columns.len();
    words
        .par_chunks_mut(CHUNK)
        .enumerate()
        .try_for_each(|(chunk, words)| {
            let mut dots = Dots::new(unit, steps.elements, steps.modifiers);
            for (offset, word) in words.iter_mut().enumerate() {
                let index = chunk * CHUNK + offset;
                let (i, j) = (index / columns, index % columns);
                let (i, j) = (steps.rows.start + i, steps.columns.start + j);
                let mut sum = word.word();
                for step in steps.steps.clone() {
                    watch.check()?;
                    let first = steps.first && step == steps.steps.start;
                    sum = dots.step(i, j, step, first, sum)?;
                }
                *word = W::stored(sum);
            }
            (watch.progress)((words.len() * steps.steps.len()) as u64);
            Ok(())
        })
}
