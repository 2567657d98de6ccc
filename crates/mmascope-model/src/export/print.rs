//! Writes expressions and steps for the languages with infix operators.

use super::ir::{Expr, Function, Module, Node, Operator, Relation, Step};

/// A text, and whether it stays whole as an operand.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) is_atom: bool,
}

impl Text {
    /// A name, a call, a literal.
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_atom: true,
        }
    }

    /// Something with an operator.
    pub(super) fn operation(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_atom: false,
        }
    }
}

/// What a language says for itself.
pub(super) trait Dialect {
    /// How it says `!`, `&&`, `||`.
    const LOGIC: [&'static str; 3];

    /// An expression that is written in a way of its own; `None`: as most languages do.
    fn own(&self, expr: &Expr) -> Option<Text>;

    /// A local name.
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }

    /// A text in parentheses where it needs them.
    fn operand(&self, expr: &Expr) -> String {
        let Text { text, is_atom } = self.text(expr);
        if is_atom { text } else { format!("({text})") }
    }

    /// A part of a choice: in parentheses where it is one itself.
    fn branch(&self, expr: &Expr) -> String {
        match *expr.node {
            Node::Choice(..) => self.operand(expr),
            _ => self.whole(expr),
        }
    }

    /// A text as it is.
    fn whole(&self, expr: &Expr) -> String {
        self.text(expr).text
    }

    /// Expressions with commas between them.
    fn list(&self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.whole(expr)).collect();
        texts.join(", ")
    }

    /// An index of an array or a table.
    fn index(&self, expr: &Expr) -> String {
        let operand = |expr: &Expr| match &*expr.node {
            Node::Arithmetic(..) | Node::Quotient(..) => format!("({})", self.index(expr)),
            _ => self.index(expr),
        };
        match &*expr.node {
            Node::Number(number) => number.to_string(),
            Node::Name(name) => self.name(name),
            Node::Entry(table, index) => self.entry(table, index),
            Node::Arithmetic(Operator::Times, x, y) => format!("{} * {}", operand(x), operand(y)),
            Node::Arithmetic(_, x, y) => format!("{} + {}", operand(x), operand(y)),
            Node::Quotient(x, by) => format!("{} {} {by}", operand(x), self.quotient()),
            _ => self.whole(expr),
        }
    }

    /// An entry of a table.
    fn entry(&self, table: &str, index: &Expr) -> String {
        format!("{table}[{}]", self.index(index))
    }

    /// The operator of whole division.
    fn quotient(&self) -> &'static str {
        "/"
    }

    /// An expression.
    fn text(&self, expr: &Expr) -> Text {
        if let Some(text) = self.own(expr) {
            return text;
        }
        let [not, and, or] = Self::LOGIC;
        let infix = |x: &Expr, operator: &str, y: &Expr| {
            Text::operation(format!(
                "{} {operator} {}",
                self.operand(x),
                self.operand(y)
            ))
        };
        // The same operator again needs no parentheses.
        let chain = |x: &Expr, operator: &str, y: &Expr, is_same: fn(&Node) -> bool| {
            let side = |expr: &Expr| match is_same(&expr.node) {
                true => self.whole(expr),
                false => self.operand(expr),
            };
            Text::operation(format!("{} {operator} {}", side(x), side(y)))
        };
        match &*expr.node {
            Node::Name(name) => Text::atom(self.name(name)),
            Node::Field(record, field) => Text::atom(format!("{}.{field}", self.operand(record))),
            Node::Element(array, index) => {
                Text::atom(format!("{}[{}]", self.name(array), self.index(index)))
            }
            Node::Entry(..) | Node::Quotient(..) => Text::operation(self.index(expr)),
            Node::Call(function, arguments) => {
                Text::atom(format!("{function}({})", self.list(arguments)))
            }
            Node::Not(x) => Text::atom(format!("{not}{}", self.operand(x))),
            Node::Both(x, y) => chain(x, and, y, |node| matches!(node, Node::Both(..))),
            Node::Either(x, y) => chain(x, or, y, |node| matches!(node, Node::Either(..))),
            Node::Compare(relation, x, y) => {
                // A bound stands behind what it bounds.
                let is_bound = matches!(*x.node, Node::Number(_));
                match relation {
                    Relation::Equal => infix(x, "==", y),
                    Relation::Unequal => infix(x, "!=", y),
                    Relation::Less if is_bound => infix(y, ">", x),
                    Relation::AtMost if is_bound => infix(y, ">=", x),
                    Relation::Less => infix(x, "<", y),
                    Relation::AtMost => infix(x, "<=", y),
                }
            }
            Node::Arithmetic(operator @ (Operator::Plus | Operator::Minus), x, y) => {
                let sign = if *operator == Operator::Plus {
                    "+"
                } else {
                    "-"
                };
                let is_sum = matches!(
                    &*x.node,
                    Node::Arithmetic(Operator::Plus | Operator::Minus, ..)
                );
                let x = if is_sum {
                    self.whole(x)
                } else {
                    self.operand(x)
                };
                Text::operation(format!("{x} {sign} {}", self.operand(y)))
            }
            Node::Arithmetic(operator, x, y) => {
                let operator = match operator {
                    Operator::Plus | Operator::Minus => "+",
                    Operator::Times => "*",
                    Operator::And => "&",
                    Operator::Or => "|",
                    Operator::Larger => {
                        return Text::atom(format!("larger({}, {})", self.whole(x), self.whole(y)));
                    }
                };
                infix(x, operator, y)
            }
            Node::Negated(x) => Text::operation(format!("-{}", self.operand(x))),
            // These are the affair of each language.
            Node::Truth(value) => Text::atom(value.to_string()),
            Node::Number(number) => Text::atom(number.to_string()),
            Node::Left(x, places) => infix(x, "<<", places),
            Node::Right(x, places) => infix(x, ">>", places),
            Node::Made(fields) => Text::atom(format!("({})", self.list(fields))),
            Node::Choice(condition, yes, no) => Text::operation(format!(
                "{} ? {} : {}",
                self.branch(condition),
                self.branch(yes),
                self.branch(no)
            )),
            Node::Resized(x) | Node::Magnitude(x) | Node::Length(x) => self.text(x),
        }
    }
}

