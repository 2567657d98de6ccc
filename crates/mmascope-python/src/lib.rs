//! The extension module `mmascope._core`: what Python objects are to the library, and back.
//!
//! The package around it (`python/mmascope`) gives the names that users see. Nothing here computes:
//! arrays become words of formats, callables become subjects, results become arrays and JSON texts.

mod array;
mod catalogue;
mod compare;
mod device;
mod error;
mod interrupt;
mod on_device;
mod precision;
mod product;
mod program;
mod repeat;
mod reveal;
mod row;
mod tree;

use pyo3::prelude::*;

/// What `mmascope` is made of; use the package, not this module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::catalogue::Catalogue;
    #[pymodule_export]
    use super::compare::{diff_part, diff_whole, identify, said};
    #[pymodule_export]
    use super::device::{infer, probe, validate, validate_join, validate_parts};
    #[pymodule_export]
    use super::on_device::{multiply_on_device, takes_device_memory};
    #[pymodule_export]
    use super::precision::{cast, dequantize, quantize};
    #[pymodule_export]
    use super::product::beta_of;
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::reveal::reveal;
    #[pymodule_export]
    use super::row::{Row, kinds_of};
    #[pymodule_export]
    use super::tree::Tree;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
