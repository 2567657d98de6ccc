//! Rust: `u64`, `u128`, and an array of 64-bit parts where 128 bits are too few. No crate, no `unsafe`.

use std::fmt::Write;

use super::c::{Held, parts};
use super::ir::{Expr, Function, Module, Node, Operator, Relation, Step, Ty};
use super::print::{Dialect, Text, commented, with_helpers, written};

struct Rust;

fn type_name(ty: &Ty) -> String {
    match (ty, Held::of(ty)) {
        (Ty::Bool, _) => "bool".to_owned(),
        (Ty::Int, _) => "i32".to_owned(),
        (Ty::Record(record), _) => camel(&record.name),
        (Ty::Array(of, count), _) => format!("[{}; {count}]", type_name(of)),
        (_, Held::Wide) => "Wide".to_owned(),
        (Ty::Bits(_), Held::Word) => "u64".to_owned(),
        (Ty::Bits(_), Held::Double) => "u128".to_owned(),
        (_, Held::Word) => "i64".to_owned(),
        (_, Held::Double) => "i128".to_owned(),
    }
}

/// The name of a type.
pub(super) fn camel(name: &str) -> String {
    let mut words = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        words.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        words.extend(letters);
    }
    words
}

impl Dialect for Rust {
    const LOGIC: [&'static str; 3] = ["!", "&&", "||"];

    fn own(&self, expr: &Expr) -> Option<Text> {
        let held = Held::of(&expr.ty);
        let call = |name: &str, arguments: &[&Expr]| {
            let texts: Vec<String> = arguments.iter().map(|it| self.whole(it)).collect();
            Text::atom(format!("{name}({})", texts.join(", ")))
        };
        Some(match &*expr.node {
            Node::Number(number) => match (&expr.ty, held) {
                (_, Held::Wide) => Text::atom(format!("of_wide({number})")),
                _ if *number > 9 && expr.ty != Ty::Int => Text::atom(format!("{number:#x}")),
                _ if *number < 0 => Text::operation(number.to_string()),
                _ => Text::atom(number.to_string()),
            },
            Node::Made(fields) => {
                let record = expr.ty.record()?;
                let fields = record.fields.iter().zip(fields);
                let fields: Vec<String> = fields
                    .map(|((name, _), value)| match self.whole(value) {
                        text if text == *name => text,
                        text => format!("{name}: {text}"),
                    })
                    .collect();
                Text::atom(format!(
                    "{} {{ {} }}",
                    type_name(&expr.ty),
                    fields.join(", ")
                ))
            }
            Node::Call(function, arguments) => {
                let texts = arguments.iter().map(|argument| match argument.ty {
                    Ty::Array(..) => format!("&{}", self.whole(argument)),
                    _ => self.whole(argument),
                });
                let texts: Vec<String> = texts.collect();
                Text::atom(format!("{function}({})", texts.join(", ")))
            }
            Node::Choice(condition, yes, no) => Text::operation(format!(
                "if {} {{ {} }} else {{ {} }}",
                self.whole(condition),
                self.whole(yes),
                self.whole(no)
            )),
            Node::Arithmetic(Operator::Larger, x, y) => {
                Text::atom(format!("{}.max({})", self.operand(x), self.whole(y)))
            }
            Node::Left(x, places) if matches!(expr.ty, Ty::Signed(_)) && held != Held::Wide => {
                Text::operation(format!("{} << {}", self.operand(x), self.operand(places)))
            }
            Node::Left(x, places) => call(&format!("left{}", held.suffix()), &[x, places]),
            Node::Right(x, places) => call(&format!("right{}", held.suffix()), &[x, places]),
            Node::Length(x) => call(&format!("length{}", Held::of(&x.ty).suffix()), &[x]),
            Node::Magnitude(x) if held == Held::Wide => call("magnitude_wide", &[x]),
            Node::Magnitude(x) => Text::atom(format!("{}.unsigned_abs()", self.operand(x))),
            Node::Negated(x) if held == Held::Wide => call("minus_wide", &[x]),
            Node::Arithmetic(operator, x, y) if held == Held::Wide => match operator {
                Operator::Plus => call("add_wide", &[x, y]),
                Operator::Minus => Text::atom(format!(
                    "add_wide({}, minus_wide({}))",
                    self.whole(x),
                    self.whole(y)
                )),
                Operator::And => call("and_wide", &[x, y]),
                _ => return None,
            },
            Node::Compare(Relation::Less | Relation::AtMost, x, _)
                if Held::of(&x.ty) == Held::Wide =>
            {
                call("negative_wide", &[x])
            }
            Node::Compare(Relation::Less, x, y) if matches!(*x.node, Node::Resized(_)) => {
                // `x as u64 < y` would begin a type's arguments.
                Text::operation(format!("({}) < {}", self.whole(x), self.operand(y)))
            }
            Node::Resized(x) => match (Held::of(&x.ty), held, &x.ty) {
                (Held::Wide, Held::Wide, _) => self.text(x),
                (Held::Wide, ..) => Text::operation(format!(
                    "low_wide({}) as {}",
                    self.whole(x),
                    type_name(&expr.ty)
                )),
                (_, Held::Wide, Ty::Signed(_)) => {
                    Text::atom(format!("of_wide({} as i128)", self.operand(x)))
                }
                (Held::Double, Held::Wide, _) => call("unsigned_wide", &[x]),
                (_, Held::Wide, _) => {
                    Text::atom(format!("unsigned_wide({} as u128)", self.operand(x)))
                }
                _ if type_name(&x.ty) == type_name(&expr.ty) => self.text(x),
                _ => Text::operation(format!("{} as {}", self.operand(x), type_name(&expr.ty))),
            },
            _ => return None,
        })
    }
}

const HELPERS: &[(&str, &str)] = &[
    (
        "left64",
        "/// Shifts to the left; what leaves 64 bits is lost, and too many places leave 0.\nfn left64(x: u64, places: i32) -> u64 {\n    if (0..64).contains(&places) { x << places } else { 0 }\n}",
    ),
    (
        "right64",
        "fn right64(x: u64, places: i32) -> u64 {\n    if (0..64).contains(&places) { x >> places } else { 0 }\n}",
    ),
    (
        "length64",
        "/// How many bits a number needs.\nfn length64(x: u64) -> i32 {\n    64 - x.leading_zeros() as i32\n}",
    ),
    (
        "left128",
        "/// Shifts to the left; too many places leave 0.\nfn left128(x: u128, places: i32) -> u128 {\n    if (0..128).contains(&places) { x << places } else { 0 }\n}",
    ),
    (
        "right128",
        "fn right128(x: u128, places: i32) -> u128 {\n    if (0..128).contains(&places) { x >> places } else { 0 }\n}",
    ),
    (
        "length128",
        "/// How many bits a number needs.\nfn length128(x: u128) -> i32 {\n    128 - x.leading_zeros() as i32\n}",
    ),
    (
        "unsigned_wide",
        "/// A number that is not negative, in parts.\nfn unsigned_wide(x: u128) -> Wide {\n    let mut made = [0; PARTS];\n    made[0] = x as u64;\n    made[1] = (x >> 64) as u64;\n    made\n}",
    ),
    (
        "of_wide",
        "/// A number in parts, two's complement.\nfn of_wide(x: i128) -> Wide {\n    let mut made = [if x < 0 { u64::MAX } else { 0 }; PARTS];\n    made[0] = x as u64;\n    made[1] = (x >> 64) as u64;\n    made\n}",
    ),
    (
        "low_wide",
        "fn low_wide(x: Wide) -> u128 {\n    (x[1] as u128) << 64 | x[0] as u128\n}",
    ),
    (
        "add_wide",
        "fn add_wide(x: Wide, y: Wide) -> Wide {\n    let mut made = [0; PARTS];\n    let mut carry = 0;\n    for i in 0..PARTS {\n        let sum = x[i] as u128 + y[i] as u128 + carry;\n        made[i] = sum as u64;\n        carry = sum >> 64;\n    }\n    made\n}",
    ),
    (
        "minus_wide",
        "fn minus_wide(x: Wide) -> Wide {\n    add_wide(x.map(|part| !part), of_wide(1))\n}",
    ),
    (
        "and_wide",
        "fn and_wide(x: Wide, y: Wide) -> Wide {\n    std::array::from_fn(|i| x[i] & y[i])\n}",
    ),
    (
        "equal_wide",
        "fn equal_wide(x: Wide, y: Wide) -> bool {\n    x == y\n}",
    ),
    (
        "negative_wide",
        "fn negative_wide(x: Wide) -> bool {\n    x[PARTS - 1] >> 63 != 0\n}",
    ),
    (
        "magnitude_wide",
        "fn magnitude_wide(x: Wide) -> Wide {\n    if negative_wide(x) { minus_wide(x) } else { x }\n}",
    ),
    (
        "left_wide",
        "/// Shifts to the left; too many places leave 0.\nfn left_wide(x: Wide, places: i32) -> Wide {\n    let mut made = [0; PARTS];\n    let (whole, rest) = (places.div_euclid(64), places.rem_euclid(64));\n    for i in whole.max(0)..if whole < 0 { 0 } else { PARTS as i32 } {\n        made[i as usize] = x[(i - whole) as usize] << rest;\n        if rest != 0 && i > whole {\n            made[i as usize] |= x[(i - whole - 1) as usize] >> (64 - rest);\n        }\n    }\n    made\n}",
    ),
    (
        "right_wide",
        "fn right_wide(x: Wide, places: i32) -> Wide {\n    let mut made = [0; PARTS];\n    let (whole, rest) = (places.div_euclid(64), places.rem_euclid(64));\n    for i in 0..if whole < 0 { 0 } else { PARTS as i32 - whole } {\n        made[i as usize] = x[(i + whole) as usize] >> rest;\n        if rest != 0 && i + whole + 1 < PARTS as i32 {\n            made[i as usize] |= x[(i + whole + 1) as usize] << (64 - rest);\n        }\n    }\n    made\n}",
    ),
    (
        "length_wide",
        "/// How many bits a number needs.\nfn length_wide(x: Wide) -> i32 {\n    let top = (0..PARTS).rev().find(|&i| x[i] != 0);\n    top.map_or(0, |i| 64 * (i as i32 + 1) - x[i].leading_zeros() as i32)\n}",
    ),
];

/// The source file of a module.
pub(super) fn source(module: &Module) -> String {
    let mut body = written(module, write_function);
    let mut out = String::new();
    for line in &module.heading {
        out += &commented(line, "// ");
    }
    out += "\n";
    let parts = parts(module);
    if parts > 0 {
        let _ = writeln!(
            out,
            "const PARTS: usize = {parts};\n/// An integer of {} bits, the lowest part first.\ntype Wide = [u64; PARTS];\n",
            64 * parts
        );
    }
    for constant in &module.constants {
        let _ = writeln!(
            out,
            "/// {}.\nconst {}: i32 = {};",
            constant.comment, constant.name, constant.value
        );
    }
    for (name, numbers) in &module.tables {
        let name = name.to_uppercase();
        let _ = writeln!(
            out,
            "const {name}: [usize; {}] = {numbers:?};",
            numbers.len()
        );
    }
    out += "\n";
    let helpers: Vec<(&str, String)> = HELPERS
        .iter()
        .map(|(name, code)| (*name, (*code).to_owned()))
        .collect();
    out += &with_helpers(&helpers, &body);
    for record in &module.records {
        out += &commented(&record.comment, "/// ");
        let _ = writeln!(
            out,
            "#[derive(Clone, Copy, Default)]\nstruct {} {{",
            camel(&record.name)
        );
        for (name, ty) in &record.fields {
            let _ = writeln!(out, "    {name}: {},", type_name(ty));
        }
        out += "}\n\n";
    }
    for (name, _) in &module.tables {
        body = body.replace(&format!("{name}["), &format!("{}[", name.to_uppercase()));
    }
    out += body.trim_end();
    out + "\n"
}

fn write_function(out: &mut String, function: &Function) {
    *out += &commented(&function.comment, "/// ");
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|(name, ty)| match ty {
            Ty::Array(..) => format!("{name}: &{}", type_name(ty)),
            _ => format!("{name}: {}", type_name(ty)),
        })
        .collect();
    let visible = if function.name == "dot" { "pub " } else { "" };
    let _ = writeln!(
        out,
        "{visible}fn {}({}) -> {} {{",
        function.name,
        parameters.join(", "),
        type_name(&function.value.ty)
    );
    for name in function.unread() {
        let _ = writeln!(out, "    let _ = {name}; // takes no part");
    }
    write_steps(out, &function.body, 1);
    let _ = writeln!(out, "    {}\n}}\n", Rust.whole(&function.value));
}

