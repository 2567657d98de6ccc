//! Summation trees.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{Raised, argument};
use mmascope::format::Format;
use mmascope::tree::{Arithmetic, Term, TreeFacts, TreeForm, TreeLanguage};

/// A summation tree and what is known beside it.
#[pyclass(frozen, module = "mmascope._core")]
pub(crate) struct Tree {
    pub(crate) inner: mmascope::Tree,
    names: Vec<String>,
}

impl Tree {
    pub(crate) fn with_names(inner: mmascope::Tree, names: Vec<String>) -> Self {
        Self { inner, names }
    }
}

#[pymethods]
impl Tree {
    /// Reads canonical text, NODE, the flat form or the output of `reveal --json`; gives what else it says as JSON.
    #[staticmethod]
    fn read(text: &str) -> PyResult<(Self, String)> {
        let (inner, names) = mmascope::Tree::read(text).raised()?;
        let facts = TreeFacts::read(text, inner.leaves()).raised()?;
        let members = serde_json::Value::Object(facts.members).to_string();
        Ok((Self { inner, names }, members))
    }

    /// The canonical text.
    fn text(&self) -> String {
        self.inner.to_string()
    }

    /// A tree file with these facts, or NODE without any; flat where it is asked for, or where NODE would be too deep.
    #[pyo3(signature = (flat=false, facts="{}"))]
    fn json(&self, flat: bool, facts: &str) -> PyResult<String> {
        let asked = if flat {
            TreeForm::Flat
        } else {
            TreeForm::Nested
        };
        let facts =
            serde_json::from_str(facts).map_err(|error| argument(&format!("report: {error}")))?;
        let facts = TreeFacts::of_members(facts, self.inner.leaves()).raised()?;
        let is_bare = facts.members.is_empty() && self.names.is_empty();
        if is_bare && self.inner.form(asked) == TreeForm::Nested {
            return Ok(self.inner.json());
        }
        let file = self.inner.file_with(&facts, &self.names, asked);
        Ok(file.trim_end().to_owned())
    }

    /// Number of leaves.
    fn leaves(&self) -> usize {
        self.inner.leaves()
    }

    /// Names of the leaves; none where nobody named them.
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The same tree under these names.
    fn renamed(&self, names: Vec<String>) -> PyResult<Self> {
        if !names.is_empty() && names.len() != self.inner.leaves() {
            let (names, leaves) = (names.len(), self.inner.leaves());
            return Err(PyValueError::new_err(format!(
                "{names} names for {leaves} leaves"
            )));
        }
        Ok(Self {
            inner: self.inner.clone(),
            names,
        })
    }

    /// Inner nodes, depth, largest number of children.
    fn statistics(&self) -> (usize, usize, usize) {
        let statistics = self.inner.statistics();
        (statistics.nodes, statistics.depth, statistics.fan_in)
    }

    /// One line that describes it.
    fn pattern(&self) -> String {
        self.inner.pattern()
    }

    /// Whether they sum the same leaves in the same order with the same operations.
    fn equals(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    /// What differs, in words.
    fn difference(&self, other: &Self) -> Option<String> {
        let difference = self.inner.difference(&other.inner);
        difference.map(|difference| difference.to_string())
    }

    /// A drawing.
    fn svg(&self, title: &str) -> String {
        self.inner.svg(title, &self.names)
    }

    /// Graphviz text.
    fn dot(&self) -> String {
        self.inner.dot(&self.names)
    }

    /// A page.
    fn html(&self, title: &str, facts: &str) -> String {
        self.inner.html(title, facts, &self.names)
    }

    /// Sums numbers, or products of numbers, in the tree's order, and rounds the sum to the format `result`; so many products are `stated`.
    #[pyo3(signature = (values, others=None, dtype=None, fused_bits=None, fused_rounding=None, rounding=None, result=None, stated=None))]
    #[expect(clippy::too_many_arguments, reason = "the package names each")]
    fn run(
        &self,
        values: Vec<f64>,
        others: Option<Vec<f64>>,
        dtype: Option<&str>,
        fused_bits: Option<i32>,
        fused_rounding: Option<&str>,
        rounding: Option<&str>,
        result: Option<&str>,
        stated: Option<usize>,
    ) -> PyResult<f64> {
        let arithmetic = Arithmetic::named(dtype, fused_bits, fused_rounding, rounding).raised()?;
        let mut facts = TreeFacts::default();
        facts.format = result.map(Format::named).transpose().raised()?;
        facts.products = stated;
        let others = others.unwrap_or_default();
        if others.len() > values.len() {
            return Err(argument("run: more second factors than numbers"));
        }
        facts.check_products(others.len()).raised()?;
        let mut terms: Vec<Term> = values
            .iter()
            .enumerate()
            .map(|(index, &value)| match others.get(index) {
                Some(&other) => Term::Product(value, other),
                None => Term::Value(value),
            })
            .collect();
        // Without a word on the operands' format, numbers are taken as they stand.
        if dtype.is_some() {
            let read = facts.read_operands(arithmetic.operands, &mut terms);
            read.raised()?;
        }
        let sum = self.inner.execute(&terms, &arithmetic).raised()?;
        Ok(facts.result(sum))
    }

    /// The sum as code of a language, rounded to the format `result`.
    #[pyo3(signature = (language, products=0, dtype=None, fused_bits=None, fused_rounding=None, rounding=None, result=None))]
    #[expect(clippy::too_many_arguments, reason = "the package names each")]
    fn export(
        &self,
        language: &str,
        products: usize,
        dtype: Option<&str>,
        fused_bits: Option<i32>,
        fused_rounding: Option<&str>,
        rounding: Option<&str>,
        result: Option<&str>,
    ) -> PyResult<String> {
        let arithmetic = Arithmetic::named(dtype, fused_bits, fused_rounding, rounding).raised()?;
        let language = TreeLanguage::named(language).raised()?;
        let result = result.map(Format::named).transpose().raised()?;
        let code = self.inner.export(language, products, &arithmetic, result);
        code.raised()
    }
}
