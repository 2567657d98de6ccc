//! `mmascope matmul`: computes a whole matrix product, and how far it is from the exact one.

mod compared;
mod operands;
mod printed;
mod reference;

use std::io::Write;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::args::{Common, Matmul, Stats};
use crate::interrupt;
use crate::report::{self, Failure, Status};
use crate::terminal;
use crate::units::Types;
use mmascope::array::{self, Array, ArrayReading, Casting, Words};
use mmascope::dpa::{Modifiers, Scalar, Unit};
use mmascope::format::{F32, Format, Rounding};
use mmascope::gemm::{self, Arrays, Matrices, Schedule, ScheduledProduct, SoftwareScales, Watch};
use mmascope::isa::{Catalogue, Instruction};
use operands::{Files, Operands};
use printed::Report;
pub(crate) use printed::statistics_json;

/// D of one unit.
struct Done<'c> {
    row: &'c Instruction,
    format: Format,
    shape: Vec<usize>,
    d: Words,
    json: Map<String, Value>,
}

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Matmul,
) -> Result<Status, Failure> {
    let products = products(options)?;
    // A wrong name is found before any file is read.
    let named = products
        .iter()
        .map(|options| named_row(catalogue, options))
        .collect::<Result<Vec<_>, _>>()?;
    for (index, file) in products.iter().map(|it| it.output.as_deref()).enumerate() {
        let Some(file) = file else { continue };
        array::check_writable(file).map_err(|error| Failure::Input(format!("-o {error}")))?;
        replaced(options, file, index + 1 == products.len())?;
    }
    let mut done = Vec::new();
    for (index, (options, named)) in products.iter().zip(named).enumerate() {
        if !done.is_empty() && !common.json() {
            let printed = writeln!(terminal::out());
            unless_written(options, printed.map_err(Failure::from))?;
        }
        let results = products.len() - index;
        done.push(one(catalogue, common, options, named, results)?);
    }
    if let [only] = &mut done[..] {
        if common.json() {
            report::print_json(catalogue, std::mem::take(&mut only.json))?;
        }
        return Ok(Status::Done);
    }
    compared::report(catalogue, common, &mut done)?;
    Ok(Status::Done)
}

/// What printing came to. Files are written even where nobody reads the report any more.
fn unless_written(options: &Matmul, printed: Result<(), Failure>) -> Result<(), Failure> {
    match options.output {
        Some(_) => report::unless_closed(printed),
        None => printed,
    }
}

/// Says that D will take the place of a file that is read; refuses it where other units are still to read the file.
fn replaced(options: &Matmul, output: &str, is_last: bool) -> Result<(), Failure> {
    let inputs = [
        ("A", Some(&options.a)),
        ("B", Some(&options.b)),
        ("--c", options.c.as_ref()),
        ("--scale-a", options.scale_a.as_ref()),
        ("--scale-b", options.scale_b.as_ref()),
    ];
    let Ok(written) = std::fs::canonicalize(output) else {
        // There is no such file yet.
        return Ok(());
    };
    for (argument, file) in inputs {
        if file.is_some_and(|file| std::fs::canonicalize(file).is_ok_and(|it| it == written)) {
            let message = format!("-o: D in {output} will replace the file of {argument}");
            if !is_last {
                return Err(Failure::Input(format!(
                    "{message}, which other units are to read; name another file"
                )));
            }
            report::tell(message);
        }
    }
    Ok(())
}