fn write_steps(out: &mut String, steps: &[Step], depth: usize) {
    let indent = "    ".repeat(depth);
    for step in steps {
        let _ = match step {
            Step::Say(text) => {
                *out += &commented(text, &format!("{indent}// "));
                Ok(())
            }
            Step::Let(name, value) => writeln!(out, "{indent}let {name} = {};", typed(value)),
            Step::Var(name, value) => writeln!(
                out,
                "{indent}let mut {name}: {} = {};",
                type_name(&value.ty),
                Rust.whole(value)
            ),
            Step::Set(name, value) => writeln!(out, "{indent}{name} = {};", Rust.whole(value)),
            Step::Array(name, of, count) => writeln!(
                out,
                "{indent}let mut {name} = [{}::default(); {count}];",
                type_name(of)
            ),
            Step::Put(name, index, value) => writeln!(
                out,
                "{indent}{name}[{}] = {};",
                Rust.index(index),
                Rust.whole(value)
            ),
            Step::For(index, count, steps) => {
                let _ = writeln!(out, "{indent}for {index} in 0..{count} {{");
                write_steps(out, steps, depth + 1);
                writeln!(out, "{indent}}}")
            }
            Step::ReturnIf(condition, value) => writeln!(
                out,
                "{indent}if {} {{\n{indent}    return {};\n{indent}}}",
                Rust.whole(condition),
                Rust.whole(value)
            ),
        };
    }
}

/// A value whose type shows.
fn typed(value: &Expr) -> String {
    let text = Rust.whole(value);
    match *value.node {
        Node::Number(_) => format!("{text}_{}", type_name(&value.ty)),
        _ => text,
    }
}
