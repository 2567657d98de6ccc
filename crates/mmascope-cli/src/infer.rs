//! `mmascope infer`: finds a complete model of a black box, in the catalogue's notation.

use std::io::Write;

use crate::args::{Common, Infer};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::infer::{Found, Inference, InferenceOptions, Outcome, infer_with_progress};
use mmascope::isa::Catalogue;

/// Said beside a model that was found when the computing time was used up.
const REACHED_LIMIT: &str = "the search reached its limit of computing time: another model, perhaps a simpler one, may fit as well";

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Infer,
) -> Result<Status, Failure> {
    let mut device = options.device.open(catalogue, &options.subject)?;
    let chosen = InferenceOptions {
        budget: options.budget,
        seed: options.seed,
        confirm: options.confirm,
        ..InferenceOptions::default()
    };
    let progress = crate::progress::counter("query");
    let rows = (!options.without_catalogue).then_some(catalogue);
    let inference = infer_with_progress(device.as_mut(), rows, &chosen, &mut |queries, what| {
        progress.set_position(queries);
        progress.set_message(what.to_owned());
    })?;
    progress.finish_and_clear();
    if let (Some(file), Outcome::Model(found)) = (&options.output, &inference.outcome) {
        let mut output = Output::create("-o", file)?;
        output.line(found.row(&inference.subject).trim_end())?;
        output.finish()?;
    }
    let printed = if common.json() {
        report::print_json(catalogue, inference.json())
    } else {
        print(&inference)
    };
    report::answer(inference.holds(), printed)
}

fn print(inference: &Inference) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "subject     {}", inference.subject)?;
    writeln!(out, "signature   {}", inference.signature)?;
    match &inference.outcome {
        Outcome::Model(found) => model(&mut out, inference, found)?,
        Outcome::NoModel {
            nearest,
            agreeing,
            example,
        } => {
            writeln!(
                out,
                "\nno model in the space fits, as far as the search went{}",
                if inference.reached_limit {
                    ": it reached its limit of computing time"
                } else {
                    ""
                }
            )?;
            if let Some(nearest) = nearest {
                // Rounded down: 100 % would be a fit.
                let share = (1000.0 * agreeing).floor() / 10.0;
                writeln!(out, "nearest     {nearest}  ({share:.1} % of the answers)")?;
            }
            if let Some(example) = example {
                let json = example.json(&inference.signature);
                writeln!(out, "differs     {}", json["input"].as_str().unwrap_or(""))?;
                let word = |key: &str| json[key].as_str().unwrap_or("").to_owned();
                writeln!(
                    out,
                    "            device {}, nearest {}",
                    word("device"),
                    word("model")
                )?;
            }
        }
        Outcome::Noise { .. } => {
            let json = inference.json();
            let example = &json["counter_example"];
            writeln!(out, "\nnoise: the same input gave different answers")?;
            writeln!(
                out,
                "input       {}",
                example["input"].as_str().unwrap_or("")
            )?;
            writeln!(out, "answers     {}", example["answers"])?;
        }
    }
    writeln!(
        out,
        "{} queries, {:.2} s",
        inference.queries, inference.seconds
    )?;
    Ok(())
}

fn model(out: &mut impl Write, inference: &Inference, found: &Found) -> Result<(), Failure> {
    writeln!(out, "arithmetic  {}", found.program)?;
    if found.equivalent.is_empty() {
        writeln!(out, "rows        none in the catalogue")?;
    } else {
        writeln!(
            out,
            "rows        {}",
            found.equivalent.join("\n            ")
        )?;
    }
    for open in &found.unobservable {
        writeln!(out, "{open}")?;
    }
    if !found.unobservable.is_empty() {
        writeln!(out, "{}", report::NOT_TOLD_APART)?;
    }
    writeln!(
        out,
        "\nAs a file for --isa:\n\n{}",
        found.row(&inference.subject)
    )?;
    let confirmed = match inference.confirmed {
        0 => String::new(),
        confirmed => format!(", confirmed over {confirmed} more"),
    };
    writeln!(
        out,
        "verified over {} fresh inputs{confirmed}; {} candidates rejected, each by an answer (--json shows the nearest)",
        inference.trials, found.rejected_count
    )?;
    if inference.reached_limit {
        writeln!(out, "{REACHED_LIMIT}")?;
    }
    Ok(())
}
