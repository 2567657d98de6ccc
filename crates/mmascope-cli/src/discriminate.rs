//! `mmascope gen --discriminating`: writes vectors that separate a row from its neighbours, and programs that ask a chip
//! for them.

use crate::args::Gen;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use mmascope::discriminate::{discriminate, runner};
use mmascope::isa::Catalogue;
use mmascope::vector;

pub(crate) fn run(catalogue: &Catalogue, options: &Gen) -> Result<Status, Failure> {
    let row = catalogue.find(&options.arch, &options.inst)?;
    let unit = row.unit()?;
    let vectors = discriminate(unit, options.cases.seed)?;
    // Before anything is written: there may be no program for this instruction.
    let architecture = catalogue.architecture(&options.arch)?;
    let mut programs = Vec::new();
    for (language, file) in [("cuda", &options.cuda), ("hip", &options.hip)] {
        if let Some(file) = file {
            programs.push((file, runner(architecture, row, &vectors, language)?));
        }
    }
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
    output.finish()?;
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
    // In the words of `infer`: the row's own value, then those that no input tells from it.
    for open in &vectors.inseparable {
        report::tell(open.to_string());
    }
    Ok(Status::Done)
}
