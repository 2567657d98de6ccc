//! GPUs: devices under test, trials that a chip makes itself, records, and what this machine has of CUDA.

mod functions;

use std::io::Write;
use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use crate::args::{Common, Record, Validate};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::{interrupt, progress};
use mmascope::cases::{Family, Generator, Hints};
use mmascope::dut::{Batch, Dut};
use mmascope::isa::{Architecture, Catalogue, Instruction};
use mmascope::vector::{self, Answer};
use mmascope_cuda::chip::{Chip, Description};
use mmascope_cuda::cublas::{CublasDut, Which};
use mmascope_cuda::dut::CudaDut;
use mmascope_cuda::gpu::Gpu;
use mmascope_cuda::source::{DeviceCode, OperandSource};
use mmascope_cuda::trial::{RowReport, compare_row};
use mmascope_cuda::{sass, source};

/// Elements that are compared of a row when no number is given.
const ELEMENTS: u64 = 100_000_000;

/// The rows of the catalogue that a GPU has.
fn architecture<'a>(
    catalogue: &'a Catalogue,
    chip: &Description,
) -> Result<&'a Architecture, Failure> {
    Ok(catalogue.architecture(&format!("sm_{}", chip.sm))?)
}

/// Opens an instruction of a GPU as a device.
pub(crate) fn open(
    catalogue: &Catalogue,
    ordinal: usize,
    inst: &str,
) -> Result<Box<dyn Dut>, Failure> {
    let gpu = Gpu::open(ordinal)?;
    let (name, from) = source::operand_source(inst);
    let row = architecture(catalogue, gpu.description())?.find(name)?;
    let device = CudaDut::new(&format!("cuda:{ordinal}:{inst}"), &gpu, row, from)?;
    if let Ok(Some(machine)) = device.instructions() {
        report::tell(format!(
            "cuda:{ordinal}:{inst}: {} on {}",
            sass::line(&machine),
            gpu.description().name
        ));
    }
    Ok(Box::new(device))
}

/// Library, GPU and product that `cuda:N:cublas:PRODUCT` or `cuda:N:cublaslt:PRODUCT` names.
pub(crate) fn product_of_cublas(subject: &str) -> Result<Option<(Which, usize, &str)>, Failure> {
    let rest = subject.strip_prefix("cuda:");
    let parts = rest.and_then(|rest| {
        let (ordinal, rest) = rest.split_once(':')?;
        let (library, routine) = rest.split_once(':')?;
        let which = match library {
            "cublas" => Which::Cublas,
            "cublaslt" => Which::CublasLt,
            _ => return None,
        };
        Some((which, ordinal, routine))
    });
    let Some((which, ordinal, routine)) = parts else {
        return Ok(None);
    };
    let ordinal = ordinal.parse().map_err(|_| {
        Failure::Input(format!(
            "{subject}: expected cuda:N:cublas:PRODUCT or cuda:N:cublaslt:PRODUCT"
        ))
    })?;
    Ok(Some((which, ordinal, routine)))
}

/// Opens a product of cuBLAS or cuBLASLt as a device.
pub(crate) fn open_cublas(
    which: Which,
    ordinal: usize,
    routine: &str,
    n: usize,
) -> Result<Box<dyn Dut>, Failure> {
    Ok(Box::new(CublasDut::new(which, ordinal, routine, n)?))
}

/// The number of the GPU that a subject without an instruction names: `cuda:0`.
pub(crate) fn ordinal(subject: &str) -> Option<usize> {
    subject.strip_prefix("cuda:")?.parse().ok()
}

/// The rows that are asked for: one, or all that have a model and device code.
fn rows<'a>(
    architecture: &'a Architecture,
    inst: Option<&str>,
    all: bool,
) -> Result<Vec<(&'a Instruction, OperandSource)>, Failure> {
    match (inst, all) {
        (Some(inst), _) => {
            let (name, from) = source::operand_source(inst);
            Ok(vec![(architecture.find(name)?, from)])
        }
        (None, false) => Err(Failure::Input(
            "which instruction? --inst INST is one, --all is every one that has a model".to_owned(),
        )),
        (None, true) => {
            let sources = [OperandSource::Shared, OperandSource::Registers];
            // Rows that only a certain compiler makes are not asked for: this compiler may be another.
            let modelled = architecture
                .instructions()
                .filter(|row| row.is_modelled() && !row.name.contains('@'));
            let with_source = modelled.flat_map(|row| sources.map(|from| (row, from)));
            Ok(with_source
                .filter(|(row, from)| DeviceCode::of(row, "cuda", *from).is_ok())
                .collect())
        }
    }
}

