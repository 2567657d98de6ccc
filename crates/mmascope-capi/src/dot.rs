//! Dot products and tiles, of register words and of packed elements.

use std::ffi::{c_int, c_void};

use crate::failure::status;
use crate::memory::{self, product};
use crate::packed::Form;
use crate::unit::{mmascope_unit, unit};
use mmascope_model::Result;
use mmascope_model::dpa::{Modifiers, Operands, Tiles, Unit};

/// Pointers to the operands of dot products or of a tile.
#[derive(Clone, Copy)]
struct Pointers {
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    scale_a: *const c_void,
    scale_b: *const c_void,
    d: *mut c_void,
}

/// How many elements each has.
struct Lengths {
    a: usize,
    b: usize,
    outputs: usize,
    scale_a: usize,
    scale_b: usize,
}

/// Reads operands, computes, and writes the results.
///
/// # Safety
/// The arrays are as long as said, and d overlaps no other one.
unsafe fn computed(
    unit: &Unit,
    form: Form,
    pointers: Pointers,
    lengths: &Lengths,
    work: impl FnOnce(&Tiles<'_>, &mut Vec<u64>) -> Result<()>,
) -> Result<()> {
    let signature = unit.signature();
    let Lengths { outputs, .. } = *lengths;
    let Pointers { d, .. } = pointers;
    // SAFETY: the caller promises it.
    unsafe {
        form.check_result("d", d, &signature.d, outputs)?;
        let mut results = memory::room("d", outputs)?;
        let (scale_a, scale_b) = match signature.scale {
            Some(scale) => (
                form.read("scale_a", pointers.scale_a, &scale.format, lengths.scale_a)?,
                form.read("scale_b", pointers.scale_b, &scale.format, lengths.scale_b)?,
            ),
            None => {
                memory::without("scale_a", pointers.scale_a)?;
                memory::without("scale_b", pointers.scale_b)?;
                Default::default()
            }
        };
        let (a, b, c) = (
            form.read("a", pointers.a, &signature.a, lengths.a)?,
            form.read("b", pointers.b, &signature.b, lengths.b)?,
            form.read("c", pointers.c, &signature.c, outputs)?,
        );
        let operands = Tiles {
            m: 0,
            n: 0,
            a: &a,
            b: &b,
            c: &c,
            scale_a: &scale_a,
            scale_b: &scale_b,
        };
        work(&operands, &mut results)?;
        form.write("d", d, &signature.d, results.into_iter())
    }
}

/// The work of `mmascope_dot` and `mmascope_dot_packed`.
///
/// # Safety
/// As theirs.
unsafe fn dots(
    handle: *const mmascope_unit,
    n: usize,
    form: Form,
    pointers: Pointers,
) -> Result<()> {
    // SAFETY: the caller promises it.
    let unit = unsafe { unit(handle) }?;
    let (k, scales) = (unit.signature().k, unit.signature().scales());
    let (products, blocks) = (product("n", &[n, k])?, product("n", &[n, scales])?);
    let lengths = Lengths {
        a: products,
        b: products,
        outputs: n,
        scale_a: blocks,
        scale_b: blocks,
    };
    let work = |all: &Tiles<'_>, results: &mut Vec<u64>| {
        for index in 0..n {
            let operands = Operands {
                a: &all.a[index * k..][..k],
                b: &all.b[index * k..][..k],
                c: all.c[index],
                scale_a: &all.scale_a[index * scales..][..scales],
                scale_b: &all.scale_b[index * scales..][..scales],
            };
            results.push(unit.dot(&operands, &Modifiers::default())?);
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { computed(unit, form, pointers, &lengths, work) }
}

/// The work of `mmascope_tile` and `mmascope_tile_packed`.
///
/// # Safety
/// As theirs.
unsafe fn tile(
    handle: *const mmascope_unit,
    (m, n): (usize, usize),
    form: Form,
    pointers: Pointers,
) -> Result<()> {
    // SAFETY: the caller promises it.
    let unit = unsafe { unit(handle) }?;
    let (k, scales) = (unit.signature().k, unit.signature().scales());
    let lengths = Lengths {
        a: product("m", &[m, k])?,
        b: product("n", &[k, n])?,
        outputs: product("m and n", &[m, n])?,
        scale_a: product("m", &[m, scales])?,
        scale_b: product("n", &[scales, n])?,
    };
    let work = |all: &Tiles<'_>, results: &mut Vec<u64>| {
        let tiles = Tiles { m, n, ..*all };
        // The unit makes results of its own: what was reserved for them is given back before.
        *results = Vec::new();
        *results = unit.tile(&tiles, &Modifiers::default())?;
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { computed(unit, form, pointers, &lengths, work) }
}

/// Computes n dot products d = c + Σ a·b. Arrays hold query after query, k ascending: a and b n·K register words, c and d
/// n, the scales n·K/block (NULL where the unit has none). On an error d is left as it was.
///
/// # Safety
/// The arrays are as long as said. d overlaps no other one. Null and misaligned arrays are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_dot(
    unit: *const mmascope_unit,
    n: usize,
    a: *const u64,
    b: *const u64,
    c: *const u64,
    scale_a: *const u64,
    scale_b: *const u64,
    d: *mut u64,
) -> c_int {
    let pointers = Pointers {
        a: a.cast(),
        b: b.cast(),
        c: c.cast(),
        scale_a: scale_a.cast(),
        scale_b: scale_b.cast(),
        d: d.cast(),
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { dots(unit, n, Form::Words, pointers) })
}

/// As `mmascope_dot`, of packed arrays: elements are codes as they lie in registers, little-endian, in as many bytes as
/// `mmascope_unit_shape` says (f16 two, tf32 four, e2m1 and scales one).
///
/// # Safety
/// The arrays are as long as said, at any address. d overlaps no other one. Null arrays are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_dot_packed(
    unit: *const mmascope_unit,
    n: usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    scale_a: *const c_void,
    scale_b: *const c_void,
    d: *mut c_void,
) -> c_int {
    let pointers = Pointers {
        a,
        b,
        c,
        scale_a,
        scale_b,
        d,
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { dots(unit, n, Form::Packed, pointers) })
}

/// Computes one instruction on tiles, D = C + A·B with A m × K, B K × n, C and D m × n, scales m × K/block and
/// K/block × n, all row-major, one register word per element. On an error d is left as it was.
///
/// # Safety
/// As `mmascope_dot`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_tile(
    unit: *const mmascope_unit,
    m: usize,
    n: usize,
    a: *const u64,
    b: *const u64,
    c: *const u64,
    scale_a: *const u64,
    scale_b: *const u64,
    d: *mut u64,
) -> c_int {
    let pointers = Pointers {
        a: a.cast(),
        b: b.cast(),
        c: c.cast(),
        scale_a: scale_a.cast(),
        scale_b: scale_b.cast(),
        d: d.cast(),
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { tile(unit, (m, n), Form::Words, pointers) })
}

/// As `mmascope_tile`, of packed arrays as `mmascope_dot_packed` takes them.
///
/// # Safety
/// As `mmascope_dot_packed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_tile_packed(
    unit: *const mmascope_unit,
    m: usize,
    n: usize,
    a: *const c_void,
    b: *const c_void,
    c: *const c_void,
    scale_a: *const c_void,
    scale_b: *const c_void,
    d: *mut c_void,
) -> c_int {
    let pointers = Pointers {
        a,
        b,
        c,
        scale_a,
        scale_b,
        d,
    };
    // SAFETY: the caller promises it.
    status(|| unsafe { tile(unit, (m, n), Form::Packed, pointers) })
}
