//! Chooses the units that are compared: architectures × instructions, and ARCH:INST items.

use crate::args::Diff;
use crate::report::Failure;
use crate::units::{self, Types};
use mmascope::diff::Contender;
use mmascope::dpa::Signature;
use mmascope::isa::{Catalogue, OperandTypes, Scaling};
use mmascope::vector::{Lines, Reader};

/// The units in the order of the arguments, each once.
pub(super) fn chosen<'c>(
    catalogue: &'c Catalogue,
    options: &Diff,
) -> Result<Vec<Contender<'c>>, Failure> {
    let is_open = units::is_open(&options.arch, &options.inst);
    let types = match (&options.types, &options.vectors) {
        (Some(text), _) => Some(Types::Text(text)),
        (None, Some(file)) if is_open && file != "-" => types_of(catalogue, file)?,
        _ => None,
    };
    let rows = units::chosen(catalogue, &options.arch, &options.inst, types.as_ref())?;
    let subjects = rows
        .into_iter()
        .map(Contender::new)
        .collect::<Result<Vec<_>, _>>()?;
    if subjects.len() < 2 {
        let names: Vec<String> = subjects.iter().map(Contender::name).collect();
        return Err(Failure::Input(format!(
            "diff needs at least two different units; given: {}",
            names.join(", ")
        )));
    }
    Ok(subjects)
}

/// The operand types of the first line of a file that names an instruction.
fn types_of(catalogue: &Catalogue, file: &str) -> Result<Option<Types<'static>>, Failure> {
    let mut lines = Lines::open(file)?;
    let mut reader = Reader::new(catalogue);
    while let Some(line) = lines.next_line()? {
        let vector = line.text.ok().and_then(|text| reader.read(&text).ok());
        if let Some(vector) = vector {
            return Ok(Some(Types::Given(Box::new(of_signature(
                &vector.instruction.signature,
            )))));
        }
    }
    Ok(None)
}

fn of_signature(signature: &Signature) -> OperandTypes {
    OperandTypes {
        c: Some(signature.c),
        d: Some(signature.d),
        scaling: signature.scale.map_or(Scaling::Open, Scaling::Exactly),
        ..OperandTypes::of(signature.a, signature.b)
    }
}
