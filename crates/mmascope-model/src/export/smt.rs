//! SMT-LIB 2 over bit-vectors: functions without loops, records as bit-vectors with a function for each field, an
//! array as so many parameters.

use std::collections::HashMap;
use std::fmt::Write;

use super::ir::{Expr, Function, Lacking, Module, Node, Operator, Relation, Step, Ty};
use super::print::commented;

/// Bits of an exponent or a count.
const INT: u32 = 16;

/// The sort of a type.
fn sort(ty: &Ty) -> String {
    match ty {
        Ty::Bool => "Bool".to_owned(),
        _ => format!("(_ BitVec {})", ty.width(INT)),
    }
}

/// A number of so many bits, two's complement.
fn number(value: i128, width: u32) -> String {
    let value = match width {
        0..=127 => value & ((1 << width) - 1),
        _ => value,
    };
    match width % 4 {
        0 if width <= 128 => format!("#x{value:0width$x}", width = width as usize / 4),
        _ => format!("(_ bv{value} {width})"),
    }
}

/// A value in another width: zeros or the sign in front, or the lower bits.
fn resized(text: &str, from: u32, to: u32, is_signed: bool) -> String {
    match to {
        _ if to == from => text.to_owned(),
        _ if to < from => format!("((_ extract {} 0) {text})", to - 1),
        _ if is_signed => format!("((_ sign_extend {}) {text})", to - from),
        _ => format!("((_ zero_extend {}) {text})", to - from),
    }
}

/// What names stand for, where loops are unrolled.
#[derive(Default)]
struct Scope {
    /// The current name of each value, and of each element of an array.
    names: HashMap<String, String>,
    elements: HashMap<String, Vec<String>>,
    /// Numbers that loops count.
    indices: HashMap<String, usize>,
    /// How often a name has been given.
    given: HashMap<String, usize>,
}

/// A writer of one module.
struct Writer<'a> {
    module: &'a Module,
}

impl Scope {
    /// A new name for a new value of a name.
    fn new_name(&mut self, name: &str) -> String {
        let count = self.given.entry(name.to_owned()).or_default();
        *count += 1;
        match *count {
            1 => name.to_owned(),
            count => format!("{name}.{count}"),
        }
    }
}

