//! C and CUDA C++: fixed-width integers, `unsigned __int128` where 64 bits are too few, and an array of 64-bit parts
//! where 128 are.

use std::fmt::Write;

use super::ir::{Expr, Function, Module, Node, Operator, Relation, Step, Ty};
use super::print::{Dialect, Text, commented, with_helpers, written};

/// What a number is held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// 64 bits.
    Word,
    /// 128 bits.
    Double,
    /// An array of parts.
    Wide,
}

impl Held {
    pub(super) fn of(ty: &Ty) -> Self {
        match ty {
            Ty::Bits(0..=64) | Ty::Signed(0..=64) => Self::Word,
            Ty::Bits(0..=128) | Ty::Signed(0..=128) => Self::Double,
            Ty::Bits(_) | Ty::Signed(_) => Self::Wide,
            _ => Self::Word,
        }
    }

    /// The ending of the helpers' names.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Word => "64",
            Self::Double => "128",
            Self::Wide => "_wide",
        }
    }
}

/// The parts of 64 bits of the widest number of a module, if it has some that need them.
pub(super) fn parts(module: &Module) -> u32 {
    let mut most = 0;
    module.each_expr(&mut |expr| {
        if let Ty::Bits(width) | Ty::Signed(width) = expr.ty {
            most = most.max(width);
        }
    });
    if most > 128 { most.div_ceil(64) } else { 0 }
}

/// What of C and CUDA C++ differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// C99.
    C,
    /// C++ with functions for a GPU.
    Cuda,
}

impl Variant {
    /// What stands before a function that only this file calls, and before a table.
    fn local(self) -> &'static str {
        match self {
            Self::C => "static ",
            Self::Cuda => "static __device__ ",
        }
    }
}

struct C(Variant);

/// The name of a type.
fn type_name(ty: &Ty) -> String {
    match (ty, Held::of(ty)) {
        (Ty::Bool, _) => "bool".to_owned(),
        (Ty::Int, _) => "int".to_owned(),
        (Ty::Record(record), _) => record.name.clone(),
        (Ty::Array(of, _), _) => type_name(of),
        (_, Held::Wide) => "wide".to_owned(),
        (Ty::Bits(_), Held::Word) => "uint64_t".to_owned(),
        (Ty::Bits(_), Held::Double) => "u128".to_owned(),
        (_, Held::Word) => "int64_t".to_owned(),
        (_, Held::Double) => "i128".to_owned(),
    }
}

/// A name with its type.
fn declared(name: &str, ty: &Ty) -> String {
    match ty {
        Ty::Array(of, count) => format!("{} {name}[{count}]", type_name(of)),
        _ => format!("{} {name}", type_name(ty)),
    }
}