/// A text with a helper for each name that it calls, and helpers of helpers.
pub(super) fn with_helpers(helpers: &[(&str, String)], text: &str) -> String {
    let calls = |text: &str, name: &str| text.contains(&format!("{name}("));
    let mut wanted = vec![false; helpers.len()];
    loop {
        let before = wanted.clone();
        for (place, (name, _)) in helpers.iter().enumerate() {
            let others = helpers.iter().zip(&before);
            let by_others = others
                .filter(|((other, _), is_wanted)| **is_wanted && other != name)
                .any(|((_, code), _)| calls(code, name));
            wanted[place] |= calls(text, name) || by_others;
        }
        if wanted == before {
            break;
        }
    }
    let chosen = helpers.iter().zip(wanted);
    chosen
        .filter(|(_, is_wanted)| *is_wanted)
        .map(|((_, code), _)| format!("{}\n\n", code.trim_end()))
        .collect()
}

/// Every function of a module as a language writes it, in its order; equal ones once.
pub(super) fn written(module: &Module, write: impl Fn(&mut String, &Function)) -> String {
    let texts = module.functions.iter().map(|function| {
        let mut text = String::new();
        write(&mut text, function);
        (function.name.clone(), text)
    });
    merged(texts.collect())
}

/// The texts of functions, of which those that differ in nothing but their names stand once: where widths do not show,
/// several may.
fn merged(functions: Vec<(String, String)>) -> String {
    let mut once: Vec<(String, String)> = Vec::new();
    let mut names: Vec<(String, String)> = Vec::new();
    for (name, mut text) in functions {
        for (old, new) in &names {
            text = renamed(&text, old, new);
        }
        let body = renamed(&text, &name, "");
        match once
            .iter()
            .find(|(own, text)| renamed(text, own, "") == body)
        {
            Some((own, _)) => names.push((name, own.clone())),
            None => once.push((name, text)),
        }
    }
    once.into_iter().map(|(_, text)| text).collect()
}

/// The text with a function's name changed where it is defined or called.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let call = format!("{old}(");
    let mut changed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&call) {
        let before = rest[..at].chars().next_back();
        let is_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        changed += &rest[..at];
        changed += if is_word { old } else { new };
        changed.push('(');
        rest = &rest[at + call.len()..];
    }
    changed + rest
}

/// Lines of at most so many characters, each with a mark in front.
pub(super) fn commented(text: &str, mark: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > 110 {
            lines += &format!("{mark}{}\n", line.trim_end());
            line = String::new();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    format!("{lines}{}\n", format!("{mark}{line}").trim_end())
}

/// Whether a step only leaves a comment.
pub(super) fn is_comment(step: &Step) -> bool {
    matches!(step, Step::Say(_))
}
