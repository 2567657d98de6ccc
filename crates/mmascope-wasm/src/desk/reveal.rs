//! Reveals a unit's summation order, and keeps every masked input so that it can be shown step by step.

use std::collections::BTreeMap;
use std::fmt::Write;

use mmascope_lab::dut::ModelDut;
use mmascope_lab::reveal::{Algorithm, DeviceSum, Masks, Query, RevealOptions, Summation, reveal};
use mmascope_model::format::Format;
use mmascope_model::isa::Instruction;
use mmascope_model::tree::Term;
use mmascope_model::{Error, Result};
use serde_json::{Value, json};

/// Steps that are kept.
const MOST: usize = 4096;
/// Leaves up to which the table of counts is drawn.
const TABLE: usize = 72;

/// One masked input and its result.
struct Step {
    query: Query,
    units: Vec<bool>,
    result: f64,
}

/// A revealed unit.
pub(super) struct Revealed {
    names: Vec<String>,
    steps: Vec<Step>,
    body: Value,
}

impl Revealed {
    pub(super) fn of(row: &Instruction) -> Result<Self> {
        let unit = row.unit()?;
        let name = format!("{}:{}", row.architecture, row.name);
        let mut device = ModelDut::new(&name, unit.clone());
        if mmascope_lab::integers::are_summed(unit.signature()) {
            let found = mmascope_lab::integers::reveal(&mut device, 1)?;
            return Ok(Self {
                names: found.leaves.clone(),
                steps: Vec::new(),
                body: body(&name, &found),
            });
        }
        let mut subject = Recording {
            inner: DeviceSum::new(&mut device)?,
            steps: Vec::new(),
        };
        let options = RevealOptions {
            algorithm: Algorithm::Fprev,
            trials: 0,
            verify: false,
            ..RevealOptions::default()
        };
        reveal(&mut subject, &options)?;
        let steps = std::mem::take(&mut subject.steps);
        // What kinds of nodes there are, and whether the tree holds, is found apart.
        let mut device = ModelDut::new(&name, unit.clone());
        let found = reveal(&mut DeviceSum::new(&mut device)?, &RevealOptions::default())?;
        Ok(Self {
            names: found.leaves.clone(),
            steps,
            body: body(&name, &found),
        })
    }

    pub(super) fn json(&self) -> Value {
        let mut body = self.body.clone();
        body["steps"] = json!(self.steps.len());
        body
    }

    /// A step in words and as a picture.
    pub(super) fn step(&self, index: usize) -> Result<Value> {
        let step = self.steps.get(index).ok_or_else(|| {
            Error::Argument(format!("step {index}: there are {}", self.steps.len()))
        })?;
        Ok(json!({"words": self.words(step), "picture": self.picture(index, step)}))
    }

    fn name(&self, leaf: usize) -> String {
        self.names
            .get(leaf)
            .cloned()
            .unwrap_or_else(|| leaf.to_string())
    }

    fn words(&self, step: &Step) -> String {
        let units = step.units.iter().filter(|is_unit| **is_unit).count();
        let result = step.result;
        match (step.query.plus, step.query.minus) {
            (Some(plus), Some(minus)) => {
                let masked = [plus, minus]
                    .iter()
                    .filter(|&&leaf| step.units.get(leaf) == Some(&true))
                    .count();
                let units = units - masked;
                let lost = units as f64 - result;
                format!(
                    "M at {}, −M at {}, a unit at {units} other leaves. {result} units come out: {lost} were added while M was in the \
                     running sum. So {} and {} meet in a node over {} of these leaves.",
                    self.name(plus),
                    self.name(minus),
                    self.name(plus),
                    self.name(minus),
                    lost + 2.0
                )
            }
            _ => format!("Units at {units} leaves, no masks: {result} come out."),
        }
    }

