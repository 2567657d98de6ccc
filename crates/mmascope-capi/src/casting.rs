//! Casts of arrays from one format to another.

use std::ffi::{c_char, c_int};

use crate::failure::status;
use crate::memory;
use mmascope_model::Result;
use mmascope_model::exact::Rounding;
use mmascope_model::format::Format;
use mmascope_model::precision::cast::{Cast, Options, OutOfRange, Policy};

/// What is asked of a cast. Texts may be NULL for the usual choice: `rounding` is `rne`, `overflow` and `policy` are those
/// of PTX `cvt` where it has the form, else of IEEE 754. The numbers are 0 or 1.
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct mmascope_cast_options {
    /// rne, rz, ru, rd, rna, …
    pub rounding: *const c_char,
    /// ieee, satfinite, nan
    pub overflow: *const c_char,
    /// ptx, ml_dtypes, ocp, host, ieee
    pub policy: *const c_char,
    /// Negative values become +0.
    pub relu: c_int,
    /// Values are clamped to [0, 1].
    pub sat: c_int,
    /// Subnormal f32 values become zeros.
    pub ftz: c_int,
    /// −0 becomes +0.
    pub pzo: c_int,
}

/// # Safety
/// The texts end with a NUL.
unsafe fn options(asked: &mmascope_cast_options) -> Result<Options> {
    // SAFETY: the caller promises it.
    let (rounding, overflow, policy) = unsafe {
        (
            memory::text_or_none("rounding", asked.rounding)?,
            memory::text_or_none("overflow", asked.overflow)?,
            memory::text_or_none("policy", asked.policy)?,
        )
    };
    Ok(Options {
        rounding: rounding.map(Rounding::named).transpose()?,
        overflow: overflow.map(OutOfRange::named).transpose()?,
        policy: policy.map(Policy::named).transpose()?,
        relu: asked.relu != 0,
        sat: asked.sat != 0,
        ftz: asked.ftz != 0,
        pzo: asked.pzo != 0,
    })
}

/// Casts n register words. `options` may be NULL. `to_words` may be `words` itself.
///
/// # Safety
/// Texts end with a NUL; the arrays have n words each and are the same or do not overlap. Null and misaligned ones are
/// errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_cast(
    from: *const c_char,
    to: *const c_char,
    asked: *const mmascope_cast_options,
    n: usize,
    words: *const u64,
    to_words: *mut u64,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (from, to, asked) = unsafe {
            (
                memory::text("from", from)?,
                memory::text("to", to)?,
                memory::read("options", asked, usize::from(!asked.is_null()))?,
            )
        };
        let options = match asked {
            // SAFETY: the caller promises it.
            [asked] => unsafe { options(asked) }?,
            _ => Options::default(),
        };
        let cast = Cast::new(Format::named(from)?, Format::named(to)?, &options)?;
        let mask = u64::MAX >> (64 - cast.from().register.bits);
        // SAFETY: the caller promises it. The borrow ends before the results are written.
        let results: Vec<u64> = unsafe { memory::read("words", words, n) }?
            .iter()
            .enumerate()
            .map(|(index, &word)| match word & !mask {
                0 => Ok(cast.word(word)),
                _ => Err(crate::failure::wrong(format!(
                    "words[{index}] is {word:#x}; a word of {from} has {} bits",
                    cast.from().register.bits
                ))),
            })
            .collect::<Result<_>>()?;
        // SAFETY: the caller promises it.
        unsafe { memory::write("to_words", to_words, n) }?.copy_from_slice(&results);
        Ok(())
    })
}
