//! The nearest other units, and the smallest input found on which two units differ.

use mmascope::cases::{Family, Generator, Hints};
use mmascope::diff::{self, Contender, DiffInput, Explanation};
use mmascope::dpa::{ProgramParameter, Unit};
use mmascope::isa::Instruction;
use mmascope::{Error, Result};

use crate::study::Entry;

/// Units that a unit is compared with.
const NEAREST: usize = 4;
/// The families whose cases are tried, and how many of each.
const TRIED: [(Family, u64); 5] = [
    (Family::Close, 160),
    (Family::Boundary, 320),
    (Family::Stress, 320),
    (Family::Bits, 160),
    (Family::Normal, 160),
];

/// How two units were found to differ.
pub(crate) enum Separation {
    /// On this input, with both results.
    Input(Box<Shown>),
    /// On none of so many inputs that both take.
    None(u64),
    /// There is no input that both take.
    Apart,
}

/// An input on which two units differ.
pub(crate) struct Shown {
    /// The input, in the formats of the first unit.
    pub(crate) input: DiffInput,
    /// What both do with it.
    pub(crate) explanation: Explanation,
}

/// The units of the same operand types with the fewest other parameters, nearest first.
pub(crate) fn nearest(entries: &[Entry<'_>], index: usize) -> Vec<usize> {
    let own = entries[index].unit;
    let mut found: Vec<(usize, usize)> = entries
        .iter()
        .enumerate()
        .filter(|(other, entry)| {
            *other != index && same_types(own, entry.unit) && own.program() != entry.unit.program()
        })
        .map(|(other, entry)| (distance(own, entry.unit), other))
        .collect();
    found.sort_unstable();
    let mut chosen: Vec<usize> = Vec::new();
    for (_, other) in found {
        // The same arithmetic with another K is no further neighbour.
        let is_known =
            |known: &usize| entries[*known].unit.program() == entries[other].unit.program();
        if chosen.len() < NEAREST && !chosen.iter().any(is_known) {
            chosen.push(other);
        }
    }
    chosen
}

fn same_types(one: &Unit, other: &Unit) -> bool {
    let types = |unit: &Unit| {
        let signature = unit.signature();
        (
            signature.a,
            signature.b,
            signature.c.container(),
            signature.scale,
        )
    };
    types(one) == types(other)
}

/// How many parameters differ, and half as much for another K.
fn distance(one: &Unit, other: &Unit) -> usize {
    let (left, right) = (one.program().parameters(), other.program().parameters());
    let missing = |from: &[ProgramParameter], among: &[ProgramParameter]| {
        from.iter().filter(|it| !among.contains(it)).count()
    };
    let is_other_k = usize::from(one.signature().k != other.signature().k);
    2 * (missing(&left, &right) + missing(&right, &left)) + is_other_k
}

/// Looks for inputs on which two instructions differ, one of each family, makes each small, and keeps the smallest.
pub(crate) fn separation(left: &Instruction, right: &Instruction) -> Result<Separation> {
    let units = [Contender::new(left)?, Contender::new(right)?];
    let mut smallest: Option<DiffInput> = None;
    let mut compared = 0;
    for (family, count) in TRIED {
        let Some(input) = first(&units, family, count, &mut compared)? else {
            continue;
        };
        let input = diff::shrink(&units[0], &units[1], &input)?;
        let is_smaller = |known: &DiffInput| diff::size(&input) < diff::size(known);
        if smallest.as_ref().is_none_or(is_smaller) {
            smallest = Some(input);
        }
    }
    let Some(input) = smallest else {
        return Ok(match compared {
            0 => Separation::Apart,
            _ => Separation::None(compared),
        });
    };
    let explanation = diff::explain(&units[0], &units[1], &input)?;
    Ok(Separation::Input(Box::new(Shown { input, explanation })))
}

/// The first case of a family on which two units differ; both units' parameters lead to cases at their own edges.
fn first(
    units: &[Contender<'_>; 2],
    family: Family,
    count: u64,
    compared: &mut u64,
) -> Result<Option<DiffInput>> {
    let signature = units[0].unit().signature();
    for unit in units {
        let hints = Hints::of_unit(unit.unit());
        let Ok(generator) = Generator::new(family, 1, signature, hints) else {
            continue;
        };
        for index in 0..count {
            let input = DiffInput::new(units[0].instruction(), generator.case(index));
            let verdict = match diff::verdict(&units[0], &units[1], &input) {
                Ok(Some(verdict)) => verdict,
                Ok(None) | Err(Error::Argument(_)) => continue,
                Err(error) => return Err(error),
            };
            *compared += 1;
            if verdict.differs() {
                return Ok(Some(input));
            }
        }
    }
    Ok(None)
}
