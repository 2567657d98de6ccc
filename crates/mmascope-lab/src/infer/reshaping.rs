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

    /// The candidate with products of different steps exchanged, or one of them in another step of the same chain, if it fails less
    /// often. Where operands have few exponents masks show a part of the order.
    pub(super) fn reordered(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        let dots = program.statements.iter().enumerate();
        let dots = dots.filter_map(|(place, statement)| match &statement.operation {
            Operation::Dot {
                over, algorithm, ..
            } => Some((place, over.indices(self.signature.k), algorithm.block())),
            _ => None,
        });
        let dots: Vec<_> = dots.collect();
        // Every product by its dot product and its place there.
        let all = dots.iter().enumerate();
        let all = all.flat_map(|(dot, (_, order, _))| (0..order.len()).map(move |at| (dot, at)));
        let all: Vec<(usize, usize)> = all.collect();
        if self.usual || self.is_brief() || all.len() > MOST {
            return None;
        }
        let step = |(dot, at): (usize, usize)| (dot, at / dots[dot].2);
        let with = |changed: &[(usize, Vec<usize>)]| {
            let mut variant = program.clone();
            for (dot, order) in changed {
                if let Operation::Dot { over, .. } = &mut variant.statements[dots[*dot].0].operation
                {
                    *over = Select::List(order.clone());
                }
            }
            variant
        };
        let mut variants = Vec::new();
        for (number, &from) in all.iter().enumerate() {
            for (other, &to) in all.iter().enumerate() {
                if step(from) == step(to) {
                    continue;
                }
                if from.0 == to.0 {
                    let mut moved = dots[from.0].1.clone();
                    let product = moved.remove(from.1);
                    moved.insert(to.1, product);
                    variants.push(with(&[(from.0, moved)]));
                }
                // Each exchange once.
                if number < other {
                    let (mut left, mut right) = (dots[from.0].1.clone(), dots[to.0].1.clone());
                    let (one, another) = (left[from.1], right[to.1]);
                    match from.0 == to.0 {
                        true => left.swap(from.1, to.1),
                        false => (left[from.1], right[to.1]) = (another, one),
                    }
                    let changed = [(from.0, left), (to.0, right)];
                    variants.push(with(&changed[..1 + usize::from(from.0 != to.0)]));
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
