//! Runs an inference: questions, a candidate, fresh inputs, neighbours, more fresh inputs; and again after a mismatch.

use super::asker::Asker;
use super::cpu_limit::CpuLimit;
use super::distinguish::Distinguisher;
use super::inputs::{Focus, Kind, Residues, half, make, of_families, pair, tall};
use super::maker::Maker;
use super::mirrored::{self, Signs};
use super::order::Order;
use super::search::Candidate;
use super::{
    InferenceOptions, InferenceProgress, Outcome, canonical_form, neighbours, parallel, report,
    shrinking, space,
};
use crate::cases::{Family, Hints};
use crate::dpa::{Signature, Unit};
use crate::dut::Dut;
use crate::error::Result;
use crate::isa::Catalogue;
use crate::reveal::Random;
use crate::tree::Tree;
use crate::vector::Answer;

/// The number of first questions of each kind.
const QUESTIONS: [(Kind, usize); 8] = [
    (Kind::Tie, 300),
    (Kind::Core, 600),
    (Kind::Products, 300),
    (Kind::Cancelled, 150),
    (Kind::Tiny, 400),
    (Kind::Huge, 150),
    (Kind::Special, 100),
    (Kind::Zeros, 120),
];
/// The number of questions of each kind that [`Run::ask_along`] asks.
const ALONG: [(Kind, usize); 4] = [
    (Kind::Core, 160),
    (Kind::Products, 160),
    (Kind::Tie, 80),
    (Kind::Cancelled, 160),
];
/// The number of first sums without c for which a c is then asked that nearly cancels them, and of such c for each; with another c each
/// comes near a power of two.
const RESIDUES: (usize, usize) = (100, 2);
/// The number of first pairs of operands as what is added, for a device of one pair.
const PAIRS: usize = 120;
/// The number of first tall sums.
const TALL: usize = 120;
/// First inputs of each of four families.
const IN_FAMILIES: usize = 60;
/// With this budget all of these first questions are asked; with a smaller one, or what is left of one, fewer in proportion. What the
/// search needs beside them, mismatches bring.
const WHOLE_BUDGET: u64 = 8_000;
/// So many answers that a candidate does not give are asked for again: they may be noise.
const DOUBTED: usize = 256;
/// A model that is no row of the catalogue is verified with so many times as many fresh inputs.
const AGAIN: usize = 3;
/// The fewest fresh inputs of a family.
const FEWEST: usize = 10;
/// Inputs of each kind that are tried to tell two programs apart that give every answer.
const TRIES: usize = 1000;
/// The most repairs after mismatches on fresh inputs.
const REPAIRS: usize = 12;
/// After this repair the search begins anew: what was repaired so often is far from the device.
const ANEW: usize = 3;

/// An inference that is running.
pub(super) struct Run<'a> {
    pub(super) maker: Maker,
    pub(super) signature: Signature,
    pub(super) asker: Asker<'a>,
    pub(super) random: Random,
    /// For residues, which take no part in the draws of the others.
    pub(super) residues: Random,
    /// The same for tall sums.
    pub(super) tall: Random,
    /// The same for sums that a bit far below half of the last place decides.
    pub(super) half: Random,
    pub(super) options: &'a InferenceOptions,
    pub(super) cpu_limit: CpuLimit,
    /// For inputs that confirm a model.
    pub(super) confirming: Random,
    /// Random inputs with which the model at the end was verified.
    pub(super) trials: u64,
    /// Those beside the budget that confirmed it.
    pub(super) confirmed: u64,
    /// The number of first questions that are about alignment and rounding.
    pub(super) core: usize,
    /// What the device is seen without: signs that it changes.
    pub(super) signs: Signs,
    /// The order that masks show, once they were asked, and the one that changes show.
    pub(super) order: Option<Order>,
    pub(super) order_of_changes: Option<Option<Tree>>,
    /// Programs that gave every answer when the search ended, the model's own and longer ones perhaps among them.
    pub(super) rivals: Vec<Candidate>,
    /// Whether the search for the candidate at hand ended at its limit of computing time.
    pub(super) is_cut_short: bool,
}

/// An outcome, or the finding that the device has to be asked as another one.
pub(super) enum Ending {
    Outcome(Outcome),
    /// No row fits, and the device subtracts.
    Subtracts(Signs),
}