impl Writer<'_> {
    /// The number that an index is.
    fn index(&self, expr: &Expr, scope: &Scope) -> usize {
        match &*expr.node {
            Node::Number(number) => *number as usize,
            Node::Name(name) => scope.indices.get(name).copied().unwrap_or(0),
            Node::Entry(table, index) => {
                let table = self.module.tables.iter().find(|(own, _)| own == table);
                table.map_or(0, |(_, numbers)| numbers[self.index(index, scope)])
            }
            Node::Arithmetic(Operator::Times, x, y) => self.index(x, scope) * self.index(y, scope),
            Node::Arithmetic(_, x, y) => self.index(x, scope) + self.index(y, scope),
            Node::Quotient(x, by) => self.index(x, scope) / by,
            _ => 0,
        }
    }

    /// An array that is passed on: its elements.
    fn arguments(&self, expr: &Expr, scope: &Scope) -> String {
        match (&expr.ty, &*expr.node) {
            (Ty::Array(..), Node::Name(name)) => scope.elements[name].join(" "),
            _ => self.expr(expr, scope),
        }
    }

    fn shift(&self, operator: &str, expr: &Expr, x: &Expr, places: &Expr, scope: &Scope) -> String {
        let width = expr.ty.width(INT);
        // A negative number of places is a large one without a sign.
        let wide = width.max(INT);
        let x = resized(&self.expr(x, scope), width, wide, false);
        let places = resized(&self.expr(places, scope), INT, wide, false);
        resized(&format!("({operator} {x} {places})"), wide, width, false)
    }

    fn expr(&self, expr: &Expr, scope: &Scope) -> String {
        let text = |x: &Expr| self.expr(x, scope);
        let width = expr.ty.width(INT);
        match &*expr.node {
            Node::Name(name) => scope.names.get(name).unwrap_or(name).clone(),
            Node::Truth(value) => value.to_string(),
            Node::Number(value) => number(*value, width),
            Node::Field(record, field) => {
                let name = record.ty.record().map_or("", |record| &record.name);
                format!("({name}.{field} {})", text(record))
            }
            Node::Element(array, index) => scope.elements[array][self.index(index, scope)].clone(),
            Node::Entry(..) | Node::Quotient(..) => number(self.index(expr, scope) as i128, width),
            Node::Call(function, arguments) => {
                let arguments = arguments.iter().map(|x| self.arguments(x, scope));
                let arguments: Vec<String> = arguments.collect();
                format!("({function} {})", arguments.join(" "))
            }
            Node::Made(fields) => {
                let bits = fields.iter().map(|x| match x.ty {
                    Ty::Bool => format!("(ite {} #b1 #b0)", text(x)),
                    _ => text(x),
                });
                let bits: Vec<String> = bits.collect();
                match &bits[..] {
                    [only] => only.clone(),
                    _ => format!("(concat {})", bits.join(" ")),
                }
            }
            Node::Not(x) => format!("(not {})", text(x)),
            Node::Both(x, y) => format!("(and {} {})", text(x), text(y)),
            Node::Either(x, y) => format!("(or {} {})", text(x), text(y)),
            Node::Compare(relation, x, y) => {
                let is_signed = matches!(x.ty, Ty::Int | Ty::Signed(_));
                let (x, y) = (text(x), text(y));
                match (relation, is_signed) {
                    (Relation::Equal, _) => format!("(= {x} {y})"),
                    (Relation::Unequal, _) => format!("(not (= {x} {y}))"),
                    (Relation::Less, true) => format!("(bvslt {x} {y})"),
                    (Relation::Less, false) => format!("(bvult {x} {y})"),
                    (Relation::AtMost, true) => format!("(bvsle {x} {y})"),
                    (Relation::AtMost, false) => format!("(bvule {x} {y})"),
                }
            }
            Node::Arithmetic(operator, x, y) => {
                let (x, y) = (text(x), text(y));
                match operator {
                    Operator::Plus => format!("(bvadd {x} {y})"),
                    Operator::Minus => format!("(bvsub {x} {y})"),
                    Operator::Times => format!("(bvmul {x} {y})"),
                    Operator::And => format!("(bvand {x} {y})"),
                    Operator::Or => format!("(bvor {x} {y})"),
                    Operator::Larger => format!("(larger {x} {y})"),
                }
            }
            Node::Negated(x) => format!("(bvneg {})", text(x)),
            Node::Left(x, places) => self.shift("bvshl", expr, x, places, scope),
            Node::Right(x, places) => self.shift("bvlshr", expr, x, places, scope),
            Node::Choice(condition, yes, no) => {
                format!("(ite {} {} {})", text(condition), text(yes), text(no))
            }
            Node::Resized(x) => {
                let is_signed = matches!(x.ty, Ty::Int | Ty::Signed(_));
                resized(&text(x), x.ty.width(INT), width, is_signed)
            }
            Node::Magnitude(x) => format!("(magnitude.{width} {})", text(x)),
            Node::Length(x) => format!("(length.{} {})", x.ty.width(INT), text(x)),
        }
    }

    /// The steps as nested bindings; gives how many parentheses are open.
    fn steps(&self, out: &mut String, steps: &[Step], scope: &mut Scope) -> usize {
        let mut open = 0;
        for step in steps {
            match step {
                Step::Say(text) => *out += &commented(text, "  ; "),
                Step::Let(name, value) | Step::Var(name, value) | Step::Set(name, value) => {
                    let text = self.expr(value, scope);
                    let new = scope.new_name(name);
                    let _ = writeln!(out, "  (let (({new} {text}))");
                    scope.names.insert(name.clone(), new);
                    open += 1;
                }
                Step::Array(name, _, count) => {
                    scope
                        .elements
                        .insert(name.clone(), vec![String::new(); *count]);
                }
                Step::Put(name, index, value) => {
                    let place = self.index(index, scope);
                    let text = self.expr(value, scope);
                    let new = scope.new_name(&format!("{name}_{place}"));
                    let _ = writeln!(out, "  (let (({new} {text}))");
                    if let Some(elements) = scope.elements.get_mut(name) {
                        elements[place] = new;
                    }
                    open += 1;
                }
                Step::For(index, count, steps) => {
                    for place in 0..*count {
                        scope.indices.insert(index.clone(), place);
                        open += self.steps(out, steps, scope);
                    }
                }
                Step::ReturnIf(condition, value) => {
                    let (condition, value) = (self.expr(condition, scope), self.expr(value, scope));
                    let _ = writeln!(out, "  (ite {condition} {value}");
                    open += 1;
                }
            }
        }
        open
    }

    fn function(&self, out: &mut String, function: &Function) {
        *out += &commented(&function.comment, "; ");
        let mut scope = Scope::default();
        let mut parameters = Vec::new();
        for (name, ty) in &function.parameters {
            // Names of parameters are not given again.
            scope.given.insert(name.clone(), 1);
            match ty {
                Ty::Array(of, count) => {
                    let names: Vec<String> =
                        (0..*count).map(|place| format!("{name}_{place}")).collect();
                    for own in &names {
                        scope.given.insert(own.clone(), 1);
                        parameters.push(format!("({own} {})", sort(of)));
                    }
                    scope.elements.insert(name.clone(), names);
                }
                _ => parameters.push(format!("({name} {})", sort(ty))),
            }
        }
        let _ = writeln!(
            out,
            "(define-fun {} ({}) {}",
            function.name,
            parameters.join(" "),
            sort(&function.value.ty)
        );
        let open = self.steps(out, &function.body, &mut scope);
        let value = self.expr(&function.value, &scope);
        let _ = writeln!(out, "  {value}{})\n", ")".repeat(open));
    }
}

