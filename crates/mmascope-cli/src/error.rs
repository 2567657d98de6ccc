//! `mmascope error`: measures the error against the exact product as K grows.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, ErrorOptions, Stats};
use crate::matmul::schedule;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::units::{self, Types};
use crate::{interrupt, matmul};
use mmascope::Error;
use mmascope::accuracy::{self, AccuracySetting, Curve, Data};
use mmascope::array::{self, Array};
use mmascope::cases::Distribution;
use mmascope::gemm::{Summary, Watch};
use mmascope::isa::{Catalogue, Instruction};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &ErrorOptions,
) -> Result<Status, Failure> {
    let given = given(options)?;
    let rows = rows(catalogue, options, given.as_ref())?;
    let mut settings = Vec::new();
    for &row in &rows {
        row.unit()?;
        if options.schedule.is_empty() {
            settings.push(setting(row, None)?);
        }
        for text in &options.schedule {
            settings.push(setting(row, Some(text))?);
        }
    }
    let mut data = data(options, given)?;
    if options.seed.is_some() && options.shape.is_none() && options.c.is_none() {
        return Err(Failure::Input(
            "--seed: nothing is drawn, with A and B from files and no --c".into(),
        ));
    }
    if let Some(c) = &options.c {
        data = data.with_c(distribution("--c", c)?, options.seed());
    }
    let mut work = 0;
    for setting in &settings {
        work += Curve::work(setting, &data)?;
    }
    let output = match &options.output {
        Some(file) if !file.ends_with(".svg") => {
            return Err(Failure::Input(format!(
                "-o {file}: the name must end with .svg"
            )));
        }
        Some(file) => Some(Output::create("-o", file)?),
        None => None,
    };
    let cancel = interrupt::deferred();
    let bar = crate::progress::bar(work, "multiplying");
    let advance = |done| bar.inc(done);
    let watch = Watch {
        progress: &advance,
        cancel,
    };
    let sample = match options.stats {
        Stats::Sampled => true,
        Stats::Full => false,
        Stats::None => {
            return Err(Failure::Input(
                "--stats none: the statistics are what is printed; sampled and full are possible"
                    .into(),
            ));
        }
    };
    let mut curves = Vec::new();
    for setting in &settings {
        curves.push(Curve::measure(setting, &data, sample, &watch)?);
    }
    bar.finish_and_clear();
    let source = source(options, &data, &curves);
    if let Some(mut output) = output {
        output.line(accuracy::chart(&curves, &source).trim_end())?;
        output.finish()?;
    }
    if common.json() {
        report::print_json(catalogue, body(&curves, &source, &data, options))?;
    } else {
        print(&curves, &source)?;
    }
    Ok(Status::Done)
}

fn setting<'c>(row: &'c Instruction, text: Option<&str>) -> Result<AccuracySetting<'c>, Failure> {
    let schedule = schedule(text)?;
    Ok(AccuracySetting { row, schedule })
}

/// The instructions that are measured; without any named one the defaults of the operand types.
fn rows<'c>(
    catalogue: &'c Catalogue,
    options: &ErrorOptions,
    given: Option<&(Array, Array)>,
) -> Result<Vec<&'c Instruction>, Failure> {
    let is_open = units::is_open(&options.arch, &options.inst);
    let types = match (&options.types, given) {
        (Some(text), _) => Some(Types::Text(text)),
        (None, Some((a, b))) if is_open => {
            Some(Types::Given(Box::new(units::types_of(a, b, None, false)?)))
        }
        _ => None,
    };
    units::chosen(catalogue, &options.arch, &options.inst, types.as_ref())
}

/// A and B, when they are in files.
fn given(options: &ErrorOptions) -> Result<Option<(Array, Array)>, Failure> {
    let [a, b] = &options.files[..] else {
        return Ok(None);
    };
    if options.shape.is_some() {
        return Ok(None);
    }
    let read = |argument: &str, file: &str| {
        array::read(file).map_err(|error| Failure::Input(format!("{argument}: {error}")))
    };
    Ok(Some((read("A", a)?, read("B", b)?)))
}

fn data(options: &ErrorOptions, given: Option<(Array, Array)>) -> Result<Data, Failure> {
    if let Some((a, b)) = given {
        let data = Data::given(a, b)?;
        return Ok(if options.saturate {
            data.saturating()
        } else {
            data
        });
    }
    match (&options.files[..], &options.shape) {
        ([], Some(shape)) => {
            let lengths: Vec<Option<usize>> =
                shape.split('x').map(|length| length.parse().ok()).collect();
            let [Some(m), Some(n), Some(k)] = lengths[..] else {
                return Err(Failure::Input(format!(
                    "--shape {shape}: expected MxNxK, as in 64x64x4096"
                )));
            };
            let distribution = distribution("--dist", &options.dist)?;
            Ok(Data::generated(distribution, options.seed(), [m, n, k])?)
        }
        ([], None) => Err(Failure::Input(
            "--shape MxNxK or two files, A and B, are needed".into(),
        )),
        _ => Err(Failure::Input(
            "two files, A and B, or --shape: not both, and no other number of files".into(),
        )),
    }
}