/// `validate cuda:N [--inst INST | --all]`: the chip makes operands, computes them and compares them with the model.
pub(crate) fn validate(
    catalogue: &Catalogue,
    common: &Common,
    options: &Validate,
    ordinal: usize,
) -> Result<Status, Failure> {
    let inst = options.device.inst.as_deref();
    if options.dry_run {
        return dry_run(catalogue, options);
    }
    if !options.against.is_empty()
        || options.state.is_some()
        || options.minutes.is_some()
        || !options.families.is_empty()
    {
        return Err(Failure::Input(format!(
            "cuda:{ordinal}: a GPU's own trials are against its own rows, of all families, and have no state: no --against, \
             --families, --minutes or --state; cuda:{ordinal}:INST takes them"
        )));
    }
    let gpu = Gpu::open(ordinal)?;
    if options.conversions {
        return functions::conversions(catalogue, common, options, &gpu);
    }
    let architecture = architecture(catalogue, gpu.description())?;
    let rows = rows(architecture, inst, options.all)?;
    let asked = interrupt::deferred();
    let counter = progress::counter("element");
    let (mut reports, mut failures) = (Vec::new(), Vec::new());
    for (row, from) in rows {
        if asked.load(Ordering::SeqCst) {
            break;
        }
        counter.set_message(row.name.clone());
        let mut go_on = |elements: u64| {
            counter.inc(elements);
            !asked.load(Ordering::SeqCst)
        };
        let bounds = [options.trials.unwrap_or(ELEMENTS), options.seed];
        let subject = format!("cuda:{ordinal}:{}", row.name);
        match compare_row(&subject, &gpu, row, from, bounds, &mut go_on) {
            Ok(report) => reports.push(report),
            // Of many rows one that does not run must not hide the others.
            Err(error) if options.all => failures.push((row.name.clone(), error.to_string())),
            Err(error) => return Err(error.into()),
        }
    }
    counter.finish_and_clear();
    let body = summary(options, &gpu, architecture, &reports, &failures);
    if let Some(file) = &options.output {
        let mut output = Output::create("-o", file)?;
        output.line(&report::json_text(catalogue, body.clone())?)?;
        output.finish()?;
    }
    if interrupt::asked() {
        return Err(Failure::Interrupted);
    }
    let holds = reports.iter().all(|report| report.differences() == 0);
    let printed = match common.json() {
        true => report::print_json(catalogue, body),
        false => print(&gpu, &reports, &failures),
    };
    let status = report::answer(holds, printed)?;
    Ok(match failures.is_empty() {
        true => status,
        false => Status::DeviceFailed,
    })
}

/// What is known of a GPU.
fn of_gpu(chip: &Description) -> Value {
    json!({"name": chip.name, "sm": chip.sm, "driver": chip.driver, "compiler": chip.compiler})
}