impl<'a> Run<'a> {
    pub(super) fn new(
        device: &'a mut dyn Dut,
        options: &'a InferenceOptions,
        signs: Signs,
    ) -> Result<Self> {
        let signature = *device.signature();
        Ok(Self {
            maker: Maker::new(&signature)?,
            signature,
            asker: Asker::new(device, options.budget),
            random: Random::new(options.seed),
            residues: Random::new(options.seed ^ 0x7e51_d0e5),
            tall: Random::new(options.seed ^ 0x7a11_50f5),
            half: Random::new(options.seed ^ 0x5a1f_50f5),
            confirming: Random::new(options.seed ^ 0xc0f1_50f5),
            options,
            cpu_limit: CpuLimit::new(options.cpu_limit),
            trials: 0,
            confirmed: 0,
            core: 0,
            signs,
            order: None,
            order_of_changes: None,
            rivals: Vec::new(),
            is_cut_short: false,
        })
    }

    /// Looks among rows first. Where none fits, and the device subtracts, the caller mirrors it.
    pub(super) fn run(
        &mut self,
        catalogue: Option<&Catalogue>,
        progress: InferenceProgress<'_>,
    ) -> Result<Ending> {
        self.first_questions()?;
        if let Some(noise) = self.noise()? {
            return Ok(Ending::Outcome(noise));
        }
        progress(self.asker.queries, "rows of the catalogue");
        let rows = space::rows(catalogue, &self.signature);
        let best = self.fitting_row(&rows);
        if best.is_none() {
            // If rare noise explains the answers, no search is needed.
            self.asker.recheck(1)?;
            let signs = self.changed_signs()?;
            if signs.any() && self.asker.noise.is_none() {
                return Ok(Ending::Subtracts(signs));
            }
        }
        self.repaired(&rows, best, progress).map(Ending::Outcome)
    }

    /// The signs that the device changes.
    fn changed_signs(&mut self) -> Result<Signs> {
        let questions = mirrored::questions(&self.maker);
        let places = self.asker.ask(questions.to_vec())?;
        let answer = |place: usize| self.asker.asked[place].answer;
        Ok(match places[..] {
            [product, c] => Signs::of(&self.maker, [answer(product), answer(c)]),
            _ => Signs::default(),
        })
    }

    /// Searches, verifies and studies, and again after each mismatch.
    fn repaired(
        &mut self,
        rows: &[space::Row],
        mut best: Option<Candidate>,
        progress: InferenceProgress<'_>,
    ) -> Result<Outcome> {
        let mut tried: Vec<Candidate> = Vec::new();
        // Whether an input that tells the last model from a neighbour refuted it.
        let mut by_neighbour = false;
        for repair in 0..REPAIRS {
            if let Some(noise) = self.noise_beside(best.as_ref())? {
                return Ok(noise);
            }
            if best.as_ref().is_none_or(|best| !best.failing.is_empty()) {
                progress(self.asker.queries, "the model space");
                best = self.search(rows, best, &mut tried)?;
                self.is_cut_short = self.cpu_limit.is_over();
                if let Some(noise) = self.noise_beside(best.as_ref())? {
                    return Ok(noise);
                }
            }
            let Some(found) = best.as_mut().filter(|best| best.failing.is_empty()) else {
                break;
            };
            progress(self.asker.queries, "fresh inputs");
            let is_row = rows.iter().any(|row| row.unit == found.unit);
            if is_row {
                self.is_cut_short = false;
            } else {
                let simplest = self.simplest(found);
                self.is_cut_short = self.cpu_limit.is_over();
                // What it leaves out may be there all the same.
                self.rivals.push(std::mem::replace(found, simplest));
            }
            let unit = found.unit.clone();
            self.trials = 0;
            // Then the next one is studied at once, and verified at the end. A row is not verified at the end, and what is odd deserves
            // every doubt.
            let at_once = std::mem::take(&mut by_neighbour) && !is_row;
            let at_once = at_once && !self.is_odd(unit.program());
            if self.stands_beside_rivals(&unit)? && (at_once || self.verify(&unit, 1)?) {
                progress(self.asker.queries, "neighbours");
                let study = neighbours::study(self, &unit, rows)?;
                by_neighbour = matches!(study, neighbours::Study::Refuted);
                if let neighbours::Study::Stands(mut study) = study
                    // A model that nobody has described before may be wrong where few inputs show it.
                    && (is_row || self.verify(&unit, AGAIN)?)
                    && self.confirm(&unit, is_row, progress)?
                {
                    study.look_at_rows(self, rows);
                    if let Some(noise) = self.noise()? {
                        return Ok(noise);
                    }
                    return Ok(Outcome::Model(Box::new(report::found(self, *study))));
                }
            }
            if repair + 1 < REPAIRS {
                // The new answers decide: another row, a rival, a repaired program, or any other.
                best = self.fitting_row(rows);
                if repair == ANEW {
                    self.rivals.clear();
                } else {
                    best = best
                        .or_else(|| self.fitting_rival())
                        .or_else(|| self.everything().candidate(unit.program()));
                }
            }
        }
        if let Some(noise) = self.noise_beside(best.as_ref())? {
            return Ok(noise);
        }
        if let Some(noise) = self.noise()? {
            return Ok(noise);
        }
        self.no_model(best)
    }

