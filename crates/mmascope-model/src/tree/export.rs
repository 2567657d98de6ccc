//! Exports trees as source code that reproduces the bits: Rust, C, Python, CUDA.

use std::fmt::Write;

use super::execute::{decode, lowest};
use super::{Arithmetic, Inner, Op, Tree, Truncated};
use crate::error::{Error, Result};
use crate::format::{F32, F64, Format, Rounding, Specials};

/// Helper functions of sums that no language has: fused, exact, narrow or rounded otherwise.
const SUMS_C: &str = include_str!("export/sums.c");
const SUMS_RUST: &str = include_str!("export/sums.rust");
const SUMS_PYTHON: &str = include_str!("export/sums.py");

/// A language that trees are exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeLanguage {
    /// Rust, no dependency.
    Rust,
    /// C99; compile with `-ffp-contract=off`, link with `-lm`.
    C,
    /// Python 3 without packages.
    Python,
    /// CUDA C++: a device function with explicitly rounded operations.
    Cuda,
}

impl TreeLanguage {
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

const PYTHON_HEAD: &str = r#"import math
import struct
from fractions import Fraction


def f32(x):
    """The f32 nearest to a float."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def fma64(a, b, c):
    """a * b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fma32(a, b, c):
    """a * b + c of f32 numbers, rounded once to f32."""
    product = a * b  # exact
    total = product + c
    if not math.isfinite(total):
        return f32(total)
    lost = Fraction(product) + Fraction(c) - Fraction(total)
    if lost:  # round to odd, so that the second rounding is the only one
        bits = struct.unpack("<q", struct.pack("<d", total))[0]
        if bits % 2 == 0:
            bits += 1 if (lost > 0) == (total > 0) else -1
            total = struct.unpack("<d", struct.pack("<q", bits))[0]
    return f32(total)


"#;

/// What the nodes of a tree are written with.
struct Writer<'a> {
    tree: &'a Tree,
    language: TreeLanguage,
    products: usize,
    arithmetic: &'a Arithmetic,
    /// Format of the argument `c`.
    c: Format,
    /// Format of the type that is returned.
    returned: Format,
}

impl Tree {
    /// Source code of a function `mmascope_sum` that sums in this order, as
    /// [`Tree::execute`] does with the same arithmetic. The first `products` leaves are products
    /// of `a` and `b`; the others are taken from `x`, leaf n from `x[n]` or, when there are
    /// products, the one further leaf from `c`. Numbers of narrow formats are held as `float`.
    ///
    /// `result` is the format of the subject's results: the sum is rounded to it, as
    /// [`TreeFacts::result`](super::TreeFacts::result) does, and returned in its type; `c` has that type too, or the
    /// operands' where that is wider. Without it both have the type of the operands.
    ///
    /// # Errors
    /// [`Error::Argument`] when a node has no counterpart: an unresolved one, a fused one without
    /// its fraction bits, a fused, exact or directed sum in f64, or in a format without NaN; products of f64 in a
    /// narrower sum that takes them exactly or rounds them with a direction (but in Python); products rounded to other formats
    /// than f32 and f64; more than one leaf beside the products; `fma` nodes without products.
    pub fn export(
        &self,
        language: TreeLanguage,
        products: usize,
        arithmetic: &Arithmetic,
        result: Option<Format>,
    ) -> Result<String> {
        let leaf = arithmetic.leaf;
        if leaf != F32 && leaf != F64 {
            return Err(Error::Argument(format!(
                "export: {leaf} has no type in {}; f32 and f64 have",
                language.name()
            )));
        }
        if products > self.leaves() {
            return Err(Error::Argument(format!(
                "export: products = {products}: the tree has {} leaves",
                self.leaves()
            )));
        }
        if products > 0 && self.leaves() > products + 1 {
            return Err(Error::Argument(format!(
                "export: {} leaves, of which {products} are products: at most one other is taken",
                self.leaves()
            )));
        }
        if products == 0
            && let Some(count) = self.multiplying()
        {
            return Err(Error::Argument(format!(
                "export: {count} of {} nodes are fma, which multiply and add, but products = 0: products \
                 says how many leaves, the first ones, are products",
                self.nodes().len()
            )));
        }
        // The type that holds numbers of a format.
        let held_in = |format: Format| if format == F64 { F64 } else { F32 };
        let returned = result.map_or(leaf, held_in);
        let writer = Writer {
            tree: self,
            language,
            products,
            arithmetic,
            c: if leaf == F64 { leaf } else { returned },
            returned,
        };
        let mut body = String::new();
        for (index, node) in self.nodes().iter().enumerate() {
            let value = writer.node(index, node, &mut body)?;
            let name = self.leaves() + index;
            let float = language.float(node.format);
            let _ = match language {
                TreeLanguage::Rust => writeln!(body, "    let t{name}: {float} = {value};"),
                TreeLanguage::Python => writeln!(body, "    t{name} = {value}"),
                _ => writeln!(body, "    {float} t{name} = {value};"),
            };
        }
        let sum = match self.nodes().last() {
            Some(_) => format!("t{}", self.root()),
            None => writer.leaf(0),
        };
        // A wider sum is handed back in the format of the results, as the subject does.
        let sum_format = self
            .nodes()
            .last()
            .map_or(writer.leaf_format(0), |node| node.format);
        let narrow = result.filter(|&format| writer.rounds_to(format, sum_format));
        let sum = match narrow {
            Some(format) => {
                writer.check_format("the format of the results is", format)?;
                let double = language.convert(&sum, sum_format, F64);
                writer.narrowed(&writer.round(format, Rounding::Rne, &double)?)
            }
            None => language.convert(&sum, sum_format, returned),
        };
        Ok(writer.function(&body, &sum, narrow.is_some()))
    }
}