impl Dialect for C {
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
                (Ty::Bits(_), Held::Word) if *number > 9 => {
                    Text::atom(format!("UINT64_C({number:#x})"))
                }
                (_, _) if *number < 0 => Text::operation(number.to_string()),
                (_, _) if *number > i128::from(u64::MAX) => Text::operation(format!(
                    "(u128){:#x} << 64 | UINT64_C({:#x})",
                    number >> 64,
                    *number as u64
                )),
                // (Compared with an unsigned number, a negative one would be large.)
                (Ty::Signed(_), Held::Word) if *number > 9 => {
                    Text::atom(format!("INT64_C({number:#x})"))
                }
                (Ty::Bits(_) | Ty::Signed(_), _) if *number > 9 => {
                    Text::atom(format!("UINT64_C({number:#x})"))
                }
                _ => Text::atom(number.to_string()),
            },
            Node::Made(fields) => Text::atom(match self.0 {
                Variant::C => format!("({}){{{}}}", type_name(&expr.ty), self.list(fields)),
                Variant::Cuda => format!("{}{{{}}}", type_name(&expr.ty), self.list(fields)),
            }),
            Node::Left(x, places) => call(&format!("left{}", held.suffix()), &[x, places]),
            Node::Right(x, places) => call(&format!("right{}", held.suffix()), &[x, places]),
            Node::Length(x) => call(&format!("length{}", Held::of(&x.ty).suffix()), &[x]),
            Node::Magnitude(x) => call(&format!("magnitude{}", Held::of(&x.ty).suffix()), &[x]),
            Node::Negated(x) if held == Held::Wide => call("minus_wide", &[x]),
            Node::Arithmetic(operator, x, y) if held == Held::Wide => match operator {
                Operator::Plus => call("add_wide", &[x, y]),
                Operator::Minus => {
                    let negative = self.whole(y);
                    Text::atom(format!(
                        "add_wide({}, minus_wide({negative}))",
                        self.whole(x)
                    ))
                }
                Operator::And => call("and_wide", &[x, y]),
                // Nothing else is done to numbers of this size.
                _ => return None,
            },
            Node::Compare(relation, x, y) if Held::of(&x.ty) == Held::Wide => match relation {
                Relation::Equal => call("equal_wide", &[x, y]),
                Relation::Unequal => {
                    Text::atom(format!("!equal_wide({}, {})", self.whole(x), self.whole(y)))
                }
                // Only the sign of such a number is asked for.
                Relation::Less | Relation::AtMost => call("negative_wide", &[x]),
            },
            Node::Resized(x) => {
                let from = Held::of(&x.ty);
                match (from, held, &x.ty, &expr.ty) {
                    (Held::Wide, Held::Wide, ..) => self.text(x),
                    (Held::Wide, ..) => Text::operation(format!(
                        "({})low_wide({})",
                        type_name(&expr.ty),
                        self.whole(x)
                    )),
                    (_, Held::Wide, Ty::Signed(_), _) => call("of_wide", &[x]),
                    (_, Held::Wide, ..) => Text::atom(format!("unsigned_wide({})", self.whole(x))),
                    _ if type_name(&x.ty) == type_name(&expr.ty) => self.text(x),
                    _ => Text::operation(format!("({}){}", type_name(&expr.ty), self.operand(x))),
                }
            }
            _ => return None,
        })
    }
}

