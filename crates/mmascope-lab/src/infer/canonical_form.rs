//! Converts a program between two forms: the general form, in which every parameter can be changed, and the form with
//! named algorithms, which people know.

use crate::dpa::schema::parameters as p;
use crate::dpa::{
    AddMul, Dpa, FmaChain, Fused, General, Groups, Operation, Output, Program, Select, Source,
    Start, Statement, Sticky,
};
use crate::format::{Format, Rounding};

fn smallest_exponent(format: &Format) -> i32 {
    format.float().map_or(0, |float| float.emin())
}

/// The general step that computes the same as a named algorithm, if there is one.
fn general_step(algorithm: &Dpa, from: Start, output: &Output, wide: bool) -> Option<Fused> {
    if *algorithm == Dpa::FmaChain(FmaChain) && (from == Start::Product || wide) {
        return None;
    }
    let General::Fused(fused) = algorithm.general(output) else {
        return None;
    };
    if let Dpa::General(_) = algorithm {
        return Some(fused);
    }
    Some(match (fused.join, fused.groups) {
        (None, None) => fused,
        // The search changes groups: products that are joined are one, and a floor of the exponent that
        // shows nowhere is one to begin with.
        (Some((f, align)), None) => Fused {
            join: None,
            groups: Some(Groups {
                f: Some(f),
                align,
                ..Groups::exact(fused.l)
            }),
            e0: Some(smallest_exponent(&output.format)),
            ..fused
        },
        // The search knows no scales of groups, and nothing that joins groups.
        (_, Some(_)) => return None,
    })
}

/// The program with general steps in place of the named algorithms that they can express.
pub(crate) fn general(program: &Program, wide: bool) -> Program {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if let Operation::Dot {
            algorithm, from, ..
        } = &mut statement.operation
            && let Some(fused) = general_step(algorithm, *from, &statement.output, wide)
        {
            *algorithm = Dpa::General(General::Fused(fused));
        }
    }
    changed
}

/// The program with named algorithms in place of the general steps that equal one.
pub(crate) fn named(program: &Program, k: usize, scaled: bool) -> Program {
    let mut changed = merged(program);
    for statement in &mut changed.statements {
        match &mut statement.operation {
            Operation::Dot {
                algorithm,
                over,
                from,
                ..
            } => {
                if let Dpa::General(General::Fused(fused)) = *algorithm {
                    let fused = without_grid(fused);
                    *algorithm = match from {
                        // The shipped algorithms take a value beside the products.
                        Start::Product => Dpa::General(General::Fused(fused)),
                        _ => named_step(&fused, &statement.output, scaled),
                    };
                }
                *over = tidy(over, k);
            }
            Operation::Join {
                algorithm: Dpa::General(General::Fused(fused)),
                ..
            } => *fused = without_grid(*fused),
            Operation::Join { .. }
            | Operation::Add(..)
            | Operation::Convert(_)
            | Operation::Negate(_) => {}
        }
    }
    changed
}

/// An exact step without the parameters that only an alignment has.
fn without_grid(fused: Fused) -> Fused {
    match fused.f {
        Some(_) => fused,
        None => Fused {
            e0: None,
            align: Rounding::Rz,
            align_c: Rounding::Rz,
            c_outside_alignment: false,
            sticky: Sticky::None,
            ..fused
        },
    }
}

/// The algorithm of the papers that is this step: the first one whose rows, with the step's values, give the step.
fn named_step(fused: &Fused, output: &Output, scaled: bool) -> Dpa {
    let own = Dpa::from(*fused);
    // Without F2 nothing is rounded to it.
    let floor = fused.f2.map_or(Rounding::Rd, |_| fused.floor);
    let wanted = Fused { floor, ..*fused };
    let of_c = own.get(p::FC.symbol).map(|value| (&p::F, value));
    let named = Dpa::all().filter(|step| step.takes_scales() == scaled);
    for step in named.filter(|step| !matches!(step, Dpa::General(_))) {
        // Where groups have bits of their own, F is that of the sum with c.
        for f in [None, of_c] {
            let mut step = step;
            for (parameter, value) in own.parameters().into_iter().chain(f) {
                step.set(parameter.symbol, value);
            }
            if general_step(&step, Start::C, output, false) == Some(wanted) {
                return step;
            }
        }
    }
    own
}

