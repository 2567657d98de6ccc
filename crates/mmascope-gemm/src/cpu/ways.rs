//! Chooses how a plan sums, among the ways that a level of vector instructions has.

use super::packed_operand::How;
use super::plan::Plan;
use super::sum::Sum;
use super::wide;
use crate::engine::Layout;

/// Which ways of summing there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// Sums may round toward −∞ in 32-bit lanes.
    pub(super) down: bool,
    /// And in 64-bit lanes.
    pub(super) wide: bool,
    /// `level::has_four_pipes`.
    pub(super) four_pipes: bool,
}

impl Ways {
    /// Those of a layout. (In 64-bit lanes operands take twice the memory.)
    pub(super) fn in_layout(self, layout: Layout) -> Self {
        Self {
            wide: self.wide && layout == Layout::Fastest,
            ..self
        }
    }

    pub(super) fn of(self, plan: &Plan) -> How {
        if let Some(sum) = plan.down().filter(|_| self.down) {
            return How::Down(sum.slots);
        }
        let wide = |sum: &Sum| self.wide && wide::fits(sum, &plan.a, &plan.b, self.four_pipes);
        match plan.only().filter(wide) {
            Some(sum) => How::Wide(sum.slots),
            None => How::Plain,
        }
    }
}