const HELPERS: &[(&str, &str)] = &[
    (
        "larger",
        "static int larger(int x, int y) {\n    return x < y ? y : x;\n}",
    ),
    (
        "left64",
        "/* Shifts to the left; what leaves 64 bits is lost, and too many places leave 0. */\nstatic uint64_t left64(uint64_t x, int places) {\n    return (unsigned)places < 64 ? x << places : 0;\n}",
    ),
    (
        "right64",
        "static uint64_t right64(uint64_t x, int places) {\n    return (unsigned)places < 64 ? x >> places : 0;\n}",
    ),
    (
        "length64",
        "/* How many bits a number needs. */\nstatic int length64(uint64_t x) {\n    int length = 0;\n    for (; x != 0; x >>= 1) {\n        length += 1;\n    }\n    return length;\n}",
    ),
    (
        "magnitude64",
        "static uint64_t magnitude64(int64_t x) {\n    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;\n}",
    ),
    (
        "left128",
        "/* Shifts to the left; too many places leave 0. */\nstatic u128 left128(u128 x, int places) {\n    return (unsigned)places < 128 ? x << places : 0;\n}",
    ),
    (
        "right128",
        "static u128 right128(u128 x, int places) {\n    return (unsigned)places < 128 ? x >> places : 0;\n}",
    ),
    (
        "length128",
        "/* How many bits a number needs. */\nstatic int length128(u128 x) {\n    int length = 0;\n    for (; x != 0; x >>= 1) {\n        length += 1;\n    }\n    return length;\n}",
    ),
    (
        "magnitude128",
        "static u128 magnitude128(i128 x) {\n    return x < 0 ? 0 - (u128)x : (u128)x;\n}",
    ),
    (
        "unsigned_wide",
        "/* A number that is not negative, in parts. */\nstatic wide unsigned_wide(u128 x) {\n    wide made = {{(uint64_t)x, (uint64_t)(x >> 64)}};\n    return made;\n}",
    ),
    (
        "of_wide",
        "/* A number in parts, two's complement. */\nstatic wide of_wide(i128 x) {\n    wide made;\n    for (int i = 0; i < PARTS; i++) {\n        made.part[i] = i < 2 ? (uint64_t)((u128)x >> (64 * i)) : (x < 0 ? UINT64_MAX : 0);\n    }\n    return made;\n}",
    ),
    (
        "low_wide",
        "static u128 low_wide(wide x) {\n    return (u128)x.part[1] << 64 | x.part[0];\n}",
    ),
    (
        "add_wide",
        "static wide add_wide(wide x, wide y) {\n    unsigned carry = 0;\n    for (int i = 0; i < PARTS; i++) {\n        u128 sum = (u128)x.part[i] + y.part[i] + carry;\n        x.part[i] = (uint64_t)sum;\n        carry = (unsigned)(sum >> 64);\n    }\n    return x;\n}",
    ),
    (
        "minus_wide",
        "static wide minus_wide(wide x) {\n    for (int i = 0; i < PARTS; i++) {\n        x.part[i] = ~x.part[i];\n    }\n    return add_wide(x, of_wide(1));\n}",
    ),
    (
        "and_wide",
        "static wide and_wide(wide x, wide y) {\n    for (int i = 0; i < PARTS; i++) {\n        x.part[i] &= y.part[i];\n    }\n    return x;\n}",
    ),
    (
        "equal_wide",
        "static bool equal_wide(wide x, wide y) {\n    for (int i = 0; i < PARTS; i++) {\n        if (x.part[i] != y.part[i]) {\n            return false;\n        }\n    }\n    return true;\n}",
    ),
    (
        "negative_wide",
        "static bool negative_wide(wide x) {\n    return x.part[PARTS - 1] >> 63 != 0;\n}",
    ),
    (
        "magnitude_wide",
        "static wide magnitude_wide(wide x) {\n    return negative_wide(x) ? minus_wide(x) : x;\n}",
    ),
    (
        "left_wide",
        "/* Shifts to the left; too many places leave 0. */\nstatic wide left_wide(wide x, int places) {\n    wide made = {{0}};\n    if (places < 0) {\n        return made;\n    }\n    int whole = places / 64, rest = places % 64;\n    for (int i = whole; i < PARTS; i++) {\n        made.part[i] = x.part[i - whole] << rest;\n        if (rest != 0 && i > whole) {\n            made.part[i] |= x.part[i - whole - 1] >> (64 - rest);\n        }\n    }\n    return made;\n}",
    ),
    (
        "right_wide",
        "static wide right_wide(wide x, int places) {\n    wide made = {{0}};\n    if (places < 0) {\n        return made;\n    }\n    int whole = places / 64, rest = places % 64;\n    for (int i = 0; i + whole < PARTS; i++) {\n        made.part[i] = x.part[i + whole] >> rest;\n        if (rest != 0 && i + whole + 1 < PARTS) {\n            made.part[i] |= x.part[i + whole + 1] << (64 - rest);\n        }\n    }\n    return made;\n}",
    ),
    (
        "length_wide",
        "/* How many bits a number needs. */\nstatic int length_wide(wide x) {\n    int length = 0;\n    for (int i = 0; i < PARTS; i++) {\n        for (uint64_t part = x.part[i], bit = 1; part != 0; part >>= 1, bit++) {\n            length = 64 * i + (int)bit;\n        }\n    }\n    return length;\n}",
    ),
];

/// The lengths of numbers by the instruction that GPUs have for it.
const CUDA_HELPERS: [(&str, &str); 2] = [
    (
        "length64",
        "/* How many bits a number needs. */\nstatic int length64(uint64_t x) {\n    return 64 - __clzll((long long)x);\n}",
    ),
    (
        "length128",
        "/* How many bits a number needs. */\nstatic int length128(u128 x) {\n    const uint64_t high = (uint64_t)(x >> 64);\n    return high != 0 ? 128 - __clzll((long long)high) : 64 - __clzll((long long)(uint64_t)x);\n}",
    ),
];

/// What a CUDA file begins with. A compiler of plain C++ takes it too.
const CUDA_HEAD: &str = include_str!("cuda_head.cpp");

/// What a file may define besides its function, whether it does or not.
pub(super) fn names(module: &Module) -> Vec<String> {
    let helpers = HELPERS.iter().map(|(name, _)| *name);
    let types = ["u128", "i128", "wide", "PARTS"];
    let shared = helpers.chain(types).map(str::to_owned);
    module.names().chain(shared).collect()
}