    /// The part of so many first questions that the budget affords.
    fn share(&self, count: usize) -> usize {
        let part = self.options.budget.min(WHOLE_BUDGET);
        (count as u64 * part).div_ceil(WHOLE_BUDGET) as usize
    }

    /// What the first questions are aimed at.
    fn first_focus(&self) -> Focus {
        Focus {
            bits: vec![13, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 35],
            floors: vec![-126, -133, self.maker.d.normal],
            ..Focus::default()
        }
    }

    /// Asks for more sums where masks show another order than k's: half of them have products that are next to each other in it.
    pub(super) fn ask_along(&mut self, tree: &Tree) -> Result<()> {
        let focus = self.first_focus().along(tree, self.signature.k);
        if focus.orders.is_empty() {
            return Ok(());
        }
        let mut cases = Vec::new();
        for (kind, count) in ALONG {
            let count = self.share(count);
            cases.extend((0..count).map(|_| make(&self.maker, kind, &focus, &mut self.random)));
        }
        self.asker.ask(cases)?;
        Ok(())
    }

    fn first_questions(&mut self) -> Result<()> {
        let focus = self.first_focus();
        let mut cases = Vec::new();
        for (kind, count) in QUESTIONS {
            let count = self.share(count);
            cases.extend((0..count).map(|_| make(&self.maker, kind, &focus, &mut self.random)));
            if kind == Kind::Cancelled {
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
        self.families(&families, self.share(IN_FAMILIES), None)?;
        self.ask_residues(&focus, self.share(RESIDUES.0))?;
        if self.signature.k == 1 {
            let cases = 0..self.share(PAIRS);
            let cases = cases
                .map(|_| pair(&self.maker, &mut self.residues))
                .collect();
            self.asker.ask(cases)?;
        }
        self.ask_tall(&focus, self.share(TALL))?;
        Ok(())
    }

    /// Asks for tall sums. Returns the places of the answers.
    fn ask_tall(&mut self, focus: &Focus, count: usize) -> Result<Vec<usize>> {
        let cases = (0..count).map(|_| tall(&self.maker, focus, &mut self.tall));
        let cases = cases.collect();
        self.asker.ask(cases)
    }

    /// Asks for sums without c, and then for each with a c that nearly cancels the device's answer, or carries it to a power of two.
    /// Returns the places of the answers.
    fn ask_residues(&mut self, focus: &Focus, count: usize) -> Result<Vec<usize>> {
        let residues = Residues {
            maker: &self.maker,
            focus,
        };
        let random = &mut self.residues;
        let products = (0..count).map(|_| residues.products(random)).collect();
        let mut places = self.asker.ask(products)?;
        let mut cases = Vec::new();
        for &place in &places {
            let asked = &self.asker.asked[place];
            let Answer::Word(given) = asked.answer else {
                continue;
            };
            for _ in 0..RESIDUES.1 {
                cases.extend(residues.with_c(&asked.case, given, random));
            }
            cases.extend(residues.crossing(&asked.case, given, random));
        }
        places.extend(self.asker.ask(cases)?);
        Ok(places)
    }

    /// Asks fresh cases of families and returns their places.
    fn families(
        &mut self,
        families: &[Family],
        count: usize,
        unit: Option<&Unit>,
    ) -> Result<Vec<usize>> {
        let hints = unit.map_or_else(|| Hints::of_signature(&self.signature), Hints::of_unit);
        let cases = of_families(&self.signature, families, count, hints, &mut self.random);
        self.asker.ask(cases)
    }

    fn noise(&mut self) -> Result<Option<Outcome>> {
        if self.asker.noise.is_none() {
            self.asker.recheck(23)?;
        }
        Ok(self.known_noise())
    }

    /// Asks again the questions that a candidate answers otherwise. A device that changes an answer is noisy.
    fn noise_beside(&mut self, candidate: Option<&Candidate>) -> Result<Option<Outcome>> {
        let failing = candidate.map_or(&[][..], |candidate| &candidate.failing);
        let every = failing.len().div_ceil(DOUBTED).max(1);
        let doubted: Vec<usize> = failing.iter().copied().step_by(every).collect();
        if self.asker.noise.is_none() && self.asker.affords(doubted.len()) {
            self.asker.recheck_at(doubted)?;
        }
        Ok(self.known_noise())
    }

    fn known_noise(&self) -> Option<Outcome> {
        self.asker.noise.clone().map(|noise| Outcome::Noise {
            case: noise.case,
            answers: noise.answers,
        })
    }

    /// Whether the unit gives the answers that tell it from other programs that gave every answer so far.
    fn stands_beside_rivals(&mut self, unit: &Unit) -> Result<bool> {
        let mut distinguisher = Distinguisher::new(unit);
        for index in 0..self.rivals.len() {
            let rival = self.rivals[index].unit.clone();
            if rival.program() == unit.program() || !self.asker.all_fit(&rival) {
                continue;
            }
            let case = distinguisher.find(&self.maker, &rival, TRIES, &mut self.random);
            if let Some(case) = case {
                let place = self.asker.ask(vec![case])?[0];
                if !self.asker.asked[place].fits(unit) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The first of the other programs that gives every answer.
    fn fitting_rival(&self) -> Option<Candidate> {
        let fits = |rival: &&Candidate| self.asker.all_fit(&rival.unit);
        self.rivals.iter().find(fits).cloned()
    }

    /// Whether the unit and the device agree on fresh inputs of every family and kind; `times` as many as usual.
    fn verify(&mut self, unit: &Unit, times: usize) -> Result<bool> {
        // The first time something is kept for the second.
        let parts = if times == 1 { 32 } else { 16 };
        let most = (self.asker.spare() / parts) as usize;
        let trials = (self.options.trials * times).min(most).max(FEWEST);
        let mut places = self.families(&Family::ALL, trials, Some(unit))?;
        let focus = Focus::of(unit);
        let cases = (0..trials * 2)
            .map(|index| {
                let kind = Kind::ALL[index % Kind::ALL.len()];
                make(&self.maker, kind, &focus, &mut self.random)
            })
            .collect();
        places.extend(self.asker.ask(cases)?);
        places.extend(self.ask_residues(&focus, trials / 4)?);
        places.extend(self.ask_tall(&focus, trials / 8)?);
        let cases = (0..trials / 4).map(|_| half(&self.maker, &focus, false, &mut self.half));
        let cases = cases.collect();
        places.extend(self.asker.ask(cases)?);
        self.trials += places.len() as u64;
        let fails = |&place: &usize| !self.asker.asked[place].fits(unit);
        Ok(parallel::position(&places, fails).is_none())
    }

    fn no_model(&mut self, nearest: Option<Candidate>) -> Result<Outcome> {
        self.is_cut_short = self.cpu_limit.is_over();
        let Some(nearest) = nearest else {
            return Ok(Outcome::NOTHING);
        };
        let total = self.asker.asked.len().max(1);
        let places: Vec<usize> = (0..self.asker.asked.len()).collect();
        let fails = |&place: &usize| !self.asker.asked[place].fits(&nearest.unit);
        let failing = parallel::matching(&places, usize::MAX, fails);
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
        let program = canonical_form::named(
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
}
