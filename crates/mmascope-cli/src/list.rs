//! `mmascope list`: lists architectures and instructions of the catalogue.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, List};
use crate::layout;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use mmascope::isa::{Architecture, Catalogue, Instruction, Model};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &List,
) -> Result<Status, Failure> {
    let names = match &options.names[..] {
        [] => &options.arch,
        names => names,
    };
    let mut chosen = Vec::new();
    for name in names {
        chosen.push(match name.split_once(':') {
            Some((arch, inst)) => Named {
                architecture: catalogue.architecture(arch)?,
                row: Some(catalogue.find(arch, inst)?),
            },
            None => Named::all_of(catalogue.architecture(name)?),
        });
    }
    if names.is_empty() {
        chosen.extend(catalogue.architectures().iter().map(Named::all_of));
    }
    let is_filtered = options.inst.is_some() || options.types.is_some();
    if is_filtered || chosen.iter().any(|it| it.row.is_some()) {
        return filtered(catalogue, common, options, &chosen);
    }
    let architectures: Vec<&Architecture> = chosen.iter().map(|it| it.architecture).collect();
    if common.json() {
        let list = architectures.into_iter().map(architecture_json);
        let list: Vec<Value> = list.collect();
        let mut body = Map::new();
        body.insert("architectures".into(), list.into());
        report::print_json(catalogue, body)?;
    } else if names.is_empty() {
        print_architectures(&architectures)?;
    } else {
        for (index, architecture) in architectures.into_iter().enumerate() {
            if index > 0 {
                writeln!(terminal::out())?;
            }
            print_instructions(architecture)?;
        }
    }
    Ok(Status::Done)
}

/// An architecture, or one instruction of it.
struct Named<'c> {
    architecture: &'c Architecture,
    row: Option<&'c Instruction>,
}

impl<'c> Named<'c> {
    fn all_of(architecture: &'c Architecture) -> Self {
        Self {
            architecture,
            row: None,
        }
    }

    fn has(&self, row: &Instruction) -> bool {
        self.row.is_none_or(|own| std::ptr::eq(own, row))
    }
}

