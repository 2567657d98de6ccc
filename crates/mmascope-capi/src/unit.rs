//! Units: found in the catalogue, or read from their notation.

use std::ffi::{c_char, c_int};

use crate::failure::{status, wrong};
use crate::{memory, packed, text};
use mmascope_model::Result;
use mmascope_model::dpa::Unit;
use mmascope_model::isa::Catalogue;

/// The arithmetic of one output of an instruction. Threads may share it.
#[allow(non_camel_case_types)]
pub struct mmascope_unit {
    pub(crate) unit: Unit,
}

/// What a unit takes and gives.
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct mmascope_shape {
    /// Products of one dot product.
    pub k: usize,
    /// Scales of each operand for one dot product; 0 where there are none.
    pub scales: usize,
    /// Products that share a scale; 0 where there are none.
    pub block: usize,
    /// Bytes of an element of a in packed arrays; those of 4 bits take 1 as well, and so do scales.
    pub bytes_a: usize,
    /// The same of b.
    pub bytes_b: usize,
    /// The same of c.
    pub bytes_c: usize,
    /// The same of d.
    pub bytes_d: usize,
}

/// A handle's unit.
///
/// # Safety
/// A pointer that is not null is a handle that was not freed.
pub(crate) unsafe fn unit<'a>(handle: *const mmascope_unit) -> Result<&'a Unit> {
    if handle.is_null() {
        return Err(wrong("unit is NULL; mmascope_unit_find makes one"));
    }
    // SAFETY: not null; the caller promises the rest.
    let handles = unsafe { memory::read("unit", handle, 1) }?;
    Ok(&handles[0].unit)
}

/// Finds a unit in the catalogue: `mmascope_unit_find("h100", "mma.m16n8k16.f32.f16.f16.f32", &unit)`. Every name that
/// the command line takes is good. Free it with `mmascope_unit_free`.
///
/// # Safety
/// Texts end with a NUL; `out` is a place for a handle. Null is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_find(
    architecture: *const c_char,
    instruction: *const c_char,
    out: *mut *mut mmascope_unit,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (architecture, instruction, out) = unsafe {
            (
                memory::text("architecture", architecture)?,
                memory::text("instruction", instruction)?,
                memory::place("out", out)?,
            )
        };
        let row = Catalogue::built_in().find(architecture, instruction)?;
        *out = Box::into_raw(Box::new(mmascope_unit {
            unit: row.unit()?.clone(),
        }));
        Ok(())
    })
}

/// Finds a unit in a text of the `--isa` format, which extends the catalogue.
///
/// # Safety
/// As `mmascope_unit_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_load(
    isa: *const c_char,
    architecture: *const c_char,
    instruction: *const c_char,
    out: *mut *mut mmascope_unit,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (isa, architecture, instruction, out) = unsafe {
            (
                memory::text("isa", isa)?,
                memory::text("architecture", architecture)?,
                memory::text("instruction", instruction)?,
                memory::place("out", out)?,
            )
        };
        let mut catalogue = Catalogue::built_in().clone();
        catalogue.extend("isa", isa)?;
        let unit = catalogue.find(architecture, instruction)?.unit()?.clone();
        *out = Box::into_raw(Box::new(mmascope_unit { unit }));
        Ok(())
    })
}

/// Reads a unit from its notation: `"a=f16 b=f16 c=f32 d=f32 k=16"` and `"t-fdpa L=16 F=25 e0=-133 -> rz f32"`.
///
/// # Safety
/// As `mmascope_unit_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_parse(
    signature: *const c_char,
    program: *const c_char,
    out: *mut *mut mmascope_unit,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (signature, program, out) = unsafe {
            (
                memory::text("signature", signature)?,
                memory::text("program", program)?,
                memory::place("out", out)?,
            )
        };
        let unit = Unit::new(signature.parse()?, program.parse()?)?;
        *out = Box::into_raw(Box::new(mmascope_unit { unit }));
        Ok(())
    })
}

/// Frees a unit. NULL is nothing to free.
///
/// # Safety
/// The handle is of this library, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_free(unit: *mut mmascope_unit) {
    if !unit.is_null() {
        // SAFETY: made by `Box::into_raw` in this file; the caller gives it up.
        drop(unsafe { Box::from_raw(unit) });
    }
}

/// What a unit takes and gives.
///
/// # Safety
/// `unit` is a handle, `out` a place for a shape. Null is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_shape(
    unit: *const mmascope_unit,
    out: *mut mmascope_shape,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (unit, out) = unsafe { (self::unit(unit)?, memory::place("out", out)?) };
        let signature = unit.signature();
        *out = mmascope_shape {
            k: signature.k,
            scales: signature.scales(),
            block: signature.scale.map_or(0, |scale| scale.block),
            bytes_a: packed::bytes(&signature.a),
            bytes_b: packed::bytes(&signature.b),
            bytes_c: packed::bytes(&signature.c),
            bytes_d: packed::bytes(&signature.d),
        };
        Ok(())
    })
}

/// The notation of a unit, signature and program with a line break between them, into a buffer of `size` bytes. `needed`
/// (may be NULL) takes the bytes that the text needs with its NUL; a size of 0 only asks for them.
///
/// # Safety
/// `unit` is a handle, `buffer` has `size` bytes. Null is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_unit_text(
    unit: *const mmascope_unit,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let unit = unsafe { self::unit(unit) }?;
        let words = format!("{}\n{}", unit.signature(), unit.program());
        // SAFETY: the caller promises it.
        unsafe { text::give(&words, buffer, size, needed) }
    })
}
