//! A model beside its neighbours in the model space: every value of every parameter is refuted by an
//! answer, or no input tells it apart.

use super::alternatives::{GENERAL, alternatives, neighbour};
use super::asker::Asked;
use super::distinguish::Distinguisher;
use super::run::Run;
use super::settings::{self, Setting};
use super::{canonical_form, parallel, space, widths};
use crate::dpa::schema::{Parameter, parameter, parameters as p};
use crate::dpa::{Program, Unit};
use crate::error::Result;

/// What stands for values that have no words of their own.
pub(super) const AS_STATED: &str = "as stated";

/// Inputs of each kind that are tried to tell two units apart.
const TRIES: usize = 4000;

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
    pub(crate) open: Vec<(String, String, Vec<String>)>,
    /// What was rejected, and the place of the answer that does it.
    pub(crate) rejected: Vec<(String, Unit, usize)>,
}

enum Verdict {
    Rejected(usize),
    Same,
    /// The model itself is wrong.
    Refuted,
}

/// What makes it cheap to settle many neighbours of one unit.
struct Aids<'a> {
    distinguisher: Distinguisher<'a>,
    /// Places of answers that rejected others, the latest first.
    telling: Vec<usize>,
}

/// Answers that are remembered as telling.
const TELLING: usize = 64;

/// Whether a parameter's values are an ordered scale, along which the search stops at a rejection.
fn is_scale(name: &str) -> bool {
    let name = name.strip_prefix(GENERAL).unwrap_or(name);
    // Of a part of the steps, perhaps.
    let whole = || name.split('-').next().and_then(parameter);
    parameter(name)
        .or_else(whole)
        .is_some_and(Parameter::is_scale)
}

/// Settles every neighbour of a unit.
pub(crate) fn study(run: &mut Run<'_>, unit: &Unit, rows: &[space::Row]) -> Result<Study> {
    let signature = run.signature;
    let mut aids = Aids {
        distinguisher: Distinguisher::new(unit),
        telling: Vec::new(),
    };
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
        match settle(run, &mut aids, unit, &row.unit, true)? {
            Verdict::Rejected(place) => {
                let name = row.names.first().cloned().unwrap_or_default();
                stands.rejected.push((name, row.unit.clone(), place));
            }
            Verdict::Same => stands.equivalent.extend(row.names.clone()),
            Verdict::Refuted => return Ok(Study::Refuted),
        }
    }
    for (name, values) in alternatives(&signature, unit.program()) {
        let Some(outcome) = scan(run, &mut aids, unit, &name, &values, &mut stands)? else {
            return Ok(Study::Refuted);
        };
        if !outcome.is_empty() {
            let own = values.iter().find(|(_, program)| program.is_none());
            let own = own.map_or_else(|| stated(unit, &name), |(value, _)| value.clone());
            stands.leave_open(&name, &own, outcome);
        }
    }
    match settle_pairs(run, &mut aids, unit, &mut stands)? {
        true => Ok(Study::Stands(Box::new(stands))),
        false => Ok(Study::Refuted),
    }
}

/// Settles programs that differ in two parameters, one of which hides the other. False when the model is refuted.
fn settle_pairs(
    run: &mut Run<'_>,
    aids: &mut Aids<'_>,
    unit: &Unit,
    stands: &mut Stands,
) -> Result<bool> {
    let general = canonical_form::general(unit.program(), space::is_wide(&run.signature));
    for [first, second] in settings::nearly_alike(&run.signature, &general) {
        // `F` alone leaves the bits of c as they are.
        let products_alone = first.is_of(&p::F);
        // What one of them leaves open is known already.
        let is_open = |setting: &Setting| stands.leaves_open(setting.name(), &setting.value());
        if !products_alone && (is_open(&first) || is_open(&second)) {
            continue;
        }
        let Some(once) = first.apply(&general, &run.signature) else {
            continue;
        };
        // The bits of products alone are no parameter that was settled before.
        let both = second.apply(&once, &run.signature);
        let Some(other) = both.filter(|both| products_alone || *both != once) else {
            continue;
        };
        let value = |setting: &Setting| neighbour(setting.name(), &setting.value());
        let value = format!("{} {}", value(&first), value(&second));
        let name = format!("{}-{}", first.name(), second.name());
        let names = match products_alone {
            true => [
                format!("{name} of products"),
                format!("{value} of products"),
            ],
            false => [name, value],
        };
        if !settle_one(run, aids, unit, stands, names, other)? {
            return Ok(false);
        }
    }
    for (rounding, other) in widths::rounded_twice(&general, &run.signature) {
        let value = format!("rounded to {rounding} f32 first");
        let rounded = ["rounded".to_owned(), value];
        if !settle_one(run, aids, unit, stands, rounded, other)? {
            return Ok(false);
        }
    }
    for other in canonical_form::alike(&general) {
        let in_one = ["chain", "chain in one"].map(str::to_owned);
        if !settle_one(run, aids, unit, stands, in_one, other)? {
            return Ok(false);
        }
    }
    let once = canonical_form::without_second_rounding(&general, run.signature.k);
    let once = once.or_else(|| canonical_form::without_conversion(&general));
    match once.filter(|once| !widths::rounded_twice(once, &run.signature).is_empty()) {
        Some(other) => {
            let once = ["rounded", "rounded once"].map(str::to_owned);
            settle_one(run, aids, unit, stands, once, other)
        }
        None => Ok(true),
    }
}

