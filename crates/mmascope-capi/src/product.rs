//! Whole matrix products under a schedule, of packed elements and of register words.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::failure::{status, wrong};
use crate::memory;
use crate::packed::{self, Form};
use crate::unit::{mmascope_unit, unit};
use mmascope_gemm::gemm::{
    MOST_THREADS, Matrices, Matrix, Schedule, ScheduledProduct, Watch, on_threads,
};
use mmascope_model::Result;
use mmascope_model::dpa::{Modifiers, Scale, Signature};
use mmascope_model::format::Format;

/// A lies as K × m: column after column.
pub const MMASCOPE_TRANSPOSE_A: c_uint = 1;
/// B lies as n × K: column after column.
pub const MMASCOPE_TRANSPOSE_B: c_uint = 2;

/// A matrix; `transposed`: its columns lie one after the other.
///
/// # Safety
/// As [`Form::read`].
unsafe fn matrix(
    form: Form,
    name: &str,
    pointer: *const c_void,
    format: &Format,
    (rows, columns): (usize, usize),
    transposed: bool,
) -> Result<Matrix> {
    let length = memory::product(name, &[rows, columns])?;
    // SAFETY: the caller promises it.
    let words = unsafe { form.matrix(name, pointer, format, length) }?;
    match transposed {
        true => Matrix::column_major(rows, columns, words),
        false => Matrix::row_major(rows, columns, words),
    }
}

/// What a product is asked for beside its unit.
struct Asked {
    form: Form,
    schedule: *const c_char,
    flags: c_uint,
    m: usize,
    n: usize,
    k: usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    scale_a: *const c_void,
    scale_b: *const c_void,
    d: *mut c_void,
    threads: usize,
}

/// The work of `mmascope_matmul` and `mmascope_matmul_words`.
///
/// # Safety
/// As theirs.
unsafe fn multiply(handle: *const mmascope_unit, asked: &Asked) -> Result<()> {
    let &Asked {
        form,
        flags,
        m,
        n,
        k,
        d,
        threads,
        ..
    } = asked;
    // SAFETY: the caller promises it.
    let (unit, schedule) = unsafe {
        (
            unit(handle)?,
            memory::text_or_none("schedule", asked.schedule)?,
        )
    };
    let known = MMASCOPE_TRANSPOSE_A | MMASCOPE_TRANSPOSE_B;
    if flags & !known != 0 {
        return Err(wrong(format!(
            "flags is {flags}; MMASCOPE_TRANSPOSE_A (1) and MMASCOPE_TRANSPOSE_B (2) are allowed"
        )));
    }
    let threads = NonZeroUsize::new(threads).ok_or_else(|| {
        wrong(format!(
            "threads is {threads}; 1 to {MOST_THREADS} are allowed"
        ))
    })?;
    if [m, n, k].contains(&0) {
        return Err(wrong(format!(
            "m, n and k are {m}, {n} and {k}; each is at least 1"
        )));
    }
    let schedule: Schedule = schedule.map_or_else(|| Ok(Schedule::default()), str::parse)?;
    let output = schedule.format(unit);
    let outputs = memory::product("d", &[m, n])?;
    // Sizes that no memory has are refused before any operand is read.
    memory::room::<u8>(
        "d",
        memory::product("d", &[outputs, packed::bytes(&output)])?,
    )?;
    // SAFETY: the caller promises it.
    let matrices = unsafe {
        form.check_result("d", d, &output, outputs)?;
        operands(&schedule.signature(unit), asked)?
    };
    let cancel = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| (),
        cancel: &cancel,
    };
    let result = on_threads(threads, || {
        let modifiers = Modifiers::default();
        ScheduledProduct::new(&schedule, unit, &matrices, modifiers)?.run(None, &watch)
    })??;
    // SAFETY: the caller promises it.
    unsafe { form.write("d", d, &output, result.iter()) }
}

/// # Safety
/// As [`multiply`].
unsafe fn operands(signature: &Signature, asked: &Asked) -> Result<Matrices> {
    let &Asked {
        form,
        flags,
        m,
        n,
        k,
        ..
    } = asked;
    let [across_a, across_b] =
        [MMASCOPE_TRANSPOSE_A, MMASCOPE_TRANSPOSE_B].map(|flag| flags & flag != 0);
    // SAFETY: the caller promises it.
    unsafe {
        let a = matrix(form, "a", asked.a, &signature.a, (m, k), across_a)?;
        let b = matrix(form, "b", asked.b, &signature.b, (k, n), across_b)?;
        let mut matrices = Matrices::new(a, b)?;
        if !asked.c.is_null() {
            let c = matrix(form, "c", asked.c, &signature.c, (m, n), false)?;
            matrices = matrices.with_c(c)?;
        }
        if let Some(Scale { format, block }) = signature.scale {
            if !k.is_multiple_of(block) {
                return Err(wrong(format!(
                    "k is {k}; it is a multiple of the scales' block, {block}"
                )));
            }
            let blocks = k / block;
            let scale_a = matrix(form, "scale_a", asked.scale_a, &format, (m, blocks), false)?;
            let scale_b = matrix(form, "scale_b", asked.scale_b, &format, (blocks, n), false)?;
            matrices = matrices.with_scales(scale_a, scale_b)?;
        } else {
            memory::without("scale_a", asked.scale_a)?;
            memory::without("scale_b", asked.scale_b)?;
        }
        matrices.padded(signature)
    }
}

/// Computes D = C + A·B: A m × k, B k × n, C and D m × n, the scales m × k/block and k/block × n, row-major; `flags` says
/// which of A and B lie transposed. Arrays are packed, as `mmascope_dot_packed` takes them. C may be NULL for zeros, the
/// scales are NULL where the unit has none; `schedule` may be NULL for the instructions in ascending
/// order. k need not be a multiple of the unit's: it is padded with +0. `threads` bounds the threads; the result never
/// depends on it. d has the format of the unit's d, or that of the schedule's end. A schedule with `emulate=` takes A and B in
/// its wide format: 4 or 8 bytes an element. On an error d is left as it was.
///
/// # Safety
/// The arrays are as long as said, at any address. d overlaps no other one. Null arrays are errors, but for c and the
/// scales of a unit without.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_matmul(
    unit: *const mmascope_unit,
    schedule: *const c_char,
    flags: c_uint,
    m: usize,
    n: usize,
    k: usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    scale_a: *const c_void,
    scale_b: *const c_void,
    d: *mut c_void,
    threads: usize,
) -> c_int {
    let asked = Asked {
        form: Form::Packed,
        schedule,
        flags,
        m,
        n,
        k,
        a,
        b,
        c,
        scale_a,
        scale_b,
        d,
        threads,
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { multiply(unit, &asked) })
}

/// As `mmascope_matmul`, with one register word per `uint64_t`, as `mmascope_dot` takes them.
///
/// # Safety
/// As `mmascope_matmul`; misaligned arrays are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_matmul_words(
    unit: *const mmascope_unit,
    schedule: *const c_char,
    flags: c_uint,
    m: usize,
    n: usize,
    k: usize,
    a: *const u64,
    b: *const u64,
    c: *const u64,
    scale_a: *const u64,
    scale_b: *const u64,
    d: *mut u64,
    threads: usize,
) -> c_int {
    let asked = Asked {
        form: Form::Words,
        schedule,
        flags,
        m,
        n,
        k,
        a: a.cast(),
        b: b.cast(),
        c: c.cast(),
        scale_a: scale_a.cast(),
        scale_b: scale_b.cast(),
        d: d.cast(),
        threads,
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { multiply(unit, &asked) })
}
