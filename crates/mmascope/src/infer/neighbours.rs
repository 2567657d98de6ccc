//! A model beside its neighbours in the model space: every value of every parameter is refuted by an
//! answer, or no input tells it apart.

use super::asker::Asker;
use super::distinguish;
use super::settings::{Setting, domains};
use super::shapes::{self, Place, Step};
use super::{Run, forms, space};
use crate::dpa::{Dpa, General, Operation, Program, Select, Signature, Source, Unit};
use crate::error::Result;

/// Inputs of each kind that are tried to tell two units apart.
const TRIES: usize = 900;
/// The same along a scale, where bisection asks for few.
const TRIES_ALONG: usize = 4000;

/// One neighbour: which parameter it changes and to what.
#[derive(Clone, Debug)]
pub(crate) struct Neighbour {
    pub(crate) parameter: &'static str,
    pub(crate) value: String,
    pub(crate) program: Program,
}

/// What became of a model.
pub(crate) enum Study {
    Stands(Box<Stands>),
    /// An answer contradicts it.
    Refuted,
}

/// A model with what is known of its neighbours.
pub(crate) struct Stands {
    pub(crate) unit: Unit,
    /// Rows of the catalogue that nothing tells apart from it.
    pub(crate) equivalent: Vec<String>,
    /// Parameter, the value in use, and the values that cannot be told from it.
    pub(crate) open: Vec<(&'static str, String, Vec<String>)>,
    /// What was rejected, and the place of the answer that does it.
    pub(crate) rejected: Vec<(String, Unit, usize)>,
}

enum Verdict {
    Rejected(usize),
    Same,
    /// The model itself is wrong.
    Refuted,
}

/// The name of a parameter of `fused` beside one of a named algorithm that is called the same.
fn of_general(name: &'static str) -> &'static str {
    match name {
        "L" => "fused L",
        "F" => "fused F",
        "Fc" => "fused Fc",
        "F2" => "fused F2",
        "e0" => "fused e0",
        "G" => "fused G",
        "align" => "fused align",
        other => other,
    }
}

/// Whether a parameter's values are an ordered scale, along which the search stops at a rejection.
fn is_scale(name: &str) -> bool {
    let name = name.strip_prefix("fused ").unwrap_or(name);
    ["L", "F", "Fc", "F2", "e0", "P", "G"].contains(&name)
}

/// Settles every neighbour of a unit.
pub(crate) fn study(run: &mut Run<'_>, unit: &Unit, rows: &[space::Row]) -> Result<Study> {
    let signature = run.signature;
    let mut stands = Stands {
        unit: unit.clone(),
        equivalent: Vec::new(),
        open: Vec::new(),
        rejected: Vec::new(),
    };
    for row in rows {
        if row.unit == *unit {
            stands.equivalent.extend(row.names.clone());
            continue;
        }
        match settle(run, unit, &row.unit, true, true)? {
            Verdict::Rejected(place) => {
                let name = row.names.first().cloned().unwrap_or_default();
                stands.rejected.push((name, row.unit.clone(), place));
            }
            Verdict::Same => stands.equivalent.extend(row.names.clone()),
            Verdict::Refuted => return Ok(Study::Refuted),
        }
    }
    for (name, values) in alternatives(&signature, unit.program()) {
        let Some(outcome) = scan(run, unit, name, &values, &mut stands)? else {
            return Ok(Study::Refuted);
        };
        if !outcome.is_empty() {
            let own = values.iter().find(|(_, program)| program.is_none());
            let own = own.map_or_else(|| "as stated".to_owned(), |(value, _)| value.clone());
            // The same parameter may have been scanned in two ways.
            match stands.open.iter_mut().find(|(known, ..)| *known == name) {
                Some((.., values)) => {
                    for value in outcome {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                None => stands.open.push((name, own, outcome)),
            }
        }
    }
    Ok(Study::Stands(Box::new(stands)))
}

/// The values of one parameter that cannot be told apart; `None` when the model is refuted.
///
/// Along a scale the far end is tried before what lies between: when it cannot be told apart, nothing
/// on that side can. Otherwise the first value that can is found by bisection, and is refuted by an
/// answer.
fn scan(
    run: &mut Run<'_>,
    unit: &Unit,
    name: &'static str,
    values: &[(String, Option<Program>)],
    stands: &mut Stands,
) -> Result<Option<Vec<String>>> {
    let mut open = Vec::new();
    let own = values.iter().position(|(_, program)| program.is_none());
    let sides: Vec<Vec<usize>> = match own.filter(|_| is_scale(name)) {
        Some(own) => vec![(0..own).rev().collect(), (own + 1..values.len()).collect()],
        None => (0..values.len()).map(|index| vec![index]).collect(),
    };
    for side in sides {
        // Before `low` all are the same; from `high` on they are told apart.
        let (mut low, mut high, mut at) = (0, side.len(), 0);
        while low < high {
            let (value, program) = &values[side[at]];
            let other = program.as_ref();
            let other = other.and_then(|other| Unit::new(run.signature, other.clone()).ok());
            match other
                .map(|other| Ok((settle(run, unit, &other, false, is_scale(name))?, other)))
                .transpose()?
            {
                None => high = at,
                Some((Verdict::Rejected(place), other)) => {
                    stands
                        .rejected
                        .push((format!("{name}={value}"), other, place));
                    high = at;
                }
                Some((Verdict::Same, _)) => low = at + 1,
                Some((Verdict::Refuted, _)) => return Ok(None),
            }
            at = if high == side.len() {
                high - 1
            } else {
                (low + high) / 2
            };
        }
        open.extend(side[..low].iter().map(|&index| values[index].0.clone()));
    }
    Ok(Some(open))
}

fn settle(
    run: &mut Run<'_>,
    unit: &Unit,
    other: &Unit,
    exactly: bool,
    thorough: bool,
) -> Result<Verdict> {
    let fails = |asker: &Asker<'_>, place: usize, unit: &Unit| {
        let asked = &asker.asked[place];
        if exactly {
            !asked.fits_exactly(unit)
        } else {
            !asked.fits(unit)
        }
    };
    if let Some(place) = (0..run.asker.asked.len()).find(|&place| fails(&run.asker, place, other)) {
        return Ok(Verdict::Rejected(place));
    }
    // The answers so far do not decide: an input is looked for, and asked.
    let tries = if thorough { TRIES_ALONG } else { TRIES };
    let found = distinguish::find(&run.maker, unit, other, tries, &mut run.random);
    let Some(case) = found.filter(|_| run.asker.affords(1)) else {
        return Ok(Verdict::Same);
    };
    let place = run.asker.ask(vec![case])?[0];
    if fails(&run.asker, place, unit) {
        return Ok(Verdict::Refuted);
    }
    Ok(if fails(&run.asker, place, other) {
        Verdict::Rejected(place)
    } else {
        Verdict::Same
    })
}

/// A parameter with its values: text and program, `None` for the value that it has.
pub(crate) type Values = (&'static str, Vec<(String, Option<Program>)>);

/// Every parameter with its values, for a program.
pub(crate) fn alternatives(signature: &Signature, program: &Program) -> Vec<Values> {
    let scaled = signature.scale.is_some();
    let wide = space::is_wide(signature);
    let k = signature.k;
    let canonical = |program: &Program| forms::named(&forms::general(program, wide), k, scaled);
    let own = canonical(program);
    let base = forms::general(program, wide);
    let mut found: Vec<Values> = Vec::new();
    let mut seen: Vec<Program> = vec![own.clone()];
    // The named form first, so that a named algorithm's own parameters are changed as it has them.
    for form in [&own, &base] {
        for settings in domains(signature, form) {
            let Some(name) = settings.first().map(Setting::name) else {
                continue;
            };
            // Other groups are for the search: there are too many to refute each.
            if name == "swap" {
                continue;
            }
            let mut values: Vec<(String, Option<Program>)> = Vec::new();
            for setting in settings {
                let Some(changed) = setting.apply(form, k) else {
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
            // The named algorithm's own parameter of that name is another one.
            let other = found.iter().any(|(known, known_values)| {
                *known == name && stated(known_values) != stated(&values)
            });
            if values.iter().any(|(_, program)| program.is_some()) {
                found.push((if other { of_general(name) } else { name }, values));
            }
        }
        if own == base {
            break;
        }
    }
    found.extend(placements(signature, program, wide));
    found
}

/// Other places of c and other orders, for a program of one chain.
fn placements(signature: &Signature, program: &Program, wide: bool) -> Vec<Values> {
    let base = forms::general(program, wide);
    let [statement] = &base.statements[..] else {
        return Vec::new();
    };
    let Operation::Dot {
        algorithm,
        over,
        from: Source::C,
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
    let mut orders = vec![("as stated".to_owned(), None)];
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

/// Every neighbour of a program.
pub(crate) fn each(signature: &Signature, program: &Program) -> Vec<Neighbour> {
    alternatives(signature, program)
        .into_iter()
        .flat_map(|(parameter, values)| {
            values.into_iter().filter_map(move |(value, program)| {
                Some(Neighbour {
                    parameter,
                    value,
                    program: program?,
                })
            })
        })
        .collect()
}
