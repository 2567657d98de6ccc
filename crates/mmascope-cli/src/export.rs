//! `mmascope export`: writes a unit's arithmetic as one source file.

use std::io::{self, Write};

use serde_json::Map;

use crate::args::{Common, Export};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use mmascope::export::{self, Language};
use mmascope::isa::Catalogue;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Export,
) -> Result<Status, Failure> {
    let language = Language::named(&options.language)?;
    let architecture = catalogue.architecture(&options.arch)?;
    let row = catalogue.find(&options.arch, &options.inst)?;
    report::doubt(row);
    let text = export::instruction(architecture, row, language, options.name.as_deref())?;
    match &options.output {
        Some(file) => {
            let mut output = Output::create("-o", file)?;
            output.line(text.trim_end())?;
            output.finish()?;
        }
        None if common.json() => {}
        None => write!(io::stdout(), "{text}")?,
    }
    if common.json() {
        let mut body = Map::new();
        body.insert("language".into(), language.name().into());
        body.insert("architecture".into(), row.architecture.as_str().into());
        body.insert("unit".into(), row.name.as_str().into());
        body.insert("types".into(), row.signature.to_string().into());
        body.insert(
            "arithmetic".into(),
            row.unit()?.program().to_string().into(),
        );
        let function = options.name.as_deref().unwrap_or("dot");
        body.insert("function".into(), function.into());
        body.insert("text".into(), text.into());
        report::print_json(catalogue, body)?;
    }
    Ok(Status::Done)
}
