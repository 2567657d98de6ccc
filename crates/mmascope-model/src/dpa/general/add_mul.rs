//! Rounded products and additions with every parameter of the model space.

use super::{AddMul, finished};
use crate::dpa::ieee;
use crate::dpa::output::{self, Output};
use crate::dpa::pair::Pair;
use crate::format::{Overflow, Unpacked};

impl AddMul {
    /// One block.
    pub(in crate::dpa) fn sum_of(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        match self.group(pairs, output) {
            Some(group) => self.finished(ieee::add(c, &group, output), output),
            None => output::convert(c, output),
        }
    }

    /// Blocks of which the first one has no value beside its products.
    pub(super) fn begin_with_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        let mut blocks = pairs.chunks(self.p as usize);
        let Some(first) = blocks.next().and_then(|first| self.group(first, output)) else {
            return output::PLUS_ZERO;
        };
        let rounded = finished(output::convert(&first, output), output);
        blocks.fold(rounded, |sum, block| {
            self.sum_of(block, &output.unpack(sum), output)
        })
    }

    /// A sum after the flushes.
    fn finished(&self, word: u64, output: &Output) -> u64 {
        let word = finished(word, output);
        match self.flush_sums {
            None => word,
            flush => finished(word, &Output { flush, ..*output }),
        }
    }

    /// The sum of a group's rounded products.
    fn group(&self, pairs: &[Pair], output: &Output) -> Option<Unpacked> {
        let sum = |x: &Unpacked, y: &Unpacked| {
            output.unpack(self.finished(ieee::add(x, y, output), output))
        };
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