/// The product of each unit that `--arch` names, with a file of its own for D.
fn products(options: &Matmul) -> Result<Vec<Matmul>, Failure> {
    if options.output.as_deref() == Some("-") {
        let message = "-o -: D goes to a file, the report to standard output; ./- is a file's name";
        return Err(Failure::Input(message.to_owned()));
    }
    let items = &options.arch;
    let mut products: Vec<Matmul> = Vec::new();
    for item in items {
        let (arch, inst) = match item.split_once(':') {
            Some((arch, inst)) => (arch, Some(inst.to_owned())),
            None => (item.as_str(), None),
        };
        if inst.is_some() && (options.inst.is_some() || options.types.is_some()) {
            return Err(Failure::Input(format!(
                "--arch {item}: it names the instruction; --inst and --types do too"
            )));
        }
        let label = item.replace([':', '/'], "-");
        let output = options.output.as_ref().map(|file| match items.len() {
            1 => file.clone(),
            _ => match file.strip_suffix(".npy") {
                Some(stem) => format!("{stem}-{label}.npy"),
                None => format!("{file}-{label}"),
            },
        });
        if products
            .iter()
            .any(|known| output.is_some() && known.output == output)
        {
            return Err(Failure::Input(format!("--arch {item}: it is named twice")));
        }
        products.push(Matmul {
            arch: vec![arch.to_owned()],
            inst: inst.or_else(|| options.inst.clone()),
            output,
            ..options.clone()
        });
    }
    Ok(products)
}

/// Computes D of one unit, writes it and reports it.
fn one<'c>(
    catalogue: &'c Catalogue,
    common: &Common,
    options: &Matmul,
    named: Option<&'c Instruction>,
    results: usize,
) -> Result<Done<'c>, Failure> {
    let Prepared {
        row,
        default_of,
        schedule,
        readings,
        given_k,
        matrices,
        scales,
        modifiers,
    } = prepared(catalogue, named, options, results)?;
    let unit = row.unit()?;
    let product = ScheduledProduct::new(&schedule, unit, &matrices, modifiers)?;
    reference::warn(unit, matrices.outputs() as u64 * product.steps() as u64)?;
    // From here on the program ends itself, so that no half-written file is left.
    let cancel = interrupt::deferred();
    let outputs = matrices.outputs() as u64;
    let bar = crate::progress::bar(outputs * product.steps() as u64, "multiplying");
    let advance = |done| bar.inc(done);
    let start = Instant::now();
    let watch = Watch {
        progress: &advance,
        cancel,
    };
    let d = product.run(scales.as_ref(), &watch)?;
    let time = start.elapsed();
    bar.finish_and_clear();
    let statistics = match options.stats {
        Stats::None => None,
        Stats::Full | Stats::Sampled => {
            let sample = options.stats == Stats::Sampled;
            let count = if sample {
                outputs.min(gemm::SAMPLES as u64)
            } else {
                outputs
            };
            let bar = crate::progress::bar(count, "comparing");
            let advance = |done| bar.inc(done);
            let watch = Watch {
                progress: &advance,
                cancel,
            };
            let statistics = product.statistics(scales.as_ref(), &d, sample, &watch)?;
            bar.finish_and_clear();
            Some(statistics)
        }
    };
    let shape = matrices.d_shape();
    let format = schedule.format(unit);
    if let Some(file) = &options.output {
        array::write_npy(file, &shape, &format, d.iter(), cancel)?;
    }
    let report = Report {
        row,
        default_of,
        unit,
        schedule: &schedule,
        method: reference::method(unit)?,
        readings,
        matrices: &matrices,
        given_k,
        time,
        statistics,
        output: options.output.as_deref(),
    };
    let json = report.json();
    if !common.json() {
        unless_written(options, report.print())?;
    }
    Ok(Done {
        row,
        format,
        shape,
        d,
        json,
    })
}

/// A product that can be run.
pub(crate) struct Prepared<'c> {
    pub(crate) row: &'c Instruction,
    /// Operand types whose default instruction it is.
    default_of: Option<String>,
    pub(crate) schedule: Schedule,
    readings: Readings,
    /// K before padding.
    given_k: usize,
    pub(crate) matrices: Matrices,
    pub(crate) scales: Option<SoftwareScales>,
    pub(crate) modifiers: Modifiers,
}

/// Reads the files of a product for the instruction that the options name.
pub(crate) fn product<'c>(
    catalogue: &'c Catalogue,
    options: &Matmul,
) -> Result<Prepared<'c>, Failure> {
    one_of(catalogue, options, 1)
}

/// The same where so many results, this one and later ones, are kept at the same time.
pub(crate) fn one_of<'c>(
    catalogue: &'c Catalogue,
    options: &Matmul,
    results: usize,
) -> Result<Prepared<'c>, Failure> {
    prepared(catalogue, named_row(catalogue, options)?, options, results)
}

