//! `mmascope validate`: compares a device with a model, over every family, until told to stop.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::args::{Common, Validate};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::{interrupt, tested};
use mmascope::cases::Family;
use mmascope::dpa::{Modifiers, Unit};
use mmascope::dut::{DeviceName, Dut, Interface};
use mmascope::explain::Trace;
use mmascope::isa::{Catalogue, Instruction};
use mmascope::validate::{State, ValidationPlan, shrink, validate};

/// Cases when neither a number nor a time is given.
const TRIALS: u64 = 1_000_000;
/// How often the state is saved.
const SAVE_EVERY: Duration = Duration::from_secs(5);
/// Mismatches that are shrunk and explained.
const EXPLAINED: usize = 3;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Validate,
) -> Result<Status, Failure> {
    if let Some(ordinal) = crate::cuda::ordinal(&options.subject) {
        return crate::cuda::validate(catalogue, common, options, ordinal);
    }
    if options.all || options.dry_run || options.conversions {
        return Err(Failure::Input(format!(
            "validate {}: --all, --conversions and --dry-run go with cuda:N",
            options.subject
        )));
    }
    // A subject without its prefix is told before what else is missing.
    let subject: DeviceName = options.subject.parse()?;
    if options.against.is_empty() {
        return Err(Failure::Input(format!(
            "validate {}: which model? --against ARCH:INST names it",
            options.subject
        )));
    }
    if let (Some(file), [_, _, ..]) = (&options.state, &options.against[..]) {
        return Err(Failure::Input(format!(
            "--state {file}: it is of one model, and --against names {}",
            options.against.len()
        )));
    }
    let models = options.against.iter().map(|against| {
        let (arch, inst) = tested::row("--against", against)?;
        let signature = *catalogue.find(&arch, &inst)?.unit()?.signature();
        Ok((arch, inst, signature))
    });
    let models = models.collect::<Result<Vec<_>, Failure>>()?;
    // One device takes the operands of one signature: told before the first model has taken its time.
    let (_, _, first) = &models[0];
    if let Some((arch, inst, other)) = models.iter().find(|(_, _, other)| other != first) {
        return Err(Failure::Input(format!(
            "--against {arch}:{inst}: it has the signature {other}, and {} has {first}; models of one signature are compared \
             together",
            options.against[0]
        )));
    }
    let mut results = Vec::new();
    for (arch, inst, _) in &models {
        match against(catalogue, options, &subject, arch, inst) {
            Ok(result) => results.push(result),
            // What is done is told.
            Err(Failure::Interrupted) if !results.is_empty() => {
                told(catalogue, common, options, &results)?;
                return Err(Failure::Interrupted);
            }
            Err(failure) => return Err(failure),
        }
    }
    let printed = told(catalogue, common, options, &results);
    let all_agree = results.iter().all(|result| result.state.mismatches() == 0);
    report::answer(all_agree, printed)
}

/// Writes and prints what was found.
fn told(
    catalogue: &Catalogue,
    common: &Common,
    options: &Validate,
    results: &[Validated<'_>],
) -> Result<(), Failure> {
    let bodies: Vec<_> = results.iter().map(|result| result.json(options)).collect();
    let body = report::one_or_list(bodies, "models");
    if let Some(file) = &options.output {
        let mut output = Output::create("-o", file)?;
        output.line(&report::json_text(catalogue, body.clone())?)?;
        output.finish()?;
    }
    if common.json() {
        report::print_json(catalogue, body)
    } else {
        print_all(options, results)
    }
}

/// What a device was found to be against one model.
struct Validated<'c> {
    row: &'c Instruction,
    state: State,
    examples: Vec<Explained>,
    /// What earlier runs of the state file had compared.
    before: u64,
    seconds: f64,
}

