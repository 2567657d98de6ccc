//! Writes a model as a row of the catalogue: its parameters by name, and the text of its file.

use serde_json::{Map, Value};

use crate::dpa::{Dpa, Operation, Program, Signature, Source, Start};
use crate::format::Format;

/// What a program does with c, in one word.
fn place_of_c(program: &Program) -> &'static str {
    let uses = |operation: &Operation| match operation {
        Operation::Dot { from, .. } => *from == Start::C,
        Operation::Add(left, right) => *left == Source::C || *right == Source::C,
        Operation::Convert(source) | Operation::Negate(source) => *source == Source::C,
        Operation::Join { of, .. } => of.contains(&Source::C),
    };
    let last = program.statements.len().saturating_sub(1);
    let at = program
        .statements
        .iter()
        .position(|statement| uses(&statement.operation));
    match at.map(|at| (at, &program.statements[at].operation)) {
        None => "absent",
        Some((_, Operation::Dot { .. })) => "fused",
        Some((at, Operation::Add(..))) if at == last => "separate-last",
        Some((_, Operation::Add(..))) => "separate-first",
        Some((_, Operation::Convert(_) | Operation::Negate(_))) => "converted",
        Some((at, Operation::Join { .. })) if at == last => "last-step",
        Some(_) => "joined",
    }
}

/// The name of the algorithm that sums products.
pub(super) fn algorithm(program: &Program) -> &'static str {
    let dot = program.statements.iter().find_map(|s| match &s.operation {
        Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. } => Some(algorithm),
        _ => None,
    });
    dot.map_or("none", Dpa::name)
}

/// Parameters by name; where statements differ, a later one's value stands under `STATEMENT.NAME`.
pub(super) fn parameters(program: &Program) -> Map<String, Value> {
    let mut found = Map::new();
    let last = program
        .statements
        .last()
        .map_or("", |statement| &statement.name);
    for parameter in program.parameters() {
        let value: Value = match parameter.value.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => parameter.value.into(),
        };
        let is_last = parameter.statement.is_empty() || parameter.statement == last;
        match found.get(parameter.name) {
            None => {
                found.insert(parameter.name.to_owned(), value);
            }
            Some(known) if *known == value => {}
            // The result's own rounding, overflow, NaN and zero are those of the last statement.
            Some(known) if is_last && !["order", "L", "F", "P"].contains(&parameter.name) => {
                let earlier = format!("between.{}", parameter.name);
                found.insert(earlier, known.clone());
                found.insert(parameter.name.to_owned(), value);
            }
            Some(_) => {
                found.insert(format!("{}.{}", parameter.statement, parameter.name), value);
            }
        }
    }
    found.insert("c".to_owned(), place_of_c(program).into());
    found
}

/// A file of one row, in the catalogue's notation.
pub(super) fn row_text(signature: &Signature, program: &Program, title: &str) -> String {
    let Signature {
        a,
        b,
        c,
        d,
        k,
        scale,
    } = signature;
    let name = |format: &Format| format.name;
    let scale = scale.map_or_else(String::new, |scale| {
        format!(" scale {}/{}", scale.format.name, scale.block)
    });
    let title: String = title
        .chars()
        .filter(|c| !c.is_control() && *c != '|' && *c != '#')
        .collect();
    format!(
        "arch inferred\ntitle {title}\ndot.{{shape}}.{{d}}.{{a}}.{{b}}.{{c}} | {} x {} + {} -> {}{scale} | m1n1k{k}\n  | {program} | open\n",
        name(a),
        name(b),
        name(c),
        name(d)
    )
}
