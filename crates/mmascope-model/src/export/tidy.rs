//! Takes out what nobody reads: names, functions, parameters, fields, constants, tables.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::ir::{Expr, Module, Node, Record, Step, Ty};

/// What is read somewhere.
#[derive(Default)]
struct Read {
    names: HashSet<String>,
    functions: HashSet<String>,
    fields: HashSet<(String, &'static str)>,
    tables: HashSet<String>,
}

/// The module with nothing in it that is not read from the last function on.
pub(super) fn tidy(mut module: Module) -> Module {
    loop {
        let before = size(&module);
        let mut all = Read::default();
        let mut parameters: HashMap<String, Vec<bool>> = HashMap::new();
        let last = module.functions.last().map(|last| last.name.clone());
        for function in &mut module.functions {
            loop {
                let mut read = Read::default();
                read.steps(&function.body);
                read.expr(&function.value);
                let steps = count(&function.body);
                function.body = kept(std::mem::take(&mut function.body), &read.names);
                if count(&function.body) == steps {
                    let is_last = Some(&function.name) == last.as_ref();
                    let is_read = |(name, _): &(String, Ty)| is_last || read.names.contains(name);
                    let own = function.parameters.iter().map(is_read).collect();
                    parameters.insert(function.name.clone(), own);
                    all.join(read);
                    break;
                }
            }
        }
        let is_called = |function: &super::ir::Function| {
            all.functions.contains(&function.name) || Some(&function.name) == last.as_ref()
        };
        module.functions.retain(is_called);
        module
            .constants
            .retain(|constant| all.names.contains(&constant.name));
        module.tables.retain(|(name, _)| all.tables.contains(name));
        let shorter = |record: &Rc<Record>| {
            let mut fields = record.fields.clone();
            fields.retain(|(name, _)| all.fields.contains(&(record.name.clone(), *name)));
            Rc::new(Record {
                name: record.name.clone(),
                comment: record.comment.clone(),
                fields,
            })
        };
        let records: Vec<Rc<Record>> = module.records.iter().map(shorter).collect();
        module.records = records
            .iter()
            .filter(|record| !record.fields.is_empty())
            .cloned()
            .collect();
        let with = With {
            records: &records,
            parameters: &parameters,
        };
        for function in &mut module.functions {
            let mut read = parameters[&function.name].iter();
            function
                .parameters
                .retain(|_| read.next().copied().unwrap_or(true));
            for (_, ty) in &mut function.parameters {
                *ty = with.ty(ty);
            }
            function.body = function.body.iter().map(|step| with.step(step)).collect();
            function.value = with.expr(&function.value);
        }
        if size(&module) == before {
            return module;
        }
    }
}

fn size(module: &Module) -> usize {
    let fields: usize = module
        .records
        .iter()
        .map(|record| record.fields.len())
        .sum();
    let steps: usize = module
        .functions
        .iter()
        .map(|function| count(&function.body))
        .sum();
    let parameters: usize = module.functions.iter().map(|it| it.parameters.len()).sum();
    fields
        + steps
        + parameters
        + module.functions.len()
        + module.constants.len()
        + module.tables.len()
}

fn count(steps: &[Step]) -> usize {
    let inner = |step: &Step| match step {
        Step::For(_, _, steps) => 1 + count(steps),
        _ => 1,
    };
    steps.iter().map(inner).sum()
}

/// The steps whose names are read.
fn kept(steps: Vec<Step>, names: &HashSet<String>) -> Vec<Step> {
    let mut kept_steps = Vec::new();
    for step in steps {
        match step {
            Step::Let(ref name, _)
            | Step::Var(ref name, _)
            | Step::Set(ref name, _)
            | Step::Array(ref name, ..)
            | Step::Put(ref name, ..)
                if !names.contains(name) => {}
            Step::For(index, count, mut steps) => {
                // What a loop names, only it reads.
                let mut own = Read::default();
                own.steps(&steps);
                let is_read = |step: &Step| match step {
                    Step::Let(name, _) => own.names.contains(name),
                    _ => true,
                };
                steps.retain(is_read);
                let steps = kept(steps, names);
                if !steps.is_empty() {
                    kept_steps.push(Step::For(index, count, steps));
                }
            }
            step => kept_steps.push(step),
        }
    }
    kept_steps
}

impl Read {
    fn join(&mut self, other: Self) {
        self.names.extend(other.names);
        self.functions.extend(other.functions);
        self.fields.extend(other.fields);
        self.tables.extend(other.tables);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Say(_) | Step::Array(..) => {}
                Step::Let(_, x) | Step::Var(_, x) => self.expr(x),
                // A variable that only its own changes read is not read.
                Step::Set(name, x) => {
                    let mut own = Self::default();
                    own.expr(x);
                    if !self.names.contains(name) {
                        own.names.remove(name);
                    }
                    self.join(own);
                }
                Step::Put(_, index, x) => {
                    self.expr(index);
                    self.expr(x);
                }
                Step::For(_, _, steps) => self.steps(steps),
                Step::ReturnIf(x, y) => {
                    self.expr(x);
                    self.expr(y);
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &*expr.node {
            Node::Name(name) => {
                self.names.insert(name.clone());
            }
            Node::Element(name, x) => {
                self.names.insert(name.clone());
                self.expr(x);
            }
            Node::Entry(name, x) => {
                self.tables.insert(name.clone());
                self.expr(x);
            }
            Node::Field(x, field) => {
                if let Some(record) = x.ty.record() {
                    self.fields.insert((record.name.clone(), *field));
                }
                self.expr(x);
            }
            Node::Call(name, all) => {
                self.functions.insert(name.clone());
                all.iter().for_each(|x| self.expr(x));
            }
            _ => expr.parts().iter().for_each(|x| self.expr(x)),
        }
    }
}

/// What records and functions still have, by their names.
struct With<'a> {
    records: &'a [Rc<Record>],
    parameters: &'a HashMap<String, Vec<bool>>,
}

impl With<'_> {
    fn record(&self, record: &Rc<Record>) -> Rc<Record> {
        let found = self.records.iter().find(|own| own.name == record.name);
        found.unwrap_or(record).clone()
    }

