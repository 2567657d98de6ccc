//! Computes whole matrices for the candidates that gave every element they were asked for, the simplest first.
//!
//! What one candidate gets wrong is asked of all others, so that a D that differs in a few elements refutes them together.
//! Only so many products are computed: candidates beyond that are stated on the elements they were asked for.

use super::excerpts::Part;
use super::matched_inputs::MatchedInputs;
use super::search::{ask_all, sort};
use super::sums::SameSum;
use super::trial::{Asked, Trial};
use crate::dpa::Signature;
use crate::error::Result;
use crate::format::Format;
use crate::gemm::engine;

/// The most products of the first candidate: those of 6502³.
const FIRST: u128 = 1 << 38;
/// The most products of all further candidates: those of 3251³.
const FURTHER: u128 = 1 << 35;
/// The most products of a nearest candidate that gives less than half of what it was asked: those of 1024³.
const FAR: u128 = 1 << 30;
/// How many products of an engine take the time of one of the reference.
const REFERENCE: u128 = 1024;
/// Elements that a candidate got wrong and that all others are asked, at most at the same time.
const ASKED: usize = 16;

/// Computes whole matrices, and gives the candidates that fit; those that do not go to `shown`.
pub(super) fn compute<'n>(
    asked: &Asked<'_>,
    trials: Vec<Trial<'n>>,
    shown: &mut Vec<Trial<'n>>,
) -> Result<Vec<Trial<'n>>> {
    let (mut waiting, others): (Vec<_>, Vec<_>) = trials.into_iter().partition(Trial::fits);
    shown.extend(others);
    sort(&mut waiting);
    let mut computer = Computer::new(asked);
    let (mut done, mut left): (Vec<(Trial<'n>, SameSum)>, u128) = (Vec::new(), FURTHER);
    let mut wrong: Vec<(usize, usize)> = Vec::new();
    while !waiting.is_empty() {
        let mut trial = waiting.remove(0);
        // Candidates that are known to compute the same sums share them.
        let sum = SameSum::of(asked, &trial);
        let same = |(other, of_other): &&(Trial<'_>, SameSum)| {
            other.full && other.fits() && *of_other == sum
        };
        if let Some((same, _)) = done.iter().find(same) {
            trial.take_over(same);
            done.push((trial, sum));
            continue;
        }
        let cost = computer.cost(&trial)?;
        let is_first = done.is_empty();
        if !is_first && cost > left {
            done.push((trial, sum));
            continue;
        }
        left = left.saturating_sub(cost);
        computer.compute(&mut trial, if is_first { FIRST } else { left.max(cost) })?;
        let Some(first) = trial.first.as_ref().filter(|_| !trial.fits()) else {
            done.push((trial, sum));
            continue;
        };
        // What refutes one may refute the others.
        wrong.push(first.place);
        shown.push(trial);
        let last = &wrong[wrong.len().saturating_sub(ASKED)..];
        let (rows, columns): (Vec<usize>, Vec<usize>) = last.iter().copied().unzip();
        let part = asked.of_lines(rows, columns)?;
        let (fitting, others) = refuted(asked, waiting, &part)?;
        waiting = fitting;
        shown.extend(others);
        sort(&mut waiting);
    }
    Ok(done.into_iter().map(|(trial, _)| trial).collect())
}

/// The candidates that give the elements of a part too, as they are; and the others with what they were wrong in.
fn refuted<'n>(
    asked: &Asked<'_>,
    trials: Vec<Trial<'n>>,
    part: &Part,
) -> Result<(Vec<Trial<'n>>, Vec<Trial<'n>>)> {
    let (mut fitting, mut others) = (Vec::new(), Vec::new());
    for trial in ask_all(asked, trials.clone(), part)? {
        let is_it = |other: &&Trial<'_>| {
            std::ptr::eq(other.named, trial.named) && other.schedule == trial.schedule
        };
        let before = trials.iter().find(is_it);
        match (trial.fits(), before) {
            (true, Some(before)) => fitting.push(before.clone()),
            (_, before) => {
                let mut trial = trial;
                if let Some(before) = before {
                    trial.add(before);
                }
                others.push(trial);
            }
        }
    }
    Ok((fitting, others))
}

/// Computes all of D for the nearest candidate, so that its distance is exact. Of a large D only one that gives at least
/// half of what it was asked is worth it.
pub(super) fn complete_nearest(asked: &Asked<'_>, trials: &mut [Trial<'_>]) -> Result<()> {
    if let Some(nearest) = trials.first_mut().filter(|best| !best.full && !best.fits()) {
        let mut computer = Computer::new(asked);
        if nearest.is_near() || computer.cost(nearest)? <= FAR {
            computer.compute(nearest, FIRST)?;
        }
    }
    Ok(())
}

/// Computes candidates; the operands of the last one are kept.
struct Computer<'a> {
    asked: &'a Asked<'a>,
    last: Option<(Signature, Format, Option<MatchedInputs>)>,
}

impl<'a> Computer<'a> {
    fn new(asked: &'a Asked<'a>) -> Self {
        Self { asked, last: None }
    }

    /// What all of D costs, in products of an engine.
    fn cost(&self, trial: &Trial<'_>) -> Result<u128> {
        let [m, n, _] = self.asked.shape;
        let plan = engine()?.plan(&trial.named.unit);
        let each = match plan.is_ok_and(|plan| !plan.is_reference()) {
            true => 1,
            false => REFERENCE,
        };
        Ok(trial.products() * m as u128 * n as u128 * each)
    }

    /// Computes all of D, or, beyond so many products, as many of its rows as they allow.
    fn compute(&mut self, trial: &mut Trial<'_>, most: u128) -> Result<()> {
        let [m, n, _] = self.asked.shape;
        let cost = self.cost(trial)?;
        if cost > most {
            let count = (most * m as u128 / cost).max(1) as usize;
            let rows = (0..count).map(|index| (2 * index + 1) * m / (2 * count));
            let part = self.asked.of_lines(rows.collect(), (0..n).collect())?;
            let asked = self.asked.ask(vec![trial.clone()], &part)?;
            if let Some(asked) = asked.into_iter().next() {
                *trial = asked;
            }
            return Ok(());
        }
        let (signature, format) = (trial.signature(), trial.format());
        let is_last =
            |(own, of_d, _): &(Signature, Format, _)| (*own, *of_d) == (signature, format);
        if !self.last.as_ref().is_some_and(is_last) {
            self.last = None;
            let inputs = self.asked.inputs(None, &signature, &[format]);
            self.last = Some((signature, format, inputs));
        }
        match &self.last {
            Some((_, _, Some(inputs))) => self.asked.compute(trial, inputs),
            _ => Ok(()),
        }
    }
}
