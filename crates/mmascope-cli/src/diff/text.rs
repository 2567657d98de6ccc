//! The findings for the terminal.

use std::io::{self, Write};

use super::{Compare, Findings, Shown};
use crate::report::{self, Failure};
use mmascope::diff::{Explanation, Value};

/// How many pairs of units are shown with their inputs; the rest is in the table and in `--json`.
const EXPLAINED: usize = 10;

pub(super) fn print(findings: &Findings<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{} inputs: {}", findings.inputs, findings.source)?;
    for note in &findings.notes {
        writeln!(out, "note: {note}")?;
    }
    let mut table = report::table(&[
        "left",
        "right",
        "compared",
        "equal",
        "differ",
        "largest ULP",
        "other",
    ]);
    for compare in &findings.compares {
        let name = |index: usize| findings.subjects[index].name();
        let tally = &compare.tally;
        table.add_row([
            name(compare.left),
            name(compare.right),
            tally.compared.to_string(),
            tally.equal.to_string(),
            tally.different().to_string(),
            tally.largest.to_string(),
            others(compare).join(", "),
        ]);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    let differing: Vec<&Compare> = findings
        .compares
        .iter()
        .filter(|compare| compare.first.is_some())
        .collect();
    for compare in differing.iter().take(EXPLAINED) {
        writeln!(out, "\n{}", findings.title(compare))?;
        print_histogram(&mut out, compare)?;
        if let Some(first) = &compare.first {
            writeln!(out, "  first: {}", first.example.origin.place)?;
            writeln!(out, "    {}", first.line)?;
            for line in explained(&first.explanation) {
                writeln!(out, "    {line}")?;
            }
        }
        if let Some(smallest) = &compare.smallest {
            print_smallest(&mut out, findings, compare, smallest)?;
        }
    }
    if differing.len() > EXPLAINED {
        let more = differing.len() - EXPLAINED;
        writeln!(out, "\n{more} more pairs differ; --json has their inputs")?;
    }
    Ok(())
}

fn print_smallest(
    out: &mut impl Write,
    findings: &Findings<'_>,
    compare: &Compare,
    smallest: &Shown,
) -> Result<(), Failure> {
    // The one place that refers to the step-by-step explanation.
    let command = explain_command(findings, compare, smallest);
    let place = &smallest.example.origin.place;
    writeln!(out, "  smallest found, from {place}:")?;
    writeln!(out, "    {}", smallest.line)?;
    for line in explained(&smallest.explanation) {
        writeln!(out, "    {line}")?;
    }
    if let Some(command) = command {
        writeln!(out, "    step by step: {command}")?;
    }
    Ok(())
}

/// Width of the longest bar.
const BAR: u64 = 40;

/// A line for each power of two of the distance.
fn print_histogram(out: &mut impl Write, compare: &Compare) -> Result<(), Failure> {
    let buckets: Vec<(u64, u64, u64)> = compare.tally.histogram().collect();
    let Some(most) = buckets.iter().map(|(_, _, count)| *count).max() else {
        return Ok(());
    };
    writeln!(out, "  units of the last place between the results:")?;
    for (least, greatest, count) in buckets.into_iter().filter(|(_, _, count)| *count > 0) {
        let length = (u128::from(count) * u128::from(BAR)).div_ceil(u128::from(most));
        let bar: String = (0..length).map(|_| '█').collect();
        writeln!(out, "  {:>11} {count:>9} {bar}", bucket(least, greatest))?;
    }
    Ok(())
}

/// The command that goes through the arithmetic of both units. `None` when the line is one of a
/// third unit, whose operands the pair got in other formats: the command would compare others.
pub(super) fn explain_command(
    findings: &Findings<'_>,
    compare: &Compare,
    shown: &Shown,
) -> Option<String> {
    let name = |index: usize| findings.subjects[index].name();
    let left = name(compare.left);
    let (arch, inst) = left.split_once(':')?;
    let own = format!("\"arch\":\"{arch}\",\"inst\":\"{inst}\"");
    let against = name(compare.right);
    shown.line.contains(&own).then(|| {
        format!(
            "mmascope explain --vector '{}' --against {against}",
            shown.line
        )
    })
}

/// An input taken apart, a line for each product, c and each result.
pub(super) fn explained(explanation: &Explanation) -> Vec<String> {
    let exponent = |e: Option<i32>| e.map_or(String::new(), |e| format!("   exponent {e}"));
    let mut lines = Vec::new();
    for product in &explanation.products {
        let scales = product.scales.as_ref().map_or(String::new(), |(a, b)| {
            format!(" · {} · {} (scales)", a.value, b.value)
        });
        lines.push(format!(
            "k={}: {} · {}{scales}{}",
            product.k,
            product.a.value,
            product.b.value,
            exponent(product.exponent)
        ));
    }
    if explanation.products.is_empty() {
        lines.push("every product is 0".to_owned());
    }
    let c = &explanation.c.value;
    lines.push(format!("c: {c}{}", exponent(explanation.c_exponent)));
    for (name, value) in &explanation.results {
        lines.push(format!("{name} gives {}", result(value.as_ref())));
    }
    lines
}

fn result(value: Option<&Value>) -> String {
    match value {
        Some(value) => format!("{} = {}", value.word, value.value),
        None => "nothing: its formats do not hold the operands".to_owned(),
    }
}

/// `1: 12  2–3: 4`.
pub(super) fn histogram(compare: &Compare) -> String {
    let parts: Vec<String> = compare
        .tally
        .histogram()
        .filter(|(_, _, count)| *count > 0)
        .map(|(least, greatest, count)| format!("{}: {count}", bucket(least, greatest)))
        .collect();
    parts.join("  ")
}

/// `1`, `2–3`, `≥ 2^10` (below the next power).
pub(super) fn bucket(least: u64, greatest: u64) -> String {
    match least {
        1 => "1".to_owned(),
        2..=512 => format!("{least}–{greatest}"),
        _ => format!("≥ 2^{}", least.ilog2()),
    }
}

/// What differs without a distance, with counts.
pub(super) fn others(compare: &Compare) -> Vec<String> {
    let tally = &compare.tally;
    [
        (tally.zero_sign, "sign of zero"),
        (tally.infinite, "∞"),
        (tally.nan, "NaN"),
        (tally.nan_payload, "NaN word"),
        (tally.left_out, "not comparable"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{what}: {count}"))
    .collect()
}
