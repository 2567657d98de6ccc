//! Replaces a step with several odd parameters by a rounded sum of a usual shape, if that gives every answer too. Several
//! odd parameters often only imitate such a sum. Other rewritings make programs shorter or give their sums a known name.

use super::reshaping::outputs;
use super::run::Run;
use super::search::Candidate;
use super::settings::{self, Setting};
use super::shapes::{self, Place, Step};
use super::{canonical_form, parting, space};
use crate::dpa::{
    Dpa, FtzAddMul, General, Operation, Output, Program, Select, Source, Start, Statement, Terms,
};

/// With so many odd parameters a simpler program is looked for: chains in place of one, or sums of another kind.
const FEW: usize = 2;
const ODD: usize = 3;
/// With more statements a program is odd as well.
const MANY: usize = 8;
/// So many questions rank the programs, and so many of the best programs are climbed from.
const SAMPLE: usize = 300;
const BEST: usize = 3;
/// Where fewer than one answer in so many is wrong, uncommon values are tried.
const NEAR: usize = 20;

impl Run<'_> {
    /// A rounded sum that gives every answer too, in place of a program of several odd parameters.
    pub(super) fn simplified(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        if self.signature.scale.is_some() || self.odd(program) < ODD {
            return None;
        }
        let (search, usual) = (self.everything(), self.usual());
        let step = self.asker.asked.len().div_ceil(SAMPLE).max(1);
        let mut ranked: Vec<(usize, Program)> = Vec::new();
        for program in self.rounded_sums(program) {
            if self.cpu_limit.is_over() {
                return None;
            }
            let Some(unit) = search.unit(program.clone()) else {
                continue;
            };
            let sample = self.asker.asked.iter().step_by(step);
            let failing = sample.filter(|asked| !asked.fits(&unit)).count();
            ranked.push((failing, program));
        }
        ranked.sort_by_key(|(failing, _)| *failing);
        ranked.truncate(BEST);
        let mut reached = ranked.iter().filter_map(|(_, program)| {
            let near = usual.climb(search.candidate(program)?);
            // What is left may need an uncommon value.
            let is_near = near.failing.len() * NEAR < search.scope.len();
            Some(if is_near { search.climb(near) } else { near })
        });
        reached.find(|other| {
            other.failing.is_empty() && self.odd(other.unit.program()) < self.odd(program)
        })
    }

    /// Chains of their own without odd parameters, in place of a chain of several, if they give every answer too.
    pub(super) fn accumulated(&self, best: &Candidate) -> Option<Candidate> {
        let program = best.unit.program();
        if self.odd(program) < FEW {
            return None;
        }
        let plain = settings::plain(&self.signature, program);
        let ways = parting::accumulators(&plain, self.signature.k);
        ways.iter().find_map(|program| self.explained(program))
    }

    /// Whether a program may only imitate the device's.
    pub(super) fn is_odd(&self, program: &Program) -> bool {
        self.odd(program) >= FEW || program.statements.len() > MANY
    }

    /// A measure of how much a program says.
    pub(super) fn length(&self, program: &Program) -> usize {
        self.odd(program) + program.statements.len()
    }

    /// Counts the parameters of a program that are uncommon and not at their defaults.
    fn odd(&self, program: &Program) -> usize {
        let is_odd = |setting: &&Setting| {
            let plain = setting.apply(program, &self.signature);
            setting.is_uncommon() && plain.is_some_and(|plain| plain != *program)
        };
        let defaults = settings::defaults(&self.signature, program);
        defaults.iter().filter(is_odd).count()
    }

    /// Rounded products and additions in the usual shapes, rounded as the program's results are.
    fn rounded_sums(&self, program: &Program) -> Vec<Program> {
        let Some(last) = program.statements.last() else {
            return Vec::new();
        };
        let between = outputs(program);
        let terms = settings::first_fused(program).map(|fused| fused.terms);
        let terms = terms.unwrap_or_default();
        let mut found: Vec<Program> = Vec::new();
        for order in shapes::orders(self.signature.k) {
            for size in space::sizes(self.signature.k) {
                for place in Place::ALL {
                    let step = Step::Rounded;
                    let shape = shapes::chained(&self.signature, step, &order, size, place);
                    for (shape, between) in shape
                        .iter()
                        .flat_map(|shape| between.iter().map(move |between| (shape, between)))
                    {
                        let usual = shapes::output(&self.signature, step);
                        let as_sums = |output: &Output| Output {
                            overflow: usual.overflow,
                            zero: usual.zero,
                            ..*output
                        };
                        let mut variant = shape.clone();
                        for statement in &mut variant.statements {
                            statement.output = as_sums(between);
                        }
                        if let Some(end) = variant.statements.last_mut() {
                            end.output = as_sums(&last.output);
                        }
                        for variant in [with_terms(&variant, terms), variant] {
                            if !found.contains(&variant) {
                                found.push(variant);
                            }
                        }
                    }
                }
            }
        }
        found
    }
}

/// The program whose first step is as the others are, and c is added after it; `None` where the first step does not take c, or
/// is as the others are.
pub(super) fn c_after_first(program: &Program) -> Option<Program> {
    let [first, second, ..] = &program.statements[..] else {
        return None;
    };
    let (
        Operation::Dot {
            algorithm,
            over: Select::List(products),
            operands,
            from: Start::C,
        },
        Operation::Dot {
            algorithm: of_others,
            from: Start::Statement(0),
            ..
        },
    ) = (&first.operation, &second.operation)
    else {
        return None;
    };
    if algorithm == of_others || products.len() > of_others.block() {
        return None;
    }
    let step = Operation::Dot {
        algorithm: *of_others,
        operands: *operands,
        over: Select::List(products.clone()),
        from: Start::Product,
    };
    let add = Statement {
        name: String::new(),
        operation: Operation::Add(Source::C, Source::Statement(0)),
        output: first.output,
    };
    let mut changed = canonical_form::with_statement(program, 1, add);
    changed.statements[0].operation = step;
    let sum = |source| match source {
        Source::Statement(0) => Source::Statement(1),
        other => other,
    };
    canonical_form::reads(&mut changed.statements[2], sum);
    Some(changed)
}

/// Replaces rounded sums that flush operands and results by `ftz-addmul`; `None` where a program has none, or they have parameters
/// that it has not.
pub(super) fn flushing(program: &Program) -> Option<Program> {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if let Operation::Dot {
            algorithm: algorithm @ Dpa::General(General::AddMul(_)),
            ..
        } = &mut statement.operation
            && let Dpa::General(General::AddMul(step)) = *algorithm
            && let (Some(flush_in), Some(flush_out)) = (step.terms.flush_in, statement.output.flush)
            && !step.sequential
            && [step.terms.products, step.terms.operands, step.terms.round_c] == [None; 3]
        {
            *algorithm = FtzAddMul {
                p: step.p,
                flush_in,
                flush_out,
            }
            .into();
            statement.output.flush = None;
        }
    }
    (changed != *program).then_some(changed)
}

/// The program of rounded sums with another's operands and products.
fn with_terms(program: &Program, terms: Terms) -> Program {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        let output = statement.output;
        if let Operation::Dot {
            algorithm: Dpa::General(General::AddMul(step)),
            ..
        } = &mut statement.operation
        {
            step.terms = Terms {
                // A rounding that equals the sum's own is the default and not written.
                products: terms
                    .products
                    .filter(|own| *own != (output.rounding, output.format)),
                ..terms
            };
        }
    }
    changed
}
