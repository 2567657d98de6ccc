//! `mmascope tree`: shows, compares, executes and exports trees in files.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::args::{Common, TreeArithmetic, TreeCommand, TreeDiff, TreeExport, TreeRun, TreeShow};
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::isa::Catalogue;
use mmascope::tree::{Arithmetic, Term, Tree, TreeFacts, TreeForm, TreeLanguage};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    command: &TreeCommand,
) -> Result<Status, Failure> {
    match command {
        TreeCommand::Show(options) => show(catalogue, common, options),
        TreeCommand::Diff(options) => diff(catalogue, common, options),
        TreeCommand::Run(options) => execute(catalogue, common, options),
        TreeCommand::Export(options) => export(catalogue, common, options),
    }
}

/// The longest file of a tree or of its values, in bytes.
const LONGEST: u64 = 256 << 20;

fn read_text(file: &str) -> Result<String, Failure> {
    report::read_whole("", file, LONGEST)
}

/// A tree file.
struct Loaded {
    tree: Tree,
    /// Names of the leaves, fit for a terminal.
    names: Vec<String>,
    facts: TreeFacts,
}

fn load(file: &str) -> Result<Loaded, Failure> {
    let text = read_text(file)?;
    let wrong = |error: mmascope::Error| Failure::Input(format!("{file}: {error}"));
    let (tree, names) = Tree::read(&text).map_err(wrong)?;
    let mut facts = TreeFacts::read(&text, tree.leaves()).map_err(wrong)?;
    // What is written from here says where it comes from.
    let members = &mut facts.members;
    members.entry("subject").or_insert_with(|| file.into());
    Ok(Loaded {
        names: names.iter().map(|name| report::shown(name)).collect(),
        tree,
        facts,
    })
}