/// The source file of a module.
pub(super) fn source(module: &Module, variant: Variant) -> String {
    let body = written(module, |out, function| {
        write_function(out, function, variant)
    });
    let mut out = String::new();
    for line in &module.heading {
        out += &commented(line, "// ");
    }
    out += match variant {
        Variant::C => "\n#include <stdbool.h>\n#include <stdint.h>\n\n",
        Variant::Cuda => CUDA_HEAD,
    };
    let parts = parts(module);
    let helpers: Vec<(&str, String)> = HELPERS
        .iter()
        .map(|(name, code)| {
            let own = CUDA_HELPERS.iter().find(|(own, _)| own == name);
            let code = match (variant, own) {
                (Variant::Cuda, Some((_, code))) => code,
                _ => code,
            };
            // A helper is one function; a remark may stand before it.
            (*name, code.replacen("static ", variant.local(), 1))
        })
        .collect();
    let helpers = with_helpers(&helpers, &body);
    let mut types = String::new();
    for record in &module.records {
        types += &commented(&record.comment, "// ");
        types += "typedef struct {\n";
        for (name, ty) in &record.fields {
            let _ = writeln!(types, "    {};", declared(name, ty));
        }
        let _ = writeln!(types, "}} {};\n", record.name);
    }
    let everything = format!("{helpers}{types}{body}");
    for (name, of) in [("u128", "unsigned __int128"), ("i128", "__int128")] {
        if everything.contains(name) || parts > 0 {
            let _ = writeln!(out, "typedef {of} {name};");
        }
    }
    if parts > 0 {
        let _ = writeln!(
            out,
            "\n// An integer of {} bits, the lowest part first.\nenum {{ PARTS = {parts} }};\ntypedef struct {{\n    uint64_t part[PARTS];\n}} wide;",
            64 * parts
        );
    }
    out += "\n";
    for constant in &module.constants {
        let _ = writeln!(
            out,
            "enum {{ {} = {} }}; // {}",
            constant.name, constant.value, constant.comment
        );
    }
    for (name, numbers) in &module.tables {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "{}const int {name}[{}] = {{{}}};",
            variant.local(),
            numbers.len(),
            numbers.join(", ")
        );
    }
    out += "\n";
    out += &helpers;
    out += &types;
    out += body.trim_end();
    out + "\n"
}

fn write_function(out: &mut String, function: &Function, variant: Variant) {
    *out += &commented(&function.comment, "// ");
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|(name, ty)| match ty {
            Ty::Array(..) => format!("const {}", declared(name, ty)),
            _ => declared(name, ty),
        })
        .collect();
    let before = match (function.name == "dot", variant) {
        (true, Variant::C) => "",
        (true, Variant::Cuda) => "__device__ ",
        (false, _) => variant.local(),
    };
    let _ = writeln!(
        out,
        "{before}{} {}({}) {{",
        type_name(&function.value.ty),
        function.name,
        parameters.join(", ")
    );
    for name in function.unread() {
        let _ = writeln!(out, "    (void){name}; // takes no part");
    }
    write_steps(out, &function.body, 1, variant);
    let _ = writeln!(
        out,
        "    return {};\n}}\n",
        C(variant).whole(&function.value)
    );
}

fn write_steps(out: &mut String, steps: &[Step], depth: usize, variant: Variant) {
    let c = C(variant);
    let indent = "    ".repeat(depth);
    for step in steps {
        let _ = match step {
            Step::Say(text) => {
                *out += &commented(text, &format!("{indent}// "));
                Ok(())
            }
            Step::Let(name, value) => writeln!(
                out,
                "{indent}const {} = {};",
                declared(name, &value.ty),
                c.whole(value)
            ),
            Step::Var(name, value) => {
                writeln!(
                    out,
                    "{indent}{} = {};",
                    declared(name, &value.ty),
                    c.whole(value)
                )
            }
            Step::Set(name, value) => writeln!(out, "{indent}{name} = {};", c.whole(value)),
            Step::Array(name, of, count) => {
                writeln!(out, "{indent}{} {name}[{count}];", type_name(of))
            }
            Step::Put(name, index, value) => writeln!(
                out,
                "{indent}{name}[{}] = {};",
                c.index(index),
                c.whole(value)
            ),
            Step::For(index, count, steps) => {
                let _ = writeln!(
                    out,
                    "{indent}for (int {index} = 0; {index} < {count}; {index}++) {{"
                );
                write_steps(out, steps, depth + 1, variant);
                writeln!(out, "{indent}}}")
            }
            Step::ReturnIf(condition, value) => writeln!(
                out,
                "{indent}if ({}) {{\n{indent}    return {};\n{indent}}}",
                c.whole(condition),
                c.whole(value)
            ),
        };
    }
}
