//! `mmascope gen`: writes generated cases, which can be made again anywhere, as vector lines or as files for a testbench.

mod memories;

use rayon::prelude::*;

use crate::args::{Gen, GenFormat};
use crate::cases::{self, Chosen};
use crate::discriminate;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use mmascope::dpa::{Modifiers, Operands};
use mmascope::isa::{Catalogue, Instruction};
use mmascope::vector;

/// Cases that are made in parallel at a time.
const CHUNK: u64 = 1 << 13;

pub(crate) fn run(catalogue: &Catalogue, options: &Gen) -> Result<Status, Failure> {
    for (option, file) in [("--cuda", &options.cuda), ("--hip", &options.hip)] {
        if let Some(file) = file.as_ref().filter(|_| !options.discriminating) {
            return Err(Failure::Input(format!(
                "{option} {file}: such a program is made of the lines of --discriminating alone"
            )));
        }
    }
    if let Some(file) = &options.vectors {
        if options.format != GenFormat::Readmemh {
            let message = format!(
                "--vectors {file}: its lines are vector lines already; --format readmemh takes them"
            );
            return Err(Failure::Input(message));
        }
        return memories::of_file(catalogue, options, file);
    }
    let arch = options.arch.as_deref().unwrap_or_default();
    let Some(inst) = &options.inst else {
        let named = &catalogue.architecture(arch)?.name;
        return Err(Failure::Input(format!(
            "--arch {arch}: which of its instructions? ARCH:INST names one, and `mmascope list {named}` has all"
        )));
    };
    let row = catalogue.find(arch, inst)?;
    report::doubt(row);
    if options.discriminating {
        return discriminate::run(catalogue, row, options);
    }
    let chosen = cases::chosen(&options.cases, row.unit()?)?;
    match options.format {
        GenFormat::Jsonl => lines(row, &chosen, options)?,
        GenFormat::Readmemh => memories::of_families(catalogue, row, &chosen, options)?,
    }
    Ok(Status::Done)
}

fn lines(row: &Instruction, chosen: &[Chosen], options: &Gen) -> Result<(), Failure> {
    let mut output = Output::create("-o", &options.output)?;
    let progress = crate::progress::counter("line");
    for chosen in chosen {
        for indices in chosen.chunks(CHUNK) {
            let lines: Vec<String> = indices
                .into_par_iter()
                .map(|index| {
                    let case = chosen.generator.case(index);
                    let origin = origin(chosen, index);
                    line(row, &origin, &case.operands(), options.with_results)
                })
                .collect::<Result<_, mmascope::Error>>()?;
            for line in &lines {
                output.line(line)?;
            }
            progress.inc(lines.len() as u64);
        }
    }
    progress.finish_and_clear();
    output.finish()
}

/// One line: where it comes from, the operands, and with a result what the model gives for them.
pub(crate) fn line(
    row: &Instruction,
    origin: &[(&str, String)],
    operands: &Operands<'_>,
    with_result: bool,
) -> Result<String, mmascope::Error> {
    let signature = &row.signature;
    let mut line = vector::question(&row.architecture, &row.name, origin, signature, operands);
    if with_result {
        let (d, flags) = row.dot_with_flags(operands, &Modifiers::default())?;
        line.pop();
        line += &format!(",\"d\":\"{}\"", vector::answer(row.unit()?, d));
        if let Some(flags) = flags {
            line += &format!(",\"flags\":\"{flags:02x}\"");
        }
        line.push('}');
    }
    Ok(line)
}

/// The keys from which the case is made again.
fn origin(chosen: &Chosen, index: u64) -> [(&'static str, String); 3] {
    [
        ("family", format!("\"{}\"", chosen.generator.family())),
        ("seed", chosen.generator.seed().to_string()),
        ("index", index.to_string()),
    ]
}
