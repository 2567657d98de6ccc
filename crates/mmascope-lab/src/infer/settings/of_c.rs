//! Conversions and flushes of c before it is added: a parameter of the step that c begins, or, where c
//! is added by itself, a conversion before that.

use super::Setting;
use crate::dpa::schema::{Value, parameters as p};
use crate::dpa::{
    FlushSign, Nan, Operation, Output, Program, Signature, Source, Start, Statement, Tininess,
    ZeroSign,
};
use crate::format::{Format, Overflow, Rounding};
use crate::infer::canonical_form;

/// The program with another rounding or flush of c; `None` when no statement reads c.
pub(super) fn changed(
    setting: &Setting,
    program: &Program,
    signature: &Signature,
) -> Option<Program> {
    let mut changed = program.clone();
    let mut applied = false;
    for statement in &mut changed.statements {
        match &mut statement.operation {
            Operation::Dot {
                algorithm,
                from: Start::C,
                ..
            } => applied |= setting.on_algorithm(algorithm),
            Operation::Join { algorithm, of, .. } if of.first() == Some(&Source::C) => {
                applied |= setting.on_algorithm(algorithm);
            }
            _ => {}
        }
    }
    if applied {
        return Some(changed);
    }
    of_added(setting, program, signature)
}

/// The same where an addition takes c.
fn of_added(setting: &Setting, program: &Program, signature: &Signature) -> Option<Program> {
    let converts = |statement: &Statement| statement.operation == Operation::Convert(Source::C);
    let known = program.statements.iter().position(converts);
    if let Some(index) = known {
        // One that a step begins with belongs to the row.
        let is_step = |statement: &Statement| {
            matches!(
                statement.operation,
                Operation::Dot { from: Start::Statement(read), .. } if read == index
            )
        };
        if program.statements.iter().any(is_step) {
            return None;
        }
    }
    let now = known.map(|index| program.statements[index].output);
    let own = conversion(setting, now, signature);
    match (known, own) {
        (Some(index), Some(output)) => {
            let mut changed = program.clone();
            changed.statements[index].output = output;
            Some(changed)
        }
        (Some(index), None) => Some(canonical_form::without_statement(program, index, Source::C)),
        (None, own) => {
            let adds = |statement: &Statement| {
                matches!(
                    statement.operation,
                    Operation::Add(Source::C, _) | Operation::Add(_, Source::C)
                )
            };
            let index = program.statements.iter().position(adds)?;
            let Some(output) = own else {
                return Some(program.clone());
            };
            let convert = Statement {
                name: String::new(),
                operation: Operation::Convert(Source::C),
                output,
            };
            let mut changed = canonical_form::with_statement(program, index, convert);
            if let Operation::Add(left, right) = &mut changed.statements[index + 1].operation {
                for source in [left, right] {
                    if *source == Source::C {
                        *source = Source::Statement(index);
                    }
                }
            }
            Some(changed)
        }
    }
}

/// What the conversion of c gives, after the one that there is; `None`: c as it is.
fn conversion(setting: &Setting, now: Option<Output>, signature: &Signature) -> Option<Output> {
    let now = now.unwrap_or_else(|| to(signature.c, Rounding::Rne, None));
    match *setting {
        Setting::Of(_, Value::Rounded(rounding, format)) => Some(to(format, rounding, now.flush)),
        Setting::Of(_, value) => {
            let mut changed = now;
            match setting.is_of(&p::ROUND_C) {
                true => {
                    let flush = now.flush;
                    changed = to(signature.c, Rounding::Rne, flush);
                    flush.is_some()
                }
                false => {
                    changed.set(p::FLUSH_RESULT.symbol, value);
                    changed.flush.is_some() || changed.format != signature.c
                }
            }
            .then_some(changed)
        }
        _ => None,
    }
}

fn to(format: Format, rounding: Rounding, flush: Option<FlushSign>) -> Output {
    Output {
        format,
        rounding,
        overflow: Overflow::Ieee,
        nan: Nan::Any,
        zero: ZeroSign::Ieee,
        flush,
        tininess: Tininess::After,
    }
}
