//! Splits the rows of A, or the columns of B, into parts.

use std::ops::Range;

use rayon::prelude::*;

use super::{Emulation, OperandSplit, Within};
use crate::array::Words;
use crate::dpa::Scalar;
use crate::error::Result;
use crate::exact::Exact;
use crate::format::{Format, Overflow, Rounding};
use crate::gemm::Matrix;

/// Which lines of which products of the batch: rows of A, or columns of B.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Lines {
    pub(in crate::gemm) batch: Range<usize>,
    pub(in crate::gemm) lines: Range<usize>,
    /// Lines are columns.
    pub(in crate::gemm) columns: bool,
}

/// An operand in parts.
pub(in crate::gemm) struct Expansion {
    format: Format,
    /// Each part line by line, as words of the unit's format.
    parts: Vec<Vec<u64>>,
    /// The power of two that a line's numbers are relative to; `None` where one of them is ∞ or NaN.
    exponents: Vec<Option<i64>>,
    batch: usize,
    lines: usize,
    k: usize,
    columns: bool,
}

impl Expansion {
    /// The lines of a matrix of `emulation.from`, split for a unit that takes `format`.
    pub(in crate::gemm) fn new(
        emulation: &Emulation,
        format: Format,
        matrix: &Matrix,
        of: &Lines,
    ) -> Result<Self> {
        let batch = match matrix.batch() {
            1 => 0..1,
            _ => of.batch.clone(),
        };
        let k = match of.columns {
            true => matrix.rows(),
            false => matrix.columns(),
        };
        let places: Vec<(usize, usize)> = batch
            .clone()
            .flat_map(|batch| of.lines.clone().map(move |line| (batch, line)))
            .collect();
        let splitter = Splitter::new(emulation, format)?;
        let split: Vec<(Option<i64>, Vec<u64>)> = places
            .par_iter()
            .map(|&(batch, line)| {
                let word = |at| match of.columns {
                    true => matrix.at(batch, at, line),
                    false => matrix.at(batch, line, at),
                };
                let words: Vec<u64> = (0..k).map(word).collect();
                splitter.line(&words)
            })
            .collect();
        let count = emulation.split.count();
        let mut parts = vec![Vec::with_capacity(places.len() * k); count];
        for (_, words) in &split {
            for (part, words) in parts.iter_mut().zip(words.chunks(k.max(1))) {
                part.extend_from_slice(words);
            }
        }
        Ok(Self {
            format,
            parts,
            exponents: split.into_iter().map(|(exponent, _)| exponent).collect(),
            batch: batch.len(),
            lines: of.lines.len(),
            k,
            columns: of.columns,
        })
    }

    /// The operand of a group: for every product of parts, the part, step by step or pass by pass.
    pub(in crate::gemm) fn operand(
        &self,
        group: &[(usize, usize)],
        within: Within,
        native: usize,
    ) -> Result<Matrix> {
        let numbers: Vec<usize> = group
            .iter()
            .map(|&(p, q)| if self.columns { q } else { p })
            .collect();
        let steps = self.k / native;
        let mut words = Words::with_capacity(
            self.format.register.bits,
            self.batch * self.lines * self.k * group.len(),
        )?;
        for line in 0..self.batch * self.lines {
            let mut push = |part: usize, step: usize| {
                let first = line * self.k + step * native;
                for word in &self.parts[part][first..first + native] {
                    words.push(*word);
                }
            };
            match within {
                Within::Step => {
                    (0..steps).for_each(|step| numbers.iter().for_each(|&part| push(part, step)))
                }
                Within::Pass => numbers
                    .iter()
                    .for_each(|&part| (0..steps).for_each(|step| push(part, step))),
            }
        }
        let matrix = Matrix::batched(self.batch, self.lines, self.k * group.len(), words)?;
        Ok(match self.columns {
            true => matrix.transposed(),
            false => matrix,
        })
    }

    /// The power of two of a line of a product of the batch, both counted from the first that was split.
    pub(super) fn exponent(&self, batch: usize, line: usize) -> Option<i64> {
        let batch = if self.batch == 1 { 0 } else { batch };
        self.exponents[batch * self.lines + line]
    }
}

/// Splits single lines.
struct Splitter<'a> {
    split: &'a OperandSplit,
    from: Format,
    to: Format,
    /// Rounds a rest to each part, and a part back; for parts of floating-point numbers.
    parts: Option<(Vec<Scalar>, Scalar)>,
}

