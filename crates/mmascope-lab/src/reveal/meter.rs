//! Counts every masked input and every call of the subject; all of them pass here.

use super::subject::{Query, Summation};
use super::{RevealProgress, Trouble};
use crate::error::{Error, Result};
use crate::tree::Term;

/// Most queries handed over at once, so that progress can be told.
const MOST_AT_ONCE: usize = 1 << 14;

/// A subject and what was asked of it.
pub(super) struct Meter<'a> {
    pub(super) subject: &'a mut dyn Summation,
    /// Whether a call takes as many inputs as the subject allows; otherwise one.
    pub(super) batched: bool,
    calls: u64,
    measurements: u64,
    /// Calls and measurements of the algorithms themselves, without the checks of their results.
    pub(super) found_after: (u64, u64),
    progress: RevealProgress<'a>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        subject: &'a mut dyn Summation,
        batched: bool,
        progress: RevealProgress<'a>,
    ) -> Self {
        Self {
            subject,
            batched,
            calls: 0,
            measurements: 0,
            found_after: (0, 0),
            progress,
        }
    }

    /// Calls and measurements so far.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.calls, self.measurements)
    }

    /// Runs an algorithm, and notes what it asks as the algorithms' own.
    pub(super) fn finds<T>(&mut self, algorithm: impl FnOnce(&mut Self) -> T) -> T {
        let (calls, measurements) = self.counts();
        let found = algorithm(self);
        self.found_after.0 += self.calls - calls;
        self.found_after.1 += self.measurements - measurements;
        found
    }

    /// Lets the subject ask what it must know first.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let inputs = self.subject.prepare()?;
        self.count(inputs);
        Ok(())
    }

    fn count(&mut self, queries: usize) {
        let capacity = if self.batched {
            self.subject.capacity().max(1)
        } else {
            1
        };
        self.calls += queries.div_ceil(capacity) as u64;
        self.measurements += queries as u64;
        (self.progress)(self.measurements);
    }

    /// Results in units. Where rounding toward zero absorbs units into one of ±M only, a result
    /// that no count can be is measured again with the masks exchanged.
    pub(super) fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let mut results = self.measure_once(units, queries)?;
        let all: f64 = units.iter().sum::<f64>().max(1.0);
        let counts = |result: f64| result.fract() == 0.0 && (0.0..=all).contains(&result);
        let masked = |query: &Query| query.plus.is_some() && query.minus.is_some();
        let odd: Vec<usize> = (0..queries.len())
            .filter(|&at| !counts(results[at]) && masked(&queries[at]))
            .collect();
        if odd.is_empty() {
            return Ok(results);
        }
        let exchanged: Vec<Query> = odd
            .iter()
            .map(|&at| Query {
                plus: queries[at].minus,
                minus: queries[at].plus,
                ..queries[at]
            })
            .collect();
        let again = self.measure_once(units, &exchanged)?;
        for (at, result) in odd.into_iter().zip(again) {
            results[at] = result;
        }
        Ok(results)
    }

    fn measure_once(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let capacity = self.subject.capacity().max(1);
        let most = match self.batched {
            true => MOST_AT_ONCE.div_ceil(capacity) * capacity,
            false if capacity > 1 => 1,
            false => MOST_AT_ONCE,
        };
        let mut results = Vec::with_capacity(queries.len());
        for part in queries.chunks(most) {
            results.extend(self.subject.measure(units, part)?);
            self.count(part.len());
        }
        Ok(results)
    }

    /// Results of given inputs.
    pub(super) fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let results = self.subject.evaluate(inputs)?;
        self.count(inputs.len());
        Ok(results)
    }

    /// Results of inputs that have one term at every leaf but a few.
    pub(super) fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        let results = self.subject.evaluate_sparse(background, inputs)?;
        self.count(inputs.len());
        Ok(results)
    }

    /// Units on every leaf.
    pub(super) fn all_units(&self) -> Vec<f64> {
        vec![1.0; self.subject.leaves()]
    }

    /// How many leaves the masks of each pair absorb when the leaves with units are those of
    /// `units`, of which there are `total`, masks included.
    pub(super) fn absorbed(
        &mut self,
        units: &[f64],
        total: usize,
        pairs: &[(usize, usize)],
    ) -> std::result::Result<Vec<usize>, Trouble> {
        let queries: Vec<Query> = pairs
            .iter()
            .map(|&(plus, minus)| Query {
                plus: Some(plus),
                minus: Some(minus),
                only: None,
            })
            .collect();
        let results = self.measure(units, &queries)?;
        let whole = |(result, &(i, j)): (f64, &(usize, usize))| {
            let rest = total as f64 - 2.0;
            if result.fract() == 0.0 && (0.0..=rest).contains(&result) {
                Ok(total - result as usize)
            } else {
                Err(Trouble::no_tree(format!(
                    "masks at leaves {i} and {j} leave {result} of {rest} units"
                )))
            }
        };
        results.into_iter().zip(pairs).map(whole).collect()
    }

    /// Takes the first choice of masks that passes: every unit counts by itself, and masks cancel.
    pub(super) fn choose_masks(&mut self) -> Result<()> {
        let leaves = self.subject.leaves();
        let mut failures = Vec::new();
        let mut second = None;
        for choice in 0..self.subject.choices() {
            self.subject.choose(choice);
            match self.masks_fail()? {
                None if self.absorb()? => return Ok(()),
                None => second = second.or(Some(choice)),
                Some(failure) => failures.push(failure),
            }
        }
        if let Some(choice) = second {
            self.subject.choose(choice);
            return Ok(());
        }
        Err(Error::Argument(format!(
            "{}: no masks work for {leaves} leaves of {}: {}",
            self.subject.name(),
            self.subject.operand_format(),
            failures.join("; ")
        )))
    }

    /// Takes the first choice of masks that cancel and of units that count; whether there is one.
    pub(super) fn choose_any_masks(&mut self) -> Result<bool> {
        for choice in 0..self.subject.choices() {
            self.subject.choose(choice);
            if self.masks_fail()?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether masks among units leave numbers of units.
    fn absorb(&mut self) -> Result<bool> {
        let leaves = self.subject.leaves();
        let pairs = [(0, leaves - 1), (0, 1), (leaves / 2, 0)];
        let queries: Vec<Query> = pairs
            .iter()
            .filter(|(plus, minus)| plus != minus && *minus < leaves)
            .map(|&(plus, minus)| Query {
                plus: Some(plus),
                minus: Some(minus),
                only: None,
            })
            .collect();
        let most = leaves as f64;
        let results = self.measure(&self.all_units(), &queries)?;
        Ok(results
            .iter()
            .all(|result| result.fract() == 0.0 && (0.0..most).contains(result)))
    }

    /// Describes what is wrong with the masks in use, with numbers.
    fn masks_fail(&mut self) -> Result<Option<String>> {
        let leaves = self.subject.leaves();
        let masks = self.subject.masks();
        let describe = |what: String| {
            let (large, unit) = (masks.large.log2(), masks.unit.log2());
            Some(format!("M=2^{large} u=2^{unit}: {what}"))
        };
        let all = self.all_units();
        if self.measure(&all, &[Query::default()])?[0] != leaves as f64 {
            // Too many units at once, or units that do not count at all: look at each.
            let each: Vec<Query> = (0..leaves)
                .map(|leaf| Query {
                    only: Some(leaf),
                    ..Query::default()
                })
                .collect();
            let results = self.measure(&all, &each)?;
            if let Some(leaf) = results.iter().position(|&result| result != 1.0) {
                return Ok(describe(format!(
                    "a lone unit at {} gives {} units; is it a sum?",
                    self.subject.leaf_name(leaf),
                    shown(results[leaf])
                )));
            }
        }
        if leaves < 2 {
            return Ok(None);
        }
        let ends = [(0, leaves - 1), (leaves - 1, 0), (0, 1), (leaves / 2, 0)];
        let queries: Vec<Query> = ends
            .iter()
            .filter(|(plus, minus)| plus != minus)
            .map(|&(plus, minus)| Query {
                plus: Some(plus),
                minus: Some(minus),
                only: None,
            })
            .collect();
        let results = self.measure(&vec![0.0; leaves], &queries)?;
        let bad = results.iter().position(|&result| result != 0.0);
        Ok(bad.and_then(|at| {
            describe(format!(
                "masks alone at {} and {} give {} units, not 0; is it a sum?",
                self.subject.leaf_name(queries[at].plus.unwrap_or(0)),
                self.subject.leaf_name(queries[at].minus.unwrap_or(0)),
                shown(results[at])
            ))
        }))
    }

    /// Whether units on all leaves are counted exactly.
    pub(super) fn counts_all(&mut self) -> bool {
        let all = self.all_units();
        let leaves = all.len() as f64;
        leaves <= self.subject.masks().counted
            && self
                .measure(&all, &[Query::default()])
                .is_ok_and(|results| results[0] == leaves)
    }
}

/// A number of units; a large one in few digits.
fn shown(units: f64) -> String {
    match units.abs() < 1e9 {
        true => units.to_string(),
        false => format!("{units:e}"),
    }
}