fn summary(
    options: &Validate,
    gpu: &Gpu,
    architecture: &Architecture,
    reports: &[RowReport],
    failures: &[(String, String)],
) -> Map<String, Value> {
    let value = json!({
        "subject": options.subject,
        "device": of_gpu(gpu.description()),
        "architecture": architecture.name,
        "rows": reports,
        "failed": failures,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn print(gpu: &Gpu, reports: &[RowReport], failures: &[(String, String)]) -> Result<(), Failure> {
    let mut out = terminal::out();
    let chip = gpu.description();
    writeln!(
        out,
        "device    {}, sm_{}, driver {}, {}",
        chip.name, chip.sm, chip.driver, chip.compiler
    )?;
    let mut table = Table::new(&[
        "instruction",
        "elements",
        "differences",
        "seconds",
        "machine instructions",
    ]);
    for report in reports {
        let units = report.machine.as_ref().map_or_else(
            || "no nvdisasm".to_owned(),
            |all| {
                sass::line(
                    &all.iter()
                        .filter(|(name, _)| name.contains("MMA"))
                        .map(|(name, count)| (name.clone(), *count))
                        .collect(),
                )
            },
        );
        table.add_row([
            report.instruction.clone(),
            report.elements().to_string(),
            report.differences().to_string(),
            format!("{:.1}", report.seconds),
            units,
        ]);
    }
    writeln!(out, "{table}")?;
    for report in reports {
        for example in report.examples.iter().take(3) {
            writeln!(
                out,
                "difference: {}: family {}, seed {}, row {}, column {}: device {:x}, model {:x}",
                report.instruction,
                example.family,
                example.seed,
                example.row,
                example.column,
                example.device,
                example.model
            )?;
        }
    }
    for (row, why) in failures {
        writeln!(out, "failed: {row}: {why}")?;
    }
    let all: u64 = reports.iter().map(RowReport::elements).sum();
    let differences: u64 = reports.iter().map(RowReport::differences).sum();
    writeln!(out, "\n{all} elements compared, {differences} differences")?;
    Ok(())
}

/// `validate … --dry-run`: the source that a GPU would be given.
pub(crate) fn dry_run(catalogue: &Catalogue, options: &Validate) -> Result<Status, Failure> {
    let (Some(arch), Some(inst)) = (&options.device.arch, &options.device.inst) else {
        return Err(Failure::Input(
            "--dry-run asks no GPU: --arch ARCH and --inst INST say of which instruction the kernel is printed".to_owned(),
        ));
    };
    let (name, from) = source::operand_source(inst);
    let text = source::trial(catalogue.find(arch, name)?, from)?;
    report::print_text(text.trim_end().to_owned())?;
    Ok(Status::Done)
}

/// `record cuda:N -o FILE`: vector lines with a chip's results, and a file beside it that says where they are from.
pub(crate) fn record(
    catalogue: &Catalogue,
    common: &Common,
    options: &Record,
) -> Result<Status, Failure> {
    let Some(ordinal) = ordinal(&options.subject) else {
        return Err(Failure::Input(format!(
            "record {}: expected cuda:N",
            options.subject
        )));
    };
    if options.functions {
        return functions::record(catalogue, common, options, ordinal);
    }
    let gpu = Gpu::open(ordinal)?;
    let chip = gpu.description();
    let architecture = architecture(catalogue, chip)?;
    let rows = rows(architecture, options.inst.as_deref(), options.all)?;
    let mut output = Output::create("-o", &options.output)?;
    let (mut lines, mut of_rows) = (0_u64, Vec::new());
    for (row, from) in rows {
        let name = format!("cuda:{ordinal}:{}", row.name);
        let mut device = CudaDut::new(&name, &gpu, row, from)?;
        let machine = device.instructions().ok().flatten();
        of_rows.push(json!({"instruction": row.name, "registers": from == OperandSource::Registers, "machine": machine}));
        for family in Family::ALL {
            let generator = match row.unit() {
                Ok(unit) => Generator::for_unit(family, options.seed, unit),
                Err(_) => Generator::new(
                    family,
                    options.seed,
                    &row.signature,
                    Hints::of_signature(&row.signature),
                ),
            };
            let Ok(generator) = generator else { continue };
            let mut batch = Batch::new(row.signature);
            for index in 0..options.count {
                batch.push(&generator.case(index).operands())?;
            }
            for (index, answer) in device.run(&batch)?.into_iter().enumerate() {
                let Answer::Word(word) = answer else { continue };
                let origin = [
                    ("family", format!("\"{family}\"")),
                    ("seed", options.seed.to_string()),
                    ("index", index.to_string()),
                ];
                let mut line = vector::question(
                    &row.architecture,
                    &row.name,
                    &origin,
                    &row.signature,
                    &batch.query(index),
                );
                line.pop();
                line += &format!(
                    ",\"d\":\"{word:0digits$x}\"}}",
                    digits = row.signature.d.digits()
                );
                output.line(&line)?;
                lines += 1;
            }
        }
    }
    output.finish()?;
    let count = of_rows.len();
    write_about(
        catalogue,
        options,
        chip,
        [("lines", json!(lines)), ("rows", json!(of_rows))],
    )?;
    report::tell(format!("{lines} lines of {count} rows"));
    Ok(Status::Done)
}

/// The file beside a record: whose answers they are, and when and how they were asked for.
fn write_about<const N: usize>(
    catalogue: &Catalogue,
    options: &Record,
    chip: &Description,
    more: [(&str, Value); N],
) -> Result<(), Failure> {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut about = Map::new();
    about.insert("device".to_owned(), of_gpu(chip));
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    about.insert("command".to_owned(), json!(command));
    let seconds = time.map_or(0, |time| time.as_secs());
    about.insert("seconds_since_1970".to_owned(), json!(seconds));
    about.extend(more.map(|(key, value)| (key.to_owned(), value)));
    let mut output = Output::create("-o", &format!("{}.about.json", options.output))?;
    output.line(&report::json_text(catalogue, about)?)?;
    output.finish()?;
    Ok(())
}
