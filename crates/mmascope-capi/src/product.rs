//! Whole matrix products of packed little-endian arrays, under a schedule.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::failure::{status, wrong};
use crate::memory;
use crate::unit::{mmascope_unit, unit};
use mmascope_gemm::array::Words;
use mmascope_gemm::gemm::{
    MOST_THREADS, Matrices, Matrix, Schedule, ScheduledProduct, Watch, on_threads,
};
use mmascope_model::Result;
use mmascope_model::dpa::Modifiers;
use mmascope_model::format::Format;

/// A lies as K × m: column after column.
pub const MMASCOPE_TRANSPOSE_A: c_uint = 1;
/// B lies as n × K: column after column.
pub const MMASCOPE_TRANSPOSE_B: c_uint = 2;

/// So many elements of a packed array as register words. Elements have the fewest whole bytes that their register takes;
/// those of 4 bits take one byte each.
///
/// # Safety
/// A pointer that is not null has so many elements.
unsafe fn words(
    name: &str,
    pointer: *const c_void,
    format: &Format,
    length: usize,
) -> Result<Words> {
    let bytes = |size: usize| -> Result<&[u8]> {
        let length = memory::product(name, &[length, size])?;
        // SAFETY: the caller promises it. Bytes have no alignment.
        unsafe { memory::read(name, pointer.cast::<u8>(), length) }
    };
    Ok(match format.register.bits.div_ceil(8) {
        1 => Words::U8(bytes(1)?.to_vec()),
        2 => Words::U16(
            bytes(2)?
                .chunks_exact(2)
                .map(|it| u16::from_le_bytes([it[0], it[1]]))
                .collect(),
        ),
        3 | 4 => Words::U32(
            bytes(4)?
                .chunks_exact(4)
                .map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]))
                .collect(),
        ),
        _ => Words::U64(
            bytes(8)?
                .chunks_exact(8)
                .map(|it| {
                    it.iter()
                        .rev()
                        .fold(0, |word, &byte| word << 8 | u64::from(byte))
                })
                .collect(),
        ),
    })
}

/// A matrix; `transposed`: its columns lie one after the other.
///
/// # Safety
/// As [`words`].
unsafe fn matrix(
    name: &str,
    pointer: *const c_void,
    format: &Format,
    (rows, columns): (usize, usize),
    transposed: bool,
) -> Result<Matrix> {
    let length = memory::product(name, &[rows, columns])?;
    // SAFETY: the caller promises it.
    let words = unsafe { words(name, pointer, format, length) }?;
    match transposed {
        true => Matrix::column_major(rows, columns, words),
        false => Matrix::row_major(rows, columns, words),
    }
}

/// Computes D = C + A·B: A m × k, B k × n, C and D m × n, the scales m × k/block and k/block × n, row-major; `flags` says
/// which of A and B lie transposed. Elements are codes as they lie in registers, little-endian, in the fewest whole bytes
/// (f16 two, tf32 four, e2m1 one). C may be NULL for zeros; `schedule` may be NULL for the instructions in ascending
/// order. k need not be a multiple of the unit's: it is padded with +0. `threads` bounds the threads; the result never
/// depends on it. d has the format of the unit's d, or that of the schedule's end. On an error d is left as it was.
///
/// # Safety
/// The arrays are as long as said. d overlaps no other one. Null arrays are errors, but for c and the scales of a
/// unit without.
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
    status(|| {
        // SAFETY: the caller promises it.
        let (unit, schedule) = unsafe {
            (
                self::unit(unit)?,
                memory::text_or_none("schedule", schedule)?,
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
        let signature = &schedule.signature(unit);
        // SAFETY: the caller promises it.
        let matrices = unsafe {
            let a = matrix(
                "a",
                a,
                &signature.a,
                (m, k),
                flags & MMASCOPE_TRANSPOSE_A != 0,
            )?;
            let b = matrix(
                "b",
                b,
                &signature.b,
                (k, n),
                flags & MMASCOPE_TRANSPOSE_B != 0,
            )?;
            let mut matrices = Matrices::new(a, b)?;
            if !c.is_null() {
                matrices = matrices.with_c(matrix("c", c, &signature.c, (m, n), false)?)?;
            }
            if let Some(scale) = signature.scale {
                if !k.is_multiple_of(scale.block) {
                    return Err(wrong(format!(
                        "k is {k}; it is a multiple of the scales' block, {}",
                        scale.block
                    )));
                }
                let blocks = k / scale.block;
                let scale_a = matrix("scale_a", scale_a, &scale.format, (m, blocks), false)?;
                let scale_b = matrix("scale_b", scale_b, &scale.format, (blocks, n), false)?;
                matrices = matrices.with_scales(scale_a, scale_b)?;
            }
            matrices.padded(signature)?
        };
        let size = schedule
            .format(unit)
            .register
            .bits
            .div_ceil(8)
            .next_power_of_two() as usize;
        let length = memory::product("d", &[m, n, size])?;
        // SAFETY: the caller promises it. Bytes have no alignment.
        let d = unsafe { memory::write("d", d.cast::<u8>(), length) }?;
        let cancel = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| (),
            cancel: &cancel,
        };
        let result = on_threads(threads, || {
            let modifiers = Modifiers::default();
            ScheduledProduct::new(&schedule, unit, &matrices, modifiers)?.run(None, &watch)
        })??;
        for (index, out) in d.chunks_exact_mut(size).enumerate() {
            out.copy_from_slice(&result.get(index).to_le_bytes()[..size]);
        }
        Ok(())
    })
}
