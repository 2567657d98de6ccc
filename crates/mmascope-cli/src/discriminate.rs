//! `mmascope gen --discriminating`: writes vectors that separate a row from its neighbours, and programs that ask a chip
//! for them.

use serde_json::json;

use crate::args::{Gen, GenFormat};
use crate::output::Output;
use crate::readmemh::{Case, Memories};
use crate::report::{self, Failure, Status};
use mmascope::discriminate::{Vectors, discriminate, runner};
use mmascope::isa::{Catalogue, Instruction};
use mmascope::vector;

pub(crate) fn run(
    catalogue: &Catalogue,
    row: &Instruction,
    options: &Gen,
) -> Result<Status, Failure> {
    let vectors = discriminate(row.unit()?, options.cases.seed)?;
    // Before anything is written: there may be no program for this instruction.
    let architecture = catalogue.architecture(&row.architecture)?;
    let mut programs = Vec::new();
    for (language, file) in [("cuda", &options.cuda), ("hip", &options.hip)] {
        if let Some(file) = file {
            programs.push((file, runner(architecture, row, &vectors, language)?));
        }
    }
    match options.format {
        GenFormat::Jsonl => lines(row, &vectors, options)?,
        GenFormat::Readmemh => memories(catalogue, row, &vectors, options)?,
    }
    for (file, text) in programs {
        let mut output = Output::create("--cuda, --hip", file)?;
        output.line(text.trim_end())?;
        output.finish()?;
    }
    report::tell(format!(
        "{} lines separate {} neighbours",
        vectors.lines.len(),
        vectors.separated
    ));
    // In the words of `infer`: the row's own value, then those that no input that was tried tells from it.
    for open in &vectors.inseparable {
        report::tell(open.to_string());
    }
    if !vectors.inseparable.is_empty() {
        report::tell(report::NOT_TOLD_APART);
    }
    Ok(Status::Done)
}

/// The vectors as lines, each with what it separates.
fn lines(row: &Instruction, vectors: &Vectors, options: &Gen) -> Result<(), Failure> {
    let unit = row.unit()?;
    let mut output = Output::create("-o", &options.output)?;
    for line in &vectors.lines {
        let separates = serde_json::Value::from(line.separates.clone()).to_string();
        let extra = [
            ("kind", "\"discriminating\"".to_owned()),
            ("separates", separates),
        ];
        let operands = line.case.operands();
        let mut text = vector::question(
            &row.architecture,
            &row.name,
            &extra,
            &row.signature,
            &operands,
        );
        text.pop();
        text += &format!(",\"d\":\"{}\"}}", vector::answer(unit, line.d));
        output.line(&text)?;
    }
    output.finish()
}

/// The vectors for a testbench.
fn memories(
    catalogue: &Catalogue,
    row: &Instruction,
    vectors: &Vectors,
    options: &Gen,
) -> Result<(), Failure> {
    let unit = row.unit()?;
    let mut memories = Memories::create(row, &options.output)?;
    for line in &vectors.lines {
        memories.push(&Case {
            operands: line.case.operands(),
            d: line.d,
            any_nan: unit.is_nan(line.d) && !unit.program().nan_is_known(),
        })?;
    }
    let source = json!({"kind": "discriminating", "seed": options.cases.seed});
    memories.finish(catalogue, source)
}
