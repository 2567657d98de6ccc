//! Conversions and approximate functions of a GPU: compared with their models, or recorded.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{of_gpu, write_about};
use crate::args::{Common, Record, Validate};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::{interrupt, progress, terminal};
use mmascope::isa::Catalogue;
use mmascope_cuda::chip::Chip;
use mmascope_cuda::function::{DeviceFunction, FunctionReport, compare, functions};
use mmascope_cuda::gpu::Gpu;
use mmascope_cuda::hashes::{FunctionHashes, Parting, hashes};

/// Inputs of a conversion when no number is given.
const INPUTS: u64 = 1 << 24;
/// The longest file of hashes that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// `validate cuda:N --conversions`: every conversion that the GPU has, against its model.
pub(super) fn conversions(
    catalogue: &Catalogue,
    common: &Common,
    options: &Validate,
    gpu: &Gpu,
) -> Result<Status, Failure> {
    let chip = gpu.description();
    let (mut reports, mut failures) = (Vec::new(), Vec::new());
    let modelled = functions(&chip.target(true))?
        .into_iter()
        .filter(|function| function.cast.is_some());
    for function in modelled {
        match compare(gpu, &function, options.trials.unwrap_or(INPUTS)) {
            Ok(report) => reports.push(report),
            Err(error) => failures.push((function.name.clone(), error.to_string())),
        }
    }
    let body = json!({
        "subject": options.subject,
        "device": of_gpu(chip),
        "conversions": reports,
        "failed": failures,
    });
    let Value::Object(body) = body else {
        return Ok(Status::Done);
    };
    if let Some(file) = &options.output {
        let mut output = Output::create("-o", file)?;
        output.line(&report::json_text(catalogue, body.clone())?)?;
        output.finish()?;
    }
    let holds = reports.iter().all(|report| report.differences == 0);
    let printed = match common.json() {
        true => report::print_json(catalogue, body),
        false => print_conversions(&reports, &failures),
    };
    let status = report::answer(holds, printed)?;
    Ok(match failures.is_empty() {
        true => status,
        false => Status::DeviceFailed,
    })
}

fn print_conversions(
    reports: &[FunctionReport],
    failures: &[(String, String)],
) -> Result<(), Failure> {
    let mut out = terminal::out();
    let mut table = Table::new(&[
        "conversion",
        "inputs",
        "differences",
        "first: input, device, model",
    ]);
    for report in reports {
        let first = report
            .examples
            .first()
            .map_or_else(String::new, |[input, got, expected]| {
                format!("{input:x}, {got:x}, {expected:x}")
            });
        table.add_row([
            report.name.clone(),
            report.inputs.to_string(),
            report.differences.to_string(),
            first,
        ]);
    }
    writeln!(out, "{table}")?;
    for (name, why) in failures {
        writeln!(out, "failed: {name}: {why}")?;
    }
    Ok(())
}

/// The hashes of a file, by function.
fn read_hashes(file: &str) -> Result<BTreeMap<String, FunctionHashes>, Failure> {
    let text = report::read_whole("--against", file, LONGEST)?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let mut all = BTreeMap::new();
    for (at, line) in lines {
        let own: FunctionHashes = serde_json::from_str(line)
            .map_err(|error| Failure::Input(format!("--against {file}:{}: {error}", at + 1)))?;
        all.insert(own.function.clone(), own);
    }
    match all.is_empty() {
        true => Err(Failure::Input(format!(
            "--against {file}: no line; expected a file that `record cuda:N --functions` wrote"
        ))),
        false => Ok(all),
    }
}

/// How a function's answers compare with recorded ones, in words, and whether they are the same; `None` where nothing was recorded.
fn verdict(own: &FunctionHashes, recorded: Option<&FunctionHashes>) -> (String, Option<bool>) {
    let Some(recorded) = recorded else {
        return ("not recorded there".to_owned(), None);
    };
    match recorded.parting(own) {
        Parting::Nowhere => ("the same".to_owned(), Some(true)),
        Parting::Chunks(count, first) => {
            let all = own.chunks.len();
            let text =
                format!("differ in {count} of {all} chunks, the first from input {first:x} on");
            (text, Some(false))
        }
        Parting::Incomparable => ("recorded of other inputs".to_owned(), Some(false)),
    }
}

/// `record cuda:N --functions -o FILE`: hashes of all answers of the approximate functions.
pub(super) fn record(
    catalogue: &Catalogue,
    common: &Common,
    options: &Record,
    ordinal: usize,
) -> Result<Status, Failure> {
    if options.output == "-" {
        return Err(Failure::Input(
            "-o -: the standard output has the summary; name a file for the hashes".to_owned(),
        ));
    }
    let recorded = options.against.as_deref().map(read_hashes).transpose()?;
    let gpu = Gpu::open(ordinal)?;
    let chip = gpu.description();
    let all: Vec<DeviceFunction> = functions(&chip.target(true))?
        .into_iter()
        .filter(|function| function.cast.is_none())
        .collect();
    let mut output = Output::create("-o", &options.output)?;
    let asked = interrupt::deferred();
    let counter = progress::counter("function");
    let mut table = Table::new(&[
        "function",
        "inputs",
        "hash of all answers",
        "with the record",
    ]);
    let (mut rows, mut failures, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
    for function in &all {
        if asked.load(Ordering::SeqCst) {
            return Err(Failure::Interrupted);
        }
        counter.set_message(function.name.clone());
        counter.inc(1);
        let own = match hashes(&gpu, function) {
            Ok(own) => own,
            // One that does not run must not hide the others.
            Err(error) => {
                failures.push((function.name.clone(), error.to_string()));
                continue;
            }
        };
        output.line(&json!(own).to_string())?;
        let (words, same) = match &recorded {
            Some(recorded) => verdict(&own, recorded.get(&own.function)),
            None => (String::new(), None),
        };
        verdicts.extend(same);
        rows.push(
            json!({"function": own.function, "inputs": own.inputs, "hash": own.hash, "same": same}),
        );
        table.add_row([own.function, own.inputs.to_string(), own.hash, words]);
    }
    counter.finish_and_clear();
    output.finish()?;
    let not_asked: Vec<&String> = recorded
        .iter()
        .flat_map(BTreeMap::keys)
        .filter(|name| all.iter().all(|function| function.name != **name))
        .collect();
    write_about(catalogue, options, chip, [("functions", json!(rows.len()))])?;
    let body = json!({
        "subject": options.subject,
        "device": of_gpu(chip),
        "functions": rows,
        "failed": failures,
        "not_asked": not_asked,
    });
    let printed = match (common.json(), body) {
        (true, Value::Object(body)) => report::print_json(catalogue, body),
        _ => print_record(&table, &failures, &not_asked),
    };
    // Where nothing could be compared, nothing is the same.
    let is_same = recorded.is_none() || (!verdicts.is_empty() && verdicts.iter().all(|same| *same));
    let status = report::answer(is_same, printed)?;
    Ok(match failures.is_empty() {
        true => status,
        false => Status::DeviceFailed,
    })
}

fn print_record(
    table: &Table,
    failures: &[(String, String)],
    not_asked: &[&String],
) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "{table}")?;
    for (name, why) in failures {
        writeln!(out, "failed: {name}: {why}")?;
    }
    for name in not_asked {
        writeln!(
            out,
            "recorded, but not a function of this GPU: {}",
            report::shown(name)
        )?;
    }
    Ok(())
}
