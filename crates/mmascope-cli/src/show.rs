//! `mmascope show`: shows one instruction, its arithmetic and how well it is known.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::args::{Common, Show};
use crate::list::instruction_json;
use crate::report::{self, Failure, Status};
use mmascope::dpa::Unit;
use mmascope::gemm;
use mmascope::isa::{Architecture, Catalogue, Instruction};
use mmascope::tree::{Form, Node, Tree};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Show,
) -> Result<Status, Failure> {
    let architecture = catalogue.architecture(&options.arch)?;
    let row = catalogue.find(&options.arch, &options.inst)?;
    let unit = row.unit()?;
    if common.json() {
        print_json(catalogue, common, architecture, row, unit)?;
    } else {
        print_text(architecture, row, unit)?;
    }
    Ok(Status::Done)
}

fn print_text(architecture: &Architecture, row: &Instruction, unit: &Unit) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let signature = unit.signature();
    writeln!(out, "{} — {}", row.name, architecture.title)?;
    writeln!(out)?;
    writeln!(out, "types       {signature}")?;
    let shapes: Vec<_> = row.shapes.iter().map(ToString::to_string).collect();
    writeln!(out, "shapes      {}", shapes.join(" "))?;
    if !row.modifiers.is_empty() {
        writeln!(out, "modifiers   {}", row.modifiers.join(" "))?;
    }
    writeln!(out, "arithmetic  {}", unit.program())?;
    match gemm::engine()?.plan(unit) {
        Ok(kernel) => writeln!(out, "kernel      {kernel}")?,
        Err(reason) => writeln!(out, "kernel      none: {reason}; the reference computes it")?,
    }
    writeln!(out)?;
    for line in unit.words() {
        write_wrapped(&mut out, &line)?;
    }
    writeln!(out, "\nSummation tree (p_k is the product of a_k and b_k):")?;
    if let Some(tree) = Node::of_program(unit.program(), signature) {
        write!(out, "{}", tree.text(signature.k))?;
    }
    let mut table = report::table(&["parameter", "value", "evidence"]);
    for parameter in unit.program().parameters() {
        let level = row.evidence.of(parameter.name);
        let name = match &*parameter.statement {
            "" => parameter.name.to_owned(),
            statement => format!("{statement}: {}", parameter.name),
        };
        table.add_row([
            name,
            parameter.value,
            format!("{level} ({})", level.words()),
        ]);
    }
    writeln!(out, "\n{}", table.trim_fmt())?;
    for note in architecture.notes.iter().chain(&row.notes) {
        writeln!(out, "note: {note}")?;
    }
    for source in architecture.sources.iter().chain(&row.sources) {
        writeln!(out, "source: {source}")?;
    }
    writeln!(out, "catalogue: {}", row.position)?;
    Ok(())
}

/// Columns of a line of words.
const COLUMNS: usize = 100;

/// A line, broken between words where it is too long; what follows is indented a little more.
fn write_wrapped(out: &mut impl Write, line: &str) -> io::Result<()> {
    let indent = line.len() - line.trim_start().len();
    let mut width = indent;
    write!(out, "{:indent$}", "")?;
    for (index, word) in line.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && width + 1 + length > COLUMNS {
            width = indent + 2;
            write!(out, "\n{:width$}", "")?;
        } else if index > 0 {
            width += 1;
            write!(out, " ")?;
        }
        width += length;
        write!(out, "{word}")?;
    }
    writeln!(out)
}

fn print_json(
    catalogue: &Catalogue,
    common: &Common,
    architecture: &Architecture,
    row: &Instruction,
    unit: &Unit,
) -> Result<(), Failure> {
    let signature = unit.signature();
    let parameters: Vec<Value> = unit
        .program()
        .parameters()
        .into_iter()
        .map(|parameter| {
            json!({
                "statement": parameter.statement,
                "name": parameter.name,
                "value": parameter.value,
                "evidence": row.evidence.of(parameter.name).to_string(),
            })
        })
        .collect();
    let leaves: Vec<String> = (0..signature.k)
        .map(|k| format!("p{k}"))
        .chain(["c".to_owned()])
        .collect();
    let mut body = match instruction_json(row) {
        Value::Object(body) => body,
        _ => Map::new(),
    };
    let kernel = gemm::engine()?.plan(unit);
    body.insert(
        "kernel".into(),
        json!(kernel.as_ref().ok().map(ToString::to_string)),
    );
    body.insert(
        "no_kernel".into(),
        json!(kernel.as_ref().err().map(ToString::to_string)),
    );
    body.insert("words".into(), unit.words().into());
    let node = Node::of_program(unit.program(), signature);
    // A unit that leaves c out has no tree over all leaves, and one of few levels.
    let tree = node
        .as_ref()
        .and_then(|node| Tree::of_node(node, leaves.len()).ok())
        .filter(|tree| tree.form(common.form()) == Form::Flat);
    match tree {
        Some(tree) => {
            let mut flat = crate::tree::flat(&tree, &row.name, &leaves)?;
            for key in ["leaves", "nodes", "root"] {
                body.insert(key.into(), flat.remove(key).into());
            }
        }
        None => {
            body.insert("leaves".into(), leaves.into());
            body.insert("tree".into(), json!(node));
        }
    }
    body.insert("parameters".into(), parameters.into());
    body.insert(
        "notes".into(),
        json!([&architecture.notes[..], &row.notes[..]].concat()),
    );
    body.insert(
        "sources".into(),
        json!([&architecture.sources[..], &row.sources[..]].concat()),
    );
    body.insert("position".into(), row.position.to_string().into());
    report::print_json(catalogue, body)
}
