//! Rounded products and additions with every parameter of the model space.

use super::{AddMul, finished};
use crate::dpa::ieee;
use crate::dpa::output::{self, Output};
use crate::dpa::pair::Pair;
use crate::format::{Overflow, Unpacked};

impl AddMul {
    pub(super) fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        match self.group(pairs, output) {
            Some(group) => finished(ieee::add(c, &group, output), output),
            None => output::convert(c, output),
        }
    }

    /// The sum of a group's rounded products.
    pub(super) fn group(&self, pairs: &[Pair], output: &Output) -> Option<Unpacked> {
        let sum =
            |x: &Unpacked, y: &Unpacked| output.unpack(finished(ieee::add(x, y, output), output));
        let (rounding, format, overflow) = match self.terms.products {
            Some((rounding, format)) => (rounding, format, Overflow::Ieee),
            // Results like the sums.
            None => (output.rounding, output.format, output.overflow),
        };
        let mut values: Vec<Unpacked> = pairs
            .iter()
            .map(|pair| {
                let pair = self.terms.pair(pair);
                self.terms
                    .rounded(&pair, rounding, format, overflow, output)
            })
            .collect();
        if self.sequential {
            values = values
                .into_iter()
                .reduce(|total, next| sum(&total, &next))
                .into_iter()
                .collect();
        }
        while values.len() > 1 {
            values = values
                .chunks(2)
                .map(|two| match two {
                    [x, y] => sum(x, y),
                    _ => two[0],
                })
                .collect();
        }
        values.first().copied()
    }
}
