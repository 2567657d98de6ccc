//! Quantising matrices to codes with block scales, and back.

use std::ffi::{c_char, c_int};
use std::sync::atomic::AtomicBool;

use crate::failure::{status, wrong};
use crate::memory;
use mmascope_gemm::blocks::{Quantised, quantise, scale_shape};
use mmascope_model::Result;
use mmascope_model::precision::block::{BlockFormat, Quantiser, Recipe};

fn count(shape: &[usize]) -> Result<usize> {
    memory::product("rows and columns", shape)
}

fn axis_of(axis: usize) -> Result<usize> {
    match axis {
        0 | 1 => Ok(axis),
        _ => Err(wrong(format!(
            "axis is {axis}; 0 (down a column) and 1 (along a row) are allowed"
        ))),
    }
}

/// Quantises rows × columns f32 values, row-major, in blocks along an axis (1: along a row). `format` is mxfp8-e4m3, nvfp4,
/// …; `recipe` may be NULL for the format's usual one. `codes` takes one byte for each value, `scales` one for each block
/// (rows × ⌈columns/block⌉, or ⌈rows/block⌉ × columns), `tensor_scale` the second scale, 1 where there is none.
///
/// # Safety
/// Texts end with a NUL; the arrays are as long as said and do not overlap. Null and misaligned ones are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_quantize(
    format: *const c_char,
    recipe: *const c_char,
    rows: usize,
    columns: usize,
    axis: usize,
    values: *const f32,
    codes: *mut u8,
    scales: *mut u8,
    tensor_scale: *mut f32,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (format, recipe) = unsafe {
            (
                memory::text("format", format)?,
                memory::text_or_none("recipe", recipe)?,
            )
        };
        let format = BlockFormat::named(format)?;
        let recipe = match recipe {
            Some(name) => Recipe::named(name)?,
            None => Recipe::of(&format)[0],
        };
        let (shape, axis) = ([rows, columns], axis_of(axis)?);
        let blocks = scale_shape(&shape, axis, format.block);
        // SAFETY: the caller promises it.
        let (values, codes, scales, tensor_scale) = unsafe {
            (
                memory::read("values", values, count(&shape)?)?,
                memory::write("codes", codes, count(&shape)?)?,
                memory::write("scales", scales, count(&blocks)?)?,
                memory::place("tensor_scale", tensor_scale)?,
            )
        };
        let mut words: Vec<u32> = memory::room("values", values.len())?;
        words.extend(values.iter().map(|value| value.to_bits()));
        let quantiser = Quantiser::new(format, recipe)?;
        let cancel = AtomicBool::new(false);
        let made = quantise(
            &words,
            &shape,
            axis,
            format.block,
            &quantiser,
            None,
            &cancel,
        )?;
        codes.copy_from_slice(&made.codes);
        scales.copy_from_slice(&made.scales);
        *tensor_scale = f32::from_bits(made.tensor_scale);
        Ok(())
    })
}

/// The values of codes and scales, as `mmascope_quantize` gives them.
///
/// # Safety
/// As `mmascope_quantize`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_dequantize(
    format: *const c_char,
    rows: usize,
    columns: usize,
    axis: usize,
    codes: *const u8,
    scales: *const u8,
    tensor_scale: f32,
    values: *mut f32,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let format = BlockFormat::named(unsafe { memory::text("format", format) }?)?;
        let (shape, axis) = ([rows, columns], axis_of(axis)?);
        let blocks = scale_shape(&shape, axis, format.block);
        // SAFETY: the caller promises it.
        let (codes, scales, values) = unsafe {
            (
                memory::read("codes", codes, count(&shape)?)?,
                memory::read("scales", scales, count(&blocks)?)?,
                memory::write("values", values, count(&shape)?)?,
            )
        };
        // The values are made beside the caller's: sizes that no memory has are refused before.
        memory::room::<u32>("values", values.len())?;
        let mut own_codes = memory::room("codes", codes.len())?;
        own_codes.extend_from_slice(codes);
        let quantised = Quantised {
            format,
            recipe: None,
            shape: shape.to_vec(),
            axis,
            block: format.block,
            codes: own_codes,
            scales: scales.to_vec(),
            tensor_scale: tensor_scale.to_bits(),
        };
        quantised.check()?;
        for (value, word) in values.iter_mut().zip(quantised.dequantise()) {
            *value = f32::from_bits(word);
        }
        Ok(())
    })
}
