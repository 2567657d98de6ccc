//! The catalogue: architectures, rows, defaults, rows of the user's own files.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::error::Raised;
use crate::row::Row;
use mmascope::format::Format;
use mmascope::isa::{OperandTypes, Scaling};

/// A catalogue; it never changes.
#[pyclass(frozen, module = "mmascope._core")]
pub(crate) struct Catalogue {
    pub(crate) inner: Arc<mmascope::Catalogue>,
}

#[pymethods]
impl Catalogue {
    /// The shipped catalogue.
    #[staticmethod]
    fn built_in() -> Self {
        Self {
            inner: Arc::new(mmascope::Catalogue::built_in().clone()),
        }
    }

    /// This catalogue with the rows of a text on top.
    fn extended(&self, file: &str, text: &str) -> PyResult<Self> {
        let mut inner = (*self.inner).clone();
        inner.extend(file, text).raised()?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The hash of its text.
    fn hash(&self) -> String {
        self.inner.hash()
    }

    /// The architecture's own name.
    fn architecture(&self, arch: &str) -> PyResult<String> {
        Ok(self.inner.architecture(arch).raised()?.name.clone())
    }

    /// The architectures as a JSON list, with their instructions.
    fn architectures(&self) -> String {
        let all = self.inner.architectures().iter();
        let all: Vec<_> = all.map(mmascope_cli::json::architecture).collect();
        serde_json::Value::from(all).to_string()
    }

    /// Every row.
    fn rows(&self) -> Vec<Row> {
        let rows = self.inner.instructions();
        rows.map(|row| Row::of_instruction(&self.inner, row))
            .collect()
    }

    /// The instruction of that name.
    fn find(&self, arch: &str, instruction: &str) -> PyResult<Row> {
        let row = self.inner.find(arch, instruction).raised()?;
        Ok(Row::of_instruction(&self.inner, row))
    }

    /// The default instruction of operand formats. `scaled` says that there are block scales.
    #[pyo3(signature = (arch, a, b, c=None, scaled=false))]
    fn default(
        &self,
        arch: &str,
        a: &str,
        b: &str,
        c: Option<&str>,
        scaled: bool,
    ) -> PyResult<Row> {
        let architecture = self.inner.architecture(arch).raised()?;
        let types = OperandTypes {
            c: c.map(Format::named).transpose().raised()?,
            scaling: if scaled { Scaling::Some } else { Scaling::Open },
            ..OperandTypes::of(Format::named(a).raised()?, Format::named(b).raised()?)
        };
        let row = architecture.default_for(&types).raised()?;
        Ok(Row::of_instruction(&self.inner, row))
    }

    /// The default instruction of operand types as text: `f16,f16,f32`.
    fn default_of_text(&self, arch: &str, types: &str) -> PyResult<Row> {
        let architecture = self.inner.architecture(arch).raised()?;
        let types = architecture.operand_types(types).raised()?;
        let row = architecture.default_for(&types).raised()?;
        Ok(Row::of_instruction(&self.inner, row))
    }
}
