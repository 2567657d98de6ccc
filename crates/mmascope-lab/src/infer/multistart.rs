//! Searches from many starting programs, the most promising of every list first, and then again from the best result.

use super::parallel;
use super::run::Run;
use super::search::{Candidate, Effort, Search};
use super::settings::{self, Setting};
use crate::dpa::Program;
use crate::reveal::Random;

/// From so many starts of a list the search climbs on the questions about alignment and rounding.
const STARTS: usize = 10;
/// From so many of a list it climbs on every question before it goes to the next list, in each round.
const CLIMBS: usize = 3;
const ROUNDS: [Effort; 2] = [Effort::Brief, Effort::Whole];
/// So many programs that give every answer are looked for where the first is odd, or one was refuted before.
const RIVALS: usize = 3;
/// No more are looked for once so many parts of a hundred of the computing time are used: units that take long would not be found.
const RIVALS_UNTIL: u32 = 25;
/// A start that usual parameters leave with more failures than one question in so many is hardly of the right shape.
const FEW: usize = 20;
/// So many of the programs that it reaches are kept for [`Run::perturbed`].
const KEPT: usize = 3;
/// The seed of what it changes.
const SEED: u64 = 0x9e27_0b5e;
/// A start with one more statement comes first only if it fails less often by one part in so many.
const PARTS: usize = 20;

