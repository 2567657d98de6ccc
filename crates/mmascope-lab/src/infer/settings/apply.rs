//! Changes one parameter of a program.

use super::{Setting, of_c};
use crate::dpa::schema::Value;
use crate::dpa::{
    AddMul, Dpa, Fused, General, Groups, OperandChoice, Operation, Output, Program, Select,
    Signature, Source, Start, Statement, Terms, Tininess,
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
            Self::Codes(codes) => {
                let changed = program.clone();
                return Some(Program { codes, ..changed });
            }
            Self::Chains(rounding, format) => return of_chains(program, rounding, format),
            Self::Swap(i, j) => return swapped(program, signature.k, i, j),
            Self::RoundC(_) | Self::FlushC(_) => return of_c::changed(self, program, signature),
            _ => {}
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
            (algorithm, Self::Of(symbol, value)) => algorithm.set(symbol, value),
            (Dpa::General(General::Fused(fused)), _) => self.on_fused(fused),
            (Dpa::General(General::AddMul(step)), _) => self.on_add_mul(step),
            (named, _) => self.on_named(named),
        }
    }

    /// The parameters of an algorithm of the papers, by their rows.
    fn on_named(&self, algorithm: &mut Dpa) -> bool {
        let (symbol, value) = match *self {
            Self::L(value) => ("L", Value::Number(value as i32)),
            Self::F(Some(value)) => ("F", Value::Number(value as i32)),
            Self::F2(Some(value)) => ("F2", Value::Number(value as i32)),
            Self::F2(None) => ("F2", Value::Word("none")),
            Self::E0(Some(value)) => ("e0", Value::Number(value)),
            Self::Align(value) => ("align", Value::Rounding(value)),
            Self::G(value) => ("G", Value::Number(value as i32)),
            Self::P(value) => ("P", Value::Number(value as i32)),
            Self::FlushIn(Some(sign)) => ("flush-in", Value::Word(sign.word())),
            Self::FlushOut(Some(sign)) => ("flush-out", Value::Word(sign.word())),
            _ => return false,
        };
        algorithm.set(symbol, value)
    }

    fn on_fused(&self, fused: &mut Fused) -> bool {
        match *self {
            Self::L(l) => fused.l = l,
            Self::F(f) => {
                if fused.f_c == fused.f || f.is_none() {
                    fused.f_c = f;
                } else if fused.f_c.is_none() {
                    return false;
                }
                fused.f = f;
            }
            Self::Fc(f) if fused.f.is_some() => fused.f_c = Some(f),
            Self::E0(e0) => fused.e0 = e0,
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
            Self::G(g) => match &mut fused.groups {
                Some(groups) => groups.g = g,
                None => return false,
            },
            Self::F2(f2) => fused.f2 = f2,
            Self::Cut(f2) if fused.f.is_some() => {
                Self::F(Some(f2 + 1)).on_fused(fused);
                (fused.f2, fused.floor) = (Some(f2), fused.align);
            }
            Self::Normalised(normalised) => {
                fused.normalised = normalised;
                (fused.terms.products, fused.terms.flush_products) = (None, None);
            }
            Self::Products(None) => {
                (fused.terms.products, fused.terms.flush_products) = (None, None);
            }
            Self::FlushProducts(Some(_)) if fused.terms.products.is_none() => return false,
            _ => return self.on_terms(&mut fused.terms),
        }
        true
    }

    fn on_add_mul(&self, step: &mut AddMul) -> bool {
        match *self {
            Self::P(p) => step.p = p,
            Self::Products(None) => return false,
            _ => return self.on_terms(&mut step.terms),
        }
        true
    }

    fn on_terms(&self, terms: &mut Terms) -> bool {
        match *self {
            Self::Products(products) => terms.products = products,
            Self::RoundC(rounded) => terms.round_c = rounded,
            Self::FlushIn(flush) => {
                terms.flush_in = flush;
                if flush.is_none() {
                    terms.flush_of = OperandChoice::Both;
                }
            }
            Self::FlushC(flush) => terms.flush_c = flush,
            Self::FlushProducts(flush) => terms.flush_products = flush,
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
            Self::Overflow(overflow) => output.overflow = overflow,
            Self::Zero(zero) => output.zero = zero,
            Self::FlushOut(flush) => {
                output.flush = flush;
                if flush.is_none() {
                    output.tininess = Tininess::After;
                }
            }
            Self::Tininess(tininess) if output.flush.is_some() => output.tininess = tininess,
            _ => return false,
        }
        true
    }
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
