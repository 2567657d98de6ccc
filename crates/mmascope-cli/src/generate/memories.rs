//! `mmascope gen --format readmemh`: cases of families, and lines of a file, for a testbench.

use rayon::prelude::*;
use serde_json::json;

use super::CHUNK;
use crate::args::Gen;
use crate::cases::Chosen;
use crate::readmemh::{Case, Memories};
use crate::report::{Failure, Status};
use mmascope::dpa::Modifiers;
use mmascope::isa::{Catalogue, Instruction};
use mmascope::vector::{Answer, Line, Lines, Reader, Vector};

/// The cases of families, one family after the other.
pub(super) fn of_families(
    catalogue: &Catalogue,
    row: &Instruction,
    chosen: &[Chosen],
    options: &Gen,
) -> Result<(), Failure> {
    let unit = row.unit()?;
    let mut memories = Memories::create(row, &options.output)?;
    let progress = crate::progress::counter("case");
    for chosen in chosen {
        for indices in chosen.chunks(CHUNK) {
            let cases: Vec<_> = indices
                .into_par_iter()
                .map(|index| {
                    let case = chosen.generator.case(index);
                    let d = row.dot(&case.operands(), &Modifiers::default())?;
                    Ok((case, d))
                })
                .collect::<Result<_, mmascope::Error>>()?;
            for (case, d) in &cases {
                memories.push(&Case {
                    operands: case.operands(),
                    d: *d,
                    any_nan: unit.is_nan(*d) && !unit.program().nan_is_known(),
                })?;
            }
            progress.inc(cases.len() as u64);
        }
    }
    progress.finish_and_clear();
    let families: Vec<_> = chosen
        .iter()
        .map(|chosen| {
            json!({
                "family": chosen.generator.family().to_string(),
                "start": chosen.indices.start,
                "count": chosen.indices.end - chosen.indices.start,
            })
        })
        .collect();
    memories.finish(
        catalogue,
        json!({"kind": "families", "seed": options.cases.seed, "families": families}),
    )
}

/// The lines of a file, all of one instruction. Lines without a result get the model's.
pub(super) fn of_file(catalogue: &Catalogue, options: &Gen, file: &str) -> Result<Status, Failure> {
    let mut reader =
        Reader::new(catalogue).with_default(options.arch.clone(), options.inst.clone());
    let mut lines = Lines::open(file)?;
    let mut memories: Option<(&Instruction, Memories<'_>)> = None;
    while let Some(line) = lines.next_line()? {
        if line.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        let refused = |what: String| {
            Failure::Input(format!("--vectors {file}: line {}: {what}", line.number))
        };
        let vector = read(&mut reader, &line).map_err(refused)?;
        let row = vector.instruction;
        let (first, memories) = match &mut memories {
            Some((first, memories)) => (*first, memories),
            none => {
                let (_, memories) = none.insert((row, Memories::create(row, &options.output)?));
                (row, memories)
            }
        };
        if (&row.architecture, &row.name) != (&first.architecture, &first.name) {
            return Err(refused(format!(
                "{}:{} after {}:{}; all lines must be of one instruction",
                row.architecture, row.name, first.architecture, first.name
            )));
        }
        memories.push(&case(&vector)?)?;
    }
    let Some((_, memories)) = memories else {
        let message = format!("--vectors {file}: there is no line in it");
        return Err(Failure::Input(message));
    };
    memories.finish(catalogue, json!({"kind": "vectors", "file": file}))?;
    Ok(Status::Done)
}

/// A line that operand words alone say.
fn read<'c>(reader: &mut Reader<'c>, line: &Line) -> Result<Vector<'c>, String> {
    let text = line.text.as_ref().map_err(Clone::clone)?;
    let vector = reader
        .read(text)
        .map_err(|bad| format!("column {}: {}", bad.column, bad.message))?;
    let modifiers = vector.modifiers.words();
    if !modifiers.is_empty() {
        return Err(format!(
            "modifiers {} have no place in files for $readmemh",
            modifiers.join(" ")
        ));
    }
    if !vector.is_single() {
        return Err(format!(
            "{} products; one instruction has {}",
            vector.words.a.len(),
            vector.instruction.signature.k
        ));
    }
    Ok(vector)
}

/// The line with its own result, or the model's where it has none.
fn case<'v>(vector: &'v Vector<'_>) -> Result<Case<'v>, Failure> {
    let unit = vector.instruction.unit()?;
    let format = &vector.instruction.signature.d;
    let (d, any_nan) = match vector.d {
        Some(Answer::AnyNan) => (format.to_register(format.nan_or_substitute()), true),
        Some(Answer::Word(d)) => (d, false),
        None => (vector.compute()?, false),
    };
    Ok(Case {
        operands: vector.operands(),
        d,
        any_nan: any_nan || (unit.is_nan(d) && !unit.program().nan_is_known()),
    })
}
