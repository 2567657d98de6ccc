//! The small language between a program and its source code: expressions over integers of stated widths,
//! local names, loops with constant bounds and early returns.
//!
//! A width is always enough: no sum overflows, and what is shifted out at the left is 0. So every language
//! may hold a number in whatever type is wide enough.

use std::collections::BTreeSet;
use std::ops;
use std::rc::Rc;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// True or false.
    Bool,
    /// An exponent or a count: 16 bits hold every one that occurs.
    Int,
    /// A number of so many bits that is not negative.
    Bits(u32),
    /// A number of so many bits, two's complement.
    Signed(u32),
    /// Several values by name.
    Record(Rc<Record>),
    /// So many values of one type.
    Array(Rc<Ty>, usize),
}

/// A type with fields.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) name: String,
    /// What it is, one sentence.
    pub(super) comment: String,
    pub(super) fields: Vec<(&'static str, Ty)>,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) ty: Ty,
    pub(super) node: Rc<Node>,
}

/// What an expression is made of.
#[derive(Debug)]
pub(super) enum Node {
    /// A local name, a parameter or a named constant.
    Name(String),
    /// A truth value.
    Truth(bool),
    /// A number.
    Number(i128),
    /// A field of a named record.
    Field(Expr, &'static str),
    /// An element of a named array.
    Element(String, Expr),
    /// An entry of a table of the module.
    Entry(String, Expr),
    Call(String, Vec<Expr>),
    /// A record, field by field.
    Made(Vec<Expr>),
    Not(Expr),
    Both(Expr, Expr),
    Either(Expr, Expr),
    Compare(Relation, Expr, Expr),
    /// Of two numbers of one type.
    Arithmetic(Operator, Expr, Expr),
    Negated(Expr),
    /// An index that is not negative, divided and rounded down.
    Quotient(Expr, usize),
    /// To the left; `Int` places, of which too many, or a negative number, leave 0.
    Left(Expr, Expr),
    /// To the right, of numbers that are not negative; likewise.
    Right(Expr, Expr),
    Choice(Expr, Expr, Expr),
    /// The same number in another width or kind, which holds it.
    Resized(Expr),
    /// The magnitude of a signed number.
    Magnitude(Expr),
    /// How many bits a number needs: 0 for 0.
    Length(Expr),
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
}

/// Operations on two numbers of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    And,
    Or,
    Larger,
}

/// A step of a function.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A comment.
    Say(String),
    /// A name for a value.
    Let(String, Expr),
    /// A name whose value changes in a loop.
    Var(String, Expr),
    Set(String, Expr),
    /// An array to be filled.
    Array(String, Ty, usize),
    Put(String, Expr, Expr),
    /// For each number from 0 up to a constant.
    For(String, usize, Vec<Step>),
    /// Where the condition holds, this is the result.
    ReturnIf(Expr, Expr),
}

/// A function; its result is the value where no earlier return was taken.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) comment: String,
    pub(super) parameters: Vec<(String, Ty)>,
    pub(super) body: Vec<Step>,
    pub(super) value: Expr,
}

/// A number with a name.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: i128,
    pub(super) comment: String,
}

/// Everything that a source file has, in an order in which each thing stands before its use.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    pub(super) heading: Vec<String>,
    /// A name for the whole, where a language needs one.
    pub(super) name: String,
    pub(super) constants: Vec<Constant>,
    pub(super) records: Vec<Rc<Record>>,
    pub(super) tables: Vec<(String, Vec<usize>)>,
    pub(super) functions: Vec<Function>,
}

impl Module {
    /// What it defines besides its last function, which is the one that callers see.
    pub(super) fn names(&self) -> impl Iterator<Item = String> + '_ {
        let (_, inner) = self.functions.split_last().unzip();
        let functions = inner.unwrap_or_default().iter().map(|it| &it.name);
        let constants = self.constants.iter().map(|it| &it.name);
        let records = self.records.iter().map(|it| &it.name);
        let tables = self.tables.iter().map(|(name, _)| name);
        let all = functions.chain(constants).chain(records).chain(tables);
        all.cloned()
    }

    /// Does something with every expression in it.
    pub(super) fn each_expr(&self, action: &mut dyn FnMut(&Expr)) {
        for function in &self.functions {
            in_steps(&function.body, action);
            function.value.each(action);
        }
    }
}

impl Function {
    /// The parameters that nothing in it reads.
    pub(super) fn unread(&self) -> Vec<&str> {
        let mut names = std::collections::HashSet::new();
        let mut note = |expr: &Expr| {
            if let Node::Name(name) | Node::Element(name, _) = &*expr.node {
                names.insert(name.clone());
            }
        };
        in_steps(&self.body, &mut note);
        self.value.each(&mut note);
        let own = self.parameters.iter().map(|(name, _)| &**name);
        own.filter(|name| !names.contains(*name)).collect()
    }
}

