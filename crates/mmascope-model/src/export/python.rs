//! Python 3 without packages: integers have no width there.

use std::fmt::Write;

use super::ir::{Expr, Function, Module, Node, Operator, Step, Ty};
use super::print::{Dialect, Text, commented, is_comment, with_helpers, written};
use super::rust::camel;

struct Python;

impl Dialect for Python {
    const LOGIC: [&'static str; 3] = ["not ", "and", "or"];

    fn quotient(&self) -> &'static str {
        "//"
    }

    fn own(&self, expr: &Expr) -> Option<Text> {
        Some(match &*expr.node {
            Node::Truth(value) => Text::atom(if *value { "True" } else { "False" }),
            Node::Number(number) if *number > 9 && matches!(expr.ty, Ty::Bits(_)) => {
                Text::atom(format!("{number:#x}"))
            }
            Node::Not(x) => Text::operation(format!("not {}", self.operand(x))),
            Node::Made(fields) => {
                let name = expr.ty.record().map_or("", |record| &record.name);
                Text::atom(format!("{}({})", camel(name), self.list(fields)))
            }
            Node::Choice(condition, yes, no) => Text::operation(format!(
                "{} if {} else {}",
                self.branch(yes),
                self.branch(condition),
                self.branch(no)
            )),
            Node::Arithmetic(Operator::Larger, x, y) => {
                Text::atom(format!("max({}, {})", self.whole(x), self.whole(y)))
            }
            Node::Left(x, places) => {
                Text::atom(format!("left({}, {})", self.whole(x), self.whole(places)))
            }
            Node::Right(x, places) => {
                Text::atom(format!("right({}, {})", self.whole(x), self.whole(places)))
            }
            Node::Length(x) => Text::atom(format!("{}.bit_length()", self.operand(x))),
            Node::Magnitude(x) => Text::atom(format!("abs({})", self.whole(x))),
            _ => return None,
        })
    }
}

const HELPERS: &[(&str, &str)] = &[
    (
        "left",
        "def left(x, places):\n    \"\"\"x * 2^places; 0 where places is negative.\"\"\"\n    return x << places if places >= 0 else 0\n",
    ),
    (
        "right",
        "def right(x, places):\n    \"\"\"x / 2^places, rounded down; 0 where places is negative.\"\"\"\n    return x >> places if places >= 0 else 0\n",
    ),
];

/// The source file of a module.
pub(super) fn source(module: &Module) -> String {
    let body = written(module, write_function);
    let mut out = String::new();
    for line in &module.heading {
        out += &commented(line, "# ");
    }
    out += "\nfrom collections import namedtuple\n\n";
    for constant in &module.constants {
        let _ = writeln!(
            out,
            "{} = {}  # {}",
            constant.name, constant.value, constant.comment
        );
    }
    for (name, numbers) in &module.tables {
        let _ = writeln!(out, "{name} = {numbers:?}");
    }
    for record in &module.records {
        let fields: Vec<&str> = record.fields.iter().map(|(name, _)| *name).collect();
        out += "\n";
        out += &commented(&record.comment, "# ");
        let name = camel(&record.name);
        let _ = writeln!(
            out,
            "{name} = namedtuple(\"{name}\", \"{}\")",
            fields.join(" ")
        );
    }
    out += "\n\n";
    let helpers: Vec<(&str, String)> = HELPERS
        .iter()
        .map(|(name, code)| (*name, format!("{code}\n")))
        .collect();
    for part in with_helpers(&helpers, &body).split_inclusive("\n\n") {
        let _ = writeln!(out, "{part}");
    }
    out += body.trim_end();
    out + "\n"
}

fn write_function(out: &mut String, function: &Function) {
    let parameters: Vec<&str> = function
        .parameters
        .iter()
        .map(|(name, _)| &**name)
        .collect();
    let _ = writeln!(out, "def {}({}):", function.name, parameters.join(", "));
    let _ = writeln!(out, "    \"\"\"{}\"\"\"", function.comment);
    write_steps(out, &function.body, 1);
    let _ = writeln!(out, "    return {}\n\n", Python.whole(&function.value));
}

fn write_steps(out: &mut String, steps: &[Step], depth: usize) {
    let indent = "    ".repeat(depth);
    for step in steps {
        let _ = match step {
            Step::Say(text) => {
                *out += &commented(text, &format!("{indent}# "));
                Ok(())
            }
            Step::Let(name, value) | Step::Var(name, value) | Step::Set(name, value) => {
                writeln!(out, "{indent}{name} = {}", Python.whole(value))
            }
            Step::Array(name, _, count) => writeln!(out, "{indent}{name} = [None] * {count}"),
            Step::Put(name, index, value) => writeln!(
                out,
                "{indent}{name}[{}] = {}",
                Python.index(index),
                Python.whole(value)
            ),
            Step::For(index, count, steps) => {
                let _ = writeln!(out, "{indent}for {index} in range({count}):");
                write_steps(out, steps, depth + 1);
                if steps.iter().all(is_comment) {
                    let _ = writeln!(out, "{indent}    pass");
                }
                Ok(())
            }
            Step::ReturnIf(condition, value) => writeln!(
                out,
                "{indent}if {}:\n{indent}    return {}",
                Python.whole(condition),
                Python.whole(value)
            ),
        };
    }
}
