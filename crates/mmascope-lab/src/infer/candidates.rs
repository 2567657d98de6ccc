//! Chooses a candidate: a row that gives every answer, or a program that the search finds; of those that agree, the
//! simplest.

use super::asker::Asked;
use super::run::Run;
use super::search::{Candidate, Effort, Search};
use super::settings::{Part, Setting};
use super::{canonical_form, order, parallel, rewriting, settings, simplify, space};
use crate::dpa::schema::parameters as p;
use crate::dpa::{Dpa, Fused, General, Operation, Program, Unit};
use crate::error::Result;

/// The number of questions that decide early whether a simpler program can explain all of them.
const SAMPLE: usize = 300;

/// After so many searches, from the nearest program or from every start, no further one begins.
const MOST_TRIED: usize = 3;

/// Another way to write a program; `None` where it is none.
type Rewriting<'a> = &'a dyn Fn(&Program) -> Option<Program>;

/// A simpler candidate than one, if there is.
type Simpler<'a> = &'a dyn Fn(&Candidate) -> Option<Candidate>;

impl Run<'_> {
    /// The first row in the catalogue's order that gives every answer.
    pub(super) fn fitting_row(&self, rows: &[space::Row]) -> Option<Candidate> {
        let fits = |unit: &Unit| {
            let differs = |asked: &Asked| !asked.fits_exactly(unit);
            parallel::position(&self.asker.asked, differs).is_none()
        };
        let row = rows.iter().find(|row| fits(&row.unit))?;
        Some(Candidate {
            unit: row.unit.clone(),
            failing: Vec::new(),
        })
    }

    /// The candidate with as many parameters as possible at their defaults, perhaps with other values of the rest.
    pub(super) fn simplest(&self, candidate: &Candidate) -> Candidate {
        let search = self.everything();
        let mut best = candidate.clone();
        let k = self.signature.k;
        let direct: [Rewriting<'_>; 4] = [
            &canonical_form::without_conversion,
            &|program| canonical_form::without_second_rounding(program, k),
            &simplify::c_after_first,
            &simplify::flushing,
        ];
        for rewritten in direct {
            let other = rewritten(best.unit.program());
            let other = other.and_then(|program| search.candidate(&program));
            best = other
                .filter(|other| other.failing.is_empty())
                .unwrap_or(best);
        }
        self.in_one(&mut best);
        self.defaults(&mut best);
        self.exact_parts(&mut best);
        // A unit of rounded sums rarely has an exact step as well.
        let sums = |best: &Candidate| {
            let sums = rewriting::rounded(best.unit.program(), self.signature.k);
            self.explained(&sums?)
        };
        let widened = |best: &Candidate| self.widened(best.unit.program());
        let simplified = |best: &Candidate| self.simplified(best);
        let accumulated = |best: &Candidate| self.accumulated(best);
        let ways: [Simpler<'_>; 4] = [&sums, &widened, &accumulated, &simplified];
        for way in ways {
            if let Some(mut other) = way(&best) {
                self.defaults(&mut other);
                best = other;
            }
        }
        self.in_one(&mut best);
        best
    }

    /// Makes parts of chains one, if that still gives every answer.
    fn in_one(&self, best: &mut Candidate) {
        let search = self.everything();
        let fits = |program: Program| {
            let other = search.candidate(&program);
            other.filter(|other| other.failing.is_empty())
        };
        while let Some(other) = canonical_form::alike(best.unit.program())
            .into_iter()
            .find_map(fits)
        {
            *best = other;
        }
    }

    /// Sets every parameter to its default, if that still gives every answer.
    fn defaults(&self, best: &mut Candidate) {
        let search = self.everything();
        // Twice: what is usual for one parameter may depend on another. An uncommon one is needed whatever the usual ones
        // are, unless another uncommon one was given up after it.
        let mut without = 0;
        for round in 0..2 {
            let given_up = without;
            for setting in settings::defaults(&self.signature, best.unit.program()) {
                if setting.is_uncommon() && round > 0 && given_up == 0 {
                    continue;
                }
                let Some(program) = setting.apply(best.unit.program(), &self.signature) else {
                    continue;
                };
                if program == *best.unit.program() {
                    continue;
                }
                let other = match setting.is_uncommon() {
                    true => self.explained(&program),
                    false => search.candidate(&program),
                };
                if let Some(other) = other.filter(|other| other.failing.is_empty()) {
                    *best = other;
                    without += usize::from(setting.is_uncommon());
                }
            }
        }
    }

    /// The program with operands that are widened first in place of normalised products, perhaps without the groups that
    /// these needed, if it gives every answer.
    fn widened(&self, program: &Program) -> Option<Candidate> {
        let fused = settings::first_fused(program)?;
        let mut both = settings::normalised_or_widened(&self.signature, &fused);
        both.retain(|[_, operands]| *operands != Setting::none(&p::OPERANDS));
        both.into_iter().find_map(|[products, operands]| {
            let once = products.apply(program, &self.signature)?;
            let changed = operands.apply(&once, &self.signature)?;
            let plain = Setting::Groups(None).apply(&changed, &self.signature);
            let plain = plain.filter(|plain| *plain != changed);
            let plain = plain.and_then(|plain| self.explained(&plain));
            plain.or_else(|| self.explained(&changed))
        })
    }

    /// The program with other values of its usual parameters, if it gives every answer with them. Most programs do not,
    /// and a part of the questions shows that sooner than all of them.
    pub(super) fn explained(&self, program: &Program) -> Option<Candidate> {
        let usual = self.usual();
        let step = self.asker.asked.len().div_ceil(SAMPLE).max(1);
        let part = Search {
            scope: (0..self.asker.asked.len()).step_by(step).collect(),
            ..self.usual()
        };
        let begun = part.climb(part.candidate(program)?);
        if !begun.failing.is_empty() {
            return None;
        }
        let found = usual.climb(usual.candidate(begun.unit.program())?);
        found.failing.is_empty().then_some(found)
    }

    /// Prefers "all bits" to a large number of bits, also in steps that have a statement of their own. A chain is not parted
    /// for that: its steps are more likely alike, and few inputs show such a difference.
    fn exact_parts(&self, best: &mut Candidate) {
        let search = self.everything();
        for part in Part::all(best.unit.program()) {
            let program = best.unit.program();
            let many = part.statements(program).iter().any(|statement| {
                matches!(&statement.operation, Operation::Dot {
                    algorithm: Dpa::General(General::Fused(Fused { f: Some(f), .. })),
                    ..
                } if *f >= 28)
            });
            let changed = Setting::F(None).apply_to(part, program, &self.signature);
            let is_as_long =
                |changed: &Program| changed.statements.len() == program.statements.len();
            let changed = changed.filter(|changed| many && is_as_long(changed));
            if let Some(other) = changed.and_then(|program| search.candidate(&program))
                && other.failing.is_empty()
            {
                *best = other;
            }
        }
    }

    pub(super) fn everything(&self) -> Search<'_> {
        Search {
            asked: &self.asker.asked,
            scope: (0..self.asker.asked.len()).collect(),
            signature: self.signature,
            cpu_limit: self.cpu_limit,
            usual: false,
            effort: Effort::Whole,
        }
    }

    /// The same search, but without changing uncommon parameters.
    pub(super) fn usual(&self) -> Search<'_> {
        Search {
            usual: true,
            ..self.everything()
        }
    }

    /// A program of the model space that gives every answer, or the nearest.
    pub(super) fn search(
        &mut self,
        rows: &[space::Row],
        near: Option<Candidate>,
        tried: &mut Vec<Candidate>,
    ) -> Result<Option<Candidate>> {
        let wide = space::is_wide(&self.signature);
        let rivals = std::mem::take(&mut self.rivals);
        let mut seen: Vec<Program> = Vec::new();
        for (index, near) in near.into_iter().chain(rivals).enumerate() {
            let start = canonical_form::general(near.unit.program(), wide);
            if seen.contains(&start) || self.cpu_limit.is_over() {
                continue;
            }
            seen.push(start.clone());
            // The nearest is worth more time than its rivals.
            let effort = match index {
                0 => Effort::Whole,
                _ => Effort::Brief,
            };
            let search = Search {
                effort,
                ..self.everything()
            };
            let Some(start) = search.candidate(&start) else {
                continue;
            };
            let found = search.climb(start);
            if found.failing.is_empty() {
                return Ok(Some(found));
            }
            if index == 0 {
                tried.push(found);
            }
        }
        if tried.len() > MOST_TRIED || self.cpu_limit.is_over() {
            tried.sort_by_key(|candidate| candidate.failing.len());
            return Ok(tried.first().cloned());
        }
        let several = !tried.is_empty();
        if !several && !wide && order::is_dear(self) {
            let starts = space::in_order_of_k(&self.signature, rows);
            if let Some(found) = self.climbed_briefly(&starts) {
                return Ok(Some(found));
            }
        }
        let starts = space::starts(self, rows)?;
        let found = self.climbed(&starts, several);
        let best = found.first().cloned();
        self.rivals = found;
        self.rivals.retain(|rival| rival.failing.is_empty());
        if let Some(best) = &best {
            tried.push(best.clone());
        }
        Ok(best)
    }
}
