//! `diff` in parts: what some of the cases come to, and the whole from all parts.

use serde::{Deserialize, Serialize};

use super::{Findings, Origin, origin};
use crate::args::{Common, Diff};
use crate::report::{Failure, Status};
use mmascope::cases::Family;
use mmascope::diff::{self, DiffExample, DiffInput, Tally};
use mmascope::isa::Catalogue;

/// What some of the cases come to.
#[derive(Serialize, Deserialize)]
struct Part {
    inputs: u64,
    /// One for each pair of units.
    tallies: Vec<Counts>,
}

/// A tally as numbers; the inputs that it keeps are made again from family and index.
#[derive(Serialize, Deserialize)]
struct Counts {
    compared: u64,
    left_out: u64,
    equal: u64,
    ulps: Vec<u64>,
    largest: u64,
    zero_sign: u64,
    infinite: u64,
    nan: u64,
    nan_payload: u64,
    kept: Vec<(String, u64)>,
}

/// Compares the cases that the options choose.
pub(crate) fn part(catalogue: &Catalogue, options: &Diff) -> Result<String, Failure> {
    let (mut findings, mut tallies) = Findings::new(catalogue, options)?;
    if options.vectors.is_some() {
        return Err(Failure::Input("--vectors: a file has no parts".to_owned()));
    }
    findings.compare_families(options, &mut tallies)?;
    let part = Part {
        inputs: findings.inputs,
        tallies: tallies.iter().map(Counts::of).collect(),
    };
    serde_json::to_string(&part).map_err(|error| Failure::Input(error.to_string()))
}

/// Joins the parts, which are in the order of the cases that the options choose, and ends as `diff` does.
pub(crate) fn whole(
    catalogue: &Catalogue,
    common: &Common,
    options: &Diff,
    parts: &[String],
) -> Result<Status, Failure> {
    let (mut findings, mut tallies) = Findings::new(catalogue, options)?;
    let chosen = findings.chosen(options)?;
    for text in parts {
        let part: Part = serde_json::from_str(text)
            .map_err(|error| Failure::Input(format!("parts: no part of a diff: {error}")))?;
        if part.tallies.len() != tallies.len() {
            return Err(Failure::Input(format!(
                "parts: {} pairs of units; the whole has {}",
                part.tallies.len(),
                tallies.len()
            )));
        }
        findings.inputs += part.inputs;
        let pairs = diff::pairs(findings.subjects.len());
        for ((tally, counts), pair) in tallies.iter_mut().zip(&part.tallies).zip(pairs) {
            counts.add_to(tally);
            let missing = Tally::<Origin>::KEPT - tally.examples.len();
            for (family, index) in counts.kept.iter().take(missing) {
                let family = Family::named(family)?;
                let own = chosen.iter().find(|it| it.generator.family() == family);
                let Some(own) = own.filter(|it| it.indices.contains(index)) else {
                    return Err(Failure::Input(format!(
                        "parts: family {family}, index {index} is none of the cases"
                    )));
                };
                let first = findings.subjects[0];
                let input = DiffInput::new(first.instruction(), own.generator.case(*index));
                let (left, right) = (&findings.subjects[pair.0], &findings.subjects[pair.1]);
                let Some(verdict) = diff::verdict(left, right, &input)? else {
                    return Err(Failure::Input(format!(
                        "parts: family {family}, index {index} cannot be given to both units"
                    )));
                };
                tally.examples.push(DiffExample {
                    origin: origin(&own.generator, *index, first),
                    input,
                    verdict,
                });
            }
        }
    }
    let asked: u64 = chosen
        .iter()
        .map(|it| it.indices.end - it.indices.start)
        .sum();
    if findings.inputs != asked {
        return Err(Failure::Input(format!(
            "parts: they have {} cases; the whole has {asked}",
            findings.inputs
        )));
    }
    findings.end(catalogue, common, options, tallies)
}

impl Counts {
    fn of(tally: &Tally<Origin>) -> Self {
        let kept = tally.examples.iter().filter_map(|it| it.origin.case);
        Self {
            compared: tally.compared,
            left_out: tally.left_out,
            equal: tally.equal,
            ulps: tally.ulps.to_vec(),
            largest: tally.largest,
            zero_sign: tally.zero_sign,
            infinite: tally.infinite,
            nan: tally.nan,
            nan_payload: tally.nan_payload,
            kept: kept
                .map(|(family, index)| (family.name().to_owned(), index))
                .collect(),
        }
    }

    fn add_to(&self, tally: &mut Tally<Origin>) {
        tally.compared += self.compared;
        tally.left_out += self.left_out;
        tally.equal += self.equal;
        for (sum, count) in tally.ulps.iter_mut().zip(&self.ulps) {
            *sum += count;
        }
        tally.largest = tally.largest.max(self.largest);
        tally.zero_sign += self.zero_sign;
        tally.infinite += self.infinite;
        tally.nan += self.nan;
        tally.nan_payload += self.nan_payload;
    }
}