/// Compares the device with one row.
fn against<'c>(
    catalogue: &'c Catalogue,
    options: &Validate,
    subject: &DeviceName,
    arch: &str,
    inst: &str,
) -> Result<Validated<'c>, Failure> {
    let row = catalogue.find(arch, inst)?;
    report::doubt(row);
    let unit = row.unit()?;
    let interface = Interface::of_row(catalogue, arch, inst)?;
    let mut device = (options.device).open_as(catalogue, subject, Some(interface))?;
    let families = if options.families.is_empty() {
        Family::ALL.to_vec()
    } else {
        let names = options.families.iter();
        names
            .map(|name| Family::named(name))
            .collect::<Result<_, _>>()?
    };
    let plan = ValidationPlan {
        families,
        seed: options.seed,
    };
    let mut fresh = State::new(&plan, unit)?;
    fresh.subject.clone_from(&options.subject);
    let mut state = begin(options, fresh)?;
    let begun = Instant::now();
    let before = state.trials();
    compare(options, device.as_mut(), unit, &mut state)?;
    let seconds = begun.elapsed().as_secs_f64();
    save(options, &state)?;
    if interrupt::asked() {
        report::tell(format!("interrupted after {} cases", state.trials()));
        if let Some(file) = &options.state {
            report::tell(format!("--state {file} goes on from here"));
        }
        return Err(Failure::Interrupted);
    }
    let examples = explained(device.as_mut(), row, unit, &state)?;
    Ok(Validated {
        row,
        state,
        examples,
        before,
        seconds,
    })
}

/// The longest saved state in bytes.
const LONGEST_STATE: u64 = 64 << 20;

/// The saved state, if there is one that continues this run.
fn begin(options: &Validate, fresh: State) -> Result<State, Failure> {
    let Some(file) = &options.state else {
        return Ok(fresh);
    };
    if !std::path::Path::new(file).exists() {
        return Ok(fresh);
    }
    let text = report::read_whole("--state", file, LONGEST_STATE)?;
    let state: State = serde_json::from_str(&text).map_err(|error| {
        Failure::Input(format!("--state {file}: no state of validate: {error}"))
    })?;
    if !state.continues(&fresh) {
        return Err(Failure::Input(format!(
            "--state {file}: it is of another run (subject, signature, arithmetic, seed, families or counts \
             differ)"
        )));
    }
    report::tell(format!(
        "--state {file}: goes on after {} cases",
        state.trials()
    ));
    Ok(state)
}

fn save(options: &Validate, state: &State) -> Result<(), Failure> {
    let Some(file) = &options.state else {
        return Ok(());
    };
    let text = serde_json::to_string_pretty(state)
        .map_err(|error| Failure::Input(format!("--state {file}: {error}")))?;
    let mut output = Output::create("--state", file)?;
    output.line(&text)?;
    output.finish()
}

fn compare(
    options: &Validate,
    device: &mut dyn Dut,
    unit: &Unit,
    state: &mut State,
) -> Result<(), Failure> {
    let asked = interrupt::deferred();
    let progress = crate::progress::counter("case");
    let end = options
        .minutes
        .map(|m| Instant::now() + Duration::from_secs_f64(m * 60.0));
    let trials = match (options.trials, end) {
        (Some(trials), _) => trials,
        (None, Some(_)) => u64::MAX,
        (None, None) => TRIALS,
    };
    let mut saved = Instant::now();
    let mut failure = None;
    let result = validate(device, unit, state, trials, &mut |state| {
        progress.set_position(state.trials());
        progress.set_message(format!("{} mismatches", state.mismatches()));
        if saved.elapsed() > SAVE_EVERY {
            failure = save(options, state).err();
            saved = Instant::now();
        }
        failure.is_none()
            && !asked.load(Ordering::SeqCst)
            && end.is_none_or(|end| Instant::now() < end)
    });
    progress.finish_and_clear();
    if let Err(error) = result {
        save(options, state)?;
        return Err(error.into());
    }
    failure.map_or(Ok(()), Err)
}

/// Said in place of steps where nothing parts.
const UNSTEADY: &str =
    "asked again, the device gives what the model gives: it does not repeat its answers";

/// A mismatch made small, with its steps.
struct Explained {
    json: Value,
    steps: String,
}