fn distribution(argument: &str, text: &str) -> Result<Distribution, Failure> {
    text.parse()
        .map_err(|error: Error| Failure::Input(format!("{argument}: {error}")))
}

/// What the matrices are, in words.
fn source(options: &ErrorOptions, data: &Data, curves: &[Curve]) -> String {
    let what = match &options.files[..] {
        [a, b] => format!("{a} · {b}"),
        _ => format!("{}, seed {}", options.dist, options.seed()),
    };
    let c = options
        .c
        .as_ref()
        .map_or(String::new(), |c| format!(", C {c}"));
    let sampled = curves
        .first()
        .and_then(|curve| curve.points.first())
        .map_or(0, |point| point.statistics.sampled);
    let of = match data.m() * data.n() {
        all if (sampled as usize) < all => format!("{sampled} of the "),
        _ => String::new(),
    };
    format!("{what}{c}, {of}{} × {} outputs", data.m(), data.n())
}

fn print(curves: &[Curve], source: &str) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(
        out,
        "Errors on {source}; relative to Σ|a·b| (Σ|a| + |b| where a unit adds a and b), bias with its sign"
    )?;
    for curve in curves {
        writeln!(out, "\n{}", curve.name())?;
        let mut table = Table::new(&[
            "K",
            "mean",
            "max",
            "bias",
            "±",
            "mean ULP",
            "vanished",
            "not finite",
        ]);
        for point in &curve.points {
            let it = &point.statistics;
            // No error is not an error of 0.
            let of = |summary: &Summary, text: String| match summary.count {
                0 => "–".to_owned(),
                _ => text,
            };
            let products = &it.relative_to_products;
            let spread = match products.count {
                0 | 1 => "–".to_owned(),
                _ => format!("{:.0e}", it.bias_error),
            };
            table.add_row([
                point.k.to_string(),
                of(products, format!("{:.3e}", products.mean)),
                of(products, format!("{:.3e}", products.max)),
                of(products, format!("{:+.2e}", it.bias)),
                spread,
                of(&it.ulps, format!("{:.3}", it.ulps.mean)),
                it.vanished.to_string(),
                it.result_not_finite.to_string(),
            ]);
        }
        writeln!(out, "{}", table)?;
        for point in &curve.points {
            let it = &point.statistics;
            let measured = it.relative_to_products.count;
            let not_finite = it.exact_not_finite + it.result_not_finite;
            let without_products = it.sampled.saturating_sub(measured + not_finite);
            if without_products > 0 {
                writeln!(
                    out,
                    "K = {}: every product of {without_products} of {} outputs is 0; they count in no error",
                    point.k, it.sampled
                )?;
            }
            if it.exact_not_finite > 0 {
                writeln!(
                    out,
                    "K = {}: the exact result of {} of {} outputs is not finite; they count in no error",
                    point.k, it.exact_not_finite, it.sampled
                )?;
            }
        }
    }
    Ok(())
}

fn body(curves: &[Curve], source: &str, data: &Data, options: &ErrorOptions) -> Map<String, Value> {
    let curve = |curve: &Curve| {
        let point = |point: &accuracy::Point| {
            let mut body = matmul::statistics_json(&point.statistics);
            body["k"] = point.k.into();
            body["vanished"] = point.statistics.vanished.into();
            let outputs = point.statistics.relative_to_products.count;
            body["bias"] = (outputs > 0).then_some(point.statistics.bias).into();
            body["bias_error"] = (outputs > 1).then_some(point.statistics.bias_error).into();
            body
        };
        json!({
            "arch": curve.arch,
            "inst": curve.inst,
            "schedule": curve.schedule,
            "points": curve.points.iter().map(point).collect::<Vec<_>>(),
        })
    };
    let is_generated = options.files.is_empty();
    let is_drawn = is_generated || options.c.is_some();
    let mut body = Map::new();
    for (key, value) in [
        ("source", json!(source)),
        ("dist", json!(is_generated.then_some(&options.dist))),
        ("seed", json!(is_drawn.then_some(options.seed()))),
        ("c", json!(options.c)),
        ("m", json!(data.m())),
        ("n", json!(data.n())),
        ("k", json!(data.k())),
        (
            "curves",
            json!(curves.iter().map(curve).collect::<Vec<_>>()),
        ),
    ] {
        body.insert(key.into(), value);
    }
    body
}
