//! Packed A while it is filled: every task writes its own rows.
//!
//! A lies chunk of K after chunk of K, each with all rows, so that a row's chunks are apart and no `chunks_mut` gives
//! them to a task.

#![allow(unsafe_code)] // shared slices

use rayon::prelude::*;

use super::down;
use super::pack::Shape;
use super::packed_operand::{How, Side};
use super::shared::Shared;
use super::wide;

/// All rows of A.
pub(super) struct Rows<'a> {
    values: Shared<'a, f32>,
    exponents: Shared<'a, u8>,
    signs: Shared<'a, u32>,
    wide: Shared<'a, f64>,
    words: Shared<'a, u32>,
    shape: &'a Shape,
    how: How,
}

/// One of them, which nobody else has.
pub(super) struct Row<'a> {
    rows: &'a Rows<'a>,
    row: usize,
}

impl<'a> Rows<'a> {
    /// Those of a side that was made for this shape.
    pub(super) fn of(side: &'a mut Side, shape: &'a Shape, how: How) -> Self {
        Self {
            values: Shared::new(&mut side.values),
            exponents: Shared::new(&mut side.exponents),
            signs: Shared::new(&mut side.signs),
            wide: Shared::new(&mut side.wide),
            words: Shared::new(&mut side.words),
            shape,
            how,
        }
    }

    /// Every row, once: it takes the exclusive reference that says so.
    pub(super) fn each(&mut self) -> impl IndexedParallelIterator<Item = Row<'_>> {
        let rows = &*self;
        (0..rows.shape.m)
            .into_par_iter()
            .map(move |row| Row { rows, row })
    }
}

impl Row<'_> {
    /// Its number.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// Writes the chunk that begins with this step, or as much of it as there is.
    pub(super) fn put(&mut self, step: usize, values: &[f32], bytes: &[u8]) {
        let (all, shape) = (self.rows, self.rows.shape);
        assert!(step.is_multiple_of(shape.chunk) && step < shape.steps);
        assert!(values.len() <= shape.chunk * shape.slots && bytes.len() == values.len());
        let (at, length) = (shape.a_at(self.row, step), values.len());
        let (sign, signs) = (all.how.signs(at), all.how.signs(length));
        // SAFETY: nobody else uses these elements. A chunk of a row is `chunk · slots` slots from `a_at(row, step)` on, and
        // those of other rows and chunks begin at other multiples of that; the two assertions keep this write within its
        // own. Signs lie alike: a chunk is made of whole groups, so that its words of signs are its own too. There is
        // one `Row` for each row (`each` borrows `Rows` exclusively), and `put` takes it exclusively. Broken, two threads
        // write the same memory at once.
        unsafe {
            let signs = all.signs.run(sign, signs);
            if let How::Wide(slots) = all.how {
                let (wide, words) = (all.wide.run(at, length), all.words.run(at, length));
                wide::prepare_a(values, bytes, wide, words, signs, slots);
                return;
            }
            let own = all.values.run(at, length);
            own.copy_from_slice(values);
            all.exponents.run(at, length).copy_from_slice(bytes);
            if let How::Down(slots) = all.how {
                down::prepare_a(own, signs, slots);
            }
        }
    }
}
