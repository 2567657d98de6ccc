//! Reads one array of a `.safetensors` file. The crate reads the header; the bytes are taken here.

use std::collections::HashMap;
use std::io::{Read, Seek};

use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::source::Source;
use super::{Array, Element, io_error, named, npy};
use crate::error::{Error, Result, escaped};
use crate::format::{BF16, E2M1FN, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, F16, F32, F64, Format, UE8M0};

/// How every archive begins that has a member.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// Most dimensions of an array; NumPy's limit.
const MAX_RANK: usize = 64;
/// Longest header in bytes, as in the format's own implementation.
const MAX_HEADER: u64 = 100_000_000;

/// Reads the array of that name from a whole file.
pub(super) fn read<R: Read + Seek>(
    file: &str,
    source: &mut Source<R>,
    name: &str,
) -> Result<Array> {
    let metadata = header(source).map_err(|message| io_error(file, &message))?;
    let Some(info) = metadata.info(name) else {
        let names = sorted_names(&metadata);
        return Err(named::unknown(file, name, &names));
    };
    let full_name = format!("{file}:{name}");
    let element = element(info.dtype).map_err(|message| io_error(&full_name, &message))?;
    let (start, end) = info.data_offsets;
    let bytes = source
        .skip(start as u64, "the arrays in front")
        .and_then(|()| source.take((end - start) as u64, "the array"))
        .map_err(|message| io_error(&full_name, &message))?;
    let array = Array::new(&full_name, &info.shape, element, bytes)?;
    Ok(array.with_dtype(&info.dtype.to_string()))
}

/// What to say when no array of the file is named.
pub(super) fn name_missing<R: Read + Seek>(file: &str, source: &mut Source<R>) -> Error {
    match names(source) {
        Err(message) => io_error(file, &message),
        Ok(names) => named::missing(file, &names),
    }
}

/// The names of the arrays in alphabetical order.
pub(super) fn names<R: Read + Seek>(
    source: &mut Source<R>,
) -> std::result::Result<Vec<String>, String> {
    Ok(sorted_names(&header(source)?))
}

/// The texts that the file carries beside its arrays.
pub(super) fn metadata<R: Read + Seek>(
    source: &mut Source<R>,
) -> std::result::Result<HashMap<String, String>, String> {
    Ok(header(source)?.metadata().clone().unwrap_or_default())
}

fn sorted_names(metadata: &Metadata) -> Vec<String> {
    let mut names = metadata.offset_keys();
    names.sort();
    names
}

/// The names in a header as they stand: one that stands twice is there twice.
struct Members(Vec<String>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Members;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    names.push(name);
                }
                Ok(Members(names))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

/// Whether a list of a JSON text has more than `most` items: a shape would take memory for each of
/// them before anything else is known to be wrong.
fn rank_beyond(text: &[u8], most: usize) -> bool {
    let (mut in_string, mut is_escaped) = (false, false);
    // Items of the list that is open, if one is.
    let mut items = None;
    for &byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' => items = Some(1),
            b']' => items = None,
            b',' => items = items.map(|items| items + 1),
            _ => {}
        }
        if items.is_some_and(|items| items > most) {
            return true;
        }
    }
    false
}

/// Reads the header and checks that the arrays fill the rest of the file. The crate's own reader
/// of whole files adds the offsets without looking for overflow, so this does it instead.
fn header<R: Read + Seek>(source: &mut Source<R>) -> std::result::Result<Metadata, String> {
    let start = source.take(8, "the header's length")?;
    // The beginning of another kind of file would be read as a length.
    for (magic, kind) in [(npy::MAGIC, "a .npy file"), (ARCHIVE, "an .npz file")] {
        if start.starts_with(magic) {
            return Err(format!(
                "this is {kind}, and no .safetensors file, which is needed here"
            ));
        }
    }
    let length = start
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > MAX_HEADER {
        return Err(format!(
            "this is no .safetensors file: its header claims {length} bytes"
        ));
    }
    let text = source.take(length, "the header")?;
    if rank_beyond(&text, MAX_RANK) {
        return Err(format!(
            "the header has a list of more than {MAX_RANK} numbers"
        ));
    }
    let metadata: Metadata =
        serde_json::from_slice(&text).map_err(|error| format!("the header is wrong: {error}"))?;
    if let Ok(Members(mut names)) = serde_json::from_slice(&text) {
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(format!("the header names '{}' twice", escaped(&twice[0])));
        }
    }
    let data = metadata.data_len() as u64;
    if data != source.left() {
        return Err(format!(
            "the file is cut short or damaged: its arrays should have {data} bytes, {} are there",
            source.left()
        ));
    }
    Ok(metadata)
}

fn element(dtype: Dtype) -> std::result::Result<Element, String> {
    let number = |format: Format| Ok(Element::Number(format));
    match dtype {
        Dtype::F64 => number(F64),
        Dtype::F32 => number(F32),
        Dtype::F16 => number(F16),
        Dtype::BF16 => number(BF16),
        Dtype::F8_E4M3 => number(E4M3FN),
        Dtype::F8_E5M2 => number(E5M2),
        Dtype::F8_E4M3FNUZ => number(E4M3FNUZ),
        Dtype::F8_E5M2FNUZ => number(E5M2FNUZ),
        Dtype::F8_E8M0 => number(UE8M0),
        Dtype::F4 => number(E2M1FN),
        Dtype::U8 => Ok(Element::Unsigned(1)),
        Dtype::U16 => Ok(Element::Unsigned(2)),
        Dtype::U32 => Ok(Element::Unsigned(4)),
        Dtype::U64 => Ok(Element::Unsigned(8)),
        Dtype::I8 => Ok(Element::Signed(1)),
        Dtype::I16 => Ok(Element::Signed(2)),
        Dtype::I32 => Ok(Element::Signed(4)),
        Dtype::I64 => Ok(Element::Signed(8)),
        other => Err(format!(
            "elements of type {other} are not taken; taken are F64 F32 F16 BF16, the F8 types, F4 \
             and the integers"
        )),
    }
}
