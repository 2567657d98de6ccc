//! One row of the catalogue, or a unit of the user's own.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::array::Operand;
use crate::error::{Raised, argument};
use crate::product;
use crate::tree::Tree;
use mmascope::array::{Casting, Words};
use mmascope::dpa::{Modifiers, Operands, Signature, Unit};
use mmascope::explain::{Comparison, Trace, page, page_against};
use mmascope::format::Format;
use mmascope::isa::Instruction;
use mmascope::tree::Node;

/// An instruction or a unit.
#[pyclass(frozen, module = "mmascope._core")]
pub(crate) struct Row {
    /// The catalogue it is of; `None` for a unit from notation.
    pub(crate) catalogue: Option<Arc<mmascope::Catalogue>>,
    pub(crate) instruction: Option<Arc<Instruction>>,
    /// The unit of a row without an instruction.
    own: Option<Unit>,
    signature: Signature,
}

impl Row {
    pub(crate) fn of_instruction(catalogue: &Arc<mmascope::Catalogue>, row: &Instruction) -> Self {
        Self {
            catalogue: Some(catalogue.clone()),
            signature: row.signature,
            instruction: Some(Arc::new(row.clone())),
            own: None,
        }
    }

    pub(crate) fn unit(&self) -> mmascope::Result<&Unit> {
        match (&self.own, &self.instruction) {
            (Some(unit), _) => Ok(unit),
            (None, Some(instruction)) => instruction.unit(),
            (None, None) => Err(mmascope::Error::Argument("no unit".to_owned())),
        }
    }

    pub(crate) fn modifiers(&self, names: &[String]) -> PyResult<Modifiers> {
        let mut modifiers = Modifiers::default();
        for name in names {
            modifiers.add(name).raised()?;
        }
        if let Some(instruction) = &self.instruction {
            instruction.check_modifiers(&modifiers).raised()?;
        }
        Ok(modifiers)
    }

    /// `ARCH:INST`, or the unit's signature.
    pub(crate) fn full_name(&self) -> String {
        match &self.instruction {
            Some(row) => format!("{}:{}", row.architecture, row.name),
            None => self.signature.to_string(),
        }
    }

    /// One dot product's operands as words.
    fn operands(&self, given: &Given<'_>) -> PyResult<OwnedOperands> {
        let signature = &self.signature;
        let casting = Casting::default();
        let row = |operand: &Operand<'_>, format: &Format| -> PyResult<Vec<u64>> {
            Ok(operand.words(format, &casting)?.to_vec())
        };
        let scale = |operand: &Option<Operand<'_>>| match (operand, signature.scale) {
            (Some(operand), Some(scale)) => Ok(operand
                .array()?
                .scale_words(&scale.format)
                .raised()?
                .to_vec()),
            (Some(_), None) => Err(argument(
                "scale_a, scale_b: the instruction has no block scales",
            )),
            (None, _) => Ok(Vec::new()),
        };
        let c = match &given.c {
            Some(c) => row(c, &signature.c)?.first().copied().unwrap_or(0),
            None => 0,
        };
        Ok(OwnedOperands {
            a: row(&given.a, &signature.a)?,
            b: row(&given.b, &signature.b)?,
            c,
            scale_a: scale(&given.scale_a)?,
            scale_b: scale(&given.scale_b)?,
        })
    }

    fn trace(&self, given: &Given<'_>, modifiers: &[String]) -> PyResult<Trace> {
        let operands = self.operands(given)?;
        let modifiers = self.modifiers(modifiers)?;
        let unit = self.unit().raised()?;
        Trace::of(unit, &operands.borrowed(), &modifiers).raised()
    }
}

/// Formats of a, b, c and d, format and block of scales, K.
type Kinds = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Option<(&'static str, usize)>,
    usize,
);

fn kinds(signature: &Signature) -> Kinds {
    let Signature {
        a,
        b,
        c,
        d,
        scale,
        k,
    } = *signature;
    let scale = scale.map(|scale| (scale.format.name, scale.block));
    (a.name, b.name, c.name, d.name, scale, k)
}

/// Formats of a, b, c and d, format and block of scales, and K of a signature.
#[pyfunction]
pub(crate) fn kinds_of(signature: &str) -> PyResult<Kinds> {
    Ok(kinds(&signature.parse().raised()?))
}

/// The arrays of one dot product.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    a: Operand<'py>,
    b: Operand<'py>,
    c: Option<Operand<'py>>,
    scale_a: Option<Operand<'py>>,
    scale_b: Option<Operand<'py>>,
}

struct OwnedOperands {
    a: Vec<u64>,
    b: Vec<u64>,
    c: u64,
    scale_a: Vec<u64>,
    scale_b: Vec<u64>,
}

impl OwnedOperands {
    fn borrowed(&self) -> Operands<'_> {
        Operands {
            a: &self.a,
            b: &self.b,
            c: self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        }
    }
}

#[pymethods]
impl Row {
    /// A unit from its signature and its program.
    #[staticmethod]
    fn from_notation(signature: &str, program: &str) -> PyResult<Self> {
        let signature: Signature = signature.parse().raised()?;
        let unit = Unit::new(signature, program.parse().raised()?).raised()?;
        Ok(Self {
            catalogue: None,
            instruction: None,
            own: Some(unit),
            signature,
        })
    }

