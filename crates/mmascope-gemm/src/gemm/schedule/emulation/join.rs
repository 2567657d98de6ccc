//! Joins the sums of groups.

use super::{Emulation, Expansion, Join, OperandSplit};
use crate::dpa::Scalar;
use crate::error::Result;
use crate::exact::Exact;
use crate::format::{Format, Unpacked};
use crate::gemm::Region;
use crate::gemm::schedule::combine::Values;
use crate::gemm::schedule::{Reduction, ReductionOrder};

/// Sums of groups of one region that are being joined.
pub(in crate::gemm) struct Joining<'a> {
    emulation: &'a Emulation,
    region: &'a Region,
    a: &'a Expansion,
    b: &'a Expansion,
}

impl<'a> Joining<'a> {
    /// The operands were split for this region.
    pub(in crate::gemm) fn new(
        emulation: &'a Emulation,
        region: &'a Region,
        [a, b]: [&'a Expansion; 2],
    ) -> Self {
        Self {
            emulation,
            region,
            a,
            b,
        }
    }

    /// One sum of all groups' sums, which come in the order of the groups.
    pub(in crate::gemm) fn joined(&self, join: &Join, sums: Vec<Values>) -> Result<Values> {
        match join {
            Join::Sum(reduction) => self.added(reduction, sums),
            Join::Residues(scalar) => self.of_residues(scalar, &sums),
        }
    }

    /// The power of two of an output, but for that of its group; `None` where operands are not finite.
    fn exponent(&self, index: usize) -> Option<i64> {
        let (batch, i, j) = self.region.place(index);
        let batch = batch - self.region.batch.start;
        let a = self.a.exponent(batch, i - self.region.rows.start)?;
        let b = self.b.exponent(batch, j - self.region.columns.start)?;
        Some(a + b)
    }

    fn added(&self, reduction: &Reduction, sums: Vec<Values>) -> Result<Values> {
        let scalar = &reduction.scalar;
        let mut terms = Vec::with_capacity(sums.len());
        for (sum, group) in sums.iter().zip(&self.emulation.groups) {
            let own = self.emulation.split.exponent(group[0]);
            let mut term = Values::zeros(scalar.format(), sum.words.len())?;
            term.update(|index, _| match self.exponent(index) {
                Some(exponent) => scaled(&sum.format, sum.words.get(index), own + exponent, scalar),
                None => nan(&scalar.format()),
            });
            terms.push(term);
        }
        if reduction.order == ReductionOrder::Descending {
            terms.reverse();
        }
        while terms.len() > 1 {
            let mut level = Vec::new();
            let mut rest = terms.into_iter();
            while let Some(mut left) = rest.next() {
                if let Some(right) = rest.next() {
                    left.add(&right, scalar);
                }
                level.push(left);
                if reduction.order != ReductionOrder::Pairwise {
                    level.extend(rest.by_ref());
                }
            }
            terms = level;
        }
        match terms.pop() {
            Some(sum) => Ok(sum),
            None => Values::zeros(scalar.format(), self.region.len()),
        }
    }

    fn of_residues(&self, scalar: &Scalar, sums: &[Values]) -> Result<Values> {
        let format = scalar.format();
        let mut out = Values::zeros(format, self.region.len())?;
        let OperandSplit::Residues { moduli, .. } = &self.emulation.split else {
            return Ok(out);
        };
        let system = System::new(moduli);
        let own = self.emulation.split.exponent((0, 0));
        out.update(|index, _| {
            let residues: Option<Vec<u64>> = sums
                .iter()
                .zip(moduli)
                .map(|(sum, modulus)| residue(&sum.format, sum.words.get(index), (*modulus).into()))
                .collect();
            match (self.exponent(index), residues) {
                (Some(exponent), Some(residues)) => {
                    let number = system.number(&residues);
                    rounded(number < 0, number.unsigned_abs(), own + exponent, scalar)
                }
                _ => nan(&format),
            }
        });
        Ok(out)
    }
}

/// A word times a power of two, rounded once.
fn scaled(format: &Format, word: u64, exponent: i64, scalar: &Scalar) -> u64 {
    match decoded(format, word).exact() {
        Some(exact) => rounded(
            exact.negative,
            exact.magnitude,
            exponent + i64::from(exact.exponent),
            scalar,
        ),
        None => scalar.convert(format, word),
    }
}

fn decoded(format: &Format, word: u64) -> Unpacked {
    format.decode(format.from_register(word))
}

fn rounded(negative: bool, magnitude: u128, exponent: i64, scalar: &Scalar) -> u64 {
    let format = scalar.format();
    // Far beyond the range of every format.
    let exponent = exponent.clamp(-(1 << 20), 1 << 20) as i32;
    let exact = Exact::new(negative, magnitude, exponent);
    format.to_register(format.round(&exact, scalar.rounding(), scalar.overflow()))
}

fn nan(format: &Format) -> u64 {
    format.to_register(format.nan().unwrap_or_else(|| format.mask()))
}

/// A whole number modulo another one; `None` of what is no whole number.
fn residue(format: &Format, word: u64, modulus: u64) -> Option<u64> {
    let exact = decoded(format, word).exact()?.in_lowest_terms();
    let exponent = u32::try_from(exact.exponent).ok()?;
    let modulus = u128::from(modulus);
    let mut residue = exact.magnitude % modulus;
    for _ in 0..exponent {
        residue = residue * 2 % modulus;
    }
    let residue = match exact.negative {
        true => (modulus - residue) % modulus,
        false => residue,
    };
    Some(residue as u64)
}

/// Pairwise coprime moduli, and what mixed-radix digits need of them.
struct System {
    moduli: Vec<u64>,
    /// The inverse of each earlier modulus by each later one.
    inverses: Vec<Vec<u64>>,
    product: u128,
}

impl System {
    fn new(moduli: &[u32]) -> Self {
        let moduli: Vec<u64> = moduli.iter().map(|&modulus| modulus.into()).collect();
        let inverses = moduli
            .iter()
            .enumerate()
            .map(|(index, &modulus)| {
                let earlier = &moduli[..index];
                earlier
                    .iter()
                    .map(|&other| inverse(other, modulus))
                    .collect()
            })
            .collect();
        Self {
            product: moduli.iter().map(|&modulus| u128::from(modulus)).product(),
            moduli,
            inverses,
        }
    }

    /// The number from −product/2 on, below product/2, that has these residues: its digits in the mixed radix of the
    /// moduli one after the other.
    fn number(&self, residues: &[u64]) -> i128 {
        let mut digits: Vec<u64> = Vec::with_capacity(residues.len());
        let (mut number, mut place) = (0_u128, 1_u128);
        for (index, &modulus) in self.moduli.iter().enumerate() {
            let mut digit = residues[index];
            for (&lower, &inverse) in digits.iter().zip(&self.inverses[index]) {
                digit = (digit + modulus - lower % modulus) % modulus * inverse % modulus;
            }
            number += place * u128::from(digit);
            place *= u128::from(modulus);
            digits.push(digit);
        }
        match number >= self.product.div_ceil(2) {
            true => number as i128 - self.product as i128,
            false => number as i128,
        }
    }
}

/// The inverse of a number by a modulus that it is coprime to, by Euclid's algorithm.
fn inverse(number: u64, modulus: u64) -> u64 {
    let (mut old, mut new) = (modulus as i64, (number % modulus) as i64);
    let (mut before, mut after) = (0_i64, 1_i64);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (before, after) = (after, before - quotient * after);
    }
    before.rem_euclid(modulus as i64) as u64
}