fn in_steps(steps: &[Step], action: &mut dyn FnMut(&Expr)) {
    for step in steps {
        match step {
            Step::Let(_, x) | Step::Var(_, x) | Step::Set(_, x) => x.each(action),
            Step::Put(_, x, y) | Step::ReturnIf(x, y) => {
                x.each(action);
                y.each(action);
            }
            Step::For(_, _, steps) => in_steps(steps, action),
            Step::Say(_) | Step::Array(..) => {}
        }
    }
}

impl Ty {
    /// The bits that a value takes where nothing is wasted; `int` is the width of [`Ty::Int`].
    pub(super) fn width(&self, int: u32) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int => int,
            Self::Bits(width) | Self::Signed(width) => *width,
            Self::Record(record) => record.fields.iter().map(|(_, ty)| ty.width(int)).sum(),
            Self::Array(of, count) => of.width(int) * *count as u32,
        }
    }

    /// The record that it is.
    pub(super) fn record(&self) -> Option<&Rc<Record>> {
        match self {
            Self::Record(record) => Some(record),
            _ => None,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Bits(_) | Self::Signed(_))
    }
}

impl Record {
    /// The type of a field.
    pub(super) fn field(&self, name: &str) -> Option<&Ty> {
        let found = self.fields.iter().find(|(own, _)| *own == name);
        found.map(|(_, ty)| ty)
    }
}

impl Node {
    /// The same with every expression in it changed.
    pub(super) fn map(&self, change: &dyn Fn(&Expr) -> Expr) -> Self {
        let all = |exprs: &[Expr]| exprs.iter().map(change).collect();
        match self {
            Self::Name(name) => Self::Name(name.clone()),
            Self::Truth(value) => Self::Truth(*value),
            Self::Number(number) => Self::Number(*number),
            Self::Field(x, name) => Self::Field(change(x), name),
            Self::Element(name, x) => Self::Element(name.clone(), change(x)),
            Self::Entry(name, x) => Self::Entry(name.clone(), change(x)),
            Self::Call(name, exprs) => Self::Call(name.clone(), all(exprs)),
            Self::Made(exprs) => Self::Made(all(exprs)),
            Self::Not(x) => Self::Not(change(x)),
            Self::Both(x, y) => Self::Both(change(x), change(y)),
            Self::Either(x, y) => Self::Either(change(x), change(y)),
            Self::Compare(relation, x, y) => Self::Compare(*relation, change(x), change(y)),
            Self::Arithmetic(operator, x, y) => Self::Arithmetic(*operator, change(x), change(y)),
            Self::Negated(x) => Self::Negated(change(x)),
            Self::Quotient(x, by) => Self::Quotient(change(x), *by),
            Self::Left(x, y) => Self::Left(change(x), change(y)),
            Self::Right(x, y) => Self::Right(change(x), change(y)),
            Self::Choice(x, y, z) => Self::Choice(change(x), change(y), change(z)),
            Self::Resized(x) => Self::Resized(change(x)),
            Self::Magnitude(x) => Self::Magnitude(change(x)),
            Self::Length(x) => Self::Length(change(x)),
        }
    }
}

impl Expr {
    /// Does something with it and every expression in it.
    fn each(&self, action: &mut dyn FnMut(&Self)) {
        action(self);
        for part in self.parts() {
            part.each(action);
        }
    }

    /// The expressions that it is made of.
    pub(super) fn parts(&self) -> Vec<Self> {
        let parts = std::cell::RefCell::new(Vec::new());
        self.node.map(&|x| {
            parts.borrow_mut().push(x.clone());
            x.clone()
        });
        parts.into_inner()
    }

    fn new(ty: Ty, node: Node) -> Self {
        Self {
            ty,
            node: Rc::new(node),
        }
    }

    pub(super) fn name(name: &str, ty: Ty) -> Self {
        Self::new(ty, Node::Name(name.to_owned()))
    }

    pub(super) fn truth(value: bool) -> Self {
        Self::new(Ty::Bool, Node::Truth(value))
    }

    /// Whether it is known to be false.
    pub(super) fn is_false(&self) -> bool {
        matches!(*self.node, Node::Truth(false))
    }

    pub(super) fn int(value: i32) -> Self {
        Self::new(Ty::Int, Node::Number(value.into()))
    }

