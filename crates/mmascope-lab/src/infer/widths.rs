//! Proposes shapes whose sums between steps have more bits than the result, or fewer.

use super::canonical_form;
use super::shapes::{Step, output};
use crate::dpa::{Operation, Program, Signature, Source, Statement};
use crate::format::{BF16, F16, F32, Rounding, TF32};

/// The program with wider sums, in every way that there is.
pub(crate) fn widened(program: &Program, signature: &Signature) -> impl Iterator<Item = Program> {
    let ways = [converted, wide_between, wide_chains];
    ways.map(|way| way(program, signature))
        .into_iter()
        .flatten()
}

/// The same program with a wider accumulator and one conversion at the end.
fn converted(program: &Program, signature: &Signature) -> Option<Program> {
    if signature.d.bits >= 32 || signature.d.container() == F32 {
        return None;
    }
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        statement.output.format = F32;
    }
    let last = changed.statements.len();
    if let Some(statement) = changed.statements.last_mut() {
        statement.name = format!("t{}", last - 1);
    }
    let step = Step::Rounded;
    changed.statements.push(Statement {
        name: "d".to_owned(),
        operation: Operation::Convert(Source::Statement(last - 1)),
        output: output(signature, step),
    });
    Some(changed)
}

/// The same program with f32 between steps, where the result is narrower.
fn wide_between(program: &Program, signature: &Signature) -> Option<Program> {
    if signature.d.container().bits >= 32 {
        return None;
    }
    let mut changed = if program.statements.len() == 1 {
        canonical_form::split(program, signature.k)?
    } else {
        program.clone()
    };
    let last = changed.statements.len() - 1;
    for statement in &mut changed.statements[..last] {
        statement.output.format = F32;
        statement.output.rounding = Rounding::Rz;
    }
    Some(changed)
}

/// The same program with f32 in chains whose results are added as narrow as the result is.
fn wide_chains(program: &Program, signature: &Signature) -> Option<Program> {
    let mut changed = program.clone();
    let last = changed.statements.len().checked_sub(1)?;
    if last == 0 || signature.d.container().bits >= 32 {
        return None;
    }
    for statement in &mut changed.statements[..last] {
        if matches!(statement.operation, Operation::Dot { .. }) {
            statement.output.format = F32;
        }
    }
    // Without additions before the last statement these are all sums on the way: `wide_between` has them.
    let adds = |statement: &Statement| matches!(statement.operation, Operation::Add(..));
    program.statements[..last]
        .iter()
        .any(adds)
        .then_some(changed)
}

/// The same program with few bits between steps, where the result has more: the bits of the alignment
/// hardly show then, and would be taken for those of the sums.
pub(crate) fn narrow_between(program: &Program, signature: &Signature) -> Vec<Program> {
    let split = if program.statements.len() == 1 {
        canonical_form::split(program, signature.k)
    } else {
        Some(program.clone())
    };
    let Some(program) = split.filter(|_| signature.d.container() == F32) else {
        return Vec::new();
    };
    let last = program.statements.len() - 1;
    [F16, BF16, TF32]
        .map(|format| {
            let mut changed = program.clone();
            for statement in &mut changed.statements[..last] {
                statement.output.format = format;
            }
            changed
        })
        .to_vec()
}
