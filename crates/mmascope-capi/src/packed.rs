//! Operands and results in both forms that callers have: a register word per `uint64_t`, or packed little-endian elements.

use std::borrow::Cow;
use std::ffi::c_void;

use crate::failure::wrong;
use crate::memory;
use mmascope_gemm::array::Words;
use mmascope_model::Result;
use mmascope_model::format::Format;

/// How the elements of an array lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One register word per `uint64_t`.
    Words,
    /// Register words in the fewest whole bytes, least significant byte first; those of 4 bits take a byte each.
    Packed,
}

/// Bytes of an element in packed arrays.
pub(crate) fn bytes(format: &Format) -> usize {
    format.register.bits.div_ceil(8).next_power_of_two() as usize
}

/// The word of an element.
fn word(bytes: &[u8]) -> u64 {
    let digits = bytes.iter().rev();
    digits.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Checks that every word is one of the format's register.
pub(crate) fn check(
    name: &str,
    format: &Format,
    mut words: impl Iterator<Item = u64>,
) -> Result<()> {
    let widest = format.widest_word();
    let mut wide = None;
    match words.position(|word| {
        wide = Some(word);
        word > widest
    }) {
        None => Ok(()),
        Some(index) => Err(wrong(format!(
            "{name}[{index}] is {:#x}; a word of {format} is at most {widest:#x}",
            wide.unwrap_or_default()
        ))),
    }
}

impl Form {
    /// The words of an array of so many elements.
    ///
    /// # Safety
    /// A pointer that is not null has so many elements, which nobody changes meanwhile.
    pub(crate) unsafe fn read<'a>(
        self,
        name: &str,
        pointer: *const c_void,
        format: &Format,
        length: usize,
    ) -> Result<Cow<'a, [u64]>> {
        let words = match self {
            // SAFETY: the caller promises it.
            Self::Words => Cow::Borrowed(unsafe { memory::read(name, pointer.cast(), length) }?),
            Self::Packed => {
                // SAFETY: the caller promises it.
                let elements = unsafe { packed(name, pointer, format, length) }?;
                let mut words = memory::room(name, length)?;
                words.extend(elements.chunks_exact(bytes(format)).map(word));
                Cow::Owned(words)
            }
        };
        check(name, format, words.iter().copied())?;
        Ok(words)
    }

    /// The same in the width that a matrix stores.
    ///
    /// # Safety
    /// As [`Form::read`].
    pub(crate) unsafe fn matrix(
        self,
        name: &str,
        pointer: *const c_void,
        format: &Format,
        length: usize,
    ) -> Result<Words> {
        let mut stored = Words::with_capacity(format.register.bits, length)
            .map_err(|_| memory::too_large(name, length))?;
        match self {
            Self::Words => {
                // SAFETY: the caller promises it.
                let words: &[u64] = unsafe { memory::read(name, pointer.cast(), length) }?;
                check(name, format, words.iter().copied())?;
                words.iter().for_each(|&word| stored.push(word));
            }
            Self::Packed => {
                // SAFETY: the caller promises it.
                let elements = unsafe { packed(name, pointer, format, length) }?;
                for element in elements.chunks_exact(bytes(format)) {
                    stored.push(word(element));
                }
                check(name, format, stored.iter())?;
            }
        }
        Ok(stored)
    }

    /// Checks an array for results before anything is computed.
    ///
    /// # Safety
    /// A pointer that is not null has room for so many elements.
    pub(crate) unsafe fn check_result(
        self,
        name: &str,
        pointer: *mut c_void,
        format: &Format,
        length: usize,
    ) -> Result<()> {
        // SAFETY: the caller promises it. The borrow ends here.
        unsafe {
            match self {
                Self::Words => memory::write::<u64>(name, pointer.cast(), length).map(|_| ()),
                Self::Packed => {
                    let length = memory::product(name, &[length, bytes(format)])?;
                    memory::write::<u8>(name, pointer.cast(), length).map(|_| ())
                }
            }
        }
    }

    /// Writes results.
    ///
    /// # Safety
    /// A pointer that is not null has room for so many elements, which nobody else reads or writes meanwhile.
    pub(crate) unsafe fn write(
        self,
        name: &str,
        pointer: *mut c_void,
        format: &Format,
        words: impl ExactSizeIterator<Item = u64>,
    ) -> Result<()> {
        let (length, size) = (words.len(), bytes(format));
        // SAFETY: the caller promises it. Bytes have no alignment.
        unsafe {
            match self {
                Self::Words => {
                    let places = memory::write(name, pointer.cast(), length)?;
                    for (place, word) in places.iter_mut().zip(words) {
                        *place = word;
                    }
                }
                Self::Packed => {
                    let length = memory::product(name, &[length, size])?;
                    let places: &mut [u8] = memory::write(name, pointer.cast(), length)?;
                    for (place, word) in places.chunks_exact_mut(size).zip(words) {
                        place.copy_from_slice(&word.to_le_bytes()[..size]);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The bytes of so many packed elements.
///
/// # Safety
/// As [`Form::read`].
unsafe fn packed<'a>(
    name: &str,
    pointer: *const c_void,
    format: &Format,
    length: usize,
) -> Result<&'a [u8]> {
    let length = memory::product(name, &[length, bytes(format)])?;
    // SAFETY: the caller promises it. Bytes have no alignment.
    unsafe { memory::read(name, pointer.cast(), length) }
}