impl Run<'_> {
    /// The programs that give every answer, the simplest first, or the nearest one. The first that is found is enough, unless it is
    /// odd or several are asked for.
    pub(super) fn climbed(&self, lists: &[Vec<Program>], several: bool) -> Vec<Candidate> {
        let mut fits: Vec<Candidate> = Vec::new();
        let mut queues: Vec<Option<std::vec::IntoIter<Candidate>>> =
            lists.iter().map(|_| None).collect();
        // A program that several starts reach is climbed from once.
        let mut seen: Vec<Program> = Vec::new();
        let mut best: Option<Candidate> = None;
        let mut near: Vec<Candidate> = Vec::new();
        let mut random = Random::new(self.options.seed ^ SEED);
        // The first round is brief: most units need no more.
        for effort in ROUNDS {
            for (starts, queue) in lists.iter().zip(&mut queues) {
                if !fits.is_empty() && self.cpu_limit.is_past(RIVALS_UNTIL) {
                    break;
                }
                let queue = queue.get_or_insert_with(|| self.promising(starts).into_iter());
                let climbs = queue.filter_map(|start| self.climbed_from(start, effort, &mut seen));
                for candidate in climbs.take(CLIMBS) {
                    let bound = best.as_ref().map_or(usize::MAX, |best| best.failing.len());
                    keep(&mut near, &candidate);
                    let is_known = |known: &Candidate| known.unit == candidate.unit;
                    if candidate.failing.is_empty() && !fits.iter().any(is_known) {
                        fits.push(candidate.clone());
                    }
                    if candidate.failing.len() < bound {
                        best = Some(candidate);
                    }
                    let wanted = match fits.first() {
                        Some(_) if self.cpu_limit.is_past(RIVALS_UNTIL) => 1,
                        Some(first) if !several && !self.is_odd(first.unit.program()) => 1,
                        _ => RIVALS,
                    };
                    if fits.len() >= wanted || self.cpu_limit.is_over() {
                        return self.ranked(fits, best);
                    }
                }
            }
            if !fits.is_empty() {
                break;
            }
            best = best.map(|best| self.paired(best));
            best = best.map(|best| self.reconsidered(best));
            if let Some(found) = &best {
                keep(&mut near, found);
                if !found.failing.is_empty() {
                    near = self.perturbed(near, &mut random);
                    best = near.first().cloned();
                }
            }
            if best.as_ref().is_some_and(|best| best.failing.is_empty()) {
                break;
            }
        }
        self.ranked(fits, best)
    }

    /// The first program that gives every answer, if it is reached without what takes long and is not odd.
    pub(super) fn climbed_briefly(&self, lists: &[Vec<Program>]) -> Option<Candidate> {
        let brief = Effort::Brief;
        let core = Search {
            usual: true,
            effort: brief,
            ..self.core()
        };
        let mut seen: Vec<Program> = Vec::new();
        for starts in lists {
            for start in self.promising(starts).into_iter().take(CLIMBS) {
                // What takes longer is found in the order that masks show.
                if self.cpu_limit.is_past(RIVALS_UNTIL) {
                    return None;
                }
                let begun = core.climb(start);
                if begun.failing.len() * FEW > core.scope.len() {
                    continue;
                }
                let climbed = self.climbed_from(begun, brief, &mut seen);
                let fits = climbed.filter(|climbed| climbed.failing.is_empty());
                if let Some(found) = fits.filter(|it| !self.is_odd(it.unit.program())) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The programs that give every answer, the one with the fewest statements and odd parameters first; the nearest where there are none.
    fn ranked(&self, mut fits: Vec<Candidate>, nearest: Option<Candidate>) -> Vec<Candidate> {
        fits.sort_by_key(|candidate| self.length(candidate.unit.program()));
        match fits.is_empty() {
            true => nearest.into_iter().collect(),
            false => fits,
        }
    }

    /// The search on the questions about alignment and rounding alone.
    fn core(&self) -> Search<'_> {
        Search {
            scope: (0..self.core).collect(),
            ..self.everything()
        }
    }

    /// The most promising starts, with their alignment and rounding.
    fn promising(&self, starts: &[Program]) -> Vec<Candidate> {
        let core = Search {
            effort: Effort::Ranking,
            ..self.core()
        };
        let starts = starts.iter().collect();
        let rough = parallel::each(starts, 1, |start| match core.cpu_limit.is_over() {
            true => None,
            false => core.rough(start),
        });
        let mut rough: Vec<Candidate> = rough.into_iter().flatten().collect();
        // Of two that explain equally much the shorter one is more likely.
        let length = |candidate: &Candidate| candidate.unit.program().statements.len();
        rough.sort_by_key(|candidate| (candidate.failing.len(), length(candidate)));
        rough.dedup_by(|one, other| one.unit.program() == other.unit.program());
        rough.truncate(STARTS);
        // A climb tries every parameter of every part, so a longer program must explain more to come first.
        rough.sort_by_key(|candidate| candidate.failing.len() * (PARTS + length(candidate)));
        rough
    }

    /// The candidate that is reached from a start, perhaps without what takes long; `None` where it is already known.
    fn climbed_from(
        &self,
        start: Candidate,
        effort: Effort,
        seen: &mut Vec<Program>,
    ) -> Option<Candidate> {
        let program = start.unit.program().clone();
        if seen.contains(&program) {
            return None;
        }
        let core = Search {
            effort,
            ..self.core()
        };
        let core = core.climb(start);
        let reached = core.unit.program();
        let is_known = *reached != program && seen.contains(reached);
        seen.extend([program, reached.clone()]);
        let all = Search {
            effort,
            ..self.everything()
        };
        let candidate = all.candidate(reached).filter(|_| !is_known)?;
        Some(all.climb(candidate))
    }

    /// Gives up uncommon parameters, all or one, and climbs again: another parameter may explain what they only
    /// imitate. Returns the same candidate where that does not help.
    fn reconsidered(&self, candidate: Candidate) -> Candidate {
        let all = self.everything();
        let usual = self.usual();
        let mut best = candidate;
        'again: loop {
            let program = best.unit.program();
            let defaults = settings::defaults(&self.signature, program);
            let uncommon = defaults.iter().filter(|setting| setting.is_uncommon());
            let without = |program: &Program, setting: &Setting| {
                let other = setting.apply(program, &self.signature);
                other.filter(|other| other != program)
            };
            let plain = settings::plain(&self.signature, program);
            let each = uncommon.filter_map(|setting| without(program, setting));
            let others = std::iter::once(plain).chain(each);
            for other in others.filter(|other| other != program) {
                if best.failing.is_empty() || self.cpu_limit.is_over() {
                    return best;
                }
                let Some(other) = all.candidate(&other) else {
                    continue;
                };
                let other = all.climb(usual.climb(other));
                if other.failing.len() < best.failing.len() {
                    best = other;
                    continue 'again;
                }
            }
            return best;
        }
    }
}

/// Keeps a candidate among the best that are known.
fn keep(near: &mut Vec<Candidate>, candidate: &Candidate) {
    let is_known = |known: &Candidate| known.unit.program() == candidate.unit.program();
    if near.iter().any(is_known) {
        return;
    }
    near.push(candidate.clone());
    near.sort_by_key(|candidate| candidate.failing.len());
    near.truncate(KEPT);
}
