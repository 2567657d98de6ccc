//! Parts of a program's statements, which may have parameters of their own.

use super::Setting;
use crate::dpa::schema::PROGRAM_PARAMETERS;
use crate::dpa::{Operation, Program, Signature, Source, Statement};
use crate::infer::canonical_form;

/// A part of a program's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the last one.
    Before,
    /// The one that makes the result.
    Last,
    /// The first one.
    First,
    /// All but the first one.
    After,
    /// The last one's last step, where others of its chain have parameters of their own already.
    LastStep,
    /// The one at this place, which is neither the first nor the last.
    Inner(usize),
    /// The additions at the end, where there are several: a sign of zero shows only if all of them give it.
    Adds,
}

/// The most statements of a program in which each is looked at by itself.
const FEW: usize = 5;

impl Part {
    /// The parts that a program may have, once split.
    pub(crate) fn all(program: &Program) -> impl Iterator<Item = Self> + use<> {
        let count = program.statements.len();
        let inner = 1..if count > FEW { 1 } else { count.max(2) - 1 };
        [
            Self::Before,
            Self::Last,
            Self::First,
            Self::After,
            Self::LastStep,
            Self::Adds,
        ]
        .into_iter()
        .chain(inner.map(Self::Inner))
    }

    /// The statements before this part, in it, and after it.
    fn of(self, program: &Program) -> (&[Statement], &[Statement], &[Statement]) {
        let all = &program.statements[..];
        let last = all.len().saturating_sub(1);
        let (from, to) = match self {
            Self::Before => (0, last),
            Self::Last | Self::LastStep => (last, all.len()),
            Self::Inner(place) => (place, place + 1),
            Self::First => (0, all.len().min(1)),
            Self::After => (all.len().min(1), all.len()),
            Self::Adds => (all.len() - adds_at_the_end(all), all.len()),
        };
        (&all[..from], &all[from..to], &all[to..])
    }

    /// The statements of this part.
    pub(crate) fn statements(self, program: &Program) -> &[Statement] {
        self.of(program).1
    }

    /// The program with a chain split for this part; `None` where there is no such part, or where it is
    /// also one of those before it in [`Part::all`].
    fn split(self, program: &Program, k: usize) -> Option<Program> {
        match self {
            Self::Before | Self::Last if program.statements.len() == 1 => {
                canonical_form::split(program, k)
            }
            Self::Before | Self::Last | Self::Inner(_) => Some(program.clone()),
            Self::Adds => (adds_at_the_end(&program.statements) > 1).then(|| program.clone()),
            Self::LastStep if program.statements.len() == 1 => None,
            Self::LastStep => canonical_form::split(program, k),
            Self::First | Self::After => match first_step_apart(program, k) {
                // A chain of two steps has no others between them.
                Some(own) if own.statements.len() == 2 => {
                    canonical_form::split(&own, k).map(|_| own)
                }
                Some(own) => Some(own),
                None => (program.statements.len() > 2).then(|| program.clone()),
            },
        }
    }
}

/// How many statements at the end are additions.
fn adds_at_the_end(statements: &[Statement]) -> usize {
    let is_add = |statement: &&Statement| matches!(statement.operation, Operation::Add(..));
    statements.iter().rev().take_while(is_add).count()
}

/// The program whose first step is a statement of its own; `None` when it is one, or is no step.
fn first_step_apart(program: &Program, k: usize) -> Option<Program> {
    let first = program.statements.first()?;
    let Operation::Dot { algorithm, .. } = &first.operation else {
        return None;
    };
    let [head, tail] = canonical_form::cut(first, algorithm.block(), k, Source::Statement(0))?;
    let step = Statement {
        name: String::new(),
        operation: head,
        output: first.output,
    };
    let mut own = canonical_form::with_statement(program, 0, step);
    own.statements[1].operation = tail;
    Some(own)
}

/// Whether a parameter is one of whole programs.
fn is_of_programs(symbol: &str) -> bool {
    let mut all = PROGRAM_PARAMETERS.iter();
    all.any(|parameter| parameter.symbol == symbol)
}

impl Setting {
    /// The program with this value in a part of its statements; a chain is split for it.
    pub(crate) fn apply_to(
        &self,
        part: Part,
        program: &Program,
        signature: &Signature,
    ) -> Option<Program> {
        let own = match *self {
            // These concern several statements, or the whole unit.
            Self::Between(..) | Self::Chains(..) | Self::Swap(..) => return None,
            Self::Of(symbol, _) if is_of_programs(symbol) => return None,
            // Before the last step, and in it, the parameters between steps and at the end say it.
            Self::End(_) if matches!(part, Part::Before | Part::Last) => return None,
            Self::End(rounding) => Self::Everywhere(rounding),
            own => own,
        };
        let split = part.split(program, signature.k)?;
        let (before, chosen, after) = part.of(&split);
        let changed = own.on_statements(&Program {
            codes: split.codes,
            statements: chosen.to_vec(),
        })?;
        Some(Program {
            codes: split.codes,
            statements: [before, &changed.statements[..], after].concat(),
        })
    }
}
