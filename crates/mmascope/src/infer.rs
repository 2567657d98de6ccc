//! Inference: from a black box to a model, in the catalogue's own notation.
//!
//! The device is asked directed and random inputs; rows of the catalogue and then programs of the
//! whole model space are compared with its answers; what fits is tried on fresh inputs of every
//! family; every parameter is then changed, value by value, and an input is looked for and asked
//! that tells the changed unit apart. Values for which there is none are reported as unobservable.
//! Nothing here sees what is behind a [`Dut`].
//!
//! ```
//! use mmascope::{dut::ModelDut, infer::{Options, Outcome, infer}, isa::Catalogue};
//!
//! let catalogue = Catalogue::built_in();
//! let unit = catalogue.find("volta", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
//! let mut device = ModelDut::new("a black box", unit.clone());
//! let inference = infer(&mut device, Some(catalogue), &Options::default())?;
//! let Outcome::Model(model) = &inference.outcome else { panic!("nothing fits") };
//! assert!(model.program.to_string().starts_with("t-fdpa L=4 F=23"));
//! # Ok::<(), mmascope::Error>(())
//! ```

mod asker;
mod distinguish;
mod forms;
mod inputs;
mod maker;
mod neighbours;
mod report;
mod search;
mod settings;
mod shapes;
mod shrinking;
mod space;

pub(crate) use distinguish::{differ, find as find_difference};
pub(crate) use maker::{Maker, Number};
pub(crate) use neighbours::each as each_neighbour;
pub(crate) use report::line;
pub(crate) use shrinking::shrink as shrink_on_device;

pub use report::{Example, Found, Inference, Outcome, Rejected, Unobservable};

use std::time::{Duration, Instant};

use crate::cases::{Case, Family, Generator, Hints};
use crate::dpa::{Program, Signature, Unit};
use crate::dut::Dut;
use crate::error::Result;
use crate::isa::Catalogue;
use crate::reveal::Random;
use crate::vector::Answer;
use asker::Asker;
use inputs::{Focus, Kind, make};
use search::{Candidate, Search};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most queries.
    pub budget: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Fresh random inputs of each family with which the model is verified.
    pub trials: usize,
    /// Time after which the search through the model space gives up.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budget: 20_000,
            seed: 1,
            trials: 300,
            patience: Duration::from_secs(60),
        }
    }
}

/// Progress: queries asked so far and what is being done.
pub type Progress<'a> = &'a mut dyn FnMut(u64, &str);

/// Questions of each kind to begin with.
const QUESTIONS: [(Kind, usize); 7] = [
    (Kind::Tie, 300),
    (Kind::Core, 600),
    (Kind::Products, 300),
    (Kind::Tiny, 400),
    (Kind::Huge, 150),
    (Kind::Special, 100),
    (Kind::Zeros, 120),
];
/// Repairs after a mismatch on fresh inputs.
const REPAIRS: usize = 12;

/// Finds a model of a device.
///
/// Rows of `catalogue` with the device's signature are tried first. That nothing fits, or that the
/// device is noisy, is an [`Outcome`] and no error.
///
/// # Errors
/// The device's own errors; [`crate::Error::Argument`] for operands that are no floats.
pub fn infer(
    device: &mut dyn Dut,
    catalogue: Option<&Catalogue>,
    options: &Options,
) -> Result<Inference> {
    infer_with_progress(device, catalogue, options, &mut |_, _| ())
}

