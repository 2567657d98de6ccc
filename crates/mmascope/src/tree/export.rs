//! Trees as source code that reproduces the bits: Rust, C, Python, CUDA.

use std::fmt::Write;

use super::{Op, Tree};
use crate::error::{Error, Result};
use crate::format::{F32, F64, Format};

/// A language that trees are exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust, no dependency.
    Rust,
    /// C99; compile with `-ffp-contract=off`, link with `-lm`.
    C,
    /// Python 3 without packages.
    Python,
    /// CUDA C++: a device function with explicitly rounded operations.
    Cuda,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::Rust, Self::C, Self::Python, Self::Cuda];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::C => "c",
            Self::Python => "python",
            Self::Cuda => "cuda",
        }
    }

    /// The language of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.name() == name)
            .ok_or_else(|| Error::unknown("language", name, Self::ALL.map(Self::name)))
    }

    /// The type of a number in this language.
    fn float(self, format: Format) -> &'static str {
        match (self, format == F64) {
            (Self::Rust, true) => "f64",
            (Self::Rust, false) => "f32",
            (Self::Python, _) => "",
            (_, true) => "double",
            (_, false) => "float",
        }
    }

    fn convert(self, text: &str, from: Format, to: Format) -> String {
        match self {
            _ if from == to => text.to_owned(),
            Self::Rust => format!("({text} as {})", self.float(to)),
            Self::Python if to == F32 => format!("f32({text})"),
            Self::Python => text.to_owned(),
            _ => format!("(({}){text})", self.float(to)),
        }
    }

    fn multiply(self, format: Format, a: &str, b: &str) -> String {
        match (self, format == F64) {
            (Self::Python, false) => format!("f32({a} * {b})"),
            (Self::Cuda, false) => format!("__fmul_rn({a}, {b})"),
            (Self::Cuda, true) => format!("__dmul_rn({a}, {b})"),
            _ => format!("({a} * {b})"),
        }
    }

    fn add(self, format: Format, a: &str, b: &str) -> String {
        match (self, format == F64) {
            // Two f32 add exactly enough in double: rounding twice does no harm.
            (Self::Python, false) => format!("f32({a} + {b})"),
            (Self::Cuda, false) => format!("__fadd_rn({a}, {b})"),
            (Self::Cuda, true) => format!("__dadd_rn({a}, {b})"),
            _ => format!("{a} + {b}"),
        }
    }

    fn multiply_add(self, format: Format, a: &str, b: &str, c: &str) -> String {
        match (self, format == F64) {
            (Self::Rust, _) => format!("{a}.mul_add({b}, {c})"),
            (Self::C, false) => format!("fmaf({a}, {b}, {c})"),
            (Self::C, true) => format!("fma({a}, {b}, {c})"),
            (Self::Cuda, false) => format!("__fmaf_rn({a}, {b}, {c})"),
            (Self::Cuda, true) => format!("__fma_rn({a}, {b}, {c})"),
            (Self::Python, false) => format!("fma32({a}, {b}, {c})"),
            (Self::Python, true) => format!("fma64({a}, {b}, {c})"),
        }
    }
}

const PYTHON_HEAD: &str = r#"import struct
from fractions import Fraction


def f32(x):
    """The f32 nearest to a float."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def fma64(a, b, c):
    """a * b + c, rounded once."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def fma32(a, b, c):
    """a * b + c of f32 numbers, rounded once to f32."""
    product = a * b  # exact
    total = product + c
    lost = Fraction(product) + Fraction(c) - Fraction(total)
    if lost:  # round to odd, so that the second rounding is the only one
        bits = struct.unpack("<q", struct.pack("<d", total))[0]
        if bits % 2 == 0:
            bits += 1 if (lost > 0) == (total > 0) else -1
            total = struct.unpack("<d", struct.pack("<q", bits))[0]
    return f32(total)


"#;

