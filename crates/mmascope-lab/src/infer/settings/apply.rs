//! Changes one parameter of a program.

use super::{Setting, of_c};
use crate::dpa::schema::{Parameter, Value, parameters as p};
use crate::dpa::{
    Dpa, Fused, General, Groups, Operation, Output, Program, Select, Signature, Source, Start,
    Statement, Tininess,
};
use crate::format::{Format, Rounding};
use crate::infer::canonical_form;

impl Setting {
    /// The program with this value; `None` when it has no such parameter.
    pub(crate) fn apply(&self, program: &Program, signature: &Signature) -> Option<Program> {
        match *self {
            Self::Between(rounding, format) => {
                return between(program, signature.k, rounding, format);
            }
            Self::Chains(rounding, format) => return of_chains(program, rounding, format),
            Self::Swap(i, j) => return swapped(program, signature.k, i, j),
            Self::Of(symbol, value) => {
                if self.is_of(&p::ROUND_C) || self.is_of(&p::FLUSH_C) {
                    return of_c::changed(self, program, signature);
                }
                let mut changed = program.clone();
                if changed.set(symbol, value) {
                    return Some(changed);
                }
            }
            Self::F(_)
            | Self::Floored(..)
            | Self::Align(_)
            | Self::Groups(_)
            | Self::Within(..)
            | Self::Cut(..)
            | Self::Beginning(_)
            | Self::End(_)
            | Self::Everywhere(_)
            | Self::Width(_) => {}
        }
        self.on_statements(program)
    }

    /// The program with this value in each of its statements.
    pub(super) fn on_statements(&self, program: &Program) -> Option<Program> {
        let mut changed = program.clone();
        let mut applied = false;
        let last = changed.statements.len().checked_sub(1)?;
        for (index, statement) in changed.statements.iter_mut().enumerate() {
            match &mut statement.operation {
                Operation::Dot {
                    algorithm: Dpa::General(General::Fused(_)),
                    from: from @ (Start::Zero | Start::Product),
                    ..
                } if matches!(self, Self::Beginning(_)) => {
                    if let Self::Beginning(beginning) = *self {
                        *from = beginning;
                        applied = true;
                    }
                }
                Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
                    applied |= self.on_algorithm(algorithm);
                }
                // What c becomes on its way in is a matter of its own.
                Operation::Convert(Source::C) => continue,
                Operation::Add(..) | Operation::Convert(_) | Operation::Negate(_) => {}
            }
            applied |= self.on_output(&mut statement.output, index == last);
        }
        applied.then_some(changed)
    }

    pub(super) fn on_algorithm(&self, algorithm: &mut Dpa) -> bool {
        match (algorithm, *self) {
            (algorithm, Self::Of(symbol, value)) => set(algorithm, symbol, value),
            (Dpa::General(General::Fused(fused)), _) => self.on_fused(fused),
            // Where an algorithm has one parameter only, of those that are changed together.
            (named, Self::F(Some(value))) => named.set(p::F.symbol, Value::Number(value as i32)),
            (named, Self::Align(value)) => named.set(p::ALIGN.symbol, Value::Rounding(value)),
            _ => false,
        }
    }

    fn on_fused(&self, fused: &mut Fused) -> bool {
        match *self {
            Self::F(f) => {
                if fused.f_c == fused.f || f.is_none() {
                    fused.f_c = f;
                } else if fused.f_c.is_none() {
                    return false;
                }
                fused.f = f;
            }
            Self::Floored(f, e0) => {
                let (Some(own), Some(own_c)) = (fused.f, fused.f_c) else {
                    return false;
                };
                let f_c = (own_c + f).saturating_sub(own);
                if fused.e0.is_none() || !(1..=64).contains(&f_c) {
                    return false;
                }
                (fused.f, fused.f_c, fused.e0) = (Some(f), Some(f_c), Some(e0));
            }
            Self::Align(align) => {
                if fused.align == fused.align_c {
                    fused.align_c = align;
                }
                fused.align = align;
            }
            Self::Groups(groups) => fused.groups = groups,
            Self::Within(groups, f) => {
                let fits = fused.l.is_multiple_of(groups.g);
                if fused.groups.is_some() || fused.f.is_none() || !fits {
                    return false;
                }
                fused.groups = Some(Groups {
                    f: fused.f,
                    align: fused.align,
                    ..groups
                });
                match f {
                    Some(_) => {
                        (fused.f, fused.f_c) = (f, f);
                        (fused.align, fused.align_c) = (Rounding::Rz, Rounding::Rz);
                    }
                    None => (fused.f, fused.align) = (fused.f_c, fused.align_c),
                }
                fused.c_outside_alignment = false;
            }
            Self::Cut(f2, floor) if fused.f.is_some() => {
                Self::F(Some(f2 + 1)).on_fused(fused);
                (fused.f2, fused.floor) = (Some(f2), floor);
            }
            _ => return false,
        }
        true
    }

    fn on_output(&self, output: &mut Output, is_last: bool) -> bool {
        match *self {
            Self::End(rounding) if is_last => output.rounding = rounding,
            Self::Everywhere(rounding) => output.rounding = rounding,
            Self::Width(format) if output.format.container() == format.container() => {
                output.format = format;
            }
            Self::Of(symbol, value) => {
                if !output.set(symbol, value) {
                    return false;
                }
                if self.is_of(&p::FLUSH_RESULT) && output.flush.is_none() {
                    output.tininess = Tininess::After;
                }
            }
            _ => return false,
        }
        true
    }
}

