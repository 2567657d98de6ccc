//! Collects records, constants and functions of a module, each once, and the steps of one function.

use std::rc::Rc;

use super::ir::{Constant, Expr, Function, Module, Node, Record, Step, Ty};

/// A module that is being written.
#[derive(Default)]
pub(super) struct Build {
    pub(super) module: Module,
}

/// A function that is being written.
#[derive(Default)]
pub(super) struct Scope {
    parameters: Vec<(String, Ty)>,
    body: Vec<Step>,
}

impl Build {
    /// The record of that name.
    pub(super) fn record(
        &mut self,
        name: &str,
        comment: &str,
        fields: Vec<(&'static str, Ty)>,
    ) -> Rc<Record> {
        let same = |own: &&Rc<Record>| own.name == name && own.fields == fields;
        if let Some(known) = self.module.records.iter().find(same) {
            return known.clone();
        }
        let taken = |name: &str| self.module.records.iter().any(|own| own.name == name);
        let record = Rc::new(Record {
            name: free(name, taken),
            comment: comment.to_owned(),
            fields,
        });
        self.module.records.push(record.clone());
        record
    }

    /// A number with a name.
    pub(super) fn constant(&mut self, name: &str, value: i32, comment: &str) -> Expr {
        let value = i128::from(value);
        let constants = &self.module.constants;
        let same = |own: &&Constant| {
            own.value == value && own.comment == comment && is_of(&own.name, name)
        };
        if let Some(known) = constants.iter().find(same) {
            return Expr::name(&known.name, Ty::Int);
        }
        let taken = |name: &str| constants.iter().any(|own| own.name == name);
        let name = free(name, taken);
        self.module.constants.push(Constant {
            name: name.clone(),
            value,
            comment: comment.to_owned(),
        });
        Expr::name(&name, Ty::Int)
    }

    /// A table of the numbers; gives its name.
    pub(super) fn table(&mut self, name: &str, numbers: &[usize]) -> String {
        let tables = &self.module.tables;
        if let Some((known, _)) = tables.iter().find(|(_, own)| own == numbers) {
            return known.clone();
        }
        let name = free(name, |name| tables.iter().any(|(own, _)| own == name));
        self.module.tables.push((name.clone(), numbers.to_vec()));
        name
    }

    /// The function, or one that does the same: it stands once in a module.
    pub(super) fn function(&mut self, mut function: Function) -> Function {
        let text = |it: &Function| format!("{:?}{:?}{:?}", it.parameters, it.body, it.value);
        let own = text(&function);
        let functions = &self.module.functions;
        let same = |it: &&Function| is_of(&it.name, &function.name) && text(it) == own;
        if let Some(known) = functions.iter().find(same) {
            return known.clone();
        }
        let taken = |name: &str| functions.iter().any(|it| it.name == name);
        function.name = free(&function.name, taken);
        self.module.functions.push(function.clone());
        function
    }
}

/// The name, or the name with the first number that makes it a new one.
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut numbered = numbered.filter(|name| !taken(name));
    numbered.next().unwrap_or_default()
}

/// Whether a name is another one, or that with a number.
fn is_of(name: &str, stem: &str) -> bool {
    let rest = name.strip_prefix(stem);
    let is_number = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('_').is_some_and(is_number))
}

impl Scope {
    pub(super) fn parameter(&mut self, name: &str, ty: Ty) -> Expr {
        self.parameters.push((name.to_owned(), ty.clone()));
        Expr::name(name, ty)
    }

    pub(super) fn say(&mut self, text: &str) {
        self.body.push(Step::Say(text.to_owned()));
    }

    /// A name for a value that has none.
    pub(super) fn bind(&mut self, name: &str, value: Expr) -> Expr {
        match *value.node {
            Node::Name(_) => value,
            _ => self.named(name, value),
        }
    }

    /// This name for a value.
    pub(super) fn named(&mut self, name: &str, value: Expr) -> Expr {
        let ty = value.ty.clone();
        self.body.push(Step::Let(name.to_owned(), value));
        Expr::name(name, ty)
    }

    /// Whether a name is taken.
    pub(super) fn has(&self, name: &str) -> bool {
        let taken =
            |step: &Step| matches!(step, Step::Let(own, _) | Step::Var(own, _) if own == name);
        self.body.iter().any(taken)
    }

    /// A name whose value changes.
    pub(super) fn variable(&mut self, name: &str, value: Expr) -> Expr {
        let ty = value.ty.clone();
        self.body.push(Step::Var(name.to_owned(), value));
        Expr::name(name, ty)
    }

    pub(super) fn set(&mut self, name: &str, value: Expr) {
        self.body.push(Step::Set(name.to_owned(), value));
    }

    pub(super) fn array(&mut self, name: &str, of: &Ty, count: usize) -> Expr {
        self.body
            .push(Step::Array(name.to_owned(), of.clone(), count));
        Expr::name(name, Ty::Array(Rc::new(of.clone()), count))
    }

    pub(super) fn put(&mut self, array: &str, index: &Expr, value: Expr) {
        self.body
            .push(Step::Put(array.to_owned(), index.clone(), value));
    }

    /// A loop; its steps are those that `steps` adds.
    pub(super) fn each(&mut self, index: &str, count: usize, steps: impl FnOnce(&mut Self, &Expr)) {
        let mut inner = Self::default();
        steps(&mut inner, &Expr::name(index, Ty::Int));
        self.body
            .push(Step::For(index.to_owned(), count, inner.body));
    }

    /// The steps of another scope.
    pub(super) fn append(&mut self, other: Self) {
        self.body.extend(other.body);
    }

    pub(super) fn return_if(&mut self, condition: &Expr, value: Expr) {
        if let Node::Truth(false) = *condition.node {
            return;
        }
        self.body.push(Step::ReturnIf(condition.clone(), value));
    }

    pub(super) fn function(self, name: &str, comment: &str, value: Expr) -> Function {
        Function {
            name: name.to_owned(),
            comment: comment.to_owned(),
            parameters: self.parameters,
            body: self.body,
            value,
        }
    }
}