fn explained(
    device: &mut dyn Dut,
    row: &Instruction,
    unit: &Unit,
    state: &State,
) -> Result<Vec<Explained>, Failure> {
    let mut found = Vec::new();
    for mismatch in state.examples.iter().take(EXPLAINED) {
        let example = shrink(device, unit, mismatch)?;
        let mut json = example.json(unit.signature());
        json["family"] = mismatch.family.clone().into();
        json["seed"] = mismatch.seed.into();
        json["index"] = mismatch.index.into();
        if let Some(column) = mismatch.column {
            json["column"] = column.into();
        }
        json["input"] = mmascope::vector::question(
            &row.architecture,
            &row.name,
            &[],
            unit.signature(),
            &example.case.operands(),
        )
        .into();
        let differs = example.differs(unit);
        json["differs"] = differs.into();
        let steps = if differs {
            let trace = Trace::of(unit, &example.case.operands(), &Modifiers::default());
            trace.map_or_else(|error| error.to_string(), |trace| trace.to_string())
        } else {
            UNSTEADY.to_owned()
        };
        found.push(Explained { json, steps });
    }
    Ok(found)
}

impl Validated<'_> {
    fn rate(&self) -> f64 {
        (self.state.trials() - self.before) as f64 / self.seconds.max(1e-9)
    }

    fn json(&self, options: &Validate) -> Map<String, Value> {
        let Self { row, state, .. } = self;
        let shrunk: Vec<&Value> = self.examples.iter().map(|example| &example.json).collect();
        let value = json!({
            "subject": options.subject,
            "against": format!("{}:{}", row.architecture, row.name),
            "signature": state.signature,
            "arithmetic": state.arithmetic,
            "trials": state.trials(),
            "mismatches": state.mismatches(),
            "seed": state.seed,
            "families": state.families,
            "left_out": state.left_out,
            "examples": state.examples,
            "shrunk": shrunk,
            "seconds": self.seconds,
            "per_second": self.rate(),
            "trials_before": self.before,
        });
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

fn print_all(options: &Validate, results: &[Validated<'_>]) -> Result<(), Failure> {
    for (index, result) in results.iter().enumerate() {
        if index > 0 {
            writeln!(terminal::out())?;
        }
        print(options, result)?;
    }
    Ok(())
}

fn print(options: &Validate, result: &Validated<'_>) -> Result<(), Failure> {
    let Validated { row, state, .. } = result;
    let mut out = terminal::out();
    writeln!(out, "subject     {}", options.subject)?;
    writeln!(out, "against     {}:{}", row.architecture, row.name)?;
    writeln!(out, "arithmetic  {}\n", state.arithmetic)?;
    let mut table = Table::new(&["family", "seed", "indices", "tiles", "cases", "mismatches"]);
    for family in &state.families {
        table.add_row([
            family.family.clone(),
            state.seed.to_string(),
            format!("0..{}", family.done),
            family.tiles.to_string(),
            family.trials().to_string(),
            family.mismatches.to_string(),
        ]);
    }
    writeln!(out, "{table}")?;
    for (family, why) in &state.left_out {
        writeln!(out, "left out: {family}: {why}")?;
    }
    for mismatch in state.examples.iter().take(20) {
        let column = mismatch
            .column
            .map_or_else(String::new, |column| format!(", column {column}"));
        writeln!(
            out,
            "mismatch: family {}, seed {}, index {}{column}: device {}, model {}",
            mismatch.family, mismatch.seed, mismatch.index, mismatch.device, mismatch.model
        )?;
    }
    for example in &result.examples {
        let word = |key: &str| example.json[key].as_str().unwrap_or("").to_owned();
        writeln!(
            out,
            "\nshrunk from {} {}: device {}, model {}\n{}\n{}",
            word("family"),
            example.json["index"],
            word("device"),
            word("model"),
            word("input"),
            example.steps
        )?;
    }
    writeln!(
        out,
        "\n{} cases compared, {} mismatches ({:.0} cases a second)",
        state.trials(),
        state.mismatches(),
        result.rate()
    )?;
    Ok(())
}
