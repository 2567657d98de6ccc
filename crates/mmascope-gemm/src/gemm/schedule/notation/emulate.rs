//! Reads and writes the clause `emulate=`.

use std::fmt;

use super::write::{Type, name_of};
use super::{Clause, Parsed, REDUCTIONS, arithmetic, end_of, named, number, scalar, slashes};
use crate::dpa::{Token, at};
use crate::error::Error;
use crate::format::Rounding;
use crate::gemm::schedule::Reduction;
use crate::gemm::schedule::emulation::{
    Emulation, Join, MOST_BITS, MOST_MODULUS, MOST_PARTS, MOST_SLICE, OperandSplit, Part, Within,
};

const WITHIN: [(&str, Within); 2] = [("step", Within::Step), ("pass", Within::Pass)];

/// The bits that the product of all moduli may have, so that numbers fit.
const SYSTEM: u32 = 126;

pub(super) fn emulation(clause: &mut Clause<'_, '_>) -> Parsed<Emulation> {
    let from = clause.value()?;
    let from_format = arithmetic(from, Rounding::Rne)?.format();
    let split = split(clause)?;
    let (groups, columns) = groups(clause, &split)?;
    let within = match clause.optional("within") {
        None => Within::default(),
        Some(word) => named(word, "order within a group", &WITHIN)?,
    };
    let unpromoted_word = clause.optional("unpromoted");
    let unpromoted = unpromoted_word.map_or(Ok(0), number)?;
    let join = match clause.optional("join") {
        None => None,
        Some(word) => Some(join(word, &split)?),
    };
    let emulation = Emulation {
        from: from_format,
        split,
        groups,
        within,
        unpromoted,
        join,
    };
    match emulation.check() {
        Ok(()) => Ok(emulation),
        Err((part, message)) => {
            let column = match part {
                Part::Product(place) => columns.get(place).copied(),
                Part::Unpromoted => unpromoted_word.map(|word| word.column),
                Part::End => None,
            };
            Err((column.unwrap_or(clause.end), message))
        }
    }
}

fn limited(word: Token<'_>, least: usize, most: usize) -> Parsed<usize> {
    match word.text.parse::<usize>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err((
            word.column,
            format!(
                "'{}' is no whole number from {least} to {most}",
                crate::error::quoted(word.text)
            ),
        )),
    }
}

/// `X`, `X/ROUNDING` and so on, at most so many roundings; to nearest where none is given.
fn rounded(word: Token<'_>, most: usize) -> Parsed<(Token<'_>, Vec<Rounding>)> {
    let parts = slashes(word);
    let [first, given @ ..] = &parts[..] else {
        return Err((word.column, "expected a number".into()));
    };
    if let Some(extra) = given.get(most) {
        return Err((extra.column, format!("'{}' is too much", extra.text)));
    }
    let roundings: Parsed<Vec<Rounding>> = given
        .iter()
        .map(|rounding| at(*rounding, Rounding::named(rounding.text)))
        .collect();
    let mut roundings = roundings?;
    if roundings.is_empty() {
        roundings.push(Rounding::Rne);
    }
    // Those that repeat the one before say nothing: one text for one schedule.
    while let [.., before, last] = roundings[..]
        && before == last
    {
        roundings.pop();
    }
    Ok((*first, roundings))
}

/// `X` or `X/ROUNDING`, for whole numbers.
fn rounded_whole(word: Token<'_>) -> Parsed<(Token<'_>, Rounding)> {
    let (number, roundings) = rounded(word, 1)?;
    match roundings[0] {
        rounding @ (Rounding::Rne | Rounding::Rz) => Ok((number, rounding)),
        other => Err((
            slashes(word)[1].column,
            format!("{other}: whole numbers are rounded by rne or rz"),
        )),
    }
}

