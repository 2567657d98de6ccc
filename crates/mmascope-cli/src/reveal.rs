//! `mmascope reveal`: finds and verifies the summation tree of a subject.

use std::io::Write;

use serde_json::Value;

use crate::args::{Common, Reveal};
use crate::device;
use crate::report::{self, Failure, Status};
use crate::terminal;
use crate::tree::{ending, statistics, write_drawing};
use mmascope::dpa::Signature;
use mmascope::dut::{DeviceName, Dut, Interface};
use mmascope::format::Format;
use mmascope::integers;
use mmascope::isa::Catalogue;
use mmascope::reveal::{Algorithm, Blas, DeviceSum, RevealOptions, Revelation, Summation};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Reveal,
) -> Result<Status, Failure> {
    let chosen = RevealOptions {
        algorithm: Algorithm::named(&options.algorithm)?,
        trials: options.trials,
        seed: options.seed,
        verify: true,
    };
    if options.ilp64 && !options.subject.starts_with("lib:") {
        let words = "--ilp64: only lib: subjects take integers".to_owned();
        return Err(Failure::Input(words));
    }
    // A long run must not end with a name that cannot be written.
    if let Some(file) = &options.output {
        ending(file)?;
    }
    if let Some(n) = options.n.filter(|&n| n >= 1 << 24) {
        let words = format!("-n {n}: 1 to {} products are supported", (1 << 24) - 1);
        return Err(Failure::Input(words));
    }
    type_of_process(options)?;
    let progress = crate::progress::counter("measurement");
    let mut tell = |measurements: u64| progress.set_position(measurements);
    let report = if let Some(rest) = options.subject.strip_prefix("lib:") {
        let mut subject = library(rest, options)?;
        mmascope::reveal::reveal_with_progress(subject.as_mut(), &chosen, &mut tell)?
    } else if let Some((which, ordinal, routine)) =
        crate::cuda::product_of_cublas(&options.subject)?
    {
        let Some(n) = options.n else {
            return Err(Failure::Input(format!(
                "{}: the number of products is needed: -n N",
                options.subject
            )));
        };
        let mut device = crate::cuda::open_cublas(which, ordinal, routine, n)?;
        let mut subject = DeviceSum::new(device.as_mut())?;
        mmascope::reveal::reveal_with_progress(&mut subject, &chosen, &mut tell)?
    } else {
        let subject = options
            .subject
            .parse::<DeviceName>()?
            .with_products(options.n);
        let mut device = options
            .device
            .open_as(catalogue, &subject, plain(options)?)?;
        let device: &mut dyn Dut = device.as_mut();
        if integers::are_summed(device.signature()) {
            let report = integers::reveal(device, chosen.seed)?;
            progress.finish_and_clear();
            return finish(catalogue, common, options, &report);
        }
        let mut sum = DeviceSum::new(device)?;
        if let Some(instruction) = subject.instruction(catalogue)? {
            sum = sum.with_instruction(instruction);
        }
        let mut subject = sum;
        if let Some(n) = options.n
            && n + 1 != subject.leaves()
        {
            return Err(Failure::Input(format!(
                "-n {n}: {} has {} products and c",
                options.subject,
                subject.leaves() - 1
            )));
        }
        mmascope::reveal::reveal_with_progress(&mut subject, &chosen, &mut tell)?
    };
    progress.finish_and_clear();
    finish(catalogue, common, options, &report)
}

/// Writes and prints a report.
fn finish(
    catalogue: &Catalogue,
    common: &Common,
    options: &Reveal,
    report: &Revelation,
) -> Result<Status, Failure> {
    if let Some(file) = &options.output {
        let json = envelope(catalogue, common, report)?;
        write_drawing(
            file,
            &report.tree,
            &report.subject,
            &report.verdict(),
            &report.leaves,
            json,
        )?;
    }
    let printed = if common.json() {
        let json = envelope(catalogue, common, report)?;
        report::print_text(json)
    } else {
        print(report)
    };
    report::answer(report.holds(), printed)
}

