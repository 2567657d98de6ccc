//! `mmascope show`: shows one instruction, its arithmetic and how well it is known.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::args::{Common, Show};
use crate::layout;
use crate::list::instruction_json;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::units;
use mmascope::dpa::{Addends, Unit};
use mmascope::gemm;
use mmascope::isa::{Architecture, Catalogue, Instruction};
use mmascope::tree::{Node, Tree, TreeFacts, TreeForm};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Show,
) -> Result<Status, Failure> {
    let is_open = |item: &&String| options.inst.is_empty() && !item.contains(':');
    if let Some(item) = options.arch.iter().find(is_open) {
        return Err(Failure::Input(format!(
            "--arch {item}: which instruction? give {item}:INST or --inst"
        )));
    }
    let rows = units::chosen(catalogue, &options.arch, &options.inst, None)?;
    let mut shown = Vec::new();
    for row in &rows {
        shown.push((
            catalogue.architecture(&row.architecture)?,
            *row,
            row.unit()?,
        ));
    }
    if common.json() {
        let bodies = shown
            .iter()
            .map(|(architecture, row, unit)| body(common, architecture, row, unit));
        let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        report::print_json(catalogue, report::one_or_list(bodies, "units"))?;
        return Ok(Status::Done);
    }
    let mut out = terminal::out();
    for (index, (architecture, row, unit)) in shown.into_iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write_text(&mut out, architecture, row, unit)?;
    }
    Ok(Status::Done)
}

/// What `show` prints of a row.
pub(crate) fn write_text(
    out: &mut impl Write,
    architecture: &Architecture,
    row: &Instruction,
    unit: &Unit,
) -> Result<(), Failure> {
    let signature = unit.signature();
    for sentence in introduction(architecture, row, unit) {
        writeln!(out, "{}", layout::paragraph(&sentence))?;
    }
    writeln!(out)?;
    let mut line = |label: &str, text: &str| writeln!(out, "{}", layout::labelled(label, text));
    line("types       ", &signature.to_string())?;
    let shapes: Vec<_> = row.shapes.iter().map(ToString::to_string).collect();
    line("shapes      ", &shapes.join(" "))?;
    if !row.modifiers.is_empty() {
        line("modifiers   ", &row.modifiers.join(" "))?;
    }
    line("arithmetic  ", &unit.program().to_string())?;
    let kernel = match gemm::engine()?.plan(unit) {
        Ok(kernel) => kernel.to_string(),
        Err(reason) => format!("none: {reason}; the reference computes it"),
    };
    line("kernel      ", &kernel)?;
    writeln!(out)?;
    for line in unit.words() {
        write_wrapped(out, &line)?;
    }
    let leaf = match unit.program().addends() {
        Addends::Product => "the product of a_k and b_k",
        Addends::Sum => "a_k + b_k",
        Addends::Difference => "a_k - b_k",
    };
    writeln!(out, "\nSummation tree (p_k is {leaf}):")?;
    if let Some(tree) = Node::of_program(unit.program(), signature) {
        let text = tree.text(signature.k);
        let (fitting, deep): (Vec<&str>, Vec<&str>) = text
            .lines()
            .partition(|line| line.chars().count() <= layout::columns());
        for line in fitting {
            writeln!(out, "{line}")?;
        }
        if !deep.is_empty() {
            writeln!(
                out,
                "… and {} deeper lines; --json has the whole tree",
                deep.len()
            )?;
        }
    }
    let mut table = Table::new(&["parameter", "value", "evidence"]);
    for parameter in unit.program().parameters() {
        let level = row.evidence.of(parameter.name);
        let name = match &*parameter.statement {
            "" => parameter.name.to_owned(),
            statement => format!("{statement}: {}", parameter.name),
        };
        table.add_row([
            name,
            parameter.value,
            format!("{level} ({})", explained(&level.to_string(), level.words())),
        ]);
    }
    writeln!(out, "\n{}", table)?;
    if row.flags.any() {
        let bits = flag_words(row, u8::MAX).join(", ");
        let text = format!("{bits} of the sticky status register; when a bit is set is assumed");
        writeln!(out, "{}", layout::labelled("flags: ", &text))?;
    }
    for note in architecture.notes.iter().chain(&row.notes) {
        writeln!(out, "{}", layout::labelled("note: ", note))?;
    }
    for source in architecture.sources.iter().chain(&row.sources) {
        writeln!(out, "{}", layout::labelled("source: ", source))?;
    }
    writeln!(out, "catalogue: {}", row.position)?;
    Ok(())
}

/// A level of evidence in words, without its own name once more: `open (disputed or unknown)`.
fn explained<'w>(level: &str, words: &'w str) -> &'w str {
    let rest = words.strip_prefix(level);
    rest.and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(words)
}

/// The bits of a row's status register that are set in `flags`, each with its event.
pub(crate) fn flag_words(row: &Instruction, flags: u8) -> Vec<String> {
    let set = row.flags.each().filter(|(_, bit)| flags >> bit & 1 == 1);
    set.map(|(event, bit)| format!("bit {bit} ({event})"))
        .collect()
}

/// Three sentences for a newcomer: what it is, what it multiplies and adds, what is special about the
/// result.
fn introduction(architecture: &Architecture, row: &Instruction, unit: &Unit) -> [String; 3] {
    let what = format!(
        "{} is {} of {}.",
        row.name,
        match unit.signature().k {
            1 => "an instruction",
            _ => "a matrix instruction",
        },
        // A user's architecture may have no title.
        match &*architecture.title {
            "" => &architecture.name,
            title => title,
        }
    );
    let [element, how] = unit.summary();
    [what, element, how]
}

/// A line, broken between words where it is too long; what follows is indented a little more.
fn write_wrapped(out: &mut impl Write, line: &str) -> io::Result<()> {
    let indent = line.len() - line.trim_start().len();
    let mut width = indent;
    write!(out, "{:indent$}", "")?;
    for (index, word) in line.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && width + 1 + length > layout::columns() {
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

/// What `show --json` prints of a row.
fn body(
    common: &Common,
    architecture: &Architecture,
    row: &Instruction,
    unit: &Unit,
) -> Result<Map<String, Value>, Failure> {
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
    if row.flags.any() {
        body.insert("flags".into(), flag_words(row, u8::MAX).into());
    }
    body.insert("words".into(), unit.words().into());
    let node = Node::of_program(unit.program(), signature);
    // A unit that leaves c out has no tree over all leaves, and one of few levels.
    let tree = node
        .as_ref()
        .and_then(|node| Tree::of_node(node, leaves.len()).ok())
        .filter(|tree| tree.form(common.form()) == TreeForm::Flat);
    match tree {
        Some(tree) => {
            let mut flat = crate::tree::flat(&tree, &TreeFacts::default(), &leaves)?;
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
    Ok(body)
}