    fn ty(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Record(record) => Ty::Record(self.record(record)),
            Ty::Array(of, count) => Ty::Array(Rc::new(self.ty(of)), *count),
            _ => ty.clone(),
        }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let ty = self.ty(&expr.ty);
        let node = match &*expr.node {
            Node::Made(fields) => {
                let own = expr.ty.record().map_or(&[][..], |record| &record.fields);
                let kept = |name: &str| {
                    ty.record()
                        .is_some_and(|record| record.field(name).is_some())
                };
                let fields = own.iter().zip(fields).filter(|((name, _), _)| kept(name));
                Node::Made(fields.map(|(_, value)| self.expr(value)).collect())
            }
            Node::Call(name, all) => {
                let is_read = self.parameters.get(name).map_or(&[][..], |read| read);
                let all = all.iter().enumerate();
                let kept = all.filter(|(place, _)| is_read.get(*place).copied().unwrap_or(true));
                Node::Call(name.clone(), kept.map(|(_, x)| self.expr(x)).collect())
            }
            node => node.map(&|x| self.expr(x)),
        };
        Expr {
            ty,
            node: Rc::new(node),
        }
    }

    fn step(&self, step: &Step) -> Step {
        let expr = |x: &Expr| self.expr(x);
        match step {
            Step::Say(text) => Step::Say(text.clone()),
            Step::Let(name, x) => Step::Let(name.clone(), expr(x)),
            Step::Var(name, x) => Step::Var(name.clone(), expr(x)),
            Step::Set(name, x) => Step::Set(name.clone(), expr(x)),
            Step::Array(name, of, count) => Step::Array(name.clone(), self.ty(of), *count),
            Step::Put(name, index, x) => Step::Put(name.clone(), expr(index), expr(x)),
            Step::For(index, count, steps) => {
                let steps = steps.iter().map(|step| self.step(step)).collect();
                Step::For(index.clone(), *count, steps)
            }
            Step::ReturnIf(x, y) => Step::ReturnIf(expr(x), expr(y)),
        }
    }
}
