//! Lists the neighbours of a program: every value of every parameter (of all steps or of some), other places of c,
//! other orders.

use super::neighbours::AS_STATED;
use super::settings::{Part, Setting, domains};
use super::shapes::{self, Place, Step};
use super::{canonical_form, space};
use crate::dpa::{
    AddMul, Dpa, Fused, General, Nan, Operation, Output, Program, Select, Signature, Start,
};

/// The name for a parameter of the general form, where the named algorithm has another parameter of the same symbol.
fn of_general(symbol: &str, own: &Program) -> String {
    let mut steps = own
        .statements
        .iter()
        .filter_map(|statement| match statement.operation {
            Operation::Dot { algorithm, .. } => Some(algorithm),
            _ => None,
        });
    match steps.any(|step| !matches!(step, Dpa::General(_)) && step.get(symbol).is_some()) {
        true => format!("{GENERAL}{symbol}"),
        false => symbol.to_owned(),
    }
}

/// What stands before the names that [`of_general`] makes.
pub(super) const GENERAL: &str = "fused ";

/// The name of a neighbour, `PARAMETER=value`. Values of several parameters that are changed together name each of them.
pub(crate) fn neighbour(parameter: &str, value: &str) -> String {
    match parameter {
        "F-e0" | "F-F2" => value.to_owned(),
        _ => format!("{parameter}={value}"),
    }
}

/// A parameter with its values: the text of each, and the program with it; `None` for the current value.
pub(crate) type Values = (String, Vec<(String, Option<Program>)>);

/// Every parameter with its values, for a program.
pub(crate) fn alternatives(signature: &Signature, program: &Program) -> Vec<Values> {
    let scaled = signature.scale.is_some();
    let wide = space::is_wide(signature);
    let k = signature.k;
    let canonical = |program: &Program| {
        canonical_form::named(&canonical_form::general(program, wide), k, scaled)
    };
    let own = canonical(program);
    let base = canonical_form::general(program, wide);
    let mut found: Vec<Values> = Vec::new();
    let mut seen: Vec<Program> = vec![own.clone()];
    // The named form comes first, so that a named algorithm's own parameters are changed under their own names.
    for form in [&own, &base] {
        for settings in domains(signature, form) {
            let Some(name) = settings.first().map(Setting::name) else {
                continue;
            };
            // There are too many other groups to refute each; the search looks for them.
            if name == "swap" {
                continue;
            }
            let mut values: Vec<(String, Option<Program>)> = Vec::new();
            for setting in settings {
                let Some(changed) = setting.apply(form, signature) else {
                    continue;
                };
                let canonical = canonical(&changed);
                if canonical == own {
                    values.push((setting.value(), None));
                } else if !seen.contains(&canonical) {
                    seen.push(canonical.clone());
                    values.push((setting.value(), Some(changed)));
                }
            }
            let stated = |values: &[(String, Option<Program>)]| {
                let own = values.iter().find(|(_, program)| program.is_none());
                own.map(|(value, _)| value.clone())
            };
            // The named algorithm has another parameter of that name.
            let other = found.iter().any(|(known, known_values)| {
                *known == name && stated(known_values) != stated(&values)
            });
            if values.iter().any(|(_, program)| program.is_some()) {
                let name = match other {
                    true => of_general(name, &own),
                    false => name.to_owned(),
                };
                found.push((name, values));
            }
        }
        if own == base {
            break;
        }
    }
    found.extend(placements(signature, program, wide));
    found.extend(of_parts(signature, &base, &own, canonical));
    found
}

