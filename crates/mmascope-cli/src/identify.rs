//! `mmascope identify`: finds which instruction produced given matrices.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::args::{Common, Identify};
use crate::interrupt;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use mmascope::array;
use mmascope::gemm::Arrays;
use mmascope::identify::{Candidate, Factors, Identification, Question, identify, trials};
use mmascope::isa::{Catalogue, Strength};

/// Answers, schedules of each, and runners-up that are printed.
const SHOWN: usize = 8;
/// Rows of one answer that are printed.
const ROWS: usize = 12;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Identify,
) -> Result<Status, Failure> {
    let read = |file: &String| array::read(file);
    let (a, b, d) = (read(&options.a)?, read(&options.b)?, read(&options.d)?);
    let c = options.c.as_ref().map(read).transpose()?;
    let scale_a = options.scale_a.as_ref().map(read).transpose()?;
    let scale_b = options.scale_b.as_ref().map(read).transpose()?;
    let question = Question {
        operands: Arrays {
            a: &a,
            b: &b,
            c: c.as_ref(),
            scale_a: scale_a.as_ref(),
            scale_b: scale_b.as_ref(),
            transpose_a: options.transpose_a,
            transpose_b: options.transpose_b,
        },
        d: &d,
        factors: Factors {
            alpha: options.alpha,
            beta: options.beta,
        },
    };
    let progress = crate::progress::counter_to(trials(catalogue) as u64, "unit");
    let tell = |row: &str| {
        progress.inc(1);
        progress.set_message(row.to_owned());
    };
    let found = identify(catalogue, &question, interrupt::deferred(), &tell)?;
    progress.finish_and_clear();
    let printed = if common.json() {
        report::print_json(catalogue, found.json())
    } else {
        print(catalogue, &found)
    };
    report::answer(found.identified().next().is_some(), printed)
}

fn print(catalogue: &Catalogue, found: &Identification) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let [m, n, k] = found.shape;
    writeln!(out, "{}", found.headline())?;
    writeln!(
        out,
        "M={m} N={n} K={k}; {} pairs of a unit and a schedule tried",
        found.tried
    )?;
    let groups = groups(found);
    if groups.len() > 1 {
        let architectures: BTreeSet<&str> = found.identified().flat_map(architectures).collect();
        writeln!(
            out,
            "{} different sums, on {} architectures: these matrices do not tell them apart; D in a wider format, more \
             elements or a longer K may",
            groups.len(),
            architectures.len()
        )?;
    }
    for group in groups.iter().take(SHOWN) {
        print_group(catalogue, &mut out, group, k)?;
    }
    more(&mut out, "", groups.len(), "sums")?;
    let others: Vec<&Candidate> = found.candidates.iter().filter(|c| !c.fits()).collect();
    if !others.is_empty() {
        let mut table = Table::new(&[
            "runner-up",
            "schedule",
            "agrees",
            "first other element",
            "given",
            "computed",
        ]);
        for candidate in others.iter().take(SHOWN) {
            let (at, given, computed) = match &candidate.first {
                Some((i, j, given, computed)) => {
                    (format!("({i}, {j})"), given.clone(), computed.clone())
                }
                None => (String::new(), String::new(), String::new()),
            };
            table.add_row([
                candidate.rows[0].clone(),
                candidate.schedule.clone(),
                candidate.share(),
                at,
                given,
                computed,
            ]);
        }
        writeln!(out, "\n{table}")?;
        if others.len() > SHOWN {
            writeln!(out, "and {} more", others.len() - SHOWN)?;
        }
    }
    Ok(())
}

/// Candidates that fit, by what is the same but the schedule: whether all of D was computed, arithmetic, rows, padding.
fn groups(found: &Identification) -> Vec<Vec<&Candidate>> {
    let mut groups: Vec<Vec<&Candidate>> = Vec::new();
    for candidate in found.identified() {
        let key = |it: &Candidate| (it.full, it.k, it.compared);
        let is_like = |group: &&mut Vec<&Candidate>| {
            let known = group[0];
            key(known) == key(candidate)
                && known.arithmetic == candidate.arithmetic
                && known.rows == candidate.rows
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(candidate),
            None => groups.push(vec![candidate]),
        }
    }
    groups
}

/// The architectures of a candidate's rows.
fn architectures(candidate: &Candidate) -> impl Iterator<Item = &str> {
    let rows = candidate.rows.iter();
    rows.filter_map(|row| row.split_once(':').map(|(arch, _)| arch))
}

fn print_group(
    catalogue: &Catalogue,
    out: &mut impl Write,
    group: &[&Candidate],
    k: usize,
) -> io::Result<()> {
    let first = group[0];
    let all = if first.full { "all" } else { "a sample of" };
    writeln!(
        out,
        "identified, {all} {} elements: {}",
        first.compared, first.arithmetic
    )?;
    if first.k != k {
        writeln!(out, "  K filled up to {} with +0", first.k)?;
    }
    for candidate in group.iter().take(SHOWN) {
        writeln!(out, "  schedule {}", candidate.schedule)?;
    }
    more(out, "  ", group.len(), "schedules that give the same bits")?;
    for row in first.rows.iter().take(ROWS) {
        writeln!(out, "  {row}{}", doubt(catalogue, row))?;
    }
    match first.rows.len() {
        many if many > ROWS => writeln!(out, "  and {} more rows; --json has all", many - ROWS),
        _ => Ok(()),
    }
}

/// How many of something are not printed.
fn more(out: &mut impl Write, indent: &str, count: usize, what: &str) -> io::Result<()> {
    match count {
        many if many > SHOWN => {
            writeln!(
                out,
                "{indent}and {} more {what}; --json has all",
                many - SHOWN
            )
        }
        _ => Ok(()),
    }
}

/// What is said behind a row whose arithmetic as a whole is assumed or open.
fn doubt(catalogue: &Catalogue, row: &str) -> String {
    let row = row.split_once(':');
    let found = row.and_then(|(arch, inst)| catalogue.find(arch, inst).ok());
    let level = found.map(|row| row.evidence.default);
    match level.filter(|level| *level >= Strength::Open) {
        Some(level) => format!(" ({})", level.words()),
        None => String::new(),
    }
}
