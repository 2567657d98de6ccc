//! Replaces a step with several odd parameters by a rounded sum of a usual shape, if that gives every answer too. Several
//! odd parameters often only imitate such a sum.

use super::run::Run;
use super::search::Candidate;
use super::settings::{self, Setting};
use super::shapes::{self, Place, Step};
use super::space;
use crate::dpa::{Output, Program};

/// With so many odd parameters a simpler program is looked for.
const ODD: usize = 3;
/// So many questions rank the programs, and so many of the best programs are climbed from.
const SAMPLE: usize = 300;
const BEST: usize = 3;

impl Run<'_> {
    /// A rounded sum that gives every answer too, in place of a program of several odd parameters.
    pub(super) fn simplified(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        if self.signature.scale.is_some() || self.odd(program) < ODD {
            return None;
        }
        let (search, usual) = (self.everything(), self.usual());
        let step = self.asker.asked.len().div_ceil(SAMPLE).max(1);
        let mut ranked: Vec<(usize, Program)> = Vec::new();
        for program in self.rounded_sums(program) {
            let Some(unit) = search.unit(program.clone()) else {
                continue;
            };
            let sample = self.asker.asked.iter().step_by(step);
            let failing = sample.filter(|asked| !asked.fits(&unit)).count();
            ranked.push((failing, program));
        }
        ranked.sort_by_key(|(failing, _)| *failing);
        ranked.truncate(BEST);
        let mut reached = ranked.iter().filter_map(|(_, program)| {
            let start = search.candidate(program)?;
            Some(usual.climb(start))
        });
        reached.find(|other| {
            other.failing.is_empty() && self.odd(other.unit.program()) < self.odd(program)
        })
    }

    /// Counts the parameters of a program that are uncommon and not at their defaults.
    fn odd(&self, program: &Program) -> usize {
        let is_odd = |setting: &&Setting| {
            let plain = setting.apply(program, &self.signature);
            setting.is_uncommon() && plain.is_some_and(|plain| plain != *program)
        };
        let defaults = settings::defaults(&self.signature, program);
        defaults.iter().filter(is_odd).count()
    }

    /// Rounded products and additions in the usual shapes, rounded as the program's results are.
    fn rounded_sums(&self, program: &Program) -> Vec<Program> {
        let Some(last) = program.statements.last() else {
            return Vec::new();
        };
        let mut between: Vec<Output> = Vec::new();
        for statement in &program.statements {
            if !between.contains(&statement.output) {
                between.push(statement.output);
            }
        }
        between.truncate(3);
        let mut found: Vec<Program> = Vec::new();
        for order in shapes::orders(self.signature.k) {
            for size in space::sizes(self.signature.k) {
                for place in Place::ALL {
                    let step = Step::Rounded;
                    let shape = shapes::chained(&self.signature, step, &order, size, place);
                    for (shape, between) in shape
                        .iter()
                        .flat_map(|shape| between.iter().map(move |between| (shape, between)))
                    {
                        let usual = shapes::output(&self.signature, step);
                        let as_sums = |output: &Output| Output {
                            overflow: usual.overflow,
                            zero: usual.zero,
                            ..*output
                        };
                        let mut variant = shape.clone();
                        for statement in &mut variant.statements {
                            statement.output = as_sums(between);
                        }
                        if let Some(end) = variant.statements.last_mut() {
                            end.output = as_sums(&last.output);
                        }
                        if !found.contains(&variant) {
                            found.push(variant);
                        }
                    }
                }
            }
        }
        found
    }
}