/// Parameters of the last step alone, or of those before it alone: always those of their results, the others only
/// where the steps differ in them.
fn of_parts(
    signature: &Signature,
    base: &Program,
    own: &Program,
    canonical: impl Fn(&Program) -> Program,
) -> Vec<Values> {
    let mut found = Vec::new();
    let differ = steps_differ(base);
    let results_differ = results_differ(base);
    for settings in domains(signature, base) {
        let Some(first) = settings.first() else {
            continue;
        };
        let (of_results, name) = (first.is_of_results(), first.name());
        for part in Part::all(base) {
            let suffix = match part {
                Part::Before => "-before".to_owned(),
                Part::Last => "-end".to_owned(),
                Part::First => "-first".to_owned(),
                Part::After => "-after".to_owned(),
                Part::Inner(place) => format!("-{}", base.statements[place].name),
                Part::Adds => "-adds".to_owned(),
                Part::LastStep => continue,
            };
            // In a chain of one statement one rule holds for all results.
            let several = base.statements.len() > 1 || part == Part::Before;
            let concerns = match part {
                Part::Before | Part::Last => differ || of_results && several,
                Part::Adds => of_results,
                _ => differ || results_differ,
            };
            if !concerns {
                continue;
            }
            let suffix = match part {
                Part::Before if of_results => "-between".to_owned(),
                _ => suffix,
            };
            let values = settings.iter().filter_map(|setting| {
                let changed = setting.apply_to(part, base, signature)?;
                let same = canonical(&changed) == *own;
                Some((setting.value(), (!same).then_some(changed)))
            });
            let values: Vec<_> = values.collect();
            if values.iter().any(|(_, program)| program.is_some()) {
                found.push((format!("{name}{suffix}"), values));
            }
        }
    }
    found
}

/// Whether steps before the last one round their results in different ways.
fn results_differ(program: &Program) -> bool {
    let before = &program.statements[..program.statements.len().saturating_sub(1)];
    let mut outputs = before
        .iter()
        .filter(|statement| matches!(statement.operation, Operation::Dot { .. }))
        .map(|statement| Output {
            nan: Nan::Any,
            ..statement.output
        });
    let first = outputs.next();
    outputs.any(|output| Some(output) != first)
}

/// Whether the steps of a program are of different kinds; how many products they take does not count.
fn steps_differ(program: &Program) -> bool {
    let mut kinds = program
        .statements
        .iter()
        .filter_map(|statement| match &statement.operation {
            Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => {
                Some(match *algorithm {
                    Dpa::General(General::Fused(fused)) => {
                        Dpa::General(General::Fused(Fused { l: 1, ..fused }))
                    }
                    Dpa::General(General::AddMul(step)) => {
                        Dpa::General(General::AddMul(AddMul { p: 1, ..step }))
                    }
                    other => other,
                })
            }
            _ => None,
        });
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first)
}

/// Other places of c and other orders, for a program of one chain.
fn placements(signature: &Signature, program: &Program, wide: bool) -> Vec<Values> {
    let base = canonical_form::general(program, wide);
    let [statement] = &base.statements[..] else {
        return Vec::new();
    };
    let Operation::Dot {
        algorithm,
        over,
        from: Start::C,
        ..
    } = &statement.operation
    else {
        return Vec::new();
    };
    let (k, output) = (signature.k, statement.output);
    let own_order = over.indices(k);
    let with_own_output = |mut program: Program| {
        for statement in &mut program.statements {
            statement.output = output;
        }
        program
    };
    let mut places = vec![("fused".to_owned(), None)];
    let mut orders = vec![(AS_STATED.to_owned(), None)];
    if let Dpa::General(General::Fused(fused)) = algorithm {
        let (step, size) = (Step::Fused(*fused), algorithm.block());
        for place in [
            Place::Last,
            Place::AfterFirst,
            Place::LastStep,
            Place::Absent,
        ] {
            if let Some(program) = shapes::chained(signature, step, &own_order, size, place) {
                places.push((place_name(place).to_owned(), Some(with_own_output(program))));
            }
        }
    }
    if algorithm.block() < k {
        for order in shapes::orders(k) {
            if order == own_order {
                continue;
            }
            let text = Select::List(order.clone()).to_string();
            let mut changed = base.clone();
            if let Operation::Dot { over, .. } = &mut changed.statements[0].operation {
                *over = Select::List(order);
            }
            orders.push((text.trim_start_matches(" over ").to_owned(), Some(changed)));
        }
    }
    [("c", places), ("order", orders)]
        .into_iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(name, values)| (name.to_owned(), values))
        .collect()
}

fn place_name(place: Place) -> &'static str {
    match place {
        Place::First => "fused",
        Place::Last => "separate-last",
        Place::AfterFirst => "separate-first",
        Place::LastStep => "last-step",
        Place::Absent => "absent",
    }
}