/// `PATH:SYMBOL`, split at the last single colon.
fn library(rest: &str, options: &Reveal) -> Result<Box<dyn Summation>, Failure> {
    let Some((path, symbol)) = rest.rsplit_once(':') else {
        return Err(Failure::Input(format!(
            "lib:{rest}: expected lib:PATH:SYMBOL"
        )));
    };
    let Some(n) = options.n else {
        return Err(Failure::Input(format!(
            "lib:{rest}: the number of products is needed: -n N"
        )));
    };
    if path.is_empty() || symbol.is_empty() {
        return Err(Failure::Input(format!(
            "lib:{rest}: expected lib:PATH:SYMBOL"
        )));
    }
    let symbol = match options.ilp64 {
        true => &*format!("{}@ilp64", symbol.trim_end_matches("@ilp64")),
        false => symbol,
    };
    let own = Blas::format_of(path, symbol, n)?;
    if let Some(dtype) = &options.dtype {
        let wanted = Format::named(dtype)?;
        if wanted != own {
            return Err(Failure::Input(format!(
                "--dtype {dtype}: {symbol} computes in {own}"
            )));
        }
    }
    device::open_library(path, symbol, n, &options.device.options)
}

/// `--dtype` is for sums that have no type of their own, and goes with `-n` there.
fn type_of_process(options: &Reveal) -> Result<(), Failure> {
    let Some(dtype) = &options.dtype else {
        return Ok(());
    };
    let device = &options.device;
    let wrong = |why: &str| Err(Failure::Input(format!("--dtype {dtype}: {why}")));
    match options.subject.split_once(':').map(|(kind, _)| kind) {
        Some("lib") => Ok(()),
        Some("cmd") if device.signature.is_some() || device.arch.is_some() => {
            wrong("--signature or --arch and --inst say the types already")
        }
        Some("cmd") if options.n.is_none() => wrong("the number of products is needed: -n N"),
        Some("cmd") => Ok(()),
        // What has no prefix is no subject; opening it says which it may be.
        None => Ok(()),
        _ => wrong("only lib: and cmd: subjects take one; others have types of their own"),
    }
}

/// The interface of a process that is said by `--dtype` and `-n`: a dot product of one type.
fn plain(options: &Reveal) -> Result<Option<Interface>, Failure> {
    let (Some(dtype), Some(k)) = (&options.dtype, options.n) else {
        return Ok(None);
    };
    let format = Format::named(dtype)?;
    Ok(Some(Interface::of_signature(Signature {
        a: format,
        b: format,
        c: format,
        d: format,
        k,
        scale: None,
    })))
}

/// The JSON of a report, its tree set in as text: it may be deeper than JSON libraries nest.
fn envelope(
    catalogue: &Catalogue,
    common: &Common,
    report: &Revelation,
) -> Result<String, Failure> {
    let mut object = report.json();
    object.insert("catalogue".into(), catalogue.hash().into());
    object.insert("mmascope".into(), env!("CARGO_PKG_VERSION").into());
    object.remove("tree");
    let text = serde_json::to_string_pretty(&Value::Object(object))
        .map_err(|error| Failure::Input(error.to_string()))?;
    let rest = text.strip_prefix('{').unwrap_or(&text);
    let tree = report.tree.members(common.form());
    Ok(format!("{{\n  {tree},{rest}"))
}

fn print(report: &Revelation) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "subject       {}", report.subject)?;
    writeln!(
        out,
        "pattern       {}",
        report.tree.pattern_named(&report.leaves)
    )?;
    writeln!(out, "tree          {}", statistics(&report.tree))?;
    writeln!(out, "calls         {}", report.calls)?;
    writeln!(out, "measurements  {}", report.measurements)?;
    writeln!(
        out,
        "with checks   {} calls, {} measurements",
        report.all_calls, report.all_measurements
    )?;
    if report.tree.leaves() <= 64 {
        writeln!(out, "\n{}", report.tree)?;
    }
    for set in &report.unresolved {
        let names: Vec<&str> = set.iter().map(|&leaf| &*report.leaves[leaf]).collect();
        writeln!(out, "unresolved    {}", names.join(" "))?;
    }
    for note in &report.notes {
        writeln!(out, "note          {note}")?;
    }
    if let Some(example) = &report.verified.counter_example {
        writeln!(out, "differs       {example}")?;
    }
    writeln!(out, "{}", report.verdict())?;
    Ok(())
}