    pub(super) fn bits(value: u64, width: u32) -> Self {
        Self::new(Ty::Bits(width), Node::Number(value.into()))
    }

    pub(super) fn number(value: i128, ty: &Ty) -> Self {
        Self::new(ty.clone(), Node::Number(value))
    }

    pub(super) fn zero(ty: Ty) -> Self {
        Self::new(ty, Node::Number(0))
    }

    pub(super) fn call(function: &Function, arguments: Vec<Self>) -> Self {
        debug_assert_eq!(arguments.len(), function.parameters.len());
        for (argument, (name, ty)) in arguments.iter().zip(&function.parameters) {
            debug_assert_eq!(&argument.ty, ty, "{name} of {}", function.name);
        }
        let ty = function.value.ty.clone();
        Self::new(ty, Node::Call(function.name.clone(), arguments))
    }

    pub(super) fn made(record: &Rc<Record>, fields: Vec<Self>) -> Self {
        debug_assert_eq!(fields.len(), record.fields.len(), "{}", record.name);
        for (field, (name, ty)) in fields.iter().zip(&record.fields) {
            debug_assert_eq!(&field.ty, ty, "{name} of {}", record.name);
        }
        Self::new(Ty::Record(record.clone()), Node::Made(fields))
    }

    /// A field of a record that has a name.
    pub(super) fn field(&self, name: &'static str) -> Self {
        let ty = self.ty.record().and_then(|record| record.field(name));
        let ty = ty.cloned().unwrap_or(Ty::Bool);
        Self::new(ty, Node::Field(self.clone(), name))
    }

    /// An element of an array that has a name.
    pub(super) fn element(name: &str, ty: &Ty, index: &Self) -> Self {
        let node = Node::Element(name.to_owned(), index.clone());
        Self::new(ty.clone(), node)
    }

    /// An entry of a table.
    pub(super) fn entry(table: &str, index: &Self) -> Self {
        Self::new(Ty::Int, Node::Entry(table.to_owned(), index.clone()))
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        match (&*self.node, &*other.node) {
            (Node::Truth(true), _) | (_, Node::Truth(false)) => other.clone(),
            (_, Node::Truth(true)) | (Node::Truth(false), _) => self.clone(),
            _ => Self::new(Ty::Bool, Node::Both(self.clone(), other.clone())),
        }
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        match (&*self.node, &*other.node) {
            (Node::Truth(false), _) | (_, Node::Truth(true)) => other.clone(),
            (_, Node::Truth(false)) | (Node::Truth(true), _) => self.clone(),
            _ => Self::new(Ty::Bool, Node::Either(self.clone(), other.clone())),
        }
    }

    fn compare(&self, relation: Relation, other: &Self) -> Self {
        debug_assert_eq!(self.ty, other.ty, "{self:?} {relation:?} {other:?}");
        Self::new(
            Ty::Bool,
            Node::Compare(relation, self.clone(), other.clone()),
        )
    }

    pub(super) fn is(&self, other: &Self) -> Self {
        self.compare(Relation::Equal, other)
    }

    pub(super) fn is_not(&self, other: &Self) -> Self {
        self.compare(Relation::Unequal, other)
    }

    pub(super) fn less(&self, other: &Self) -> Self {
        self.compare(Relation::Less, other)
    }

    pub(super) fn at_most(&self, other: &Self) -> Self {
        self.compare(Relation::AtMost, other)
    }

    pub(super) fn is_zero(&self) -> Self {
        self.is(&Self::zero(self.ty.clone()))
    }

    pub(super) fn is_something(&self) -> Self {
        self.is_not(&Self::zero(self.ty.clone()))
    }

    fn arithmetic(&self, operator: Operator, other: &Self) -> Self {
        debug_assert!(self.ty.is_number(), "{self:?}");
        debug_assert_eq!(self.ty, other.ty, "{self:?} {operator:?} {other:?}");
        let node = Node::Arithmetic(operator, self.clone(), other.clone());
        Self::new(self.ty.clone(), node)
    }

    pub(super) fn with_bits(&self, other: &Self) -> Self {
        self.arithmetic(Operator::Or, other)
    }

    pub(super) fn of_bits(&self, other: &Self) -> Self {
        self.arithmetic(Operator::And, other)
    }

    pub(super) fn larger(&self, other: &Self) -> Self {
        self.arithmetic(Operator::Larger, other)
    }

    /// Shifted to the left.
    pub(super) fn left(&self, places: &Self) -> Self {
        if let Node::Number(0) = *places.node {
            return self.clone();
        }
        Self::new(self.ty.clone(), Node::Left(self.clone(), places.clone()))
    }

