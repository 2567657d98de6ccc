//! `mmascope specials`: what every unit makes of special values.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Specials};
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
    if let Some(file) = options
        .output
        .as_ref()
        .filter(|file| !file.ends_with(".html"))
    {
        return Err(Failure::Input(format!(
            "-o {file}: the page is an .html file"
        )));
    }
    let rows = rows(catalogue, options)?;
    // Asked of everything, the table would drown in these lines.
    if !options.arch.is_empty() {
        rows.iter().copied().for_each(report::doubt);
    }
    let mut units = Vec::new();
    for row in rows {
        units.push((row, specials::of(row)?));
    }
    if let Some(file) = &options.output {
        let named = |(row, all): &(&Instruction, Vec<Special>)| (name(row), all.clone());
        let units: Vec<(String, Vec<Special>)> = units.iter().map(named).collect();
        let title = "Special values, computed from the models";
        let mut out = Output::create("-o", file)?;
        for line in specials::page(title, &units).lines() {
            out.line(line)?;
        }
        out.finish()?;
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
            None => rows.extend(architecture.instructions().filter(|row| row.is_modelled())),
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
fn print(units: &[(&Instruction, Vec<Special>)]) -> Result<(), Failure> {
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
        "{} units, {} different; \"–\": the formats have no such operands",
        units.len(),
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
