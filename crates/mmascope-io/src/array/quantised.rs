//! Quantised arrays in `.safetensors` files: `codes`, `scale` and `tensor_scale`, with metadata.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::source::Source;
use super::write::{output_path, temporary};
use super::{Array, Element, io_error, safetensors};
use crate::error::{Error, Result};
use crate::format::F32;
use mmascope_gemm::blocks::{Quantised, scale_shape};
use mmascope_model::precision::block::{BlockFormat, Recipe};

const SUFFIX: &str = ".safetensors";

/// Whether a name is that of a `.safetensors` file and of none of its arrays.
#[must_use]
pub fn names_quantised(file: &str) -> bool {
    file.ends_with(SUFFIX)
}

/// Checks that [`write_quantised`] can make this file, without making it.
///
/// # Errors
/// [`Error::Io`] when the name does not end in `.safetensors` or the file cannot be written.
pub fn check_quantised_writable(file: &str) -> Result<()> {
    if !names_quantised(file) {
        let message = "codes and scales go to a file whose name ends in .safetensors";
        return Err(io_error(file, message));
    }
    temporary(file, &output_path(file)?).map(drop)
}

/// Writes codes (u8), scales (u8) and the tensor's scale (f32), and as metadata `format`, `recipe`,
/// `axis` and `block`. The file appears whole or not at all.
///
/// # Errors
/// [`Error::Io`] when the file cannot be written; [`Error::Cancelled`].
pub fn write_quantised(file: &str, quantised: &Quantised, cancel: &AtomicBool) -> Result<()> {
    check_quantised_writable(file)?;
    let path = output_path(file)?;
    let failed = |error: std::io::Error| io_error(file, &error.to_string());
    let tensor_scale = quantised.tensor_scale.to_le_bytes();
    let scales = scale_shape(&quantised.shape, quantised.axis, quantised.block);
    let arrays: [(&str, &str, Vec<usize>, &[u8]); 3] = [
        ("tensor_scale", "F32", vec![1], &tensor_scale),
        ("codes", "U8", quantised.shape.clone(), &quantised.codes),
        ("scale", "U8", scales, &quantised.scales),
    ];
    let mut header = Map::new();
    let recipe = quantised.recipe.map_or("", Recipe::name);
    header.insert(
        "__metadata__".into(),
        json!({
            "format": quantised.format.name,
            "recipe": recipe,
            "axis": quantised.axis.to_string(),
            "block": quantised.block.to_string(),
        }),
    );
    let mut end = 0;
    for (name, dtype, shape, bytes) in &arrays {
        let start = end;
        end += bytes.len();
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, end]});
        header.insert((*name).into(), entry);
    }
    let mut text = Value::Object(header).to_string();
    // Arrays begin at a multiple of 8, as the format's own writer does.
    text.extend(std::iter::repeat_n(
        ' ',
        text.len().next_multiple_of(8) - text.len(),
    ));
    let mut temporary = temporary(file, &path)?;
    let out = temporary.as_file_mut();
    out.write_all(&(text.len() as u64).to_le_bytes())
        .map_err(failed)?;
    out.write_all(text.as_bytes()).map_err(failed)?;
    for (_, _, _, bytes) in &arrays {
        out.write_all(bytes).map_err(failed)?;
    }
    out.sync_all().map_err(failed)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    temporary
        .persist(&path)
        .map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads what [`write_quantised`] wrote, or another program in the same layout.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; [`Error::Argument`] when arrays or metadata are missing or
/// do not fit each other, or the tensor's scale is NaN, infinite or negative.
pub fn read_quantised(file: &str) -> Result<Quantised> {
    let open = || Source::open(Path::new(file)).map_err(|message| io_error(file, &message));
    let metadata = safetensors::metadata(&mut open()?).map_err(|it| io_error(file, &it))?;
    let wrong = |message: String| Error::Argument(format!("{file}: {message}"));
    let value = |key: &str| {
        let value = metadata.get(key).map(String::as_str);
        value.ok_or_else(|| {
            wrong(format!(
                "the metadata has no '{key}': this is no file of `mmascope quantize`"
            ))
        })
    };
    let number = |key: &str| {
        let text = value(key)?;
        text.parse::<usize>()
            .map_err(|_| wrong(format!("metadata {key} = '{text}' is no whole number")))
    };
    let format = BlockFormat::named(value("format")?).map_err(|it| wrong(it.to_string()))?;
    // Who made the scales does not matter for what they are.
    let recipe = metadata
        .get("recipe")
        .and_then(|name| Recipe::named(name).ok());
    let array = |name: &str| safetensors::read(file, &mut open()?, name);
    let (codes, scales) = (array("codes")?, array("scale")?);
    for (name, array) in [("codes", &codes), ("scale", &scales)] {
        let is_byte = matches!(array.element(), Element::Unsigned(1) | Element::Opaque(1));
        if !is_byte {
            let element = array.element();
            return Err(wrong(format!(
                "{name} has elements of {element}; u8 is needed"
            )));
        }
    }
    let quantised = Quantised {
        format,
        recipe,
        shape: codes.shape().to_vec(),
        axis: number("axis")?,
        block: number("block")?,
        codes: codes.bytes().to_vec(),
        scales: scales.bytes().to_vec(),
        tensor_scale: tensor_scale(&array("tensor_scale")?).map_err(wrong)?,
    };
    quantised
        .check()
        .map_err(|error| wrong(error.to_string()))?;
    let wanted = scale_shape(&quantised.shape, quantised.axis, quantised.block);
    if scales.shape() != wanted {
        return Err(wrong(format!(
            "scale has the shape {:?}; {wanted:?} is needed for blocks of {} along axis {}",
            scales.shape(),
            quantised.block,
            quantised.axis
        )));
    }
    Ok(quantised)
}

fn tensor_scale(array: &Array) -> std::result::Result<u32, String> {
    let bytes: Option<[u8; 4]> = array.bytes().try_into().ok();
    match (array.element(), bytes) {
        (Element::Number(F32), Some(bytes)) => Ok(u32::from_le_bytes(bytes)),
        (element, _) => Err(format!(
            "tensor_scale has the shape {:?} and elements of {element}; one f32 is needed",
            array.shape()
        )),
    }
}
