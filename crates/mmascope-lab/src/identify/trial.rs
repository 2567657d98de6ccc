//! Candidates being tried: a unit under a schedule, and how much of D it gives so far.

use std::sync::atomic::AtomicBool;

use super::excerpts::Part;
use super::matched_inputs::{GivenD, MatchedInputs, matched_inputs};
use super::schedules::{self, Shape};
use super::sums::SameSum;
use super::{Candidate, Question, emulations};
use crate::array::Array;
use crate::dpa::{Modifiers, Unit};
use crate::error::Result;
use crate::format::{Class, Format};
use crate::gemm::{Schedule, ScheduledProduct, Watch};

/// Emulations come behind every schedule of a product as it is.
const EMULATED: usize = 1 << 20;

/// A unit of the catalogue with the rows that have it.
pub(super) struct Named {
    pub(super) unit: Unit,
    pub(super) names: Vec<String>,
}

/// A unit under a schedule.
#[derive(Clone)]
pub(super) struct Trial<'a> {
    pub(super) named: &'a Named,
    pub(super) schedule: Schedule,
    /// The format of D.
    format: Format,
    /// K with the +0 that fill it up.
    k: usize,
    /// Its place among the schedules: the simpler ones come first.
    pub(super) rank: usize,
    pub(super) compared: usize,
    pub(super) agreeing: usize,
    pub(super) first: Option<Disagreement>,
    pub(super) full: bool,
}

/// The first element that is not as given.
#[derive(Clone)]
pub(super) struct Disagreement {
    pub(super) place: (usize, usize),
    given: u64,
    computed: u64,
}

/// What is asked: the whole question, with what every candidate needs to know of it.
pub(super) struct Asked<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) shape: [usize; 3],
    pub(super) cancel: &'a AtomicBool,
}

