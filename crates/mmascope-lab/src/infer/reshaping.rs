//! Tries other orders and places of c for a known step, and rounded sums in place of aligned ones or the other way round, for searches that began with the
//! wrong shape.

use super::rewriting;
use super::search::{Candidate, Search};
use super::settings::{domains, first_fused};
use super::shapes::{self, Place, Step};
use super::space;
use crate::dpa::{Fused, Operation, Output, Program, Select};

/// The most products of which one is moved; more have too many places.
const MOST: usize = 16;

impl Search<'_> {
    /// The candidate's step and outputs in another shape, or rounded additions in its place, if that fails less often.
    pub(super) fn reshaped(&self, best: &Candidate) -> Option<Candidate> {
        if self.usual {
            return None;
        }
        let program = best.unit.program();
        let Some(fused) = first_fused(program) else {
            return self.aligned(best);
        };
        let last = program.statements.last()?.output;
        // What looks aligned may be rounded with several unusual parameters.
        let mut variants = rewriting::summed(program);
        for shape in self.shapes(program, fused) {
            for between in outputs(program) {
                let mut variant = shape.clone();
                for statement in &mut variant.statements {
                    statement.output = between;
                }
                variant.statements.last_mut()?.output = last;
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
        }
        self.better(best, variants)
    }

    /// The candidate with exact sums in place of rounded ones and one parameter changed, if that fails less often.
    fn aligned(&self, best: &Candidate) -> Option<Candidate> {
        let program = rewriting::aligned(best.unit.program())?;
        let settings = domains(&self.signature, &program);
        let settings = settings.iter().flatten();
        let variants = settings.filter_map(|setting| setting.apply(&program, &self.signature));
        self.better(best, variants.collect())
    }

    /// The candidate with products of different steps exchanged, or one of them in another step, if it fails less often. Where
    /// operands have few exponents masks show a part of the order.
    pub(super) fn reordered(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        let dots = program.statements.iter().enumerate();
        let mut dots = dots.filter_map(|(place, statement)| match &statement.operation {
            Operation::Dot {
                over, algorithm, ..
            } => Some((place, over.indices(self.signature.k), algorithm.block())),
            _ => None,
        });
        let (Some((place, order, block)), None) = (dots.next(), dots.next()) else {
            return None;
        };
        if self.usual || self.is_brief() || order.len() > MOST {
            return None;
        }
        let mut variants = Vec::new();
        for from in 0..order.len() {
            for to in (0..order.len()).filter(|to| from / block != to / block) {
                let mut moved = order.clone();
                let product = moved.remove(from);
                moved.insert(to, product);
                let mut swapped = order.clone();
                swapped.swap(from, to);
                // Each exchange once.
                for changed in [moved, swapped]
                    .into_iter()
                    .take(1 + usize::from(from < to))
                {
                    let mut variant = program.clone();
                    if let Operation::Dot { over, .. } = &mut variant.statements[place].operation {
                        *over = Select::List(changed);
                    }
                    variants.push(variant);
                }
            }
        }
        self.better(best, variants)
    }

    /// Chains of that step in the program's order and in the usual ones, with c anywhere.
    fn shapes(&self, program: &Program, fused: Fused) -> Vec<Program> {
        let k = self.signature.k;
        let step = Step::Fused(fused);
        let mut orders: Vec<_> = (shapes::orders(k).into_iter())
            .map(|order| (order, step))
            .collect();
        let statements = program.statements.iter();
        let own: Vec<usize> = statements
            .filter_map(|statement| match &statement.operation {
                Operation::Dot { over, .. } => Some(over.indices(k)),
                _ => None,
            })
            .flatten()
            .collect();
        if own.len() == k {
            // A c that is added to every step by itself looks like one outside the alignment.
            let outside = Step::Fused(Fused {
                c_outside_alignment: true,
                ..fused
            });
            orders.push((own.clone(), outside));
            orders.push((own, step));
        }
        let mut found = Vec::new();
        for (order, step) in orders {
            for size in space::sizes(k) {
                for place in Place::ALL {
                    found.extend(shapes::chained(&self.signature, step, &order, size, place));
                }
                found.extend(shapes::added(&self.signature, step, &order, size));
            }
        }
        found
    }
}

/// Some of the different outputs of a program's statements.
pub(super) fn outputs(program: &Program) -> Vec<Output> {
    let mut found: Vec<Output> = Vec::new();
    for statement in &program.statements {
        if !found.contains(&statement.output) {
            found.push(statement.output);
        }
    }
    found.truncate(4);
    found
}