/// The program without a final conversion: its last sum makes the result itself.
pub(crate) fn without_conversion(program: &Program) -> Option<Program> {
    let mut changed = program.clone();
    let last = changed.statements.pop()?;
    let index = changed.statements.len().checked_sub(1)?;
    if last.operation != Operation::Convert(Source::Statement(index)) {
        return None;
    }
    let sum = &mut changed.statements[index];
    (sum.name, sum.output) = (last.name, last.output);
    Some(changed)
}

/// The program without a final conversion: its last step alone makes the result itself.
pub(crate) fn without_second_rounding(program: &Program, k: usize) -> Option<Program> {
    let (last, before) = program.statements.split_last()?;
    let index = before.len().checked_sub(1)?;
    if last.operation != Operation::Convert(Source::Statement(index)) {
        return None;
    }
    let sums = Program {
        codes: program.codes,
        statements: before.to_vec(),
    };
    let mut changed = split(&sums, k)?;
    let sum = changed.statements.last_mut()?;
    (sum.name, sum.output) = (last.name.clone(), last.output);
    Some(changed)
}

/// The program with another statement before the one at a place; that one still reads the same values.
pub(crate) fn with_statement(program: &Program, place: usize, statement: Statement) -> Program {
    let later = |source: Source| match source {
        Source::Statement(index) if index >= place => Source::Statement(index + 1),
        other => other,
    };
    let mut changed = program.clone();
    changed.statements[place..]
        .iter_mut()
        .for_each(|statement| reads(statement, later));
    changed.statements.insert(place, statement);
    named_by_place(&mut changed);
    changed
}

/// The program without the statement at a place; statements that read it read `source` instead.
pub(crate) fn without_statement(program: &Program, place: usize, source: Source) -> Program {
    let earlier = |read: Source| match read {
        Source::Statement(index) if index == place => source,
        Source::Statement(index) if index > place => Source::Statement(index - 1),
        other => other,
    };
    let mut changed = program.clone();
    changed.statements.remove(place);
    changed.statements[place..]
        .iter_mut()
        .for_each(|statement| reads(statement, earlier));
    named_by_place(&mut changed);
    changed
}

/// The values that a statement reads.
fn sources(statement: &Statement) -> Vec<Source> {
    match &statement.operation {
        Operation::Dot { from, .. } => from.source().into_iter().collect(),
        Operation::Add(left, right) => vec![*left, *right],
        Operation::Convert(source) | Operation::Negate(source) => vec![*source],
        Operation::Join { of, .. } => of.clone(),
    }
}

/// Changes the values that a statement reads.
pub(super) fn reads(statement: &mut Statement, change: impl Fn(Source) -> Source) {
    match &mut statement.operation {
        Operation::Dot { from, .. } => {
            if let Some(source) = from.source() {
                *from = change(source).into();
            }
        }
        Operation::Add(left, right) => (*left, *right) = (change(*left), change(*right)),
        Operation::Convert(source) | Operation::Negate(source) => *source = change(*source),
        Operation::Join { of, .. } => of.iter_mut().for_each(|source| *source = change(*source)),
    }
}

/// Names every statement by its place, so that names differ.
fn named_by_place(program: &mut Program) {
    let last = program.statements.len().saturating_sub(1);
    for (index, statement) in program.statements[..last].iter_mut().enumerate() {
        statement.name = format!("t{index}");
    }
}

/// The shortest selection that names these k.
fn tidy(over: &Select, k: usize) -> Select {
    let Select::List(list) = over else {
        return over.clone();
    };
    if list.iter().copied().eq(0..k) {
        return Select::All;
    }
    for modulus in [2, 4, 8, 16] {
        let mut residues: Vec<usize> = list.iter().map(|k| k % modulus).collect();
        residues.sort_unstable();
        residues.dedup();
        let select = Select::Residues { modulus, residues };
        if select.indices(k) == *list && list.len() < k {
            return select;
        }
    }
    over.clone()
}

/// Joins statements that continue a chain with the same step and output.
pub(crate) fn merged(program: &Program) -> Program {
    let mut changed = program.clone();
    let next = |program: &Program| {
        let pairs = (1..program.statements.len()).rev();
        pairs.map(|last| last - 1).find_map(|place| {
            let pair = &program.statements[place..place + 2];
            let is_read = program.statements[place + 2..]
                .iter()
                .any(|later| sources(later).contains(&Source::Statement(place)));
            let joined = join(&pair[0], &pair[1], place).filter(|_| !is_read)?;
            Some((place, joined))
        })
    };
    while let Some((place, joined)) = next(&changed) {
        changed = without_statement(&changed, place, Source::Zero);
        let name = changed.statements[place].name.clone();
        changed.statements[place] = Statement { name, ..joined };
    }
    changed
}