fn prepared<'c>(
    catalogue: &'c Catalogue,
    named: Option<&'c Instruction>,
    options: &Matmul,
    results: usize,
) -> Result<Prepared<'c>, Failure> {
    let schedule = schedule(options.schedule.as_deref())?;
    let files = Files::read(options)?;
    let (row, default_of) = match named {
        Some(row) => (row, None),
        None => {
            let types = files.types()?;
            let row =
                Types::Given(Box::new(types)).of(catalogue.architecture(options.architecture())?)?;
            (row, Some(types.to_string()))
        }
    };
    report::doubt(row);
    let unit = row.unit()?;
    let modifiers = modifiers(row, options)?;
    let Given {
        readings,
        k: given_k,
        matrices,
        scales,
        factor,
    } = matrices(unit, &schedule, files, options)?;
    let schedule = schedule.scaled_by(factor, matrices.c().is_some())?;
    fits(&matrices, schedule.format(unit).bits, results)?;
    for (argument, reading) in &readings {
        if let Some(warning) = &reading.warning {
            report::tell(format_args!("warning: {argument}: {warning}"));
        }
    }
    Ok(Prepared {
        row,
        default_of: default_of.or_else(|| options.types.clone()),
        schedule,
        readings,
        given_k,
        matrices,
        scales,
        modifiers,
    })
}

/// Refuses a product whose D is larger than the memory that is there, or so many of them are, before anything is allocated.
fn fits(matrices: &Matrices, bits: u32, results: usize) -> Result<(), Failure> {
    let each = matrices.outputs() as u128 * u128::from(bits.next_power_of_two().max(8)) / 8;
    let bytes = each * results as u128;
    let what = match results {
        1 => "D".to_owned(),
        _ => format!("D of {results} units"),
    };
    match memory() {
        Some(there) if bytes > u128::from(there) => Err(Failure::Input(format!(
            "{what}, {} of {bits} bits, takes {bytes} bytes; {there} bytes of memory are there",
            matrices
                .d_shape()
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(" × ")
        ))),
        _ => Ok(()),
    }
}

/// Bytes of memory that can be had, where the system says it.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let value = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let kilobytes = value("MemAvailable:")? + value("SwapFree:").unwrap_or(0);
    kilobytes.checked_mul(1024)
}

/// The schedule of that text; the plain chain without one.
pub(crate) fn schedule(text: Option<&str>) -> Result<Schedule, Failure> {
    let Some(text) = text else {
        return Ok(Schedule::default());
    };
    text.parse()
        .map_err(|error| Failure::Input(format!("--schedule: {error}")))
}

/// The instruction that the options name, or the default of the types that they name.
fn named_row<'c>(
    catalogue: &'c Catalogue,
    options: &Matmul,
) -> Result<Option<&'c Instruction>, Failure> {
    let architecture = catalogue.architecture(options.architecture())?;
    let row = match (&options.inst, &options.types) {
        (Some(inst), _) => architecture.find(inst)?,
        (None, Some(types)) => Types::Text(types).of(architecture)?,
        (None, None) => return Ok(None),
    };
    row.unit()?;
    modifiers(row, options)?;
    Ok(Some(row))
}

fn modifiers(row: &Instruction, options: &Matmul) -> Result<Modifiers, Failure> {
    let mut modifiers = Modifiers::default();
    for text in &options.mods {
        modifiers
            .add(text)
            .map_err(|error| Failure::Input(format!("--mods {text}: {error}")))?;
    }
    row.check_modifiers(&modifiers)
        .map_err(|error| Failure::Input(format!("--mods: {error}")))?;
    if modifiers.no_c && options.c.is_some() {
        return Err(Failure::Input(
            "--c with --mods noC: noC leaves C out; give one of them".into(),
        ));
    }
    Ok(modifiers)
}