/// Gives a step a value; false where that means nothing.
fn set(algorithm: &mut Dpa, symbol: &'static str, value: Value) -> bool {
    let is = |parameter: &Parameter| parameter.symbol == symbol;
    match algorithm {
        Dpa::General(General::Fused(fused)) => {
            // Groups come and go as a whole, and c has a number of bits where products have one.
            let is_number = matches!(value, Value::Number(_));
            if is(&p::G) && (fused.groups.is_none() || !is_number)
                || is(&p::FC) && (fused.f.is_none() || !is_number)
            {
                return false;
            }
        }
        // Its products are those of the results, or rounded by themselves: there are no exact ones.
        Dpa::General(General::AddMul(_)) if is(&p::PRODUCTS) && value == Value::Word("exact") => {
            return false;
        }
        _ => {}
    }
    // Some algorithms flush every sum, which is a flush of the results.
    let symbol = match algorithm.get(symbol) {
        None if is(&p::FLUSH_RESULT) => p::FLUSH_OUT.symbol,
        _ => symbol,
    };
    algorithm.get(symbol) == Some(value) || algorithm.set(symbol, value)
}

/// Another output for every statement but the last; a chain is split for it.
fn between(program: &Program, k: usize, rounding: Rounding, format: Format) -> Option<Program> {
    let mut changed = if program.statements.len() == 1 {
        canonical_form::split(program, k)?
    } else {
        program.clone()
    };
    let last = changed.statements.len() - 1;
    for statement in &mut changed.statements[..last] {
        if statement.operation == Operation::Convert(Source::C) {
            continue;
        }
        statement.output.rounding = rounding;
        statement.output.format = format;
    }
    Some(changed)
}

/// Another output for the chains of a program that adds several; `None` where [`between`] says it.
fn of_chains(program: &Program, rounding: Rounding, format: Format) -> Option<Program> {
    if !adds_chains(program) {
        return None;
    }
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if matches!(statement.operation, Operation::Dot { .. }) {
            statement.output.rounding = rounding;
            statement.output.format = format;
        }
    }
    Some(changed)
}

/// Whether a program has more than one addition, the last statement being one.
pub(super) fn adds_chains(program: &Program) -> bool {
    let is_addition = |statement: &&Statement| matches!(statement.operation, Operation::Add(..));
    program.statements.iter().filter(is_addition).count() > 1
        && program.statements.last().as_ref().is_some_and(is_addition)
}

/// Two k that change their places in the first chain whose steps have groups.
fn swapped(program: &Program, k: usize, i: usize, j: usize) -> Option<Program> {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if let Operation::Dot {
            algorithm:
                Dpa::General(General::Fused(Fused {
                    groups: Some(_), ..
                })),
            over,
            ..
        } = &mut statement.operation
        {
            let mut order = over.indices(k);
            if i.max(j) >= order.len() {
                return None;
            }
            order.swap(i, j);
            *over = Select::List(order);
            return Some(changed);
        }
    }
    None
}
