//! `mmascope specials`: what every unit makes of special values.

use std::collections::HashSet;
use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Specials};
use crate::generate;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::format::Format;
use mmascope::isa::{Catalogue, Instruction};
use mmascope::precision::specials::{self, Special};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Specials,
) -> Result<Status, Failure> {
    let kind = options.output.as_deref().map(Kind::of).transpose()?;
    let rows = rows(catalogue, options)?;
    // Asked of everything, the table would drown in these lines.
    if !options.arch.is_empty() {
        rows.iter().copied().for_each(report::doubt);
    }
    let mut units = Vec::new();
    for row in rows {
        units.push((row, specials::of(row)?));
    }
    match (&options.output, kind) {
        (Some(file), Some(Kind::Page)) => page(file, &units)?,
        (Some(file), Some(Kind::Lines)) => lines(file, &units)?,
        _ => {}
    }
    if common.json() {
        let list: Vec<Value> = units.iter().map(|(row, all)| unit_json(row, all)).collect();
        let mut body = Map::new();
        body.insert("units".into(), list.into());
        report::print_json(catalogue, body)?;
        return Ok(Status::Done);
    }
    print(&units)?;
    Ok(Status::Done)
}

/// What a file is, by its ending.
#[derive(Clone, Copy)]
enum Kind {
    Page,
    Lines,
}

impl Kind {
    fn of(file: &str) -> Result<Self, Failure> {
        let ends_with = |ending| crate::files::ends_with(file, ending);
        match file {
            _ if ends_with(".html") => Ok(Self::Page),
            _ if [".jsonl", ".jsonl.gz"].into_iter().any(ends_with) => Ok(Self::Lines),
            _ => Err(Failure::Input(format!(
                "-o {file}: a page is an .html file, vector lines are a .jsonl or .jsonl.gz file"
            ))),
        }
    }
}

type Units<'a> = [(&'a Instruction, Vec<Special>)];

fn page(file: &str, units: &Units) -> Result<(), Failure> {
    let named = |(row, all): &(&Instruction, Vec<Special>)| (name(row), all.clone());
    let units: Vec<(String, Vec<Special>)> = units.iter().map(named).collect();
    let title = "Special values, computed from the models";
    let mut out = Output::create("-o", file)?;
    for line in specials::page(title, &units).lines() {
        out.line(line)?;
    }
    out.finish()
}

/// A vector line for each case that a unit's formats have.
fn lines(file: &str, units: &Units) -> Result<(), Failure> {
    let mut out = Output::create("-o", file)?;
    for (row, all) in units {
        for special in all {
            if let Some(outcome) = &special.outcome {
                let origin = [("special", Value::from(special.name).to_string())];
                let operands = outcome.operands.operands();
                out.line(&generate::line(row, &origin, &operands, true)?)?;
            }
        }
    }
    out.finish()
}

/// The modelled instructions that are meant.
fn rows<'a>(catalogue: &'a Catalogue, options: &Specials) -> Result<Vec<&'a Instruction>, Failure> {
    let architectures: Vec<&str> = match &options.arch[..] {
        [] => catalogue
            .architectures()
            .iter()
            .map(|it| it.name.as_str())
            .collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    let mut rows = Vec::new();
    for name in architectures {
        if let Some((arch, inst)) = name.split_once(':') {
            let row = catalogue.find(arch, inst)?;
            row.unit()?;
            rows.push(row);
            continue;
        }
        let architecture = catalogue.architecture(name)?;
        match &options.inst {
            None => {
                let modelled = architecture.instructions().filter(|row| row.is_modelled());
                let before = rows.len();
                rows.extend(modelled);
                // One that is asked for by name has a reason why it has none.
                if rows.len() == before && !options.arch.is_empty() {
                    architecture
                        .instructions()
                        .next()
                        .map(Instruction::unit)
                        .transpose()?;
                }
            }
            Some(inst) => match architecture.find(inst) {
                Ok(row) if row.is_modelled() => rows.push(row),
                // Asked for everywhere, it may be missing somewhere.
                _ if options.arch.is_empty() => {}
                Ok(row) => {
                    row.unit()?;
                }
                Err(error) => return Err(error.into()),
            },
        }
    }
    // A row that is named twice is one.
    let mut seen = HashSet::new();
    rows.retain(|row| seen.insert(name(row)));
    match &options.inst {
        Some(inst) if rows.is_empty() => {
            let all = catalogue.instructions().map(|row| row.name.as_str());
            Err(mmascope::Error::unknown("instruction", inst, all).into())
        }
        _ => Ok(rows),
    }
}

fn name(row: &Instruction) -> String {
    format!("{}:{}", row.architecture, row.name)
}

/// Units with the same results stand together.
fn print(units: &Units) -> Result<(), Failure> {
    let mut out = terminal::out();
    let mut groups: Vec<(Vec<String>, Vec<&Instruction>)> = Vec::new();
    for (row, all) in units {
        let results: Vec<String> = all.iter().map(result).collect();
        match groups.iter_mut().find(|(known, _)| *known == results) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((results, vec![row])),
        }
    }
    let names: Vec<&str> = specials::names().collect();
    for (results, rows) in &groups {
        for row in rows {
            writeln!(out, "{}", name(row))?;
        }
        for (case, result) in names.iter().zip(results) {
            writeln!(out, "  {case:<18}{result}")?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "{}, {} different; \"–\": the formats have no such operands",
        crate::progress::counted(units.len() as u64, "unit"),
        groups.len()
    )?;
    Ok(())
}

fn result(special: &Special) -> String {
    match &special.outcome {
        None => "–".to_owned(),
        Some(outcome) => format!("{} = {}", outcome.result(), outcome.value.decimal_of(9)),
    }
}

fn unit_json(row: &Instruction, all: &[Special]) -> Value {
    let signature = &row.signature;
    let hex = |format: &Format, words: &[u64]| -> String {
        let digits = format.digits();
        words
            .iter()
            .map(|word| format!("{word:0digits$x}"))
            .collect()
    };
    let cases = all.iter().map(|special| {
        let outcome = special.outcome.as_ref();
        json!({
            "case": special.name,
            "what": special.what,
            "a": outcome.map(|it| hex(&signature.a, &it.operands.a)),
            "b": outcome.map(|it| hex(&signature.b, &it.operands.b)),
            "c": outcome.map(|it| hex(&signature.c, &[it.operands.c])),
            "sa": outcome.zip(signature.scale).map(|(it, s)| hex(&s.format, &it.operands.scale_a)),
            "sb": outcome.zip(signature.scale).map(|(it, s)| hex(&s.format, &it.operands.scale_b)),
            "d": outcome.map(|it| it.result()),
            "value": outcome.map(|it| it.value.to_string()),
        })
    });
    json!({
        "arch": row.architecture,
        "inst": row.name,
        "cases": cases.collect::<Vec<_>>(),
    })
}