impl Writer<'_> {
    /// Whether a sum of a format has to be rounded by a helper to be one of the results' format.
    fn rounds_to(&self, result: Format, sum: Format) -> bool {
        result != F32 && result != F64 && result != sum
    }

    /// Refuses formats that the helpers do not round to, and names what is in the format.
    fn check_format(&self, what: &str, format: Format) -> Result<()> {
        let takes = |float: &crate::format::Float| {
            format.signed && float.subnormals && float.specials != Specials::None
        };
        match format.float().filter(takes) {
            Some(_) => Ok(()),
            None => Err(Error::Argument(format!(
                "export: {what} {format}; floating-point formats with a sign and NaN are exported"
            ))),
        }
    }

    /// The whole function, with the helpers that it calls.
    fn function(&self, body: &str, result: &str, rounds_result: bool) -> String {
        let Self {
            tree,
            language,
            products,
            ..
        } = *self;
        let float = language.float(self.arithmetic.leaf);
        let (float_c, returned) = (language.float(self.c), language.float(self.returned));
        let with_products = products > 0;
        let has_c = with_products && tree.leaves() > products;
        let note = format!(
            "{} leaves, {}. Written by mmascope {}.",
            tree.leaves(),
            tree.pattern(),
            env!("CARGO_PKG_VERSION")
        );
        let needs_sums = rounds_result || tree.nodes().iter().any(|node| !self.is_native(node));
        let sums = |text: &'static str| if needs_sums { text } else { "" };
        match language {
            TreeLanguage::Rust => {
                let arguments = match (with_products, has_c) {
                    (true, true) => format!("a: &[{float}], b: &[{float}], c: {float_c}"),
                    (true, false) => format!("a: &[{float}], b: &[{float}]"),
                    _ => format!("x: &[{float}]"),
                };
                format!(
                    "{}/// {note}\npub fn mmascope_sum({arguments}) -> {returned} {{\n{body}    {result}\n}}\n",
                    sums(SUMS_RUST)
                )
            }
            TreeLanguage::Python => {
                let arguments = match (with_products, has_c) {
                    (true, true) => "a, b, c",
                    (true, false) => "a, b",
                    _ => "x",
                };
                format!(
                    "\"\"\"{note}\"\"\"\n{PYTHON_HEAD}{}def mmascope_sum({arguments}):\n{body}    return {result}\n",
                    sums(SUMS_PYTHON)
                )
            }
            TreeLanguage::C | TreeLanguage::Cuda => {
                let arguments = match (with_products, has_c) {
                    (true, true) => format!("const {float} *a, const {float} *b, {float_c} c"),
                    (true, false) => format!("const {float} *a, const {float} *b"),
                    _ => format!("const {float} *x"),
                };
                let sums = sums(SUMS_C);
                let head = if language == TreeLanguage::C {
                    format!(
                        "/* {note}\n   Compile with -ffp-contract=off. */\n#include <math.h>\n\
                         #include <string.h>\n\n{}{returned}",
                        sums.replace("MMASCOPE_FUNCTION", "static")
                    )
                } else {
                    format!(
                        "// {note}\n// Compile with --fmad=false.\n{}extern \"C\" __device__ {returned}",
                        sums.replace("MMASCOPE_FUNCTION", "static __device__")
                    )
                };
                format!("{head} mmascope_sum({arguments}) {{\n{body}    return {result};\n}}\n")
            }
        }
    }

    /// Whether the language has the node's operation itself.
    fn is_native(&self, node: &Inner) -> bool {
        matches!(node.op, Op::Add | Op::Fma)
            && self.arithmetic.rounding == Rounding::Rne
            && (node.format == F32 || node.format == F64)
    }

    /// The format of the type that a leaf has.
    fn leaf_format(&self, leaf: usize) -> Format {
        let is_c = self.products > 0 && leaf >= self.products;
        if is_c { self.c } else { self.arithmetic.leaf }
    }

    fn leaf(&self, leaf: usize) -> String {
        if leaf < self.products {
            self.language.multiply(
                self.arithmetic.leaf,
                &format!("a[{leaf}]"),
                &format!("b[{leaf}]"),
            )
        } else if self.products > 0 {
            "c".to_owned()
        } else {
            format!("x[{leaf}]")
        }
    }

    /// A leaf or a node in a format.
    fn operand(&self, child: usize, format: Format) -> String {
        match child.checked_sub(self.tree.leaves()) {
            Some(inner) => {
                let from = self.tree.nodes()[inner].format;
                self.language.convert(&format!("t{child}"), from, format)
            }
            None => {
                let text = self.leaf(child);
                self.language
                    .convert(&text, self.leaf_format(child), format)
            }
        }
    }

    /// One node as an expression; what has to be declared before it goes to `body`.
    fn node(&self, index: usize, node: &Inner, body: &mut String) -> Result<String> {
        if self.is_native(node) {
            return Ok(self.native(node));
        }
        if node.format == F64 {
            return Err(Error::Argument(format!(
                "export: a node of {} terms is {} in f64 rounding {}; f64 nodes are exported as add \
                 and fma to nearest even",
                node.children.len(),
                node.op.name(),
                self.arithmetic.rounding
            )));
        }
        let rounding = match node.op {
            Op::Fused => self.truncated()?.rounding,
            _ => self.arithmetic.rounding,
        };
        self.check_format(
            &format!(
                "a node of {} terms is {} in",
                node.children.len(),
                node.op.name()
            ),
            node.format,
        )?;
        let fused_product = match node.op {
            Op::Fma => node.children.iter().rposition(|&c| c < self.products),
            _ => None,
        };
        let is_whole = |at: usize, child: usize| match node.op {
            Op::Fused | Op::Exact => child < self.products,
            _ => Some(at) == fused_product,
        };
        let value = |child: usize| -> Result<String> {
            let text = self.operand(child, F64);
            // The terms of an addition are first numbers of the node's format.
            match node.op {
                Op::Add | Op::Fma if rounding == Rounding::Rne => {
                    self.round(node.format, rounding, &text)
                }
                Op::Add | Op::Fma if child < self.products => {
                    self.round(node.format, rounding, &self.product(child, node)?)
                }
                Op::Add | Op::Fma if self.format_of(child) != node.format => {
                    self.round(node.format, rounding, &text)
                }
                _ => Ok(text),
            }
        };
        let terms: Vec<(bool, [String; 2])> = (node.children.iter().enumerate())
            .map(|(at, &child)| {
                Ok(match is_whole(at, child) {
                    true => (true, [format!("a[{child}]"), format!("b[{child}]")]),
                    false => (false, [value(child)?, self.one()]),
                })
            })
            .collect::<Result<_>>()?;
        let (products, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| term.0);
        let count = products.len();
        // Python has fractions.
        if count > 0 && self.language != TreeLanguage::Python {
            self.check_products(node)?;
        }
        let texts: Vec<[String; 2]> = products.into_iter().chain(others).map(|t| t.1).collect();
        let sum = match node.op {
            Op::Unresolved => {
                return Err(Error::Argument(format!(
                    "export: a node of {} terms is unresolved: its order is not known",
                    texts.len()
                )));
            }
            Op::Fused => {
                let fused = self.truncated()?;
                self.fused(index, node.format, fused.bits, count, &texts, body)?
            }
            _ if texts.len() > 2
                && node.op != Op::Exact
                && self.arithmetic.rounding == Rounding::Rne =>
            {
                return Err(Error::Argument(format!(
                    "export: a node of {} terms adds in {}: two terms are exported",
                    texts.len(),
                    node.format
                )));
            }
            _ => self.exact(index, &texts, body),
        };
        Ok(self.narrowed(&self.round(node.format, rounding, &sum)?))
    }

    /// Refuses exact products of operands in f64: a double holds the product of two f32, and no more.
    fn check_products(&self, node: &Inner) -> Result<()> {
        if self.arithmetic.leaf != F64 {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "export: a node of {} terms is {} in {} over products of {}; {} has them exactly of f32 and narrower \
             operands, python of all",
            node.children.len(),
            node.op.name(),
            node.format,
            self.arithmetic.operands,
            self.language.name()
        )))
    }

    /// An exact product as a double, or in Python as a fraction where that is needed.
    fn product(&self, leaf: usize, node: &Inner) -> Result<String> {
        let is_double = self.arithmetic.leaf == F64;
        Ok(match self.language {
            TreeLanguage::Python if is_double => format!("exact([(a[{leaf}], b[{leaf}])])"),
            TreeLanguage::Python => format!("a[{leaf}] * b[{leaf}]"),
            TreeLanguage::Rust => {
                self.check_products(node)?;
                format!("f64::from(a[{leaf}]) * f64::from(b[{leaf}])")
            }
            TreeLanguage::C | TreeLanguage::Cuda => {
                self.check_products(node)?;
                format!("(double)a[{leaf}] * (double)b[{leaf}]")
            }
        })
    }

    /// The format of a leaf's type, or of a node.
    fn format_of(&self, child: usize) -> Format {
        match child.checked_sub(self.tree.leaves()) {
            Some(inner) => self.tree.nodes()[inner].format,
            None => self.leaf_format(child),
        }
    }

    fn one(&self) -> String {
        "1.0".to_owned()
    }

    /// A double that is a number of a narrow format, as the type that holds it.
    fn narrowed(&self, text: &str) -> String {
        match self.language {
            TreeLanguage::Rust => format!("{text} as f32"),
            TreeLanguage::Python => text.to_owned(),
            _ => format!("(float){text}"),
        }
    }

    /// A call that rounds a double, or in Python a fraction, to a format.
    fn round(&self, format: Format, rounding: Rounding, text: &str) -> Result<String> {
        let fraction_bits = format.float().map_or(0, |float| float.fraction_bits);
        let largest = decode(format, format.max_finite(false));
        let mode = match rounding {
            Rounding::Rne => 0,
            Rounding::Rz => 1,
            Rounding::Rd => 2,
            Rounding::Ru => 3,
            Rounding::Ra => 4,
            Rounding::Odd => 5,
            Rounding::Rna => 6,
            Rounding::Rnz => 7,
            Rounding::Rnu => 8,
            Rounding::Rnd => 9,
            Rounding::Rno => 10,
            Rounding::Stochastic { .. } => {
                return Err(Error::Argument(format!(
                    "export: rounding {rounding}: roundings without random bits are exported"
                )));
            }
        };
        let lowest = lowest(format);
        let prefix = match self.language {
            TreeLanguage::Python => "",
            _ => "mmascope_",
        };
        let rounded = match self.language {
            TreeLanguage::Python => "rounded",
            _ => "mmascope_round",
        };
        let call = format!("{rounded}({text}, {fraction_bits}, {lowest}, {largest:e}, {mode})");
        // What has no ∞ has NaN; what has no −0 gets +0.
        Ok(match format.float().map(|float| float.specials) {
            Some(Specials::AllOnesNan) => format!("{prefix}without_infinity({call})"),
            Some(Specials::NegativeZeroNan) => {
                format!("({prefix}without_infinity({call}) + 0.0)")
            }
            _ => call,
        })
    }

    /// The terms as arrays: declared in `body` where the language needs names for them.
    fn arrays(&self, index: usize, terms: &[[String; 2]], body: &mut String) -> String {
        let name = self.tree.leaves() + index;
        match self.language {
            TreeLanguage::Rust => {
                let pairs: Vec<String> = (terms.iter())
                    .map(|[x, y]| format!("(f64::from({x}), f64::from({y}))"))
                    .collect();
                format!("&[{}]", pairs.join(", "))
            }
            TreeLanguage::Python => {
                let pairs: Vec<String> = terms.iter().map(|[x, y]| format!("({x}, {y})")).collect();
                format!("[{}]", pairs.join(", "))
            }
            TreeLanguage::C | TreeLanguage::Cuda => {
                let all = |at: usize| {
                    terms
                        .iter()
                        .map(|t| t[at].clone())
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                let _ = writeln!(body, "    double x{name}[] = {{{}}};", all(0));
                let _ = writeln!(body, "    double y{name}[] = {{{}}};", all(1));
                format!("x{name}, y{name}")
            }
        }
    }

    fn exact(&self, index: usize, terms: &[[String; 2]], body: &mut String) -> String {
        let arrays = self.arrays(index, terms, body);
        match self.language {
            TreeLanguage::Rust => format!("mmascope_exact({arrays})"),
            TreeLanguage::Python => format!("exact({arrays})"),
            _ => {
                let (name, count) = (self.tree.leaves() + index, terms.len());
                let _ = writeln!(body, "    double parts{name}[{count}];");
                format!("mmascope_exact({count}, {arrays}, parts{name})")
            }
        }
    }

    fn truncated(&self) -> Result<Truncated> {
        let fused = self.arithmetic.fused.ok_or_else(|| {
            Error::Argument(
                "export: a fused node has no arithmetic of its own: give the fraction bits that it \
                 keeps"
                    .to_owned(),
            )
        })?;
        fused.check()
    }

    fn fused(
        &self,
        index: usize,
        format: Format,
        bits: i32,
        products: usize,
        terms: &[[String; 2]],
        body: &mut String,
    ) -> Result<String> {
        // Every term is below 4 units of the largest exponent, and a double holds 53 bits.
        let carries = terms.len().next_power_of_two().ilog2() as i32;
        if bits + 2 + carries > 53 {
            return Err(Error::Argument(format!(
                "export: {} terms of {bits} fraction bits; their sum must fit 53 bits",
                terms.len()
            )));
        }
        let lowest_operand = lowest(self.arithmetic.operands);
        let lowest_value = lowest(format);
        let arrays = self.arrays(index, terms, body);
        let last = format!("{bits}, {lowest_operand}, {lowest_value}");
        Ok(match self.language {
            TreeLanguage::Rust => format!("mmascope_fused({products}, {arrays}, {last})"),
            TreeLanguage::Python => format!("fused({products}, {arrays}, {last})"),
            _ => format!(
                "mmascope_fused({products}, {}, {arrays}, {last})",
                terms.len()
            ),
        })
    }

    /// An addition or multiply-add of f32 or f64, to nearest even.
    fn native(&self, node: &Inner) -> String {
        let (language, format) = (self.language, node.format);
        let sum = |children: &[usize]| -> String {
            let mut terms = children.iter().map(|&child| self.operand(child, format));
            let first = terms.next().unwrap_or_default();
            terms.fold(first, |sum, term| language.add(format, &sum, &term))
        };
        let last = match node.op {
            Op::Fma => node.children.iter().rposition(|&c| c < self.products),
            _ => None,
        };
        let Some(fused) = last else {
            return sum(&node.children);
        };
        let mut rest = node.children.clone();
        let product = rest.remove(fused);
        let factor = |name: &str| {
            language.convert(&format!("{name}[{product}]"), self.arithmetic.leaf, format)
        };
        language.multiply_add(format, &factor("a"), &factor("b"), &sum(&rest))
    }
}