/// The programs in which two parts of a chain are one, with the parameters of one of them: of the first alone where that begins with c, since
/// what the other would do with c is not known.
pub(crate) fn alike(program: &Program) -> Vec<Program> {
    let step = |statement: &Statement| match &statement.operation {
        Operation::Dot {
            algorithm, from, ..
        } => Some((*algorithm, *from)),
        _ => None,
    };
    let mut found = Vec::new();
    let program = &merged(program);
    for place in 1..program.statements.len() {
        let (first, last) = (&program.statements[place - 1], &program.statements[place]);
        let (Some((of_first, from)), Some((of_last, _))) = (step(first), step(last)) else {
            continue;
        };
        let ways = [(of_last, last.output), (of_first, first.output)];
        let ways = &ways[usize::from(from == Start::C)..];
        if of_first.block() != of_last.block() {
            continue;
        }
        for (own, output) in ways {
            let mut changed = program.clone();
            for statement in &mut changed.statements[place - 1..=place] {
                statement.output = *output;
                if let Operation::Dot { algorithm, .. } = &mut statement.operation {
                    *algorithm = *own;
                }
            }
            let merged = merged(&changed);
            if merged.statements.len() < program.statements.len() {
                found.push(merged);
            }
        }
    }
    found
}

fn join(first: &Statement, last: &Statement, index: usize) -> Option<Statement> {
    let (
        Operation::Dot {
            algorithm,
            operands,
            over: Select::List(head),
            from,
        },
        Operation::Dot {
            algorithm: other,
            operands: wide,
            over: Select::List(tail),
            from: Start::Statement(read),
        },
    ) = (&first.operation, &last.operation)
    else {
        return None;
    };
    let whole = head.len() % algorithm.block() == 0;
    let same =
        without_c(algorithm) == without_c(other) && operands == wide && first.output == last.output;
    (same && whole && *read == index).then(|| Statement {
        name: last.name.clone(),
        operation: Operation::Dot {
            algorithm: *algorithm,
            operands: *operands,
            over: Select::List(head.iter().chain(tail).copied().collect()),
            from: *from,
        },
        output: last.output,
    })
}

/// The algorithm without its treatment of c, for steps that begin with another value.
fn without_c(algorithm: &Dpa) -> Dpa {
    let mut changed = *algorithm;
    if let Dpa::General(
        General::Fused(Fused { terms, .. }) | General::AddMul(AddMul { terms, .. }),
    ) = &mut changed
    {
        (terms.round_c, terms.flush_c) = (None, None);
    }
    changed
}

/// Cuts a dot product in two: one over its first `head` k, and one over the rest, which begins with `sum`; `None` when
/// either would be empty.
pub(crate) fn cut(
    statement: &Statement,
    head: usize,
    k: usize,
    sum: Source,
) -> Option<[Operation; 2]> {
    let Operation::Dot {
        algorithm,
        operands,
        over,
        from,
    } = &statement.operation
    else {
        return None;
    };
    let order = over.indices(k);
    let (head, tail) = order.split_at_checked(head)?;
    let dot = |algorithm: Dpa, over: &[usize], from: Start| Operation::Dot {
        algorithm,
        operands: *operands,
        over: Select::List(over.to_vec()),
        from,
    };
    // Rounding and flushing of c belong to the first part only.
    let rest = without_c(algorithm);
    (!head.is_empty() && !tail.is_empty())
        .then(|| [dot(*algorithm, head, *from), dot(rest, tail, sum.into())])
}

/// Splits a chain into two statements, the second being its last block; `None` when it has one block.
pub(crate) fn split(program: &Program, k: usize) -> Option<Program> {
    let (last, before) = program.statements.split_last()?;
    let Operation::Dot {
        algorithm, over, ..
    } = &last.operation
    else {
        return None;
    };
    let block = algorithm.block();
    let head = (over.indices(k).len().saturating_sub(1) / block) * block;
    let [first, second] = cut(last, head, k, Source::Statement(before.len()))?;
    let mut statements = before.to_vec();
    statements.push(Statement {
        name: format!("t{}", before.len()),
        operation: first,
        output: last.output,
    });
    statements.push(Statement {
        operation: second,
        ..last.clone()
    });
    Some(Program {
        codes: program.codes,
        statements,
    })
}