/// `1 node`, `2 nodes`.
fn counted(count: usize, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// One line: counts of a tree.
pub(crate) fn statistics(tree: &Tree) -> String {
    let statistics = tree.statistics();
    let kinds: Vec<String> = statistics
        .kinds
        .iter()
        .map(|(op, format, count)| format!("{count} {} {format}", op.name()))
        .collect();
    format!(
        "{}, {}, depth {}, at most {} terms a node: {}",
        match statistics.leaves {
            1 => "1 leaf".to_owned(),
            many => format!("{many} leaves"),
        },
        counted(statistics.nodes, "node"),
        statistics.depth,
        statistics.fan_in,
        kinds.join(", ")
    )
}

/// What drawings can be written as.
const ENDINGS: [&str; 5] = ["svg", "dot", "html", "json", "txt"];

/// The ending of a file's name, if a drawing can have it.
pub(crate) fn ending(file: &str) -> Result<&str, Failure> {
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    ending.filter(|it| ENDINGS.contains(it)).ok_or_else(|| {
        Failure::Input(format!(
            "-o {file}: the name must end with .svg, .dot, .html, .json or .txt"
        ))
    })
}

/// Writes a tree in the form that the file's name asks for.
pub(crate) fn write_drawing(
    file: &str,
    tree: &Tree,
    title: &str,
    facts: &str,
    names: &[String],
    json: String,
) -> Result<(), Failure> {
    let text = match ending(file)? {
        "svg" => tree.svg(title, names),
        "dot" => tree.dot(names),
        "html" => tree.html(title, facts, names),
        "json" => json,
        _ => format!("{tree}\n"),
    };
    let mut output = Output::create("-o", file)?;
    output.line(text.trim_end())?;
    output.finish()
}

fn show(catalogue: &Catalogue, common: &Common, options: &TreeShow) -> Result<Status, Failure> {
    let Loaded { tree, names, facts } = load(&options.file)?;
    if let Some(file) = &options.output {
        let json = tree.file_with(&facts, &names, common.form());
        write_drawing(file, &tree, &options.file, "", &names, json)?;
    }
    if common.json() {
        let statistics = tree.statistics();
        let mut body = Map::new();
        body.insert("n".into(), tree.leaves().into());
        body.insert("pattern".into(), tree.pattern().into());
        body.insert("nodes".into(), statistics.nodes.into());
        body.insert("depth".into(), statistics.depth.into());
        body.insert("fan_in".into(), statistics.fan_in.into());
        body.insert("text".into(), tree.to_string().into());
        if tree.form(common.form()) == TreeForm::Flat {
            body.extend(flat(&tree, &TreeFacts::default(), &names)?);
        }
        report::print_json(catalogue, body)?;
    } else {
        let mut out = terminal::out();
        writeln!(out, "pattern  {}", tree.pattern_named(&names))?;
        writeln!(out, "tree     {}", statistics(&tree))?;
        writeln!(out, "\n{tree}")?;
    }
    Ok(Status::Done)
}

/// The members of a file in the flat form.
pub(crate) fn flat(
    tree: &Tree,
    facts: &TreeFacts,
    names: &[String],
) -> Result<Map<String, Value>, Failure> {
    let text = tree.file_with(facts, names, TreeForm::Flat);
    serde_json::from_str(&text).map_err(|error| Failure::Input(error.to_string()))
}

fn diff(catalogue: &Catalogue, common: &Common, options: &TreeDiff) -> Result<Status, Failure> {
    let (left, right) = (load(&options.left)?.tree, load(&options.right)?.tree);
    let difference = left.difference(&right);
    let words = difference.as_ref().map(ToString::to_string);
    let printed = if common.json() {
        let mut body = Map::new();
        body.insert("equal".into(), difference.is_none().into());
        body.insert("difference".into(), json!(words));
        report::print_json(catalogue, body)
    } else {
        writeln!(terminal::out(), "{}", words.as_deref().unwrap_or("equal")).map_err(Failure::from)
    };
    report::answer(difference.is_none(), printed)
}

fn execute(catalogue: &Catalogue, common: &Common, options: &TreeRun) -> Result<Status, Failure> {
    let Loaded { tree, facts, names } = load(&options.file)?;
    let arithmetic = arithmetic(&options.arithmetic, &facts)?;
    let text = read_text(&options.values)?;
    let number = |word: &str| {
        word.parse::<f64>().map_err(|_| {
            Failure::Input(format!(
                "{}: '{word}' is no number or product",
                options.values
            ))
        })
    };
    let mut terms = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .map(|word| match word.split_once('*') {
            Some((a, b)) => Ok(Term::Product(number(a)?, number(b)?)),
            None => Ok(Term::Value(number(word)?)),
        })
        .collect::<Result<Vec<Term>, Failure>>()?;
    let products = terms.iter().filter(|it| matches!(it, Term::Product(..)));
    facts.check_products(products.count())?;
    if names.last().is_some_and(|name| name == "c") && terms.len() + 1 == tree.leaves() {
        return Err(Failure::Input(format!(
            "{}: {} terms for a tree of {} leaves, the last of which is c, what the sum begins with or ends with: append it, \
             or 0 for a sum without one",
            options.values,
            terms.len(),
            tree.leaves()
        )));
    }
    // Without a word on the operands' format, numbers are taken as they stand.
    if options.arithmetic.dtype.is_some() || facts.operands.is_some() {
        facts
            .read_operands(arithmetic.operands, &mut terms)
            .map_err(|error| Failure::Input(format!("{}: {error}", options.values)))?;
    }
    let sum = facts.result(tree.execute(&terms, &arithmetic)?);
    if common.json() {
        let mut body = Map::new();
        body.insert("sum".into(), json!(sum));
        body.insert("f64".into(), format!("{:016x}", sum.to_bits()).into());
        report::print_json(catalogue, body)?;
    } else {
        writeln!(terminal::out(), "{sum:?}")?;
    }
    Ok(Status::Done)
}

fn export(catalogue: &Catalogue, common: &Common, options: &TreeExport) -> Result<Status, Failure> {
    let Loaded { tree, facts, .. } = load(&options.file)?;
    let language = TreeLanguage::named(&options.language)?;
    let products = options.products.or(facts.products).unwrap_or(0);
    let arithmetic = arithmetic(&options.arithmetic, &facts)?;
    let code = tree.export(language, products, &arithmetic, facts.format)?;
    match &options.output {
        Some(file) => {
            let mut output = Output::create("-o", file)?;
            output.line(code.trim_end())?;
            output.finish()?;
        }
        None if common.json() => {}
        None => write!(io::stdout(), "{code}")?,
    }
    if common.json() {
        let mut body = Map::new();
        body.insert("language".into(), language.name().into());
        body.insert("products".into(), products.into());
        body.insert("code".into(), code.into());
        report::print_json(catalogue, body)?;
    }
    Ok(Status::Done)
}

/// What the options say, then what the file says, then IEEE arithmetic in f32.
fn arithmetic(options: &TreeArithmetic, said: &TreeFacts) -> Result<Arithmetic, Failure> {
    let dtype = options.dtype.as_deref().or(said.operands.map(|it| it.name));
    let fused_bits = options.fused_bits.or(said.fused_bits);
    let asked = options.rounding.as_deref();
    let rounding = asked.or(said.rounding.as_deref());
    // Who asks for a rounding of every node does not mean what the file says of some.
    let of_file = said.fused_rounding.as_deref().filter(|_| asked.is_none());
    let fused_rounding = options.fused_rounding.as_deref().or(of_file);
    Ok(Arithmetic::named(
        dtype,
        fused_bits,
        fused_rounding,
        rounding,
    )?)
}
