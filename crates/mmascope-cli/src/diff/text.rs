//! Prints the findings of `diff` on the terminal.

use std::io::Write;

use super::{Compare, Findings, Shown};
use crate::report::Failure;
use crate::table::Table;
use crate::terminal;
use mmascope::diff::Explanation;
use mmascope::dpa::Addends;
use mmascope::explain::{PairTrace, TracedCode, TracedOperand, TracedValue};

/// How many pairs of units are shown with their inputs; the rest is in the table and in `--json`.
pub(super) const EXPLAINED: usize = 10;

/// What the columns of the table are; see [`counts`].
pub(super) const HEADS: [&str; 7] = [
    "left",
    "right",
    "compared",
    "equal",
    "differ",
    "largest ULP",
    "other",
];

/// A row of the table.
pub(super) fn counts(findings: &Findings<'_>, compare: &Compare) -> [String; 7] {
    let tally = &compare.tally;
    let name = |index: usize| findings.subjects[index].name();
    [
        name(compare.left),
        name(compare.right),
        tally.compared.to_string(),
        tally.equal.to_string(),
        tally.different().to_string(),
        distance(tally.largest),
        others(compare).join(", "),
    ]
}

pub(super) fn print(findings: &Findings<'_>) -> Result<(), Failure> {
    let mut out = terminal::out();
    let (inputs, source) = (findings.inputs, &findings.source);
    let plural = if inputs == 1 { "" } else { "s" };
    writeln!(out, "{inputs} input{plural}: {source}")?;
    for note in &findings.notes {
        writeln!(out, "note: {note}")?;
    }
    let mut table = Table::new(&HEADS);
    for compare in &findings.compares {
        table.add_row(counts(findings, compare));
    }
    writeln!(out, "{}", table)?;
    let differing: Vec<&Compare> = findings
        .compares
        .iter()
        .filter(|compare| compare.first.is_some())
        .collect();
    for compare in differing.iter().take(EXPLAINED) {
        writeln!(out, "\n{}", findings.title(compare))?;
        print_histogram(&mut out, compare)?;
        for (what, shown) in [
            ("first, from", &compare.first),
            ("smallest found, from", &compare.smallest),
        ] {
            if let Some(shown) = shown {
                print_input(&mut out, what, shown)?;
            }
        }
    }
    if differing.len() > EXPLAINED {
        let more = differing.len() - EXPLAINED;
        writeln!(out, "\n{more} more pairs differ; --json has their inputs")?;
    }
    Ok(())
}

fn print_input(out: &mut impl Write, what: &str, shown: &Shown) -> Result<(), Failure> {
    writeln!(out, "  {what} {}:", shown.example.origin.place)?;
    writeln!(out, "    {}", shown.line)?;
    for line in explained(&shown.explanation) {
        writeln!(out, "    {line}")?;
    }
    if let Some(command) = &shown.command {
        writeln!(out, "    step by step: {command}")?;
    }
    Ok(())
}

/// The largest distance that is printed as it is: f32 results of different signs are further apart.
pub(super) const FAR: u64 = 1 << 30;

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

/// An input taken apart: a line for each product (or sum of a and b) that is not zero, c, the exact sum, what each unit
/// gives, and where the two part.
pub(super) fn explained(explanation: &Explanation) -> Vec<String> {
    let exponent = |e: Option<i64>| e.map_or(String::new(), |e| format!("   exponent {e}"));
    let operands = &explanation.operands;
    let pairs: Vec<&PairTrace> = live_pairs(operands).collect();
    // The operands are in one notation, and the sums in one.
    let mut inputs: Vec<&TracedValue> = Vec::new();
    for pair in &pairs {
        inputs.extend([&pair.a.value, &pair.b.value]);
        let scales = scales(operands, pair).into_iter();
        inputs.extend(scales.flat_map(|(a, b)| [&a.value, &b.value]));
    }
    inputs.push(&operands.c.value);
    let mut inputs = TracedValue::column(inputs.into_iter()).into_iter();
    let mut next = || inputs.next().unwrap_or_default();
    let traces = explanation
        .sides
        .iter()
        .filter_map(|side| side.trace.as_ref());
    let results = traces.map(|(trace, _)| &trace.result.value);
    let sums = TracedValue::column(std::iter::once(&operands.exact).chain(results));
    let mut sums = sums.into_iter();
    let mut lines = Vec::new();
    for pair in pairs {
        let (k, a, b) = (pair.k, next(), next());
        let scales = scales(operands, pair).map_or(String::new(), |_| {
            format!(" · {} · {} (scales)", next(), next())
        });
        let sign = match operands.added {
            Addends::Product => "·",
            Addends::Sum => "+",
            Addends::Difference => "-",
        };
        lines.push(format!(
            "k={k}: {a} {sign} {b}{scales}{}",
            exponent(pair.exponent)
        ));
    }
    if lines.is_empty() {
        let what = match operands.added {
            Addends::Product => "product",
            Addends::Sum => "sum of a and b",
            Addends::Difference => "difference of a and b",
        };
        lines.push(format!("every {what} is 0"));
    }
    lines.push(format!("c: {}{}", next(), exponent(operands.c.exponent)));
    let mut sum = || sums.next().unwrap_or_default();
    lines.push(format!("exact sum: {}", sum()));
    for (letter, side) in ["A", "B"].iter().zip(&explanation.sides) {
        let result = match &side.trace {
            Some((_, word)) => format!("{word} = {}", sum()),
            None => "nothing: its formats do not hold the operands".to_owned(),
        };
        lines.push(format!("{letter}, {}, gives {result}", side.name));
    }
    if !explanation.words.is_empty() {
        lines.push(format!("they part {}", explanation.words));
    }
    lines
}

/// The pairs whose product is not zero.
pub(super) fn live_pairs(operands: &TracedCode) -> impl Iterator<Item = &PairTrace> {
    let pairs = operands.pairs.iter();
    pairs.filter(|pair| !matches!(pair.product, TracedValue::Zero { .. }))
}

/// The scales of a pair's block, where there are any.
pub(super) fn scales<'a>(
    operands: &'a TracedCode,
    pair: &PairTrace,
) -> Option<(&'a TracedOperand, &'a TracedOperand)> {
    let block = pair.k.checked_div(operands.scale_block)?;
    operands.scale_a.get(block).zip(operands.scale_b.get(block))
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

/// A distance, capped where it says no more than that signs or magnitudes differ.
pub(super) fn distance(steps: u64) -> String {
    match steps {
        0..=FAR => steps.to_string(),
        _ => format!("over 2^{}", FAR.ilog2()),
    }
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
