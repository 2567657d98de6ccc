//! `mmascope legal`: tells which targets take a PTX instruction.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Legal};
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::isa::Catalogue;
use mmascope::precision::legal::{Legality, Rules, Target};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Legal,
) -> Result<Status, Failure> {
    let rules = Rules::built_in();
    let wanted: Vec<Target> = options
        .target
        .iter()
        .map(|name| rules.target(name))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Input(format!("--target: {}", report::told(&error))))?;
    let legality = Legality::of(&options.instruction).map_err(|error| match error {
        error @ mmascope::Error::Unknown { .. } => {
            Failure::Input(format!("INSTRUCTION: {}", report::told(&error)))
        }
        error => error.into(),
    })?;
    let asked: Vec<(Target, bool)> = legality
        .targets
        .iter()
        .filter(|(target, _)| wanted.is_empty() || wanted.contains(target))
        .copied()
        .collect();
    // Without --target the question is whether any target takes it; with it, whether all of those do.
    let yes = if wanted.is_empty() {
        asked.iter().any(|(_, legal)| *legal)
    } else {
        asked.iter().all(|(_, legal)| *legal)
    };
    let printed = if common.json() {
        print_json(catalogue, &legality, &asked, yes)
    } else {
        print_text(&legality, &asked)
    };
    report::answer(yes, printed)
}

fn print_text(legality: &Legality, asked: &[(Target, bool)]) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "{}", legality.form)?;
    let names = |wanted: bool| {
        let of = asked.iter().filter(|(_, legal)| *legal == wanted);
        let names: Vec<String> = of.map(|(target, _)| target.to_string()).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(" ")
        }
    };
    writeln!(out, "legal on      {}", names(true))?;
    writeln!(out, "not legal on  {}", names(false))?;
    for rule in &legality.rules {
        writeln!(out, "rule          {} (ptx.txt:{})", rule.text, rule.line)?;
    }
    for finding in &legality.findings {
        writeln!(out, "note          {} ({})", finding.text, finding.rule)?;
    }
    Ok(())
}

fn print_json(
    catalogue: &Catalogue,
    legality: &Legality,
    asked: &[(Target, bool)],
    yes: bool,
) -> Result<(), Failure> {
    let legal = asked.iter().filter(|(_, legal)| *legal);
    let targets: Vec<String> = legal.map(|(target, _)| target.to_string()).collect();
    let table: Map<String, Value> = asked
        .iter()
        .map(|(target, legal)| (target.to_string(), Value::Bool(*legal)))
        .collect();
    let rules = legality.rules.iter();
    let rules =
        rules.map(|rule| json!({"text": rule.text, "rule": format!("ptx.txt:{}", rule.line)}));
    let severity = if legality.rules.is_empty() {
        "error"
    } else {
        "note"
    };
    let findings = legality.findings.iter();
    let findings =
        findings.map(|it| json!({"severity": severity, "text": it.text, "rule": it.rule}));
    let mut body = Map::new();
    body.insert("instruction".into(), legality.form.to_string().into());
    body.insert("legal".into(), yes.into());
    body.insert("targets".into(), targets.into());
    body.insert("table".into(), table.into());
    body.insert("rules".into(), rules.collect());
    body.insert("diagnostics".into(), findings.collect());
    report::print_json(catalogue, body)
}