/// Settles one neighbour with the name of what is changed and its value. False when the model is refuted.
fn settle_one(
    run: &mut Run<'_>,
    aids: &mut Aids<'_>,
    unit: &Unit,
    stands: &mut Stands,
    [name, value]: [String; 2],
    other: Program,
) -> Result<bool> {
    let Ok(other) = Unit::new(run.signature, other) else {
        return Ok(true);
    };
    match settle(run, aids, unit, &other, false)? {
        Verdict::Rejected(place) => stands.rejected.push((value, other, place)),
        Verdict::Same => stands.leave_open(&name, AS_STATED, vec![value]),
        Verdict::Refuted => return Ok(false),
    }
    Ok(true)
}

impl Stands {
    fn leaves_open(&self, name: &str, value: &str) -> bool {
        let mut open = self.open.iter();
        open.any(|(known, _, values)| known == name && values.iter().any(|open| open == value))
    }

    /// Adds values that cannot be told from the one in use.
    fn leave_open(&mut self, name: &str, own: &str, values: Vec<String>) {
        // The same parameter may have been scanned in two ways.
        match self.open.iter_mut().find(|(known, ..)| known == name) {
            Some((.., known)) => {
                for value in values {
                    if !known.contains(&value) {
                        known.push(value);
                    }
                }
            }
            None => self.open.push((name.to_owned(), own.to_owned(), values)),
        }
    }

    /// Rejects rows that an answer to a later question contradicts: it may have shown another NaN than theirs.
    pub(crate) fn look_at_rows(&mut self, run: &Run<'_>, rows: &[space::Row]) {
        for row in rows {
            let own = |name: &String| row.names.contains(name);
            if !self.equivalent.iter().any(own) {
                continue;
            }
            let asked = &run.asker.asked;
            let differs = |place: &usize| !asked[*place].fits_exactly(&row.unit);
            if let Some(place) = (0..asked.len()).find(differs) {
                self.equivalent.retain(|name| !own(name));
                let name = row.names.first().cloned().unwrap_or_default();
                self.rejected.push((name, row.unit.clone(), place));
            }
        }
    }
}

/// The value of a parameter that the search has no such value of; statements may have several.
pub(crate) fn stated(unit: &Unit, name: &str) -> String {
    let mut values: Vec<String> = Vec::new();
    for parameter in unit.program().parameters() {
        if parameter.name == name && !values.contains(&parameter.value) {
            values.push(parameter.value);
        }
    }
    match &values[..] {
        [value] => value.clone(),
        _ => AS_STATED.to_owned(),
    }
}

/// The values of one parameter that cannot be told apart; `None` when the model is refuted.
///
/// Along a scale the far end is tried before what lies between: when it cannot be told apart, nothing
/// on that side can. Otherwise the first value that can is found by bisection, and is refuted by an
/// answer.
fn scan(
    run: &mut Run<'_>,
    aids: &mut Aids<'_>,
    unit: &Unit,
    name: &str,
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
                .map(|other| {
                    let verdict = settle(run, aids, unit, &other, false)?;
                    Ok((verdict, other))
                })
                .transpose()?
            {
                None => high = at,
                Some((Verdict::Rejected(place), other)) => {
                    stands.rejected.push((neighbour(name, value), other, place));
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
    aids: &mut Aids<'_>,
    unit: &Unit,
    other: &Unit,
    exactly: bool,
) -> Result<Verdict> {
    let fails = |asked: &Asked, unit: &Unit| match exactly {
        true => !asked.fits_exactly(unit),
        false => !asked.fits(unit),
    };
    // What has rejected others is likely to reject this one.
    let asked = &run.asker.asked;
    let mut telling = aids.telling.iter().copied();
    let telling = telling.find(|&place| fails(&asked[place], other));
    let rejecting = || parallel::position(asked, |asked| fails(asked, other));
    if let Some(place) = telling.or_else(rejecting) {
        aids.telling.retain(|known| *known != place);
        aids.telling.insert(0, place);
        aids.telling.truncate(TELLING);
        return Ok(Verdict::Rejected(place));
    }
    // The answers so far do not decide: an input is looked for, and asked.
    let found = (aids.distinguisher).find(&run.maker, other, TRIES, &mut run.random);
    // It is asked even if the budget is spent: a value that can be told apart is not said to be the same.
    let Some(case) = found else {
        return Ok(Verdict::Same);
    };
    let place = run.asker.ask(vec![case])?[0];
    let asked = &run.asker.asked[place];
    if fails(asked, unit) {
        return Ok(Verdict::Refuted);
    }
    Ok(if fails(asked, other) {
        Verdict::Rejected(place)
    } else {
        Verdict::Same
    })
}