impl<'a> Asked<'a> {
    pub(super) fn watch(&self) -> Watch<'a> {
        Watch {
            progress: &|_| (),
            cancel: self.cancel,
        }
    }

    fn scales(&self) -> Option<(&'a Array, &'a Array)> {
        let operands = &self.question.operands;
        operands.scale_a.zip(operands.scale_b)
    }

    /// The matrices of a part, or the whole ones, for a signature.
    pub(super) fn inputs(
        &self,
        part: Option<&Part>,
        signature: &crate::dpa::Signature,
        d: &[Format],
    ) -> Option<MatchedInputs> {
        match part {
            Some(part) => matched_inputs(&part.question(), self.scales(), signature, d),
            None => matched_inputs(self.question, self.scales(), signature, d),
        }
    }

    /// Every schedule of a unit as it is. `None` when results that are no accumulators would have to be chained, or no
    /// scales of this product have these shapes.
    pub(super) fn plain<'n>(
        &self,
        named: &'n Named,
        formats: &[Format],
        part: &Part,
    ) -> Option<Vec<Trial<'n>>> {
        let signature = named.unit.signature();
        let [m, n, k] = self.shape;
        if k > signature.k && signature.c.container() != signature.d.container() {
            return None;
        }
        let inputs = self.inputs(Some(part), signature, formats)?;
        let k = inputs.matrices.k();
        let steps = k / signature.k;
        let scaled = inputs.scaled(m, n, steps);
        if scaled.is_none() && inputs.scales.is_some() {
            return None;
        }
        let shape = Shape {
            m,
            n,
            steps,
            with_c: inputs.matrices.c().is_some(),
            factors: self.question.factors,
            scaled,
        };
        let own = signature.d.container();
        let mut found = Vec::new();
        for format in formats {
            let output = (*format != own).then_some(*format);
            for schedule in schedules::usual(signature, &shape, output) {
                if schedule.format(&named.unit).container() == *format {
                    let rank = found.len();
                    found.push(Trial::new(named, schedule, *format, k, rank));
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Every scheme of emulated precision that a unit may take. `formats` says which formats hold D, for a signature.
    pub(super) fn emulated<'n>(
        &self,
        named: &'n Named,
        mut formats: impl FnMut(&crate::dpa::Signature) -> Option<Vec<Format>>,
    ) -> Result<Vec<Trial<'n>>> {
        let unit = &named.unit;
        let mut found = Vec::new();
        let schemes = emulations::schemes(unit, self.question, self.shape[2])?;
        for (rank, schedule) in schemes.into_iter().enumerate() {
            let signature = schedule.signature(unit);
            let format = schedule.format(unit).container();
            if formats(&signature).is_some_and(|formats| formats.contains(&format)) {
                let k = self.shape[2].next_multiple_of(signature.k);
                found.push(Trial::new(named, schedule, format, k, EMULATED + rank));
            }
        }
        Ok(found)
    }

    /// Asks candidates of one unit for the elements of a part. Returns those that the unit can compute.
    pub(super) fn ask<'n>(&self, trials: Vec<Trial<'n>>, part: &Part) -> Result<Vec<Trial<'n>>> {
        let (mut found, mut last) = (Vec::new(), None);
        let (emulated, mut plain): (Vec<_>, Vec<_>) =
            trials.into_iter().partition(Trial::is_emulated);
        let elements: Vec<(usize, usize)> = (part.excerpt.rows().iter())
            .flat_map(|i| part.excerpt.columns().iter().map(move |j| (*i, *j)))
            .collect();
        if let Some(Trial { named, .. }) = plain.first() {
            let formats = formats(&plain);
            if let Some(inputs) = self.inputs(Some(part), named.unit.signature(), &formats) {
                let schedules: Vec<Schedule> =
                    plain.iter().map(|trial| trial.schedule.clone()).collect();
                let scales = inputs.scales.as_ref();
                let (unit, matrices) = (&named.unit, &inputs.matrices);
                let watch = self.watch();
                let words = part
                    .excerpt
                    .words(unit, matrices, &schedules, scales, &watch)?;
                for (trial, words) in plain.iter_mut().zip(words) {
                    trial.compare(&inputs.d, elements.iter().copied(), words.into_iter());
                }
                found.append(&mut plain);
            }
        }
        for mut trial in emulated {
            let unit = &trial.named.unit;
            let signature = trial.schedule.signature(unit);
            let asked = (signature, trial.format);
            // Nearly all schemes have the same operands.
            if last.as_ref().is_none_or(|(known, _)| *known != asked) {
                let inputs = self.inputs(Some(part), &signature, &[trial.format]);
                last = Some((asked, inputs));
            }
            let Some((_, Some(inputs))) = &last else {
                continue;
            };
            let (matrices, modifiers) = (&inputs.matrices, Modifiers::default());
            // A unit may not take the scheme's parts.
            let product = ScheduledProduct::new(&trial.schedule, unit, matrices, modifiers);
            if let Ok(product) = product {
                let words = product.run(None, &self.watch())?;
                trial.compare(&inputs.d, elements.iter().copied(), words.iter());
                found.push(trial);
            }
        }
        Ok(found)
    }

    /// Computes all of D for a candidate, from the whole matrices.
    pub(super) fn compute(&self, trial: &mut Trial<'_>, inputs: &MatchedInputs) -> Result<()> {
        let [m, n, _] = self.shape;
        let unit = &trial.named.unit;
        let modifiers = Modifiers::default();
        let (matrices, scales) = (&inputs.matrices, inputs.scales.as_ref());
        let product = ScheduledProduct::new(&trial.schedule, unit, matrices, modifiers)?;
        let words = product.run(scales, &self.watch())?;
        let elements = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        trial.compare(&inputs.d, elements, words.iter());
        trial.full = true;
        Ok(())
    }
}