/// The instructions that have a text in their name and operands of some types. None is the answer no.
fn filtered(
    catalogue: &Catalogue,
    common: &Common,
    options: &List,
    chosen: &[Named<'_>],
) -> Result<Status, Failure> {
    let mut rows: Vec<&Instruction> = Vec::new();
    let (mut wrong, mut read) = (None, false);
    for named in chosen {
        let architecture = named.architecture;
        let types = options
            .types
            .as_deref()
            .map(|text| architecture.operand_types(text));
        let types = match types.transpose() {
            Ok(types) => types,
            // A type may be declared for some architectures only.
            Err(error) => {
                wrong = wrong.or(Some(error));
                continue;
            }
        };
        read = true;
        let part = options.inst.as_deref().unwrap_or("");
        let found = architecture.instructions().filter(|row| {
            named.has(row)
                && row.name.contains(part)
                && types.as_ref().is_none_or(|types| types.fit(&row.signature))
        });
        rows.extend(found);
    }
    if let (Some(error), false) = (wrong, read) {
        let error = report::told(&error);
        let text = options.types.as_deref().unwrap_or("");
        return Err(Failure::Input(format!("--types {text}: {error}")));
    }
    if common.json() {
        let list: Vec<Value> = rows.iter().map(|row| instruction_json(row)).collect();
        let mut body = Map::new();
        body.insert("instructions".into(), list.into());
        report::print_json(catalogue, body)?;
    } else {
        let mut table = Table::new(&["instruction", "a", "b", "c", "d", "K", ""]);
        for row in &rows {
            let signature = &row.signature;
            let [a, b, c, d] =
                [signature.a, signature.b, signature.c, signature.d].map(|it| it.name.to_owned());
            let state = match (row.is_modelled(), row.is_default) {
                (false, _) => "unmodelled",
                (true, true) => "default",
                (true, false) => "",
            };
            let name = format!("{}:{}", row.architecture, row.name);
            table.add_row([name, a, b, c, d, signature.k.to_string(), state.to_owned()]);
        }
        let count = rows.len();
        let counted = format!("{count} instruction{}", if count == 1 { "" } else { "s" });
        match count {
            0 => writeln!(terminal::out(), "{counted}")?,
            _ => writeln!(terminal::out(), "{table}\n{counted}")?,
        }
    }
    Ok(if rows.is_empty() {
        Status::No
    } else {
        Status::Done
    })
}

fn print_architectures(architectures: &[&Architecture]) -> Result<(), Failure> {
    let mut table = Table::new(&["architecture", "title", "modelled", "unmodelled", "aliases"]);
    for architecture in architectures {
        let (known, unknown) = architecture.counts();
        table.add_row([
            architecture.name.clone(),
            architecture.title.clone(),
            known.to_string(),
            unknown.to_string(),
            architecture.aliases.join(" "),
        ]);
    }
    writeln!(
        terminal::out(),
        "{table}\n{}",
        layout::paragraph("Instructions of one: mmascope list NAME")
    )?;
    Ok(())
}

fn print_instructions(architecture: &Architecture) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "{}: {}", architecture.name, architecture.title)?;
    if let Some(reason) = &architecture.unmodelled {
        let text = format!("Instructions not listed are known and unmodelled: {reason}");
        writeln!(out, "{}", layout::paragraph(&text))?;
    }
    // What no source states is said wherever instructions are named.
    let assumed = architecture.notes.iter();
    for note in assumed.filter(|note| note.contains("assumed")) {
        writeln!(out, "{}", layout::labelled("note: ", note))?;
    }
    for row in architecture.instructions() {
        let default = if row.is_default {
            ", default of its types"
        } else {
            ""
        };
        writeln!(out, "\n{}  K={}{default}", row.name, row.signature.k)?;
        match &row.model {
            Model::Known(unit) => {
                let arithmetic = unit.program().to_string();
                writeln!(out, "{}", layout::labelled("    ", &arithmetic))?;
                let evidence = format!("evidence: {}", row.evidence);
                writeln!(out, "{}", layout::labelled("    ", &evidence))?;
            }
            Model::Unmodelled(reason) => {
                let reason = format!("unmodelled: {reason}");
                writeln!(out, "{}", layout::labelled("    ", &reason))?;
            }
        }
    }
    writeln!(out)?;
    let (known, unknown) = architecture.counts();
    writeln!(out, "{known} modelled, {unknown} known without a model")?;
    Ok(())
}

/// An architecture with its rows, as `list` gives it.
pub(crate) fn architecture_json(architecture: &Architecture) -> Value {
    let (modelled, unmodelled) = architecture.counts();
    json!({
        "name": architecture.name,
        "title": architecture.title,
        "vendor": architecture.vendor,
        "aliases": architecture.aliases,
        "modelled": modelled,
        "unmodelled": unmodelled,
        "unmodelled_reason": architecture.unmodelled,
        "notes": architecture.notes,
        "sources": architecture.sources,
        "instructions": architecture.instructions().map(instruction_json).collect::<Vec<_>>(),
    })
}

/// One row, as `list` and `show` give it.
pub(crate) fn instruction_json(row: &Instruction) -> Value {
    let signature = &row.signature;
    let (arithmetic, reason) = match &row.model {
        Model::Known(unit) => (Some(unit.program().to_string()), None),
        Model::Unmodelled(reason) => (None, Some(reason)),
    };
    json!({
        "arch": row.architecture,
        "inst": row.name,
        "a": signature.a.name,
        "b": signature.b.name,
        "c": signature.c.name,
        "d": signature.d.name,
        "k": signature.k,
        "scale": signature.scale.map(|scale| scale.format.name),
        "block": signature.scale.map(|scale| scale.block),
        "shapes": row.shapes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "default": row.is_default,
        "mods": row.modifiers,
        "modelled": row.is_modelled(),
        "unmodelled_reason": reason,
        "arithmetic": arithmetic,
        "evidence": row.is_modelled().then(|| row.evidence.to_string()),
    })
}
