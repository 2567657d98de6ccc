//! SystemVerilog: a package of combinational functions over numbers of exact widths. Records are packed structures,
//! arrays are packed vectors, element 0 lowest; only what simulators and synthesis commonly take is used.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;

use super::ir::{Expr, Function, Lacking, Module, Node, Step, Ty};
use super::print::{Dialect, Text, commented};

/// Bits of an exponent or a count.
const INT: u32 = 32;

/// What each local name is called here: a name with two types has two names.
#[derive(Default)]
struct SystemVerilog {
    names: RefCell<HashMap<String, String>>,
}

/// A type in front of a name.
fn type_name(ty: &Ty) -> String {
    match ty {
        Ty::Bool => "logic".to_owned(),
        Ty::Int => format!("logic signed [{}:0]", INT - 1),
        Ty::Bits(width) => format!("logic [{}:0]", width - 1),
        Ty::Signed(width) => format!("logic signed [{}:0]", width - 1),
        Ty::Record(record) => record.name.clone(),
        Ty::Array(..) => format!("logic [{}:0]", ty.width(INT) - 1),
    }
}

impl Dialect for SystemVerilog {
    const LOGIC: [&'static str; 3] = ["!", "&&", "||"];

    fn name(&self, name: &str) -> String {
        let names = self.names.borrow();
        names.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn entry(&self, table: &str, index: &Expr) -> String {
        format!("{table}[16*({}) +: 16]", self.index(index))
    }

    fn own(&self, expr: &Expr) -> Option<Text> {
        let call = |name: &str, x: &Expr| Text::atom(format!("{name}({})", self.whole(x)));
        Some(match &*expr.node {
            Node::Truth(value) => Text::atom(if *value { "1'b1" } else { "1'b0" }),
            Node::Number(number) => {
                let width = expr.ty.width(INT);
                match expr.ty {
                    Ty::Bits(_) => Text::atom(format!("{width}'h{number:x}")),
                    _ if *number < 0 => Text::operation(format!("-{width}'sd{}", -number)),
                    _ => Text::atom(format!("{width}'sd{number}")),
                }
            }
            Node::Field(record, field) if expr.ty == Ty::Int => {
                Text::atom(format!("$signed({}.{field})", self.operand(record)))
            }
            Node::Element(array, index) => {
                let width = expr.ty.width(INT);
                let array = self.name(array);
                Text::atom(format!(
                    "{array}[{width}*({}) +: {width}]",
                    self.index(index)
                ))
            }
            Node::Left(x, places) | Node::Right(x, places) => {
                let operator = match *expr.node {
                    Node::Left(..) => "<<",
                    _ => ">>",
                };
                let places = match *places.node {
                    Node::Number(number) => number.to_string(),
                    _ => format!("$unsigned({})", self.whole(places)),
                };
                Text::operation(format!("{} {operator} {places}", self.operand(x)))
            }
            Node::Made(fields) => Text::atom(format!("{{{}}}", self.list(fields))),
            Node::Resized(x) => {
                let width = expr.ty.width(INT);
                // In braces an operation keeps its own width: a cast's width would be that of its operands.
                let own = match (&*x.node, &x.ty) {
                    (Node::Name(_) | Node::Number(_) | Node::Call(..), _) => self.whole(x),
                    (_, Ty::Bits(_)) => format!("{{{}}}", self.whole(x)),
                    _ => format!("$signed({{{}}})", self.whole(x)),
                };
                let sized = match x.ty.width(INT) == width {
                    true => self.whole(x),
                    false => format!("{width}'({own})"),
                };
                Text::atom(match expr.ty {
                    Ty::Bits(_) => format!("$unsigned({sized})"),
                    _ => format!("$signed({sized})"),
                })
            }
            Node::Magnitude(x) => call(&format!("magnitude_{}", x.ty.width(INT)), x),
            Node::Length(x) => call(&format!("length_{}", x.ty.width(INT)), x),
            _ => return None,
        })
    }
}

/// The source file of a module.
pub(super) fn source(module: &Module) -> String {
    let mut body = String::new();
    for function in &module.functions {
        write_function(&mut body, function);
    }
    let mut out = String::new();
    for line in &module.heading {
        out += &commented(line, "// ");
    }
    // What Verilator's linter calls style, and no other of its warnings, is left out.
    out += "\n// The file may have any name; records have fields, and numbers have bits, that not every function reads.\n";
    out += "/* verilator lint_off DECLFILENAME */\n/* verilator lint_off UNUSEDSIGNAL */\n";
    let _ = writeln!(out, "package {};\n", module.name);
    for constant in &module.constants {
        let value = Expr::int(constant.value as i32);
        let _ = writeln!(
            out,
            "localparam logic signed [{}:0] {} = {}; // {}",
            INT - 1,
            constant.name,
            SystemVerilog::default().whole(&value),
            constant.comment
        );
    }
    for (name, numbers) in &module.tables {
        let entries: Vec<String> = numbers
            .iter()
            .rev()
            .map(|number| format!("16'd{number}"))
            .collect();
        let _ = writeln!(
            out,
            "localparam logic [{}:0] {name} = {{{}}};",
            16 * numbers.len() - 1,
            entries.join(", ")
        );
    }
    out += "\n";
    for record in &module.records {
        out += &commented(&record.comment, "// ");
        out += "typedef struct packed {\n";
        for (name, ty) in &record.fields {
            let _ = writeln!(out, "    {} {name};", type_name(ty));
        }
        let _ = writeln!(out, "}} {};\n", record.name);
    }
    write_helpers(&mut out, module);
    out += body.trim_end();
    out + "\n\nendpackage\n/* verilator lint_on UNUSEDSIGNAL */\n/* verilator lint_on DECLFILENAME */\n"
}

/// Functions that the language lacks, for each width that needs them.
fn write_helpers(out: &mut String, module: &Module) {
    let Lacking {
        lengths,
        magnitudes,
        has_larger,
    } = Lacking::of(module, INT);
    if has_larger {
        let int = type_name(&Ty::Int);
        let _ = writeln!(
            out,
            "function automatic {int} larger(input {int} x, input {int} y);\n    larger = (x < y) ? y : x;\nendfunction\n"
        );
    }
    for width in magnitudes {
        let _ = writeln!(
            out,
            "function automatic logic [{0}:0] magnitude_{width}(input logic signed [{0}:0] x);\n    magnitude_{width} = (x < {width}'sd0) ? $unsigned(-x) : $unsigned(x);\nendfunction\n",
            width - 1
        );
    }
    if !lengths.is_empty() {
        *out += "// How many bits a number needs.\n";
    }
    for width in lengths {
        let _ = writeln!(
            out,
            "function automatic {} length_{width}(input logic [{}:0] x);\n    length_{width} = {INT}'sd0;\n    for (int i = 0; i < {width}; i = i + 1) begin\n        if (x[i]) length_{width} = i + 1;\n    end\nendfunction\n",
            type_name(&Ty::Int),
            width - 1
        );
    }
}

/// The local names of steps with their types, in order.
fn locals(steps: &[Step], found: &mut Vec<(String, Ty)>) {
    for step in steps {
        let (name, ty) = match step {
            Step::Let(name, value) | Step::Var(name, value) => (name, value.ty.clone()),
            Step::Array(name, of, count) => (name, Ty::Array(std::rc::Rc::new(of.clone()), *count)),
            Step::For(_, _, steps) => {
                locals(steps, found);
                continue;
            }
            Step::Say(_) | Step::Set(..) | Step::Put(..) | Step::ReturnIf(..) => continue,
        };
        if !found.iter().any(|(own, of)| own == name && *of == ty) {
            found.push((name.clone(), ty));
        }
    }
}

struct Writer {
    language: SystemVerilog,
    /// Names with their types, and what they are called.
    called: Vec<(String, Ty, String)>,
    function: String,
}

fn write_function(out: &mut String, function: &Function) {
    *out += &commented(&function.comment, "// ");
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|(name, ty)| format!("input {} {name}", type_name(ty)))
        .collect();
    let _ = writeln!(
        out,
        "function automatic {} {}({});",
        type_name(&function.value.ty),
        function.name,
        parameters.join(", ")
    );
    let mut found = Vec::new();
    locals(&function.body, &mut found);
    let mut writer = Writer {
        language: SystemVerilog::default(),
        called: Vec::new(),
        function: function.name.clone(),
    };
    for (name, ty) in found {
        let same = writer
            .called
            .iter()
            .filter(|(own, ..)| *own == name)
            .count();
        let is_parameter = function.parameters.iter().any(|(own, _)| *own == name);
        let called = match same + usize::from(is_parameter) {
            0 => name.clone(),
            more => format!("{name}_of_{}", more + 1),
        };
        let _ = writeln!(out, "    {} {called};", type_name(&ty));
        writer.called.push((name, ty, called));
    }
    writer.steps(out, &function.body, 1, Some(&function.value));
    let _ = writeln!(out, "endfunction\n");
}

impl Writer {
    /// What a name of that type is called from here on.
    fn call(&self, name: &str, ty: &Ty) -> String {
        let found = self
            .called
            .iter()
            .find(|(own, of, _)| own == name && of == ty);
        let called = found.map_or_else(|| name.to_owned(), |(.., called)| called.clone());
        let mut names = self.language.names.borrow_mut();
        names.insert(name.to_owned(), called.clone());
        called
    }

