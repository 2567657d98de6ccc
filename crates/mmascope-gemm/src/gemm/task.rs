//! A product before anything is prepared: a unit, operands and modifiers.

use super::{Matrices, Region};
use crate::dpa::{Modifiers, Unit};

/// A product to compute; the operands fit the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) unit: &'a Unit,
    pub(super) matrices: &'a Matrices,
    pub(super) modifiers: Modifiers,
}

impl Task<'_> {
    /// How many steps K takes.
    pub(super) fn steps(&self) -> usize {
        self.matrices.k() / self.unit.signature().k
    }

    /// All of D.
    pub(super) fn whole(&self) -> Region {
        Region {
            batch: 0..self.matrices.batch(),
            rows: 0..self.matrices.m(),
            columns: 0..self.matrices.n(),
        }
    }

    /// Bytes of operands, C and D.
    pub(super) fn bytes(&self) -> usize {
        let matrices = self.matrices;
        let scales = [matrices.scale_a(), matrices.scale_b()];
        let given = [Some(matrices.a()), Some(matrices.b()), matrices.c()];
        let given = given.into_iter().chain(scales).flatten();
        let d = self.unit.signature().d.register.bits as usize / 8;
        given.map(|matrix| matrix.words().bytes()).sum::<usize>() + d * self.whole().len()
    }
}
