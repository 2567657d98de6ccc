//! Gives texts to a caller's buffer.

use std::ffi::{c_char, c_int};

use crate::failure::wrong;
use crate::memory;
use mmascope_model::Result;

/// Writes a text with its NUL, and how many bytes that takes. A buffer of size 0 only asks for the bytes.
///
/// # Safety
/// `buffer` has `size` bytes, `needed` is NULL or a place for one.
pub(crate) unsafe fn give(
    text: &str,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> Result<()> {
    let bytes = text.len() + 1;
    if !needed.is_null() {
        // SAFETY: the caller promises it.
        *unsafe { memory::place("needed", needed) }? = bytes;
    }
    if size == 0 {
        return Ok(());
    }
    if size < bytes {
        return Err(wrong(format!(
            "size is {size}; the text needs {bytes} bytes"
        )));
    }
    // SAFETY: the caller promises it.
    let buffer = unsafe { memory::write("buffer", buffer.cast::<u8>(), bytes) }?;
    buffer[..text.len()].copy_from_slice(text.as_bytes());
    buffer[text.len()] = 0;
    Ok(())
}

/// The library's version, "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn mmascope_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of this interface: a program compiled against another one does not fit.
#[unsafe(no_mangle)]
pub extern "C" fn mmascope_interface() -> c_int {
    2
}
