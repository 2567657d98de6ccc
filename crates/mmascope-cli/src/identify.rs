//! `mmascope identify`: finds which instruction produced given matrices.

use std::io::Write;

use crate::args::{Common, Identify};
use crate::interrupt;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use mmascope::array;
use mmascope::gemm::Arrays;
use mmascope::identify::{Candidate, Factors, Identification, Question, identify, trials};
use mmascope::isa::Catalogue;

/// Runners-up that are printed.
const SHOWN: usize = 8;

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
        print(&found)
    };
    report::answer(found.identified().next().is_some(), printed)
}

fn print(found: &Identification) -> Result<(), Failure> {
    let mut out = terminal::out();
    let [m, n, k] = found.shape;
    writeln!(out, "{}", found.headline())?;
    writeln!(
        out,
        "M={m} N={n} K={k}; {} pairs of a unit and a schedule tried",
        found.tried
    )?;
    for line in found.answers() {
        writeln!(out, "{line}")?;
    }
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
