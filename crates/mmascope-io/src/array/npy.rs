//! Reads `.npy` files: versions 1 to 3, either byte order, either index order.

use std::io::Read;

use super::header::{self, Header};
use super::source::Source;
use super::{Array, BYTES, Element, elements_of};
use crate::format::{F16, F32, F64};

/// How every file begins.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header in bytes. NumPy itself writes a few hundred and distrusts more than 10,000.
const MAX_HEADER: u64 = 1 << 16;
/// Most dimensions; NumPy's own limit.
const MAX_RANK: usize = 64;

/// Reads a whole file.
pub(super) fn read<R: Read>(source: &mut Source<R>) -> Result<Array, String> {
    let start = source.take(8.min(source.left()), "the magic number")?;
    if !start.starts_with(MAGIC) || start.len() < 8 {
        return Err(
            "this is no .npy file: it does not begin with \\x93NUMPY and a version; an array of a \
             .safetensors file is FILE.safetensors:NAME, one of an .npz file FILE.npz:NAME"
                .into(),
        );
    }
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(format!(
                "version {version}.{} of the .npy format is not known; 1, 2 and 3 are",
                start[7]
            ));
        }
    };
    let length = source.take(length_bytes, "the header's length")?;
    let length = length
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > MAX_HEADER {
        return Err(format!(
            "the header claims {length} bytes; more than {MAX_HEADER} are not read"
        ));
    }
    let text = source.take(length, "the header")?;
    let text = String::from_utf8(text).map_err(|_| "the header is no text")?;
    let Header {
        descr,
        fortran_order,
        shape,
    } = header::parse(&text)?;
    let (element, big_endian) = element(&descr)?;
    if shape.len() > MAX_RANK {
        return Err(format!("the array has {} dimensions", shape.len()));
    }
    let size = element.bytes_of(&shape).ok_or_else(|| {
        format!("the header claims the shape {shape:?}, which no memory can hold")
    })?;
    let mut bytes = source.take(size as u64, &format!("an array {shape:?} of {element}"))?;
    if source.left() > 0 {
        return Err(format!(
            "{} bytes follow the array {shape:?} of {element}",
            source.left()
        ));
    }
    let size = element.bits() / 8;
    if big_endian && size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    if fortran_order && shape.len() > 1 {
        bytes = row_major(&bytes, &shape, size);
    }
    let array = Array::new(BYTES, &shape, element, bytes).map_err(|error| error.to_string())?;
    Ok(array.with_dtype(&descr))
}

/// The element type of a type string, and whether it is big-endian.
fn element(descr: &str) -> Result<(Element, bool), String> {
    let refused = || {
        format!(
            "elements of type '{}' are not taken; taken are f2 f4 f8, u1 to u8, i1 to i8, V1, V2 \
             and f1, each little-endian '<', big-endian '>' or, if one byte or void, '|'",
            descr.escape_debug()
        )
    };
    let mut chars = descr.chars();
    let order = chars.next().ok_or_else(refused)?;
    let element = match chars.as_str() {
        "f2" => Element::Number(F16),
        "f4" => Element::Number(F32),
        "f8" => Element::Number(F64),
        "u1" => Element::Unsigned(1),
        "u2" => Element::Unsigned(2),
        "u4" => Element::Unsigned(4),
        "u8" => Element::Unsigned(8),
        "i1" => Element::Signed(1),
        "i2" => Element::Signed(2),
        "i4" => Element::Signed(4),
        "i8" => Element::Signed(8),
        "V1" | "f1" => Element::Opaque(1),
        "V2" => Element::Opaque(2),
        _ => return Err(refused()),
    };
    match order {
        '<' => Ok((element, false)),
        '>' => Ok((element, true)),
        '|' if element.bits() == 8 || element == Element::Opaque(2) => Ok((element, false)),
        _ => Err(refused()),
    }
}

/// The same array with the last index running fastest; `size` is bytes per element.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let count = elements_of(shape).unwrap_or(0);
    let mut steps = Vec::with_capacity(shape.len());
    let mut step = 1;
    for &dimension in shape {
        steps.push(step);
        step *= dimension;
    }
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    let mut out = Vec::with_capacity(bytes.len());
    for _ in 0..count {
        out.extend_from_slice(&bytes[from * size..(from + 1) * size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= index[axis] * steps[axis];
            index[axis] = 0;
        }
    }
    out
}
