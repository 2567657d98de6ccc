//! Parts a chain where a sum may begin anew, or continues one where an addition takes a sum: masks can show both alike.

use super::search::{Candidate, Search};
use super::{canonical_form, grouped};
use crate::dpa::{Operation, Program, Source, Start, Statement};

impl Search<'_> {
    /// The best program with one chain parted or two made one, if it fails less often.
    pub(super) fn parted(&self, best: &Candidate) -> Option<Candidate> {
        // Odd parameters imitate many shapes, so that this comes after everything that is brief.
        if self.usual || self.brief {
            return None;
        }
        let (program, k) = (best.unit.program(), self.signature.k);
        let places = 0..program.statements.len();
        let parted = places.flat_map(|place| parts(program, place, k));
        let variants = parted.chain(grouped::continued_once(program));
        self.better(best, variants.collect())
    }
}

/// The programs in which the last steps of a chain are a sum of their own, which is then added.
fn parts(program: &Program, place: usize, k: usize) -> Vec<Program> {
    let statement = &program.statements[place];
    let Operation::Dot {
        algorithm,
        over,
        from,
        ..
    } = &statement.operation
    else {
        return Vec::new();
    };
    let heads = (0..over.indices(k).len()).step_by(algorithm.block());
    heads
        .filter_map(|head| {
            let before = match head {
                0 => from.source().filter(|source| *source != Source::Zero)?,
                _ => Source::Statement(place),
            };
            parted_at(program, place, head, before, k)
        })
        .collect()
}

/// The program in which the steps of a chain after so many products are a sum of their own, added to what was before them.
fn parted_at(
    program: &Program,
    place: usize,
    head: usize,
    before: Source,
    k: usize,
) -> Option<Program> {
    let statement = &program.statements[place];
    let made = |operation: Operation| Statement {
        name: String::new(),
        operation,
        output: statement.output,
    };
    let (mut changed, own) = match head {
        0 => (program.clone(), place),
        _ => {
            let [first, rest] = canonical_form::cut(statement, head, k, before)?;
            let mut changed = canonical_form::with_statement(program, place, made(first));
            changed.statements[place + 1].operation = rest;
            (changed, place + 1)
        }
    };
    let mut sum = changed.statements[own].operation.clone();
    if let Operation::Dot { from, .. } = &mut sum {
        *from = Start::Product;
    }
    changed = canonical_form::with_statement(&changed, own, made(sum));
    changed.statements[own + 1].operation = Operation::Add(before, Source::Statement(own));
    Some(changed)
}