impl<'a> Splitter<'a> {
    fn new(emulation: &'a Emulation, to: Format) -> Result<Self> {
        let parts = match &emulation.split {
            OperandSplit::Parts {
                count, roundings, ..
            } => {
                let last = roundings.last().copied().unwrap_or(Rounding::Rne);
                let all = (0..*count).map(|part| roundings.get(part).copied().unwrap_or(last));
                let narrow: Result<Vec<Scalar>> =
                    all.map(|rounding| Scalar::new(to, rounding)).collect();
                Some((narrow?, Scalar::new(emulation.from, Rounding::Rne)?))
            }
            _ => None,
        };
        Ok(Self {
            split: &emulation.split,
            from: emulation.from,
            to,
            parts,
        })
    }

    /// A line's exponent, and its parts one after the other.
    fn line(&self, words: &[u64]) -> (Option<i64>, Vec<u64>) {
        let k = words.len();
        let mut out = vec![0; self.split.count() * k];
        if let (OperandSplit::Parts { shift, .. }, Some((narrow, wide))) = (self.split, &self.parts)
        {
            let mut sign = self.from.to_register(1 << (self.from.bits - 1));
            sign &= self.from.widest_word();
            let up = Exact::power_of_two(false, *shift as i32);
            let up = self.from.round(&up, Rounding::Rne, Overflow::Ieee);
            let up = self.from.to_register(up);
            for (at, word) in words.iter().enumerate() {
                let mut rest = *word;
                for (part, narrow) in out.chunks_mut(k).zip(narrow) {
                    part[at] = narrow.convert(&self.from, rest);
                    let back = wide.convert(&self.to, part[at]);
                    rest = wide.add(rest, back ^ sign);
                    if *shift > 0 {
                        rest = wide.multiply(rest, up);
                    }
                }
            }
            return (Some(0), out);
        }
        let numbers: Option<Vec<Exact>> = words
            .iter()
            .map(|word| self.from.decode(self.from.from_register(*word)).exact())
            .collect();
        let Some(numbers) = numbers else {
            return (None, out);
        };
        let top = numbers.iter().filter_map(Exact::top).max();
        let Some(top) = top else {
            return (Some(0), out);
        };
        let rounding = match self.split {
            OperandSplit::Slices { rounding, .. } | OperandSplit::Residues { rounding, .. } => {
                *rounding
            }
            OperandSplit::Parts { .. } => Rounding::Rz,
        };
        // Relative to it every number is below 1, or below 1/2 where rounding may carry.
        let exponent = i64::from(top) + if rounding == Rounding::Rz { 1 } else { 2 };
        for (at, number) in numbers.iter().enumerate() {
            let mut rest = Rest {
                significand: number.magnitude as i128 * if number.negative { -1 } else { 1 },
                exponent: i64::from(number.exponent) - exponent,
            };
            match self.split {
                OperandSplit::Residues { moduli, bits, .. } => {
                    let whole = rest.whole(*bits, rounding);
                    for (part, modulus) in out.chunks_mut(k).zip(moduli) {
                        let (modulus, half) = (i128::from(*modulus), i128::from(modulus / 2));
                        part[at] = self.word((whole + half).rem_euclid(modulus) - half);
                    }
                }
                OperandSplit::Slices { bits, .. } => {
                    for part in out.chunks_mut(k) {
                        part[at] = self.word(rest.whole(*bits, rounding));
                    }
                }
                OperandSplit::Parts { .. } => {}
            }
        }
        (Some(exponent), out)
    }

    /// A whole number that the unit's format has.
    fn word(&self, whole: i128) -> u64 {
        let exact = Exact::of_multiple(whole, 0);
        let code = self.to.round(&exact, Rounding::Rz, Overflow::Ieee);
        self.to.to_register(code)
    }
}

/// What is left of a number: `significand · 2^exponent`.
struct Rest {
    significand: i128,
    exponent: i64,
}

impl Rest {
    /// Moves the rest up by some bits and takes the whole number out of it.
    fn whole(&mut self, bits: u32, rounding: Rounding) -> i128 {
        self.exponent += i64::from(bits);
        if self.significand == 0 {
            return 0;
        }
        if self.exponent >= 0 {
            // Numbers are below 2^bits, so this fits.
            let whole = self.significand << self.exponent;
            *self = Self {
                significand: 0,
                exponent: 0,
            };
            return whole;
        }
        let width = u32::try_from(-self.exponent).unwrap_or(u32::MAX);
        let negative = self.significand < 0;
        let magnitude = self.significand.unsigned_abs();
        let whole = rounding.shift_right(negative, magnitude, false, width.min(127)) as i128;
        let whole = if negative { -whole } else { whole };
        if whole != 0 {
            // Then the width is less than the significand's bits, at most 64.
            self.significand -= whole << width;
        }
        whole
    }
}