/// What a file may define besides its function, whether it does or not.
pub(super) fn names(module: &Module) -> Vec<String> {
    let helpers = ["larger", "magnitude", "length"].map(str::to_owned);
    module.names().chain(helpers).collect()
}

/// The source file of a module: a whole script, or a part of one, which sets the logic itself, as a script does once.
pub(super) fn source(module: &Module, is_part: bool) -> String {
    let mut out = String::new();
    for line in &module.heading {
        out += &commented(line, "; ");
    }
    out += match is_part {
        true => "\n; The logic is QF_BV.\n\n",
        false => "\n(set-logic QF_BV)\n\n",
    };
    for constant in &module.constants {
        let _ = writeln!(
            out,
            "; {}: {}\n(define-fun {} () (_ BitVec {INT}) {})",
            constant.comment,
            constant.value,
            constant.name,
            number(constant.value, INT)
        );
    }
    out += "\n";
    for record in &module.records {
        out += &commented(&record.comment, "; ");
        let whole = Ty::Record(record.clone());
        let mut below = whole.width(INT);
        for (name, ty) in &record.fields {
            let own = ty.width(INT);
            let bits = format!("((_ extract {} {}) x)", below - 1, below - own);
            below -= own;
            let value = match ty {
                Ty::Bool => format!("(= {bits} #b1)"),
                _ => bits,
            };
            let _ = writeln!(
                out,
                "(define-fun {}.{name} ((x {})) {} {value})",
                record.name,
                sort(&whole),
                sort(ty)
            );
        }
        out += "\n";
    }
    write_helpers(&mut out, module);
    let writer = Writer { module };
    for function in &module.functions {
        writer.function(&mut out, function);
    }
    out.trim_end().to_owned() + "\n"
}

/// Functions that the logic lacks, for each width that needs them.
fn write_helpers(out: &mut String, module: &Module) {
    let Lacking {
        lengths,
        magnitudes,
        has_larger,
    } = Lacking::of(module, INT);
    if has_larger {
        let int = sort(&Ty::Int);
        let _ = writeln!(
            out,
            "(define-fun larger ((x {int}) (y {int})) {int} (ite (bvslt x y) y x))\n"
        );
    }
    for width in magnitudes {
        let own = sort(&Ty::Bits(width));
        let _ = writeln!(
            out,
            "(define-fun magnitude.{width} ((x {own})) {own} (ite (bvslt x {}) (bvneg x) x))\n",
            number(0, width)
        );
    }
    if !lengths.is_empty() {
        *out += "; How many bits a number needs.\n";
    }
    for width in lengths {
        let _ = writeln!(
            out,
            "(define-fun length.{width} ((x {})) {}",
            sort(&Ty::Bits(width)),
            sort(&Ty::Int)
        );
        for place in (0..width).rev() {
            let _ = writeln!(
                out,
                "  (ite (= ((_ extract {place} {place}) x) #b1) {}",
                number(i128::from(place) + 1, INT)
            );
        }
        let _ = writeln!(out, "  {}{})\n", number(0, INT), ")".repeat(width as usize));
    }
}
