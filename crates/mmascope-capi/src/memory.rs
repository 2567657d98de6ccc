//! Looks at a caller's memory: null, misaligned and too long arguments are errors.

use std::ffi::{CStr, c_char};

use crate::failure::wrong;
use mmascope_model::{Error, Result};

/// What a pointer to so many elements must be.
fn check<T>(name: &str, pointer: *const T, length: usize) -> Result<()> {
    if pointer.is_null() {
        return Err(wrong(format!(
            "{name} is NULL; {length} elements are needed"
        )));
    }
    if !pointer.is_aligned() {
        return Err(wrong(format!(
            "{name} is misaligned: its elements begin at multiples of {} bytes",
            align_of::<T>()
        )));
    }
    let bytes = length.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(too_large(name, length));
    }
    Ok(())
}

/// What is said of sizes that no memory has.
pub(crate) fn too_large(name: &str, length: usize) -> Error {
    wrong(format!("{name}: {length} elements do not fit the memory"))
}

/// Room for so many elements: where there is none, an error and not the end of the process.
pub(crate) fn room<T>(name: &str, length: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    match elements.try_reserve_exact(length) {
        Ok(()) => Ok(elements),
        Err(_) => Err(too_large(name, length)),
    }
}

/// An array that the unit has no use for: a caller that gives one means another unit.
pub(crate) fn without<T>(name: &str, pointer: *const T) -> Result<()> {
    match pointer.is_null() {
        true => Ok(()),
        false => Err(wrong(format!(
            "{name} is given, but the unit has no scales: pass NULL"
        ))),
    }
}

/// So many elements to be read. None need no memory.
///
/// # Safety
/// A pointer that is not null points to so many elements, which nobody changes meanwhile.
pub(crate) unsafe fn read<'a, T>(name: &str, pointer: *const T, length: usize) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    check(name, pointer, length)?;
    // SAFETY: not null, aligned, not too long; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// So many elements to be written. None need no memory.
///
/// # Safety
/// A pointer that is not null points to so many elements, which nobody else reads or writes meanwhile.
pub(crate) unsafe fn write<'a, T>(
    name: &str,
    pointer: *mut T,
    length: usize,
) -> Result<&'a mut [T]> {
    if length == 0 {
        return Ok(&mut []);
    }
    check(name, pointer, length)?;
    // SAFETY: not null, aligned, not too long; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

/// A place for one value.
///
/// # Safety
/// As [`write`].
pub(crate) unsafe fn place<'a, T>(name: &str, pointer: *mut T) -> Result<&'a mut T> {
    check(name, pointer, 1)?;
    // SAFETY: not null, aligned; the caller promises the rest.
    Ok(unsafe { &mut *pointer })
}

/// A text.
///
/// # Safety
/// A pointer that is not null points to a text that ends with a NUL and that nobody changes meanwhile.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller promises it.
    let text = unsafe { text_or_none(name, pointer) }?;
    text.ok_or_else(|| wrong(format!("{name} is NULL; a text is needed")))
}

/// A text, or `None` for NULL.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn text_or_none<'a>(
    name: &str,
    pointer: *const c_char,
) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; the caller promises the rest.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str();
    text.map(Some)
        .map_err(|_| wrong(format!("{name} is not UTF-8")))
}

/// A product of lengths.
pub(crate) fn product(name: &str, lengths: &[usize]) -> Result<usize> {
    let product = lengths
        .iter()
        .try_fold(1_usize, |all, &one| all.checked_mul(one));
    product.ok_or_else(|| {
        wrong(format!(
            "{name}: {lengths:?} are more elements than memory has"
        ))
    })
}
