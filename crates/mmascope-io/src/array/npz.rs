//! The `.npz` reader: a zip archive of `.npy` files, as `numpy.savez` and `savez_compressed` write it.

use std::io::{Read, Seek};

use zip::{CompressionMethod, ZipArchive};

use super::source::Source;
use super::{Array, io_error, named, npy};
use crate::error::Result;

/// What one byte of deflate can unpack to, at most (258 bytes from two codes of one bit each).
const MOST_EXPANSION: u64 = 1032;
/// How the members are named.
const SUFFIX: &str = ".npy";

/// Reads the array of that name; the name may be left out where there is only one.
pub(super) fn read<R: Read + Seek>(
    file: &str,
    source: Source<R>,
    name: Option<&str>,
) -> Result<Array> {
    let length = source.left();
    let mut archive = open(source).map_err(|message| io_error(file, &message))?;
    let names = array_names(&archive);
    let name = match (name, &names[..]) {
        (Some(name), _) => {
            let bare = name.strip_suffix(SUFFIX).unwrap_or(name);
            let known = names.iter().find(|own| *own == name || *own == bare);
            known.ok_or_else(|| named::unknown(file, name, &names))?
        }
        (None, [only]) => only,
        (None, _) => return Err(named::missing(file, &names)),
    };
    member(&mut archive, length, name)
        .map_err(|message| io_error(&format!("{file}:{name}"), &message))
}

/// The names of the arrays in alphabetical order.
pub(super) fn names<R: Read + Seek>(source: Source<R>) -> std::result::Result<Vec<String>, String> {
    Ok(array_names(&open(source)?))
}

fn open<R: Read + Seek>(source: Source<R>) -> std::result::Result<ZipArchive<R>, String> {
    ZipArchive::new(source.into_stream())
        .map_err(|error| format!("this is no .npz file, or it is damaged: {error}"))
}

fn array_names<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<String> {
    // A name that is no text is no name of an array.
    let names = archive.file_names().flatten();
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// One member of an archive of `length` bytes.
fn member<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    length: u64,
    name: &str,
) -> std::result::Result<Array, String> {
    let file = archive
        .by_name(&format!("{name}{SUFFIX}"))
        .map_err(|error| format!("the file is damaged: {error}"))?;
    let (packed, size) = (file.compressed_size(), file.size());
    let most = match file.compression() {
        CompressionMethod::Stored => packed,
        CompressionMethod::Deflated => packed.saturating_mul(MOST_EXPANSION),
        other => {
            return Err(format!(
                "the array is packed by {other}; stored and deflate are read"
            ));
        }
    };
    if packed > length || size > most {
        return Err(format!(
            "the file is cut short or damaged: it claims an array of {size} bytes in {packed} of its \
             {length}"
        ));
    }
    let mut source = Source::claiming(file, size);
    let array = npy::read(&mut source)?;
    source.end()?;
    Ok(array)
}
