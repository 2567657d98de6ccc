//! Makes discriminating vectors: a few lines that separate a row from every neighbour in the model space.
//!
//! Each line says which neighbours it separates from the row: a parameter with another value, another
//! place of c, another order, another rounding. A neighbour for which no input is found is named as
//! not separable. What comes out can be asked of a chip, with or without this library.
//!
//! ```
//! use mmascope_lab::discriminate::discriminate;
//! use mmascope_model::isa::Catalogue;
//! let unit = Catalogue::built_in().find("volta", "mma.m8n8k4.f32.f16.f16.f32")?.unit()?;
//! let vectors = discriminate(unit, 1)?;
//! assert!(vectors.lines.iter().any(|line| line.separates.iter().any(|name| name == "F=24")));
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod runner;

pub use runner::runner;

use crate::dpa::OperandWords;
use crate::dpa::{Modifiers, Nan, Unit};
use crate::error::Result;
use crate::format::{Class, Format, Overflow};
use crate::infer::{Distinguisher, Maker, Unobservable, alternatives, differ, neighbour, stated};
use crate::reveal::Random;

/// Inputs that are tried for a neighbour.
const TRIES: usize = 3000;
/// The same once two other values of the parameter could not be separated.
const TRIES_AFTER: usize = 300;

/// The vectors of a row.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The lines, each needed for some neighbour.
    pub lines: Vec<DiscriminatingLine>,
    /// Values of parameters for which no input was found: the same unit, as far as the search goes.
    pub inseparable: Vec<Unobservable>,
    /// How many neighbours are separated.
    pub separated: usize,
}

/// One vector.
#[derive(Clone, Debug)]
pub struct DiscriminatingLine {
    /// The operands.
    pub case: OperandWords,
    /// The row's result.
    pub d: u64,
    /// Neighbours, `PARAMETER=value`, whose result is another. One of several values names each: `F=24 e0=-132`.
    pub separates: Vec<String>,
}

/// The neighbours of a unit: each differs in one respect, which its name says, `PARAMETER=value`.
#[must_use]
pub fn neighbours(unit: &Unit) -> Vec<(String, Unit)> {
    let signature = *unit.signature();
    let mut found = Vec::new();
    for (parameter, values) in alternatives(&signature, unit.program()) {
        let others = values.into_iter().filter_map(|(value, program)| {
            let unit = Unit::new(signature, program?).ok()?;
            Some((neighbour(&parameter, &value), unit))
        });
        found.extend(others);
    }
    found.extend(of_other_nans(unit));
    found
}

/// The unit with another NaN: what `infer` reads off the answers, and which is no value that a search tries. No vector is
/// made for it: every NaN shows it, and lines without one do not.
fn of_other_nans(unit: &Unit) -> Vec<(String, Unit)> {
    let signature = *unit.signature();
    let program = unit.program();
    let own = match program.statements.last().map(|last| last.output.nan) {
        Some(nan @ (Nan::Word(_) | Nan::Operand(_))) => nan,
        // Any NaN is right, or there is none.
        Some(Nan::Any | Nan::Own) | None => return Vec::new(),
    };
    let words = usual_nans(&signature.d).into_iter();
    let others = words.filter(|word| Nan::Word(*word) != own);
    let with = |word| {
        let mut changed = program.clone();
        changed.statements.last_mut()?.output.nan = Nan::Word(word);
        let name = format!("nan={word:0width$x}", width = signature.d.digits());
        Some((name, Unit::new(signature, changed).ok()?))
    };
    others.filter_map(with).collect()
}

/// The NaNs that units give as register words: quiet with no other bit, and with every bit, of both signs.
fn usual_nans(d: &Format) -> Vec<u64> {
    let format = d.container();
    let Some(float) = format.float() else {
        return Vec::new();
    };
    let exponent = format.infinity(false, Overflow::Ieee);
    let fraction = (1u64 << float.fraction_bits) - 1;
    let sign = 1u64 << (format.bits - 1);
    let quiet = exponent | (fraction + 1) >> 1;
    let all = exponent | fraction;
    let own = format.nan().into_iter();
    let mut found: Vec<u64> = Vec::new();
    for code in own.chain([quiet, all, quiet | sign, all | sign]) {
        let is_nan = format.decode(code).class == Class::Nan;
        let word = format.to_register(code);
        if is_nan && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Finds the vectors of a unit.
///
/// # Errors
/// [`crate::Error::Argument`] for operands that are no floats.
pub fn discriminate(unit: &Unit, seed: u64) -> Result<Vectors> {
    let signature = *unit.signature();
    let maker = Maker::new(&signature)?;
    let mut random = Random::new(seed);
    let mut distinguisher = Distinguisher::new(unit);
    let mut cases: Vec<(OperandWords, Vec<usize>)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut units: Vec<Unit> = Vec::new();
    let mut inseparable: Vec<(String, String, Vec<String>)> = Vec::new();
    for (parameter, values) in alternatives(&signature, unit.program()) {
        let own = values.iter().find(|(_, program)| program.is_none());
        let own = own.map(|(value, _)| value.clone());
        let mut alike: Vec<String> = Vec::new();
        for (value, program) in values {
            let Some(other) = program.and_then(|program| Unit::new(signature, program).ok()) else {
                continue;
            };
            let known = cases.iter().any(|(case, _)| differ(unit, &other, case));
            if !known {
                let tries = if alike.len() < 2 { TRIES } else { TRIES_AFTER };
                let Some(case) = distinguisher.find(&maker, &other, tries, &mut random) else {
                    alike.push(value);
                    continue;
                };
                cases.push((case, Vec::new()));
            }
            names.push(neighbour(&parameter, &value));
            units.push(other);
        }
        if alike.is_empty() {
            continue;
        }
        // A parameter may be changed in two ways.
        match inseparable
            .iter_mut()
            .find(|(known, ..)| *known == parameter)
        {
            Some((.., values)) => values.extend(alike),
            None => {
                let own = own.unwrap_or_else(|| stated(unit, &parameter));
                inseparable.push((parameter, own, alike));
            }
        }
    }
    for (case, separated) in &mut cases {
        let differing = (0..units.len()).filter(|&index| differ(unit, &units[index], case));
        separated.extend(differing);
    }
    let mut lines = Vec::new();
    for (case, separated) in needed(cases, units.len()) {
        lines.push(DiscriminatingLine {
            d: unit.dot(&case.operands(), &Modifiers::default())?,
            separates: separated
                .iter()
                .map(|&index| names[index].clone())
                .collect(),
            case,
        });
    }
    let inseparable = inseparable
        .into_iter()
        .map(|(parameter, own, values)| Unobservable::new(parameter, own, values));
    Ok(Vectors {
        lines,
        inseparable: inseparable.collect(),
        separated: names.len(),
    })
}

/// A small set that still separates everything: always the case that separates the most of what is
/// left.
fn needed(
    mut cases: Vec<(OperandWords, Vec<usize>)>,
    count: usize,
) -> Vec<(OperandWords, Vec<usize>)> {
    let mut open = vec![true; count];
    let mut kept = Vec::new();
    loop {
        let fresh = |separated: &[usize]| separated.iter().filter(|&&index| open[index]).count();
        let best = (0..cases.len()).max_by_key(|&at| (fresh(&cases[at].1), usize::MAX - at));
        let Some(best) = best.filter(|&at| fresh(&cases[at].1) > 0) else {
            break;
        };
        let chosen = cases.remove(best);
        for &index in &chosen.1 {
            open[index] = false;
        }
        kept.push(chosen);
    }
    kept
}