/// As [`infer`], telling `progress`.
///
/// # Errors
/// As [`infer`].
pub fn infer_with_progress(
    device: &mut dyn Dut,
    catalogue: Option<&Catalogue>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Inference> {
    let begin = Instant::now();
    let (subject, signature) = (device.name().to_owned(), *device.signature());
    let mut run = Run {
        maker: Maker::new(&signature)?,
        signature,
        asker: Asker::new(device, options.budget),
        random: Random::new(options.seed),
        options,
        deadline: begin + options.patience,
        trials: 0,
        core: 0,
    };
    let outcome = run.run(catalogue, progress)?;
    Ok(Inference {
        subject,
        signature,
        outcome,
        trials: run.trials,
        queries: run.asker.queries,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

/// An inference on its way.
struct Run<'a> {
    maker: Maker,
    signature: Signature,
    asker: Asker<'a>,
    random: Random,
    options: &'a Options,
    deadline: Instant,
    /// Random inputs with which the model at the end was verified.
    trials: u64,
    /// How many of the first questions are about alignment and rounding.
    core: usize,
}

impl Run<'_> {
    fn run(&mut self, catalogue: Option<&Catalogue>, progress: Progress<'_>) -> Result<Outcome> {
        self.first_questions()?;
        if let Some(noise) = self.noise()? {
            return Ok(noise);
        }
        progress(self.asker.queries, "rows of the catalogue");
        let rows = space::rows(catalogue, &self.signature);
        let mut best = self.fitting_row(&rows);
        let mut tried: Vec<Candidate> = Vec::new();
        for repair in 0..REPAIRS {
            if best.as_ref().is_none_or(|best| !best.failing.is_empty()) {
                progress(self.asker.queries, "the model space");
                best = self.search(&rows, best, &mut tried)?;
            }
            let Some(found) = best.as_mut().filter(|best| best.failing.is_empty()) else {
                break;
            };
            progress(self.asker.queries, "fresh inputs");
            if !rows.iter().any(|row| row.unit == found.unit) {
                let simplest = self.simplest(found);
                *found = simplest;
            }
            let unit = found.unit.clone();
            let failing = self.verify(&unit)?;
            if failing.is_empty() {
                progress(self.asker.queries, "neighbours");
                match neighbours::study(self, &unit, &rows)? {
                    neighbours::Study::Stands(study) => {
                        if let Some(noise) = self.noise()? {
                            return Ok(noise);
                        }
                        return Ok(Outcome::Model(Box::new(self.found(*study))));
                    }
                    neighbours::Study::Refuted => {}
                }
            }
            if repair + 1 < REPAIRS {
                // The new answers decide: another row, or a repaired program.
                best = self
                    .fitting_row(&rows)
                    .or_else(|| self.everything().candidate(unit.program()));
            }
        }
        if let Some(noise) = self.noise()? {
            return Ok(noise);
        }
        self.no_model(best)
    }

    fn first_questions(&mut self) -> Result<()> {
        let focus = Focus {
            bits: vec![13, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 35],
            floors: vec![-126, -133, self.maker.d.normal],
        };
        let mut cases = Vec::new();
        for (kind, count) in QUESTIONS {
            cases.extend((0..count).map(|_| make(&self.maker, kind, &focus, &mut self.random)));
            if kind == Kind::Products {
                self.core = cases.len();
            }
        }
        self.asker.ask(cases)?;
        self.core = self.core.min(self.asker.asked.len());
        self.asker.recheck(8)?;
        let families = [
            Family::Normal,
            Family::Close,
            Family::Stress,
            Family::Boundary,
        ];
        self.families(&families, 60, None)?;
        Ok(())
    }

    /// Asks fresh cases of families; gives their places.
    fn families(
        &mut self,
        families: &[Family],
        count: usize,
        unit: Option<&Unit>,
    ) -> Result<Vec<usize>> {
        let hints = unit.map_or_else(|| Hints::of_signature(&self.signature), Hints::of_unit);
        let mut cases: Vec<Case> = Vec::new();
        for &family in families {
            let seed = self.random.bits();
            let Ok(generator) = Generator::new(family, seed, &self.signature, hints) else {
                continue;
            };
            let first = if family == Family::Exhaustive {
                self.random.bits() >> 44
            } else {
                0
            };
            cases.extend((0..count as u64).map(|index| generator.case(first + index * 977)));
        }
        self.asker.ask(cases)
    }

    fn noise(&mut self) -> Result<Option<Outcome>> {
        if self.asker.noise.is_none() {
            self.asker.recheck(23)?;
        }
        Ok(self.asker.noise.clone().map(|noise| Outcome::Noise {
            case: noise.case,
            answers: noise.answers,
        }))
    }

    /// A row that gives every answer, the first in the catalogue's order.
    fn fitting_row(&self, rows: &[space::Row]) -> Option<Candidate> {
        let fits = |unit: &Unit| {
            self.asker
                .asked
                .iter()
                .all(|asked| asked.fits_exactly(unit))
        };
        let row = rows.iter().find(|row| fits(&row.unit))?;
        Some(Candidate {
            unit: row.unit.clone(),
            failing: Vec::new(),
        })
    }

    /// The candidate with every parameter at its default that need not have another value, perhaps
    /// with other values of the rest.
    fn simplest(&self, candidate: &Candidate) -> Candidate {
        let search = self.everything();
        let usual = Search {
            usual: true,
            ..self.everything()
        };
        let mut best = candidate.clone();
        // Twice: what is usual for one parameter may depend on another.
        for _ in 0..2 {
            for setting in settings::defaults(&self.signature, best.unit.program()) {
                let Some(program) = setting.apply(best.unit.program(), self.signature.k) else {
                    continue;
                };
                if program == *best.unit.program() {
                    continue;
                }
                let Some(other) = search.candidate(&program) else {
                    continue;
                };
                let other = if setting.is_uncommon() {
                    usual.climb(other)
                } else {
                    other
                };
                if other.failing.is_empty() {
                    best = other;
                }
            }
        }
        best
    }

    fn everything(&self) -> Search<'_> {
        Search {
            asked: &self.asker.asked,
            scope: (0..self.asker.asked.len()).collect(),
            signature: self.signature,
            deadline: self.deadline,
            usual: false,
        }
    }

    /// A program of the model space that gives every answer, or the nearest.
    fn search(
        &mut self,
        rows: &[space::Row],
        near: Option<Candidate>,
        tried: &mut Vec<Candidate>,
    ) -> Result<Option<Candidate>> {
        let wide = space::is_wide(&self.signature);
        if let Some(near) = near {
            let start = forms::general(near.unit.program(), wide);
            let search = self.everything();
            if let Some(start) = search.candidate(&start) {
                let found = search.climb(start);
                if found.failing.is_empty() {
                    return Ok(Some(found));
                }
                tried.push(found);
            }
        }
        if tried.len() > 3 || Instant::now() > self.deadline {
            tried.sort_by_key(|candidate| candidate.failing.len());
            return Ok(tried.first().cloned());
        }
        let starts = space::starts(self, rows)?;
        let mut best: Option<Candidate> = None;
        for starts in starts {
            let found = self.climb_all(&starts);
            for candidate in found {
                let done = candidate.failing.is_empty();
                if best
                    .as_ref()
                    .is_none_or(|best| candidate.failing.len() < best.failing.len())
                {
                    best = Some(candidate);
                }
                if done {
                    return Ok(best);
                }
            }
        }
        if let Some(best) = &best {
            tried.push(best.clone());
        }
        Ok(best)
    }

    /// Climbs from the most promising starts, first on alignment and rounding only.
    fn climb_all(&self, starts: &[Program]) -> Vec<Candidate> {
        let core = Search {
            scope: (0..self.core).collect(),
            ..self.everything()
        };
        let all = self.everything();
        let mut rough: Vec<Candidate> = starts
            .iter()
            .filter_map(|start| core.rough(start))
            .collect();
        rough.sort_by_key(|candidate| candidate.failing.len());
        let mut found = Vec::new();
        for candidate in rough.into_iter().take(6) {
            let candidate = core.climb(candidate);
            let Some(candidate) = all.candidate(candidate.unit.program()) else {
                continue;
            };
            let candidate = all.climb(candidate);
            let done = candidate.failing.is_empty();
            found.push(candidate);
            if done || Instant::now() > self.deadline {
                break;
            }
        }
        found.sort_by_key(|candidate| candidate.failing.len());
        found
    }

    /// Fresh inputs of every family and kind; gives the places that the unit does not answer alike.
    fn verify(&mut self, unit: &Unit) -> Result<Vec<usize>> {
        let left = (self.options.budget.saturating_sub(self.asker.queries) / 16) as usize;
        let trials = self.options.trials.min(left).max(20);
        let mut places = self.families(&Family::ALL, trials, Some(unit))?;
        let focus = Focus::of(unit);
        let cases = (0..trials * 2)
            .map(|index| {
                let kind = Kind::ALL[index % Kind::ALL.len()];
                make(&self.maker, kind, &focus, &mut self.random)
            })
            .collect();
        places.extend(self.asker.ask(cases)?);
        self.trials = places.len() as u64;
        let fails = |&place: &usize| !self.asker.asked[place].fits(unit);
        Ok(places.into_iter().filter(fails).collect())
    }

    fn no_model(&mut self, nearest: Option<Candidate>) -> Result<Outcome> {
        let Some(nearest) = nearest else {
            return Ok(Outcome::NoModel {
                nearest: None,
                agreeing: 0.0,
                example: None,
            });
        };
        let total = self.asker.asked.len().max(1);
        let failing: Vec<usize> = (0..self.asker.asked.len())
            .filter(|&place| !self.asker.asked[place].fits(&nearest.unit))
            .collect();
        let example = match failing.first() {
            None => None,
            Some(&place) => {
                let case = self.asker.asked[place].case.clone();
                Some(shrinking::shrink_asking(
                    &mut self.asker,
                    &nearest.unit,
                    &case,
                )?)
            }
        };
        let program = forms::named(
            nearest.unit.program(),
            self.signature.k,
            self.signature.scale.is_some(),
        );
        Ok(Outcome::NoModel {
            nearest: Some(program),
            agreeing: 1.0 - failing.len() as f64 / total as f64,
            example,
        })
    }

    fn found(&self, study: neighbours::Stands) -> Found {
        report::found(self, study)
    }
}

/// An answer as the wire writes it.
pub(crate) fn answer_text(answer: Answer, signature: &Signature) -> String {
    match answer {
        Answer::AnyNan => "nan".to_owned(),
        Answer::Word(word) => format!("{word:0width$x}", width = signature.d.digits()),
    }
}
