//! Inputs on which two units differ: directed kinds first, then the families around both.

use super::inputs::{Focus, Kind, make};
use super::maker::Maker;
use crate::cases::{Case, Family, Generator, Hints};
use crate::dpa::{Modifiers, Unit};
use crate::reveal::Random;

/// Whether two units give different results; which NaN does not count.
pub(crate) fn differ(left: &Unit, right: &Unit, case: &Case) -> bool {
    let none = Modifiers::default();
    match (
        left.dot(&case.operands(), &none),
        right.dot(&case.operands(), &none),
    ) {
        (Ok(l), Ok(r)) => l != r && !(left.is_nan(l) && right.is_nan(r)),
        _ => false,
    }
}

/// An input on which two units of one signature differ, from about `tries` inputs.
pub(crate) fn find(
    maker: &Maker,
    left: &Unit,
    right: &Unit,
    tries: usize,
    random: &mut Random,
) -> Option<Case> {
    let focus = Focus::of(left).with(&Focus::of(right));
    for round in 0..tries {
        let kind = Kind::ALL[round % Kind::ALL.len()];
        let case = make(maker, kind, &focus, random);
        if differ(left, right, &case) {
            return Some(case);
        }
    }
    let families = [
        Family::Boundary,
        Family::Close,
        Family::Stress,
        Family::Bits,
        Family::Normal,
    ];
    for unit in [left, right] {
        for family in families {
            let seed = random.bits();
            let hints = Hints::of_unit(unit);
            let Ok(generator) = Generator::new(family, seed, &maker.signature, hints) else {
                continue;
            };
            let share = if family == Family::Boundary {
                tries / 4
            } else {
                tries / 16
            };
            let found = (0..share as u64)
                .map(|index| generator.case(index))
                .find(|case| differ(left, right, case));
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
