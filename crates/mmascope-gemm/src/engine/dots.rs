//! The reference for single outputs of a product.

use super::{Elements, after_first};
use crate::dpa::{Modifiers, Operands, Unit};
use crate::error::Result;

/// Computes single outputs, a step at a time, with [`Unit::dot`]. Every engine may ask it for the outputs of which
/// it is not sure.
pub struct Dots<'a> {
    unit: &'a Unit,
    elements: &'a dyn Elements,
    first: Modifiers,
    later: Modifiers,
    // The operands of one dot product, gathered from their matrices.
    a: Vec<u64>,
    b: Vec<u64>,
    scale_a: Vec<u64>,
    scale_b: Vec<u64>,
}

impl<'a> Dots<'a> {
    /// Single outputs of a product by this unit, with the product's modifiers.
    #[must_use]
    pub fn new(unit: &'a Unit, elements: &'a dyn Elements, modifiers: &Modifiers) -> Self {
        let (k, blocks) = (unit.signature().k, unit.signature().scales());
        Self {
            unit,
            elements,
            first: *modifiers,
            later: after_first(modifiers),
            a: vec![0; k],
            b: vec![0; k],
            scale_a: vec![0; blocks],
            scale_b: vec![0; blocks],
        }
    }

    /// One step of the output in row `i` and column `j`, from `c` as a register word. `first`: c's modifiers are applied.
    ///
    /// # Errors
    /// As [`Unit::dot`].
    pub fn step(&mut self, i: usize, j: usize, step: usize, first: bool, c: u64) -> Result<u64> {
        let k = step * self.a.len();
        self.elements.a_row(i, k, &mut self.a);
        self.elements.b_column(j, k, &mut self.b);
        let block = step * self.scale_a.len();
        for (offset, (a, b)) in self.scale_a.iter_mut().zip(&mut self.scale_b).enumerate() {
            *a = self.elements.scale_a(i, block + offset);
            *b = self.elements.scale_b(block + offset, j);
        }
        let operands = Operands {
            a: &self.a,
            b: &self.b,
            c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        };
        let modifiers = if first { &self.first } else { &self.later };
        self.unit.dot(&operands, modifiers)
    }
}