    /// The leaves with their masks, and what all steps so far have said of pairs of leaves.
    fn picture(&self, index: usize, step: &Step) -> String {
        const CELL: usize = 34;
        let leaves = self.names.len();
        let draws_table = leaves <= TABLE;
        let (width, height) = (
            60 + leaves * CELL,
            64 + if draws_table { 28 + leaves * 22 } else { 0 },
        );
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"Masked input {}\" class=\"masks\">",
            index + 1
        );
        for leaf in 0..leaves {
            let x = 56 + leaf * CELL;
            let (class, text) = match () {
                () if step.query.plus == Some(leaf) => ("plus", "+M"),
                () if step.query.minus == Some(leaf) => ("minus", "−M"),
                () if step.units.get(leaf) == Some(&true) => ("unit", "1"),
                () => ("zero", "0"),
            };
            write!(
                svg,
                "<text class=\"leaf\" x=\"{0}\" y=\"16\">{1}</text><rect class=\"{class}\" x=\"{x}\" y=\"22\" width=\"{2}\" height=\"26\" \
                 rx=\"4\"/><text class=\"{class}\" x=\"{0}\" y=\"40\">{text}</text>",
                x + CELL / 2 - 1,
                self.name(leaf),
                CELL - 3
            )
            .ok();
        }
        if draws_table {
            self.table(&mut svg, index, CELL);
        }
        svg.push_str("</svg>");
        svg
    }

    /// The number of leaves below the node in which two leaves meet, as far as the steps up to this one say it.
    fn table(&self, svg: &mut String, index: usize, cell: usize) {
        let mut known: BTreeMap<(usize, usize), (f64, bool)> = BTreeMap::new();
        for (at, step) in self.steps[..=index].iter().enumerate() {
            if let (Some(plus), Some(minus)) = (step.query.plus, step.query.minus) {
                let count = |leaf: &usize| step.units.get(*leaf) == Some(&true);
                let masked = [plus, minus].iter().filter(|leaf| count(leaf)).count();
                let units = step.units.iter().filter(|is| **is).count() - masked;
                let size = units as f64 - step.result + 2.0;
                known.insert((plus.min(minus), plus.max(minus)), (size, at == index));
            }
        }
        for leaf in 0..self.names.len() {
            let y = 76 + leaf * 22;
            write!(
                svg,
                "<text class=\"side\" x=\"50\" y=\"{}\">{}</text>",
                y + 15,
                self.name(leaf)
            )
            .ok();
        }
        for ((row, column), (size, is_new)) in known {
            let class = if is_new { "cell new" } else { "cell" };
            let (x, y) = (56 + column * cell, 76 + row * 22);
            write!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"20\" rx=\"3\"/><text class=\"{class}\" x=\"{}\" \
                 y=\"{}\">{size}</text>",
                cell - 3,
                x + cell / 2 - 1,
                y + 15
            )
            .ok();
        }
    }
}

fn body(name: &str, found: &mmascope_lab::reveal::Revelation) -> Value {
    json!({
        "unit": name,
        "leaves": found.leaves,
        "nature": found.nature.name(),
        "reason": found.nature.reason(),
        "pattern": found.tree.pattern(),
        "trials": found.verified.trials,
        "mismatches": found.verified.mismatches,
        "arithmetic": found.verified.arithmetic,
        "notes": found.notes,
        "tree": found.tree.svg(name, &found.leaves),
    })
}

/// A subject that keeps what it was asked.
struct Recording<'a> {
    inner: DeviceSum<'a>,
    steps: Vec<Step>,
}

impl Summation for Recording<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn prepare(&mut self) -> Result<usize> {
        self.inner.prepare()
    }
    fn leaves(&self) -> usize {
        self.inner.leaves()
    }
    fn leaf_name(&self, leaf: usize) -> String {
        self.inner.leaf_name(leaf)
    }
    fn format(&self) -> Format {
        self.inner.format()
    }
    fn operand_format(&self) -> Format {
        self.inner.operand_format()
    }
    fn products(&self) -> bool {
        self.inner.products()
    }
    fn is_product(&self, leaf: usize) -> bool {
        self.inner.is_product(leaf)
    }
    fn remarks(&self) -> Vec<String> {
        self.inner.remarks()
    }
    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
    fn masks(&self) -> Masks {
        self.inner.masks()
    }
    fn choices(&self) -> usize {
        self.inner.choices()
    }
    fn choose(&mut self, choice: usize) {
        self.inner.choose(choice);
    }
    fn raise_unit(&mut self, shift: i32) -> bool {
        self.inner.raise_unit(shift)
    }
    fn block(&self) -> Option<usize> {
        self.inner.block()
    }
    fn raise_blocks(&mut self, on: bool) -> Option<i32> {
        self.inner.raise_blocks(on)
    }
    fn alignment(&mut self) -> Result<Option<i32>> {
        self.inner.alignment()
    }
    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let results = self.inner.measure(units, queries)?;
        let units: Vec<bool> = units.iter().map(|weight| *weight != 0.0).collect();
        for (query, result) in queries.iter().zip(&results) {
            let masks = [query.plus, query.minus];
            let others =
                (0..units.len()).filter(|leaf| units[*leaf] && !masks.contains(&Some(*leaf)));
            // Checks of single leaves, and of masks alone, are no steps of the search.
            let says_something = query.only.is_none() && others.count() > 0;
            if says_something && self.steps.len() < MOST {
                self.steps.push(Step {
                    query: *query,
                    units: units.clone(),
                    result: *result,
                });
            }
        }
        Ok(results)
    }
    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        self.inner.evaluate(inputs)
    }
    fn evaluate_sparse(
        &mut self,
        background: Term,
        inputs: &[Vec<(usize, Term)>],
    ) -> Result<Vec<f64>> {
        self.inner.evaluate_sparse(background, inputs)
    }
    fn fused_format(&self) -> Option<Format> {
        self.inner.fused_format()
    }
    fn fused_sum(&mut self, children: &[(usize, Term)]) -> Result<Option<f64>> {
        self.inner.fused_sum(children)
    }
    fn random_term(&self, leaf: usize, bits: u64) -> Term {
        self.inner.random_term(leaf, bits)
    }
}
