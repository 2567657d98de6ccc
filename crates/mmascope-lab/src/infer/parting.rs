//! Tries other shapes near a program's: a chain that is parted where a sum may begin anew, one that is continued where an addition takes a
//! sum, additions in another order. Masks can show these alike.

use super::search::{Candidate, Search};
use super::{canonical_form, grouped};
use crate::dpa::{Operation, Program, Source, Start, Statement};

impl Search<'_> {
    /// The best program with two additions in another order, one chain parted or two made one, if it fails less often.
    pub(super) fn parted(&self, best: &Candidate) -> Option<Candidate> {
        if self.usual {
            return None;
        }
        let (program, k) = (best.unit.program(), self.signature.k);
        let mut variants = turned(program);
        // Odd parameters imitate many chains, so that these come after everything that is brief.
        if !self.is_brief() {
            let places = 0..program.statements.len();
            variants.extend(places.flat_map(|place| parts(program, place, k)));
            variants.extend(grouped::continued_once(program));
        }
        self.better(best, variants)
    }
}

/// The programs in which two additions take three values in another order.
fn turned(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    let added = |source: Source| match source {
        Source::Statement(place) => match program.statements[place].operation {
            Operation::Add(left, right) => Some((place, [left, right])),
            _ => None,
        },
        Source::C | Source::Zero => None,
    };
    for (place, statement) in program.statements.iter().enumerate() {
        let Operation::Add(left, right) = statement.operation else {
            continue;
        };
        for (sum, other) in [(left, right), (right, left)] {
            let Some((inner, [first, second])) = added(sum) else {
                continue;
            };
            // The new first addition stands just before the second, where all three values are known.
            for (kept, moved) in [(first, second), (second, first)] {
                let mut changed = canonical_form::with_statement(
                    program,
                    place,
                    Statement {
                        name: String::new(),
                        operation: Operation::Add(kept, other),
                        output: program.statements[inner].output,
                    },
                );
                changed.statements[place + 1].operation =
                    Operation::Add(Source::Statement(place), moved);
                found.push(canonical_form::without_statement(
                    &changed,
                    inner,
                    Source::Zero,
                ));
            }
        }
    }
    found
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

/// The programs in which every so many steps of each chain are a sum of their own. Groups of a step that is rounded twice imitate these.
pub(super) fn accumulators(program: &Program, k: usize) -> Vec<Program> {
    let steps = |statement: &Statement| match &statement.operation {
        Operation::Dot {
            algorithm, over, ..
        } => over.indices(k).len().div_ceil(algorithm.block()),
        _ => 1,
    };
    let most = program.statements.iter().map(steps).max().unwrap_or(1);
    let lengths = (1..=most).filter(|length| most.is_multiple_of(*length));
    let of_length = |length| {
        let mut changed = program.clone();
        // From the last on, so that the places of the others stay as they are.
        for (place, statement) in program.statements.iter().enumerate().rev() {
            let Operation::Dot {
                algorithm, from, ..
            } = &statement.operation
            else {
                continue;
            };
            let heads = (length..steps(statement)).step_by(length);
            for head in heads.rev() {
                let head = head * algorithm.block();
                changed = parted_at(&changed, place, head, Source::Statement(place), k)?;
            }
            if let Some(before @ Source::Statement(_)) = from.source() {
                changed = parted_at(&changed, place, 0, before, k)?;
            }
        }
        (changed != *program).then_some(changed)
    };
    lengths.filter_map(of_length).collect()
}
