//! Casts of arrays from one format to another.

use std::ffi::{c_char, c_int, c_void};

use crate::failure::{status, wrong};
use crate::memory;
use crate::packed::Form;
use mmascope_model::Result;
use mmascope_model::exact::Rounding;
use mmascope_model::format::Format;
use mmascope_model::precision::cast::{
    Cast, CastOptions, CastPolicy, OutOfRange, Slice, slice_bits,
};

/// What is asked of a cast. Texts may be NULL for the usual choice: `rounding` is `rne`, `overflow` and `policy` are those
/// of PTX `cvt` where it has the form, else of IEEE 754. The numbers are 0 or 1.
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct mmascope_cast_options {
    /// rne, rz, ru, rd, rna, …; rs: stochastic, by `random`
    pub rounding: *const c_char,
    /// ieee, satfinite, nan
    pub overflow: *const c_char,
    /// ptx, ml_dtypes, ocp, host
    pub policy: *const c_char,
    /// Negative values become +0.
    pub relu: c_int,
    /// Values are clamped to [0, 1].
    pub sat: c_int,
    /// Subnormal f32 values become zeros.
    pub ftz: c_int,
    /// −0 becomes +0.
    pub pzo: c_int,
    /// The random bits of each value, for the rounding rs: n numbers of at most 13 bits where the target is f16, else 16,
    /// which are added to the first bits that are discarded. NULL for every other rounding.
    pub random: *const u64,
}

/// # Safety
/// The texts end with a NUL.
unsafe fn options(asked: &mmascope_cast_options, bits: u32) -> Result<CastOptions> {
    // SAFETY: the caller promises it.
    let (rounding, overflow, policy) = unsafe {
        (
            memory::text_or_none("rounding", asked.rounding)?,
            memory::text_or_none("overflow", asked.overflow)?,
            memory::text_or_none("policy", asked.policy)?,
        )
    };
    let rounding = match (rounding, asked.random.is_null()) {
        (Some("rs") | None, false) => Some(Slice { bits, value: 0 }.rounding()),
        (Some("rs"), true) => {
            return Err(wrong("random is NULL; the rounding rs needs random bits"));
        }
        (Some(name), false) => {
            return Err(wrong(format!(
                "random is given with the rounding {name}: random bits are for rs"
            )));
        }
        (name, true) => name.map(Rounding::named).transpose()?,
    };
    Ok(CastOptions {
        rounding,
        overflow: overflow.map(OutOfRange::named).transpose()?,
        policy: policy.map(CastPolicy::named).transpose()?,
        relu: asked.relu != 0,
        sat: asked.sat != 0,
        ftz: asked.ftz != 0,
        pzo: asked.pzo != 0,
    })
}

/// The work of `mmascope_cast` and `mmascope_cast_packed`.
///
/// # Safety
/// As theirs.
unsafe fn cast(
    form: Form,
    (from, to): (*const c_char, *const c_char),
    asked: *const mmascope_cast_options,
    n: usize,
    words: *const c_void,
    to_words: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller promises it.
    let (from, to, asked) = unsafe {
        (
            Format::named(memory::text("from", from)?)?,
            Format::named(memory::text("to", to)?)?,
            memory::read("options", asked, usize::from(!asked.is_null()))?,
        )
    };
    let bits = slice_bits(&to);
    let (options, random): (_, &[u64]) = match asked {
        // SAFETY: the caller promises it.
        [asked] => unsafe {
            let options = options(asked, bits)?;
            let length = if asked.random.is_null() { 0 } else { n };
            (options, memory::read("random", asked.random, length)?)
        },
        _ => (CastOptions::default(), &[]),
    };
    if let Some(index) = random.iter().position(|&random| random >> bits != 0) {
        return Err(wrong(format!(
            "random[{index}] is {:#x}; a cast to {to} takes {bits} random bits",
            random[index]
        )));
    }
    let cast = Cast::new(from, to, &options)?;
    // SAFETY: the caller promises it. Borrows of the operands end before the results are written.
    unsafe {
        form.check_result("to_words", to_words, &to, n)?;
        let mut results = memory::room("to_words", n)?;
        let words = form.read("words", words, &from, n)?;
        match random {
            [] => results.extend(words.iter().map(|&word| cast.word(word))),
            _ => results.extend(words.iter().zip(random).map(|(&word, &value)| {
                let slice = Slice { bits, value };
                cast.with_random(slice).word(word)
            })),
        }
        drop(words);
        form.write("to_words", to_words, &to, results.into_iter())
    }
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
    options: *const mmascope_cast_options,
    n: usize,
    words: *const u64,
    to_words: *mut u64,
) -> c_int {
    let (words, to_words) = (words.cast(), to_words.cast());
    // SAFETY: the caller promises it.
    status(|| unsafe { cast(Form::Words, (from, to), options, n, words, to_words) })
}

/// As `mmascope_cast`, of packed arrays as `mmascope_dot_packed` takes them. `to_words` may be `words` itself: its
/// elements then begin where those of `words` do.
///
/// # Safety
/// Texts end with a NUL; the arrays have n elements each and begin at one place or do not overlap. Null ones are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_cast_packed(
    from: *const c_char,
    to: *const c_char,
    options: *const mmascope_cast_options,
    n: usize,
    words: *const c_void,
    to_words: *mut c_void,
) -> c_int {
    // SAFETY: the caller promises it.
    status(|| unsafe { cast(Form::Packed, (from, to), options, n, words, to_words) })
}