    /// Shifted to the right.
    pub(super) fn right(&self, places: &Self) -> Self {
        debug_assert!(matches!(self.ty, Ty::Bits(_)), "{self:?}");
        if let Node::Number(0) = *places.node {
            return self.clone();
        }
        Self::new(self.ty.clone(), Node::Right(self.clone(), places.clone()))
    }

    /// One value where it is true, else the other.
    pub(super) fn choose(&self, yes: &Self, no: &Self) -> Self {
        debug_assert_eq!(self.ty, Ty::Bool);
        debug_assert_eq!(yes.ty, no.ty, "{yes:?} or {no:?}");
        match *self.node {
            Node::Truth(true) => return yes.clone(),
            Node::Truth(false) => return no.clone(),
            _ => {}
        }
        let node = Node::Choice(self.clone(), yes.clone(), no.clone());
        Self::new(yes.ty.clone(), node)
    }

    /// The same number as another type.
    pub(super) fn to(&self, ty: &Ty) -> Self {
        if self.ty == *ty {
            return self.clone();
        }
        if let Node::Number(number) = *self.node {
            return Self::new(ty.clone(), Node::Number(number));
        }
        Self::new(ty.clone(), Node::Resized(self.clone()))
    }

    pub(super) fn magnitude(&self) -> Self {
        let Ty::Signed(width) = self.ty else {
            return self.clone();
        };
        Self::new(Ty::Bits(width), Node::Magnitude(self.clone()))
    }

    pub(super) fn length(&self) -> Self {
        debug_assert!(matches!(self.ty, Ty::Bits(_)), "{self:?}");
        Self::new(Ty::Int, Node::Length(self.clone()))
    }

    /// An index times a number.
    pub(super) fn times(index: &Self, number: usize) -> Self {
        match number {
            1 => index.clone(),
            _ => index * &Self::int(number as i32),
        }
    }

    /// An index divided by a number, which is rounded down.
    pub(super) fn over(index: &Self, number: usize) -> Self {
        let node = Node::Quotient(index.clone(), number);
        Self::new(Ty::Int, node)
    }

    /// Whether it is odd.
    pub(super) fn is_odd(&self) -> Self {
        let one = Self::new(self.ty.clone(), Node::Number(1));
        self.of_bits(&one).is_something()
    }
}

impl ops::Not for &Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        match &*self.node {
            Node::Truth(value) => Expr::truth(!value),
            Node::Not(inner) => inner.clone(),
            _ => Expr::new(Ty::Bool, Node::Not(self.clone())),
        }
    }
}

impl ops::Neg for &Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        Expr::new(self.ty.clone(), Node::Negated(self.clone()))
    }
}

impl ops::Add for &Expr {
    type Output = Expr;

    fn add(self, other: Self) -> Expr {
        match (&*self.node, &*other.node) {
            (_, Node::Number(0)) => self.clone(),
            (Node::Number(0), _) => other.clone(),
            (_, Node::Number(number)) if *number < 0 && self.ty == Ty::Int => {
                self - &Expr::int(-*number as i32)
            }
            _ => self.arithmetic(Operator::Plus, other),
        }
    }
}

impl ops::Sub for &Expr {
    type Output = Expr;

    fn sub(self, other: Self) -> Expr {
        match *other.node {
            Node::Number(0) => self.clone(),
            Node::Number(number) if number < 0 && self.ty == Ty::Int => {
                self + &Expr::int(-number as i32)
            }
            _ => self.arithmetic(Operator::Minus, other),
        }
    }
}

impl ops::Mul for &Expr {
    type Output = Expr;

    fn mul(self, other: Self) -> Expr {
        self.arithmetic(Operator::Times, other)
    }
}

/// What a module asks of functions that a language lacks, for each width.
#[derive(Default)]
pub(super) struct Lacking {
    /// Widths of numbers whose bits are counted.
    pub(super) lengths: BTreeSet<u32>,
    /// Widths of numbers whose magnitude is taken.
    pub(super) magnitudes: BTreeSet<u32>,
    /// Whether the larger of two numbers is taken.
    pub(super) has_larger: bool,
}

impl Lacking {
    /// `int` is the width of a plain integer.
    pub(super) fn of(module: &Module, int: u32) -> Self {
        let mut found = Self::default();
        module.each_expr(&mut |expr| match &*expr.node {
            Node::Length(x) => {
                found.lengths.insert(x.ty.width(int));
            }
            Node::Magnitude(x) => {
                found.magnitudes.insert(x.ty.width(int));
            }
            Node::Arithmetic(Operator::Larger, ..) => found.has_larger = true,
            _ => {}
        });
        found
    }
}