impl Tree {
    /// Source code of a function `mmascope_sum` that sums in this order. The first `products`
    /// leaves are products of `a` and `b`; the others are taken from `x`, leaf n from `x[n]` or,
    /// when there are products, the one further leaf from `c`. `leaf` is the operands' format.
    ///
    /// # Errors
    /// [`Error::Argument`] when a node or a format has no counterpart in the language: fused,
    /// exact and unresolved nodes, formats other than f32 and f64.
    pub fn export(&self, language: Language, leaf: Format, products: usize) -> Result<String> {
        for format in self.nodes().iter().map(|node| node.format).chain([leaf]) {
            if format != F32 && format != F64 {
                return Err(Error::Argument(format!(
                    "export: {format} has no type in {}; f32 and f64 have",
                    language.name()
                )));
            }
        }
        let mut body = String::new();
        for (index, _) in self.nodes().iter().enumerate() {
            let value = self.expression(index, language, leaf, products)?;
            let name = self.leaves() + index;
            let float = language.float(self.nodes()[index].format);
            let _ = match language {
                Language::Rust => writeln!(body, "    let t{name}: {float} = {value};"),
                Language::Python => writeln!(body, "    t{name} = {value}"),
                _ => writeln!(body, "    {float} t{name} = {value};"),
            };
        }
        let result = match self.nodes().last() {
            Some(_) => format!("t{}", self.root()),
            None => self.leaf(0, language, leaf, products),
        };
        let result_format = self.nodes().last().map_or(leaf, |node| node.format);
        // A wider sum is handed back in the operands' format, as the subject does.
        let result = language.convert(&result, result_format, leaf);
        if products > 0 && self.leaves() > products + 1 {
            return Err(Error::Argument(format!(
                "export: {} leaves, of which {products} are products: at most one other is taken",
                self.leaves()
            )));
        }
        let has_c = products > 0 && self.leaves() > products;
        let with_products = products > 0;
        let float = language.float(leaf);
        let note = format!(
            "{} leaves, {}. Written by mmascope {}.",
            self.leaves(),
            self.pattern(),
            env!("CARGO_PKG_VERSION")
        );
        Ok(match language {
            Language::Rust => {
                let arguments = if with_products {
                    let c = if has_c {
                        format!(", c: {float}")
                    } else {
                        String::new()
                    };
                    format!("a: &[{float}], b: &[{float}]{c}")
                } else {
                    format!("x: &[{float}]")
                };
                format!(
                    "/// {note}\npub fn mmascope_sum({arguments}) -> {float} {{\n{body}    {result}\n}}\n"
                )
            }
            Language::Python => {
                let arguments = match (with_products, has_c) {
                    (true, true) => "a, b, c",
                    (true, false) => "a, b",
                    _ => "x",
                };
                format!(
                    "\"\"\"{note}\"\"\"\n{PYTHON_HEAD}def mmascope_sum({arguments}):\n{body}    return {result}\n"
                )
            }
            Language::C | Language::Cuda => {
                let arguments = if with_products {
                    let c = if has_c {
                        format!(", {float} c")
                    } else {
                        String::new()
                    };
                    format!("const {float} *a, const {float} *b{c}")
                } else {
                    format!("const {float} *x")
                };
                let head = if language == Language::C {
                    format!(
                        "/* {note}\n   Compile with -ffp-contract=off. */\n#include <math.h>\n\n{float}"
                    )
                } else {
                    format!("// {note}\nextern \"C\" __device__ {float}")
                };
                format!("{head} mmascope_sum({arguments}) {{\n{body}    return {result};\n}}\n")
            }
        })
    }

    fn leaf(&self, leaf: usize, language: Language, format: Format, products: usize) -> String {
        if leaf < products {
            language.multiply(format, &format!("a[{leaf}]"), &format!("b[{leaf}]"))
        } else if products > 0 {
            "c".to_owned()
        } else {
            format!("x[{leaf}]")
        }
    }

    /// One node as an expression.
    fn expression(
        &self,
        index: usize,
        language: Language,
        leaf: Format,
        products: usize,
    ) -> Result<String> {
        let node = &self.nodes()[index];
        let operand = |child: usize| match child.checked_sub(self.leaves()) {
            Some(inner) => language.convert(
                &format!("t{child}"),
                self.nodes()[inner].format,
                node.format,
            ),
            None => {
                let text = self.leaf(child, language, leaf, products);
                language.convert(&text, leaf, node.format)
            }
        };
        let sum = |children: &[usize]| -> String {
            let mut terms = children.iter().map(|&child| operand(child));
            let first = terms.next().unwrap_or_default();
            terms.fold(first, |sum, term| language.add(node.format, &sum, &term))
        };
        match node.op {
            Op::Add => Ok(sum(&node.children)),
            Op::Fma => {
                let last = node.children.iter().rposition(|&c| c < products);
                let Some(fused) = last else {
                    return Ok(sum(&node.children));
                };
                let mut rest = node.children.clone();
                let product = rest.remove(fused);
                let factor =
                    |name: &str| language.convert(&format!("{name}[{product}]"), leaf, node.format);
                let (a, b) = (factor("a"), factor("b"));
                Ok(language.multiply_add(node.format, &a, &b, &sum(&rest)))
            }
            Op::Fused | Op::Exact | Op::Unresolved => Err(Error::Argument(format!(
                "export: a node of {} terms is {}; only add and fma have a counterpart in {}",
                node.children.len(),
                node.op.name(),
                language.name()
            ))),
        }
    }
}
