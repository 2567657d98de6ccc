//! Arrays in files: reads matrices from `.npy`, `.npz` and `.safetensors`, writes them as `.npy`.

mod header;
mod named;
mod npy;
// A browser has no need of archives, and the crate that reads them asks the host for random numbers.
#[cfg(not(target_family = "wasm"))]
mod npz;
mod quantised;
mod safetensors;
// (Archives use all of it.)
#[cfg_attr(target_family = "wasm", allow(dead_code))]
mod source;
mod write;

use std::path::Path;

pub use mmascope_gemm::array::{Array, ArrayReading, Casting, Element, Stack, Words};
pub use quantised::{check_quantised_writable, names_quantised, read_quantised, write_quantised};
pub use write::{check_writable, output_path, write_codes, write_npy};

use crate::error::{Error, Result};
use mmascope_gemm::array::elements_of;
use source::Source;

/// Reads `FILE.npy`, `FILE.npz:NAME` (the name may be left out where the file has one array) or
/// `FILE.safetensors:NAME`. Only the header and the wanted array are read, and nothing is allocated
/// that the file is not long enough for.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, is damaged, or holds something else than an
/// array of numbers; [`Error::Unknown`] or [`Error::Argument`] when the name is wrong or
/// missing, with the names that are there.
pub fn read(file: &str) -> Result<Array> {
    let (path, tensor) = split_name(file);
    let mut source = Source::open(Path::new(path)).map_err(|message| io_error(path, &message))?;
    let array = match tensor {
        Tensor::OfSafetensors(Some(tensor)) => safetensors::read(path, &mut source, tensor)?,
        Tensor::OfSafetensors(None) => return Err(safetensors::name_missing(path, &mut source)),
        #[cfg(not(target_family = "wasm"))]
        Tensor::OfNpz(name) => npz::read(path, source, name)?,
        #[cfg(target_family = "wasm")]
        Tensor::OfNpz(_) => return Err(io_error(path, "archives are not read here")),
        Tensor::Only => npy::read(&mut source).map_err(|message| io_error(path, &message))?,
    };
    Ok(array.with_name(file))
}

/// Reads the bytes of an `.npy` file.
///
/// # Errors
/// [`Error::Io`] as [`read`].
pub fn npy_of_bytes(bytes: &[u8]) -> Result<Array> {
    npy::read(&mut Source::of_bytes(bytes)).map_err(|message| io_error(BYTES, &message))
}

/// Reads one array of the bytes of a `.safetensors` file.
///
/// # Errors
/// As [`read`].
pub fn safetensors_of_bytes(bytes: &[u8], name: &str) -> Result<Array> {
    safetensors::read(BYTES, &mut Source::of_bytes(bytes), name)
}

/// The names of the arrays in the bytes of a `.safetensors` file, in alphabetical order.
///
/// # Errors
/// [`Error::Io`] as [`read`].
pub fn safetensors_names(bytes: &[u8]) -> Result<Vec<String>> {
    safetensors::names(&mut Source::of_bytes(bytes)).map_err(|message| io_error(BYTES, &message))
}

/// Reads one array of the bytes of an `.npz` file; the name may be left out where there is only one.
///
/// # Errors
/// As [`read`].
#[cfg(not(target_family = "wasm"))]
pub fn npz_of_bytes(bytes: &[u8], name: Option<&str>) -> Result<Array> {
    npz::read(BYTES, Source::of_bytes(bytes), name)
}

/// The names of the arrays in the bytes of an `.npz` file, in alphabetical order.
///
/// # Errors
/// [`Error::Io`] as [`read`].
#[cfg(not(target_family = "wasm"))]
pub fn npz_names(bytes: &[u8]) -> Result<Vec<String>> {
    npz::names(Source::of_bytes(bytes)).map_err(|message| io_error(BYTES, &message))
}

/// The name of bytes in messages.
const BYTES: &str = "(bytes)";

/// Which array of a file is meant.
#[derive(PartialEq)]
enum Tensor<'a> {
    /// The file is an `.npy` file and has only one.
    Only,
    /// The one of this name, if one is named.
    OfSafetensors(Option<&'a str>),
    /// The one of this name, if one is named.
    OfNpz(Option<&'a str>),
}

/// The path of the file that [`read`] would open: what stands before the name of an array.
///
/// ```
/// assert_eq!(mmascope_io::array::path_of("a/b.npz:x"), "a/b.npz");
/// assert_eq!(mmascope_io::array::path_of("a/b.npy"), "a/b.npy");
/// ```
#[must_use]
pub fn path_of(file: &str) -> &str {
    split_name(file).0
}

/// `FILE.safetensors:NAME`, `FILE.npz:NAME` → file and name; any other text is a file.
fn split_name(text: &str) -> (&str, Tensor<'_>) {
    let split = |suffix: &str| {
        let named = text.find(&format!("{suffix}:")).map(|at| {
            let (file, name) = text.split_at(at + suffix.len());
            (file, Some(&name[1..]))
        });
        named.or(text.ends_with(suffix).then_some((text, None)))
    };
    match (split(".safetensors"), split(".npz")) {
        // The suffix that comes first ends the name of the file.
        (Some((file, name)), other) if other.is_none_or(|(path, _)| file.len() < path.len()) => {
            (file, Tensor::OfSafetensors(name))
        }
        (_, Some((file, name))) => (file, Tensor::OfNpz(name)),
        _ => (text, Tensor::Only),
    }
}

fn io_error(file: &str, message: &str) -> Error {
    Error::Io {
        file: file.to_owned(),
        message: message.to_owned(),
    }
}
