//! Tries other orders and places of c for a known step, for searches that began with the wrong shape.

use super::search::{Candidate, Search};
use super::settings::first_fused;
use super::shapes::{self, Place, Step};
use super::space;
use crate::dpa::{Operation, Output, Program};

impl Search<'_> {
    /// The candidate's step and outputs in another shape, if that fails less often.
    pub(super) fn reshaped(&self, best: &Candidate) -> Option<Candidate> {
        if self.usual {
            return None;
        }
        let program = best.unit.program();
        let step = Step::Fused(first_fused(program)?);
        let last = program.statements.last()?.output;
        let mut variants = Vec::new();
        for shape in self.shapes(program, step) {
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

    /// Chains of that step in the program's order and in the usual ones, with c anywhere.
    fn shapes(&self, program: &Program, step: Step) -> Vec<Program> {
        let k = self.signature.k;
        let mut orders = shapes::orders(k);
        if let [statement] = &program.statements[..]
            && let Operation::Dot { over, .. } = &statement.operation
        {
            orders.push(over.indices(k));
        }
        let mut found = Vec::new();
        for order in orders {
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