    /// What a program lists of it, as JSON.
    fn json(&self) -> PyResult<String> {
        Ok(match (&self.instruction, &self.own) {
            (Some(row), _) => mmascope_cli::json::instruction(row).to_string(),
            (None, unit) => {
                let signature = &self.signature;
                let arithmetic = unit.as_ref().map(|unit| unit.program().to_string());
                json!({
                    "arch": Value::Null,
                    "inst": Value::Null,
                    "a": signature.a.name,
                    "b": signature.b.name,
                    "c": signature.c.name,
                    "d": signature.d.name,
                    "k": signature.k,
                    "scale": signature.scale.map(|scale| scale.format.name),
                    "block": signature.scale.map(|scale| scale.block),
                    "modelled": true,
                    "arithmetic": arithmetic,
                })
                .to_string()
            }
        })
    }

    /// `a=f16 b=f16 c=f32 d=f32 k=16`.
    fn signature(&self) -> String {
        self.signature.to_string()
    }

    /// See [`kinds_of`].
    fn kinds(&self) -> Kinds {
        kinds(&self.signature)
    }

    /// What the program says of it.
    fn show(&self) -> PyResult<String> {
        if let (Some(catalogue), Some(row)) = (&self.catalogue, &self.instruction) {
            let architecture = catalogue.architecture(&row.architecture).raised()?;
            return mmascope_cli::words::show(architecture, row).raised();
        }
        let unit = self.unit().raised()?;
        let mut text = format!(
            "types       {}\narithmetic  {}\n\n",
            self.signature,
            unit.program()
        );
        for line in unit.words() {
            text.push_str(&line);
            text.push('\n');
        }
        if let Some(tree) = Node::of_program(unit.program(), &self.signature) {
            text.push_str("\nSummation tree (p_k is the product of a_k and b_k):\n");
            text.push_str(&tree.text(self.signature.k));
        }
        Ok(text)
    }

    /// Its summation tree; `None` where there is none over all leaves.
    fn tree(&self) -> PyResult<Option<Tree>> {
        let unit = self.unit().raised()?;
        let leaves = self.signature.k + 1;
        let node = Node::of_program(unit.program(), &self.signature);
        let tree = node.and_then(|node| mmascope::Tree::of_node(&node, leaves).ok());
        let names = (0..self.signature.k).map(|k| format!("p{k}"));
        let names = names.chain(["c".to_owned()]).collect();
        Ok(tree.map(|tree| Tree::with_names(tree, names)))
    }

    /// One dot product: the word of d.
    #[pyo3(signature = (given, modifiers=Vec::new()))]
    fn dot<'py>(
        &self,
        py: Python<'py>,
        given: Given<'_>,
        modifiers: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let operands = self.operands(&given)?;
        let own = self.modifiers(&modifiers)?;
        let word = match &self.instruction {
            Some(instruction) => instruction.dot(&operands.borrowed(), &own),
            None => self
                .unit()
                .and_then(|unit| unit.dot(&operands.borrowed(), &own)),
        };
        let words = Words::of(&self.signature.d, [word.raised()?]).raised()?;
        crate::array::to_numpy(py, words, &[])
    }

    /// One dot product step by step: text, page and JSON.
    #[pyo3(signature = (given, modifiers=Vec::new()))]
    fn explain(
        &self,
        given: Given<'_>,
        modifiers: Vec<String>,
    ) -> PyResult<(String, String, String)> {
        let trace = self.trace(&given, &modifiers)?;
        let name = self.full_name();
        let json = json!(trace).to_string();
        Ok((format!("{name}\n{trace}"), page(&name, &trace), json))
    }

    /// The same beside another row's.
    #[pyo3(signature = (given, other, others, modifiers=Vec::new()))]
    fn explain_against(
        &self,
        given: Given<'_>,
        other: &Self,
        others: Given<'_>,
        modifiers: Vec<String>,
    ) -> PyResult<(String, String, String)> {
        let (own, theirs) = (
            self.trace(&given, &modifiers)?,
            other.trace(&others, &modifiers)?,
        );
        let (name, other_name) = (self.full_name(), other.full_name());
        let difference = Comparison::of((&name, &own), (&other_name, &theirs));
        let json = json!({
            "explanation": own,
            "against": theirs,
            "parting": difference.parting,
            "parting_words": difference.words,
        });
        Ok((
            difference.to_string(),
            page_against(&difference),
            json.to_string(),
        ))
    }

    /// The name of the format of a product's elements.
    #[pyo3(signature = (schedule=None))]
    fn result(&self, schedule: Option<&str>) -> PyResult<&'static str> {
        product::result_format(self, schedule)
    }

    /// A whole product: the words of D and the name of their format.
    fn matmul<'py>(
        &self,
        py: Python<'py>,
        given: product::Given<'py>,
        options: product::Options<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, &'static str)> {
        product::multiply(py, self, &given, &options)
    }
}
