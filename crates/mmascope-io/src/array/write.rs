//! Writes `.npy` files: the whole file or nothing.

use std::borrow::Borrow;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;

use super::{Tensor, elements_of, io_error, split_name};
use crate::error::{Error, Result};
use crate::format::{F16, F32, F64, Format, Kind};

/// Elements between two looks at the cancel flag.
const CHUNK: usize = 1 << 16;

/// Checks that [`write_npy`] can make this file, without making it: a long computation should not
/// end in a folder that is not there.
///
/// # Errors
/// [`Error::Io`] when the folder cannot be written to, the file exists and is no regular file, or
/// its name is that of a safetensors or `.npz` file.
pub fn check_writable(file: &str) -> Result<()> {
    let path = npy_path(file)?;
    temporary(file, &path).map(drop)
}

/// Writes register words of a format as an `.npy` file: f16, f32 and f64 as NumPy's floats, words
/// of upper parts of f32 as f32, integers with a sign as such, other formats as `np.save` writes them from `ml_dtypes` (`V2`,
/// `V1`).
///
/// The bytes go to a temporary file in the same folder, which then takes the file's name. On any
/// error, and when `cancel` is set, nothing is left behind and a file that was there stays as it was.
///
/// # Errors
/// [`Error::Io`] when the file cannot be written, [`Error::Argument`] when the words do not fit the
/// shape, [`Error::Cancelled`].
pub fn write_npy(
    file: &str,
    shape: &[usize],
    format: &Format,
    words: impl IntoIterator<Item: Borrow<u64>, IntoIter: ExactSizeIterator>,
    cancel: &AtomicBool,
) -> Result<()> {
    write(file, shape, element(format), words, cancel)
}

/// Writes register words of a format as an `.npy` file of codes: unsigned integers as wide as the
/// register, one for each element.
///
/// # Errors
/// As [`write_npy`].
pub fn write_codes(
    file: &str,
    shape: &[usize],
    format: &Format,
    words: impl IntoIterator<Item: Borrow<u64>, IntoIter: ExactSizeIterator>,
    cancel: &AtomicBool,
) -> Result<()> {
    let element = match format.register.bits {
        0..=8 => ("|u1", 1),
        9..=16 => ("<u2", 2),
        17..=32 => ("<u4", 4),
        _ => ("<u8", 8),
    };
    write(file, shape, element, words, cancel)
}

/// Writes elements of that type string and size.
fn write(
    file: &str,
    shape: &[usize],
    (descr, size): (&str, usize),
    words: impl IntoIterator<Item: Borrow<u64>, IntoIter: ExactSizeIterator>,
    cancel: &AtomicBool,
) -> Result<()> {
    let mut words = words.into_iter();
    if elements_of(shape) != Some(words.len()) {
        return Err(Error::Argument(format!(
            "{file}: {} elements do not make an array of shape {shape:?}",
            words.len()
        )));
    }
    let path = npy_path(file)?;
    let mut temporary = temporary(file, &path)?;
    let failed = |error: std::io::Error| io_error(file, &error.to_string());
    let mut out = BufWriter::with_capacity(1 << 20, temporary.as_file_mut());
    out.write_all(&header(descr, shape)).map_err(failed)?;
    while words.len() > 0 {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        for word in words.by_ref().take(CHUNK) {
            let bytes = word.borrow().to_le_bytes();
            out.write_all(&bytes[..size]).map_err(failed)?;
        }
    }
    out.flush().map_err(failed)?;
    drop(out);
    temporary.as_file().sync_all().map_err(failed)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    temporary
        .persist(&path)
        .map_err(|error| failed(error.error))?;
    Ok(())
}

/// [`output_path`] of an `.npy` file. Under the name of a file of several arrays it would replace all
/// arrays of one that is there, and no reader would take it.
fn npy_path(file: &str) -> Result<PathBuf> {
    let kind = match split_name(file).1 {
        Tensor::Only => return output_path(file),
        Tensor::OfSafetensors(_) => "a .safetensors",
        Tensor::OfNpz(_) => "an .npz",
    };
    let message = format!("this names {kind} file; what is written is an .npy file");
    Err(io_error(file, &message))
}

/// The most links that lead from one to the next, as on Linux.
const MOST_LINKS: usize = 40;

/// Where an output file of that name really goes: the file that a symbolic link points to, whether
/// it is there or not. Its folder has to be there, and only a regular file may be replaced.
///
/// # Errors
/// [`Error::Io`] naming the file, and the folder that is not there.
pub fn output_path(file: &str) -> Result<PathBuf> {
    let failed = |error: std::io::Error| io_error(file, &error.to_string());
    let mut path = PathBuf::from(file);
    let mut links = 0;
    while fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
        links += 1;
        if links > MOST_LINKS {
            return Err(io_error(file, "this is a link that leads back to itself"));
        }
        let next = fs::read_link(&path).map_err(failed)?;
        path = match path.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => return Err(io_error(file, "this is a folder")),
        Ok(metadata) if !metadata.is_file() => {
            return Err(io_error(file, "this is no regular file"));
        }
        _ if path.file_name().is_none() => {
            return Err(io_error(file, "this is no name of a file"));
        }
        _ => {}
    }
    let folder = folder_of(&path);
    if folder.is_dir() {
        return Ok(path);
    }
    let message = format!("there is no folder '{}' to write it to", folder.display());
    Err(io_error(file, &message))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn temporary(file: &str, path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mmascope-").suffix(".tmp");
    #[cfg(unix)]
    {
        // The permissions of any other new file; the user's mask is taken off by the system.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
        .tempfile_in(folder_of(path))
        .map_err(|error| io_error(file, &error.to_string()))
}

/// NumPy's type string, and bytes per element.
fn element(format: &Format) -> (&'static str, usize) {
    match format.container() {
        Format {
            kind: Kind::Fixed { scale: 0 },
            signed: true,
            register,
            ..
        } if register.bits >= 8 => match register.bits {
            8 => ("|i1", 1),
            16 => ("<i2", 2),
            32 => ("<i4", 4),
            _ => ("<i8", 8),
        },
        F16 => ("<f2", 2),
        F32 => ("<f4", 4),
        F64 => ("<f8", 8),
        other if other.bits <= 8 => ("|V1", 1),
        other if other.bits <= 16 => ("<V2", 2),
        other if other.bits <= 32 => ("<u4", 4),
        _ => ("<u8", 8),
    }
}

/// Version 1.0, padded so that the elements begin at a multiple of 64 bytes.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let dimensions: String = shape
        .iter()
        .map(|dimension| format!("{dimension}, "))
        .collect();
    let shape = match shape.len() {
        1 => dimensions.trim_end().to_owned(),
        _ => dimensions.trim_end_matches(", ").to_owned(),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let end = (10 + text.len() + 1).next_multiple_of(64) - 1 - 10;
    text.extend(std::iter::repeat_n(' ', end - text.len()));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}