fn split(clause: &mut Clause<'_, '_>) -> Parsed<OperandSplit> {
    if let Some(word) = clause.optional("parts") {
        let count = limited(slashes(word)[0], 1, MOST_PARTS)?;
        let (_, roundings) = rounded(word, count)?;
        let shift = clause.optional("shift");
        return Ok(OperandSplit::Parts {
            count,
            roundings,
            shift: shift.map_or(Ok(0), |word| limited(word, 0, 64))? as u32,
        });
    }
    if let Some(word) = clause.optional("slices") {
        let (count, rounding) = rounded_whole(word)?;
        let bits = clause.required("bits", "bits=7")?;
        return Ok(OperandSplit::Slices {
            count: limited(count, 1, MOST_PARTS)?,
            bits: limited(bits, 1, MOST_SLICE as usize)? as u32,
            rounding,
        });
    }
    let word = clause.required("residues", "parts=2, slices=8 or residues=256,255,253")?;
    let (list, rounding) = rounded_whole(word)?;
    let mut moduli: Vec<u32> = Vec::new();
    let mut column = list.column;
    for text in list.text.split(',') {
        let modulus = Token { column, text };
        column += text.chars().count() + 1;
        let number = limited(modulus, 2, MOST_MODULUS as usize)? as u32;
        if let Some(other) = moduli.iter().find(|other| common(**other, number) > 1) {
            return Err((
                modulus.column,
                format!("{number} and {other} have a common factor"),
            ));
        }
        moduli.push(number);
    }
    let product = moduli.iter().try_fold(1_u128, |product, &modulus| {
        product.checked_mul(modulus.into())
    });
    if product.is_none_or(|product| product >> SYSTEM != 0) || moduli.len() > MOST_PARTS {
        return Err((
            list.column,
            format!("the product of all moduli must be below 2^{SYSTEM}"),
        ));
    }
    let bits = clause.required("bits", "bits=53")?;
    Ok(OperandSplit::Residues {
        moduli,
        bits: limited(bits, 1, MOST_BITS as usize)? as u32,
        rounding,
    })
}

/// The greatest common divisor.
fn common(x: u32, y: u32) -> u32 {
    match y {
        0 => x,
        _ => common(y, x % y),
    }
}

/// All products p×q with p + q < n, by p + q, the largest first: one group for each sum, or for each product.
fn levels(n: usize) -> Vec<Vec<(usize, usize)>> {
    (0..n)
        .rev()
        .map(|level| (0..=level).rev().map(|p| (p, level - p)).collect())
        .collect()
}

fn pairs(n: usize) -> Vec<Vec<(usize, usize)>> {
    levels(n)
        .into_iter()
        .flatten()
        .map(|pair| vec![pair])
        .collect()
}

/// Each part with that of the same number.
fn diagonal(n: usize) -> Vec<Vec<(usize, usize)>> {
    (0..n).map(|part| vec![(part, part)]).collect()
}

/// Groups of products.
type Groups = Vec<Vec<(usize, usize)>>;

/// The groups of products, and the column of each product that is written out.
fn groups(clause: &mut Clause<'_, '_>, split: &OperandSplit) -> Parsed<(Groups, Vec<usize>)> {
    if let OperandSplit::Residues { moduli, .. } = split {
        return Ok((diagonal(moduli.len()), Vec::new()));
    }
    let word = clause.required("products", "products=1x0,0x1,0x0")?;
    let parts = slashes(word);
    if let [kind, count] = parts[..] {
        let most = 2 * split.count() - 1;
        // Levels beyond the last part of one operand have fewer products.
        let all = match kind.text {
            "levels" => levels(limited(count, 1, most)?),
            "pairs" => pairs(limited(count, 1, most)?),
            other => {
                let names = ["levels/N", "pairs/N", "1x0,0x1+0x0"];
                return at(kind, Err(Error::unknown("products", other, names)));
            }
        };
        let there = |&(p, q): &(usize, usize)| p < split.count() && q < split.count();
        let groups = all
            .into_iter()
            .map(|group| group.into_iter().filter(there).collect::<Vec<_>>())
            .filter(|group| !group.is_empty())
            .collect();
        return Ok((groups, Vec::new()));
    }
    let mut column = word.column;
    let mut groups = Vec::new();
    let mut columns = Vec::new();
    for text in word.text.split('+') {
        let mut group = Vec::new();
        for pair in text.split(',') {
            let product = pair
                .split_once('x')
                .and_then(|(p, q)| Some((p.parse().ok()?, q.parse().ok()?)));
            let Some(product) = product else {
                return Err((
                    column,
                    format!(
                        "'{}': expected a part of A and one of B, as in 1x0",
                        crate::error::quoted(pair)
                    ),
                ));
            };
            group.push(product);
            columns.push(column);
            column += pair.chars().count() + 1;
        }
        groups.push(group);
    }
    if groups.iter().map(Vec::len).sum::<usize>() > MOST_PARTS * MOST_PARTS {
        return Err((word.column, "too many products".into()));
    }
    Ok((groups, columns))
}