    /// The steps; what follows a return stands in the other branch, down to the result at the end.
    fn steps(&self, out: &mut String, steps: &[Step], depth: usize, value: Option<&Expr>) {
        let indent = "    ".repeat(depth);
        let language = &self.language;
        for (place, step) in steps.iter().enumerate() {
            let _ = match step {
                Step::Say(text) => {
                    *out += &commented(text, &format!("{indent}// "));
                    Ok(())
                }
                Step::Let(name, value) | Step::Var(name, value) => {
                    let text = language.whole(value);
                    writeln!(out, "{indent}{} = {text};", self.call(name, &value.ty))
                }
                Step::Set(name, value) => {
                    let text = language.whole(value);
                    writeln!(out, "{indent}{} = {text};", language.name(name))
                }
                Step::Array(name, of, count) => {
                    self.call(name, &Ty::Array(std::rc::Rc::new(of.clone()), *count));
                    Ok(())
                }
                Step::Put(name, index, value) => {
                    let width = value.ty.width(INT);
                    writeln!(
                        out,
                        "{indent}{}[{width}*({}) +: {width}] = {};",
                        language.name(name),
                        language.index(index),
                        language.whole(value)
                    )
                }
                Step::For(index, count, steps) => {
                    let _ = writeln!(
                        out,
                        "{indent}for (int {index} = 0; {index} < {count}; {index} = {index} + 1) begin"
                    );
                    self.steps(out, steps, depth + 1, None);
                    writeln!(out, "{indent}end")
                }
                Step::ReturnIf(condition, result) => {
                    let _ = writeln!(
                        out,
                        "{indent}if ({}) begin\n{indent}    {} = {};\n{indent}end else begin",
                        language.whole(condition),
                        self.function,
                        language.whole(result)
                    );
                    self.steps(out, &steps[place + 1..], depth + 1, value);
                    let _ = writeln!(out, "{indent}end");
                    return;
                }
            };
        }
        if let Some(value) = value {
            let _ = writeln!(
                out,
                "{indent}{} = {};",
                self.function,
                language.whole(value)
            );
        }
    }
}
