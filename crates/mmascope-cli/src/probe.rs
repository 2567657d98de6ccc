//! `mmascope probe`: measures the numerical features of a device, with their evidence.

use std::io::Write;

use serde_json::{Map, Value};

use crate::args::{Common, Probe};
use crate::layout;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::tested;
use mmascope::isa::Catalogue;
use mmascope::probe::{Features, NOISE, probe};

/// The longest value that stands in the table; a longer one, such as a tree, stands below it.
const WIDEST: usize = 60;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Probe,
) -> Result<Status, Failure> {
    let mut reports = Vec::new();
    let compared = match &options.compare[..] {
        [both] => tested::two_subjects("--compare", both)?.to_vec(),
        others => others.iter().map(String::as_str).collect(),
    };
    let subjects = options.subject.as_deref().into_iter().chain(compared);
    for subject in subjects {
        let mut device = options.device.open(catalogue, subject)?;
        reports.push(probe(device.as_mut())?);
    }
    match &reports[..] {
        [] => Err(Failure::Input(
            "a SUBJECT or --compare A B is needed".into(),
        )),
        [one] => {
            write_page(options, || one.page())?;
            if common.json() {
                report::print_json(catalogue, one.json())?;
            } else {
                print(one)?;
            }
            Ok(Status::Done)
        }
        [left, right] => {
            write_page(options, || mmascope::probe::page_of_both(left, right))?;
            let differing = differing(left, right);
            let printed = if common.json() {
                report::print_json(catalogue, both(left, right, &differing))
            } else {
                print_both(left, right)
            };
            report::answer(differing.is_empty(), printed)
        }
        _ => Err(Failure::Input(
            "--compare A B takes the place of SUBJECT: two subjects in all".into(),
        )),
    }
}

fn write_page(options: &Probe, page: impl Fn() -> String) -> Result<(), Failure> {
    let Some(file) = &options.html else {
        return Ok(());
    };
    let mut output = Output::create("--html", file)?;
    output.line(page().trim_end())?;
    output.finish()
}

fn print(report: &Features) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "subject    {}", report.subject)?;
    writeln!(out, "signature  {}\n", report.signature)?;
    let mut table = Table::new(&["feature", "value", "conclusion"]);
    let (long, short): (Vec<_>, Vec<_>) = report
        .features
        .iter()
        .partition(|feature| feature.value.chars().count() > WIDEST);
    for feature in short {
        table.add_row([&feature.title, &feature.value, &feature.conclusion]);
    }
    writeln!(out, "{table}")?;
    for feature in long {
        let label = format!("{}: ", feature.title);
        let text = format!("{}; {}", feature.value, feature.conclusion);
        writeln!(out, "\n{}", layout::labelled(&label, &text))?;
    }
    if report.is_noisy() {
        writeln!(out, "\n{NOISE}")?;
    }
    let queries = report.queries;
    writeln!(
        out,
        "\n{}",
        layout::paragraph(&format!(
            "{queries} queries; --json and -o FILE.html show every input and output"
        ))
    )?;
    Ok(())
}

/// What a subject says of tiles that has none: it cannot be asked, so that it differs from nobody.
const NOT_ASKED: &str = "no tile";

/// Names of the features whose values differ.
fn differing(left: &Features, right: &Features) -> Vec<String> {
    let names = left.features.iter().chain(&right.features).map(|f| f.name);
    let mut found: Vec<String> = Vec::new();
    for name in names {
        let values = [left.value(name), right.value(name)];
        let is_asked = !values.contains(&Some(NOT_ASKED));
        if is_asked && values[0] != values[1] && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn both(left: &Features, right: &Features, differing: &[String]) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("left".into(), left.json().into());
    body.insert("right".into(), right.json().into());
    body.insert("differing".into(), differing.to_vec().into());
    body
}

fn print_both(left: &Features, right: &Features) -> Result<(), Failure> {
    let mut out = terminal::out();
    let mut table = Table::new(&["", "feature", &left.subject, &right.subject]);
    for feature in &left.features {
        let other = right.value(feature.name).unwrap_or("-");
        let mark = match other {
            _ if other == feature.value => "",
            _ if [other, &feature.value].contains(&NOT_ASKED) => "·",
            _ => "≠",
        };
        table.add_row([mark, &feature.title, &feature.value, other]);
    }
    for feature in &right.features {
        if left.value(feature.name).is_none() {
            table.add_row(["≠", &feature.title, "-", &feature.value]);
        }
    }
    writeln!(out, "{table}")?;
    for report in [left, right].into_iter().filter(|report| report.is_noisy()) {
        writeln!(out, "\n{}: {NOISE}", report.subject)?;
    }
    Ok(())
}