fn join(word: Token<'_>, split: &OperandSplit) -> Parsed<Join> {
    let parts = slashes(word);
    let is_residues = matches!(split, OperandSplit::Residues { .. });
    match (parts[0].text, is_residues) {
        ("residues", true) => Ok(Join::Residues(scalar(&parts[1..], end_of(word))?)),
        ("residues", false) => Err((parts[0].column, "there are no residues to join".into())),
        (_, true) => Err((
            parts[0].column,
            "residues are joined by join=residues/TYPE".into(),
        )),
        _ => Ok(Join::Sum(Reduction {
            order: named(parts[0], "order of joining", &REDUCTIONS)?,
            scalar: scalar(&parts[1..], end_of(word))?,
        })),
    }
}

impl fmt::Display for OperandSplit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = |rounding: &Rounding| match rounding {
            Rounding::Rne => String::new(),
            other => format!("/{other}"),
        };
        match self {
            Self::Parts {
                count,
                roundings,
                shift,
            } => {
                write!(out, "parts={count}")?;
                if roundings[..] != [Rounding::Rne] {
                    roundings
                        .iter()
                        .try_for_each(|rounding| write!(out, "/{rounding}"))?;
                }
                match shift {
                    0 => Ok(()),
                    shift => write!(out, " shift={shift}"),
                }
            }
            Self::Slices {
                count,
                bits,
                rounding,
            } => write!(out, "slices={count}{} bits={bits}", suffix(rounding)),
            Self::Residues {
                moduli,
                bits,
                rounding,
            } => {
                let moduli: Vec<String> = moduli.iter().map(u32::to_string).collect();
                write!(
                    out,
                    "residues={}{} bits={bits}",
                    moduli.join(","),
                    suffix(rounding)
                )
            }
        }
    }
}

impl fmt::Display for Emulation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "emulate={} {}", self.from, self.split)?;
        if !matches!(self.split, OperandSplit::Residues { .. }) {
            let count = self.groups.iter().flatten().map(|(p, q)| p + q + 1).max();
            let count = count.unwrap_or(1);
            let whole = count <= self.split.count();
            if whole && count > 1 && self.groups == levels(count) {
                write!(out, " products=levels/{count}")?;
            } else if whole && count > 2 && self.groups == pairs(count) {
                write!(out, " products=pairs/{count}")?;
            } else {
                let group = |group: &Vec<(usize, usize)>| {
                    let pairs: Vec<String> =
                        group.iter().map(|(p, q)| format!("{p}x{q}")).collect();
                    pairs.join(",")
                };
                let groups: Vec<String> = self.groups.iter().map(group).collect();
                write!(out, " products={}", groups.join("+"))?;
            }
        }
        if self.within != Within::default() {
            write!(out, " within={}", name_of(self.within, &WITHIN))?;
        }
        if self.unpromoted > 0 {
            write!(out, " unpromoted={}", self.unpromoted)?;
        }
        match &self.join {
            None => Ok(()),
            Some(Join::Sum(reduction)) => write!(
                out,
                " join={}/{}",
                name_of(reduction.order, &REDUCTIONS),
                Type(&reduction.scalar)
            ),
            Some(Join::Residues(scalar)) => write!(out, " join=residues/{}", Type(scalar)),
        }
    }
}