/// What an argument was taken for.
type Readings = Vec<(&'static str, ArrayReading)>;

/// What the files hold.
struct Given {
    /// How the files were read.
    readings: Readings,
    /// K before padding.
    k: usize,
    matrices: Matrices,
    /// The schedule's software scales.
    scales: Option<SoftwareScales>,
    /// What the result is multiplied by, an f32 word: both tensor scales of quantised operands.
    factor: u64,
}

fn matrices(
    unit: &Unit,
    schedule: &Schedule,
    files: Files,
    options: &Matmul,
) -> Result<Given, Failure> {
    let casting = Casting {
        saturate: options.saturate,
        ..Casting::default()
    };
    let casting = match &options.round {
        Some(name) => casting.with_rounding(name)?,
        None => casting,
    };
    let signature = &schedule.signature(unit);
    let Operands {
        a: side_a,
        b: side_b,
        c,
        scale_a,
        scale_b,
    } = files.operands(unit, options)?;
    let factor =
        Scalar::new(F32, Rounding::Rne)?.multiply(side_a.tensor_scale, side_b.tensor_scale);
    let (a, words_a) = (side_a.array, side_a.words);
    let (b, words_b) = (side_b.array, side_b.words);
    let promotion = schedule.promotion.filter(|it| it.scale.is_some());
    if promotion.is_some() && signature.scale.is_some() {
        return Err(Failure::Input(
            "--schedule: scale= asks for software scales, but the instruction has block scales, and \
             --scale-a and --scale-b cannot be both"
                .into(),
        ));
    }
    if let (Some(_), Some(_), None) | (Some(_), None, Some(_)) = (promotion, &scale_a, &scale_b) {
        let (given, missing) = match scale_a {
            Some(_) => ("--scale-a", "--scale-b"),
            None => ("--scale-b", "--scale-a"),
        };
        return Err(Failure::Input(format!(
            "{given} without {missing}: the schedule's scale= takes software scales of A and of B"
        )));
    }
    let software = match (promotion, &scale_a, &scale_b) {
        (Some(promotion), Some(scale_a), Some(scale_b)) => Some(SoftwareScales::from_arrays(
            scale_a,
            scale_b,
            &promotion.scalar.format(),
        )?),
        _ => None,
    };
    let is_block = software.is_none();
    let mut readings_of_scales = Vec::new();
    if let Some(promotion) = promotion.filter(|_| !is_block) {
        let format = promotion.scalar.format();
        let read = |(name, array): (_, &Option<Array>)| {
            Some((name, array.as_ref()?.reading(&format, &Casting::default())))
        };
        let scales = [("scale of A", &scale_a), ("scale of B", &scale_b)];
        readings_of_scales.extend(scales.into_iter().filter_map(read));
    }
    let arrays = Arrays {
        a: &a,
        b: &b,
        c: c.as_ref(),
        scale_a: scale_a.as_ref().filter(|_| is_block),
        scale_b: scale_b.as_ref().filter(|_| is_block),
        transpose_a: options.transpose_a,
        transpose_b: options.transpose_b,
    };
    let matrices = Matrices::from_arrays(&arrays, signature, &casting)?;
    let k = matrices.k();
    let matrices = if options.pad {
        matrices.padded(signature)?
    } else {
        matrices
    };
    let operand = |array: &Array, format, is_transposed, words: Option<String>| {
        let mut reading = array.reading(format, &casting);
        if let Some(words) = words {
            reading.words = words;
        }
        if is_transposed {
            reading.words.push_str(", transposed");
        }
        reading
    };
    let mut readings = vec![
        ("A", operand(&a, &signature.a, options.transpose_a, words_a)),
        ("B", operand(&b, &signature.b, options.transpose_b, words_b)),
    ];
    readings.extend(c.map(|c| ("C", c.reading(&signature.c, &casting))));
    if let Some(scale) = signature.scale {
        let scales = [("scale of A", scale_a), ("scale of B", scale_b)];
        let read =
            |(name, array): (_, Option<Array>)| Some((name, array?.scale_reading(&scale.format)));
        readings.extend(scales.into_iter().filter_map(read));
    }
    readings.extend(readings_of_scales);
    Ok(Given {
        readings,
        k,
        matrices,
        scales: software,
        factor,
    })
}