/// The formats of D of some candidates.
fn formats(trials: &[Trial<'_>]) -> Vec<Format> {
    let mut found: Vec<Format> = Vec::new();
    for trial in trials {
        if !found.contains(&trial.format) {
            found.push(trial.format);
        }
    }
    found
}

impl<'a> Trial<'a> {
    fn new(named: &'a Named, schedule: Schedule, format: Format, k: usize, rank: usize) -> Self {
        Self {
            named,
            schedule,
            format,
            k,
            rank,
            compared: 0,
            agreeing: 0,
            first: None,
            full: false,
        }
    }

    pub(super) fn is_emulated(&self) -> bool {
        self.schedule.emulation.is_some()
    }

    /// Whether everything computed is as given.
    pub(super) fn fits(&self) -> bool {
        self.agreeing == self.compared
    }

    /// Whether at least half of what was computed is as given.
    pub(super) fn is_near(&self) -> bool {
        2 * self.agreeing >= self.compared
    }

    pub(super) fn share(&self) -> f64 {
        self.agreeing as f64 / self.compared.max(1) as f64
    }

    /// The signature of its operands.
    pub(super) fn signature(&self) -> crate::dpa::Signature {
        self.schedule.signature(&self.named.unit)
    }

    /// The format of D.
    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// K with the +0 that fill it up.
    pub(super) fn padded_k(&self) -> usize {
        self.k
    }

    /// Instructions' worth of K that an element takes, in products.
    pub(super) fn products(&self) -> u128 {
        let emulation = self.schedule.emulation.as_ref();
        let passes = emulation.map_or(1, |emulation| emulation.products());
        self.k as u128 * passes as u128
    }

    /// Counts the elements that are as given; `d` holds these elements in this order.
    fn compare(
        &mut self,
        d: &[GivenD],
        elements: impl Iterator<Item = (usize, usize)>,
        words: impl Iterator<Item = u64>,
    ) {
        (self.compared, self.agreeing, self.first, self.full) = (0, 0, None, false);
        let Some(d) = d.iter().find(|own| own.format == self.format) else {
            return;
        };
        let unit = &self.named.unit;
        for (at, (place, word)) in elements.zip(words).enumerate() {
            let given = d.words.get(at);
            self.compared += 1;
            if given == word || agrees(unit, d, given, word) {
                self.agreeing += 1;
            } else if self.first.is_none() {
                self.first = Some(Disagreement {
                    place,
                    given,
                    computed: word,
                });
            }
        }
    }

    /// Counts what another trial of the same candidate compared, too.
    pub(super) fn add(&mut self, other: &Self) {
        self.compared += other.compared;
        self.agreeing += other.agreeing;
    }

    /// Takes over what another trial computed, where both are the same sums.
    pub(super) fn take_over(&mut self, other: &Self) {
        (self.compared, self.agreeing, self.full) = (other.compared, other.agreeing, other.full);
    }

    /// What is told of it.
    pub(super) fn candidate(&self, asked: &Asked<'_>) -> Candidate {
        let digits = self.format.digits();
        let text = |word: u64| format!("{word:0digits$x}");
        let first = self.first.as_ref().map(|first| {
            let (i, j) = first.place;
            (i, j, text(first.given), text(first.computed))
        });
        Candidate {
            rows: self.named.names.clone(),
            schedule: self.schedule.to_string(),
            arithmetic: self.named.unit.program().to_string(),
            k: self.k,
            compared: self.compared,
            agreeing: self.agreeing,
            full: self.full,
            first,
            sum: SameSum::of(asked, self),
        }
    }
}

/// Whether a word is as good as the one given: a NaN where the payload is not known.
fn agrees(unit: &Unit, given: &GivenD, wanted: u64, word: u64) -> bool {
    let format = &given.format;
    if *format == unit.signature().d.container() && !given.loses_nans {
        return unit.agrees(word, wanted);
    }
    let is_nan = |word: u64| {
        let code = format.from_register(word);
        format.decode(code).class == Class::Nan
    };
    is_nan(wanted) && is_nan(word)
}
