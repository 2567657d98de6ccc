//! Proposes shapes whose sums between steps have more bits than the result, or fewer.

use super::canonical_form;
use super::shapes::{Step, output};
use crate::dpa::{
    Dpa, General, Nan, Operation, Output, Program, Signature, Source, Statement, ZeroSign,
};
use crate::format::{BF16, E11M23, F16, F32, F64, Format, Rounding, TF32};

/// The program with wider sums, in every way that there is.
pub(crate) fn widened(program: &Program, signature: &Signature) -> impl Iterator<Item = Program> {
    let ways = [converted, wide_between, wide_chains];
    ways.map(|way| way(program, signature))
        .into_iter()
        .flatten()
}

/// The program with sums that are wider than f32 and one conversion, where results are f32: at the end, or before c is added. Sums are f64
/// where every operation is rounded; aligned ones take no f64, so that they have its range alone.
pub(crate) fn wider_than_f32(program: &Program, signature: &Signature) -> Vec<Program> {
    let rounds = |statement: &Statement| match &statement.operation {
        Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
            algorithm.rounds_every_operation()
        }
        Operation::Add(..) | Operation::Convert(_) | Operation::Negate(_) => true,
    };
    let format = match program.statements.iter().all(rounds) {
        true => F64,
        false => E11M23,
    };
    let is_f32 = signature.d.container() == F32;
    let at_the_end = is_f32.then(|| converted_from(program, signature, format));
    let before_c = is_f32
        .then(|| converted_before_c(program, format))
        .flatten();
    at_the_end.into_iter().chain(before_c).collect()
}

/// The same program with sums of products in a format; they are converted before c is added to them.
fn converted_before_c(program: &Program, format: Format) -> Option<Program> {
    let last = program.statements.len().checked_sub(1)?;
    let sum = match program.statements[last].operation {
        Operation::Add(Source::C, sum) | Operation::Add(sum, Source::C) => sum,
        _ => return None,
    };
    let convert = Statement {
        name: String::new(),
        operation: Operation::Convert(sum),
        output: program.statements[last].output,
    };
    let mut changed = canonical_form::with_statement(program, last, convert);
    let converted = |source| {
        if source == sum {
            Source::Statement(last)
        } else {
            source
        }
    };
    canonical_form::reads(&mut changed.statements[last + 1], converted);
    for statement in &mut changed.statements[..last] {
        statement.output.format = format;
    }
    Some(changed)
}

/// The same program with a wider accumulator and one conversion at the end.
fn converted(program: &Program, signature: &Signature) -> Option<Program> {
    let is_narrow = signature.d.bits < 32 && signature.d.container() != F32;
    is_narrow.then(|| converted_from(program, signature, F32))
}

/// The same program with sums in a format and one conversion at the end.
fn converted_from(program: &Program, signature: &Signature, format: Format) -> Program {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        statement.output.format = format;
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
    changed
}

/// The program with its last step apart from those before it; `None` where it is one step.
fn in_steps(program: &Program, signature: &Signature) -> Option<Program> {
    let several = || (program.statements.len() > 1).then(|| program.clone());
    canonical_form::split(program, signature.k).or_else(several)
}

/// The same program with f32 between steps, where the result is narrower.
fn wide_between(program: &Program, signature: &Signature) -> Option<Program> {
    if signature.d.container().bits >= 32 {
        return None;
    }
    let mut changed = in_steps(program, signature)?;
    let last = changed.statements.len() - 1;
    for statement in &mut changed.statements[..last] {
        statement.output.format = F32;
        statement.output.rounding = Rounding::Rz;
    }
    Some(changed)
}

/// The program whose last sum is rounded to f32 first, in either of the usual ways, where results are narrower. None of rounded
/// products and additions: those would all be rounded to f32.
pub(crate) fn rounded_twice(program: &Program, signature: &Signature) -> Vec<(Rounding, Program)> {
    let program = in_steps(program, signature).unwrap_or_else(|| program.clone());
    let last = program.statements.len().saturating_sub(1);
    let is_sum = |sum: &&Statement| match &sum.operation {
        Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
            !matches!(algorithm, Dpa::General(General::AddMul(_)))
        }
        Operation::Add(..) => true,
        Operation::Convert(_) | Operation::Negate(_) => false,
    };
    let narrow = signature.d.container().bits < 32;
    let Some(sum) = program.statements.last().filter(is_sum).filter(|_| narrow) else {
        return Vec::new();
    };
    let convert = Statement {
        name: "d".to_owned(),
        operation: Operation::Convert(Source::Statement(last)),
        // A zero of the sum keeps its sign.
        output: Output {
            zero: match sum.output.zero {
                zero @ (ZeroSign::Plus | ZeroSign::Minus) => zero,
                _ => ZeroSign::Ieee,
            },
            ..sum.output
        },
    };
    let first = |rounding| {
        let mut changed = program.clone();
        let sum = &mut changed.statements[last];
        sum.name = format!("t{last}");
        sum.output = Output {
            format: F32,
            rounding,
            flush: None,
            // Its word is one of the result's format.
            nan: Nan::Any,
            ..sum.output
        };
        changed.statements.push(convert.clone());
        (rounding, changed)
    };
    [Rounding::Rz, Rounding::Rne].map(first).to_vec()
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
    let split = in_steps(program, signature).filter(|_| signature.d.container() == F32);
    let Some(program) = split else {
        return Vec::new();
    };
    let last = program.statements.len() - 1;
    let is_sum = |statement: &Statement| matches!(statement.operation, Operation::Dot { .. });
    // Where sums are added, the additions may keep what the sums do not.
    let adds = program.statements[..last].iter().any(|own| !is_sum(own));
    let mut found = Vec::new();
    for format in [F16, BF16, TF32] {
        for sums_alone in [false, true] {
            if sums_alone && !adds {
                continue;
            }
            let mut changed = program.clone();
            for statement in &mut changed.statements[..last] {
                if !sums_alone || is_sum(statement) {
                    statement.output.format = format;
                }
            }
            found.push(changed);
        }
    }
    found
}
