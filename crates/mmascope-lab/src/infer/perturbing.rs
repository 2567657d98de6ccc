//! Searches on beside the nearest programs: some of their parameters are given up at random, where no change of one or two explains
//! more.

use super::run::Run;
use super::search::{Candidate, Effort, Search};
use super::settings::{self, Setting};
use crate::dpa::Program;
use crate::reveal::Random;

/// So many programs are begun with in a round.
const TRIES: usize = 16;
/// At most so many parameters of one are changed.
const MOST: usize = 4;
/// Only programs that fail on fewer than one question in so many are near enough.
const NEAR: usize = 20;

impl Run<'_> {
    /// These candidates, or better ones that are reached beside them, the best first.
    pub(super) fn perturbed(
        &self,
        mut near: Vec<Candidate>,
        random: &mut Random,
    ) -> Vec<Candidate> {
        let search = Search {
            effort: Effort::Brief,
            ..self.everything()
        };
        let failures = |candidate: &Candidate| candidate.failing.len();
        let is_near = |candidate: &Candidate| failures(candidate) * NEAR < search.scope.len();
        let count = near.iter().filter(|candidate| is_near(candidate)).count();
        let mut seen: Vec<Program> = Vec::new();
        for turn in 0..TRIES {
            let done = near.iter().any(|candidate| candidate.failing.is_empty());
            if count == 0 || done || self.cpu_limit.is_over() {
                break;
            }
            let place = turn % count;
            let start = self.changed_at_random(near[place].unit.program(), random);
            if seen.contains(&start) {
                continue;
            }
            let reached = search.candidate(&start);
            seen.push(start);
            let reached = reached.map(|start| search.climb(start));
            if let Some(better) =
                reached.filter(|reached| failures(reached) < failures(&near[place]))
            {
                near[place] = better;
            }
        }
        near.sort_by_key(failures);
        near
    }

    /// The program with some parameters at their defaults, and perhaps one at a value drawn at random.
    fn changed_at_random(&self, program: &Program, random: &mut Random) -> Program {
        let applied = |program: &Program, setting: &Setting| {
            let changed = setting.apply(program, &self.signature);
            changed.filter(|changed| changed != program)
        };
        let mut changed = program.clone();
        let mut defaults = settings::defaults(&self.signature, program);
        defaults.retain(|setting| applied(program, setting).is_some());
        random.shuffle(&mut defaults);
        for setting in defaults.iter().take(1 + random.below(MOST)) {
            changed = applied(&changed, setting).unwrap_or(changed);
        }
        let domains = settings::domains(&self.signature, &changed);
        if random.below(2) == 0
            && let Some(values) = domains.get(random.below(domains.len().max(1)))
            && let Some(value) = values.get(random.below(values.len().max(1)))
        {
            changed = applied(&changed, value).unwrap_or(changed);
        }
        changed
    }
}
