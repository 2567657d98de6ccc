//! Counts the differences of one pair of units over many inputs.

use super::{DiffInput, Verdict};

/// An input on which the units differ, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffExample<O> {
    /// The input's origin, in whatever form the caller needs.
    pub origin: O,
    /// The input.
    pub input: DiffInput,
    /// How the results differ.
    pub verdict: Verdict,
}

/// How two units compare. Adding is done in the order of the inputs, so it does not depend on threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally<O> {
    /// Inputs that both units could take.
    pub compared: u64,
    /// Inputs that one of them could not take exactly.
    pub left_out: u64,
    /// Equal results.
    pub equal: u64,
    /// Finite numbers apart by 2^i to 2^(i+1) − 1 units of the last place, for i = 0 … 63.
    pub ulps: [u64; 64],
    /// The largest such distance.
    pub largest: u64,
    /// Only the sign of a zero differs.
    pub zero_sign: u64,
    /// One result is infinite.
    pub infinite: u64,
    /// One result is NaN.
    pub nan: u64,
    /// Two known NaN words differ.
    pub nan_payload: u64,
    /// The first inputs with different results, at most [`Self::KEPT`].
    pub examples: Vec<DiffExample<O>>,
}

impl<O> Default for Tally<O> {
    fn default() -> Self {
        Self {
            compared: 0,
            left_out: 0,
            equal: 0,
            ulps: [0; 64],
            largest: 0,
            zero_sign: 0,
            infinite: 0,
            nan: 0,
            nan_payload: 0,
            examples: Vec::new(),
        }
    }
}

impl<O> Tally<O> {
    /// How many differing inputs are kept, for the first and to look for the smallest.
    pub const KEPT: usize = 8;

    /// Counts a verdict; `example` is called for the few inputs that are kept.
    pub fn add(&mut self, verdict: Option<Verdict>, example: impl FnOnce() -> (O, DiffInput)) {
        let Some(verdict) = verdict else {
            self.left_out += 1;
            return;
        };
        self.compared += 1;
        match verdict {
            Verdict::Equal => {
                self.equal += 1;
                return;
            }
            Verdict::Ulps(distance) => {
                self.ulps[distance.max(1).ilog2() as usize] += 1;
                self.largest = self.largest.max(distance);
            }
            Verdict::ZeroSign => self.zero_sign += 1,
            Verdict::Infinite => self.infinite += 1,
            Verdict::Nan => self.nan += 1,
            Verdict::NanPayload => self.nan_payload += 1,
        }
        if self.examples.len() < Self::KEPT {
            let (origin, input) = example();
            self.examples.push(DiffExample {
                origin,
                input,
                verdict,
            });
        }
    }

    /// How many results differ.
    #[must_use]
    pub fn different(&self) -> u64 {
        self.compared - self.equal
    }

    /// The histogram without its empty ends: (least, greatest distance, count).
    pub fn histogram(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let last = self.ulps.iter().rposition(|count| *count > 0);
        let end = last.map_or(0, |last| last + 1);
        self.ulps[..end]
            .iter()
            .enumerate()
            .map(|(i, count)| (1 << i, (1 << i) - 1 + (1 << i), *count))
    }
}
