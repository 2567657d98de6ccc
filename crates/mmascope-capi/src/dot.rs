//! Dot products and tiles, one register word per `uint64_t`.

use std::ffi::c_int;

use crate::failure::status;
use crate::memory::{self, product};
use crate::unit::{mmascope_unit, unit};
use mmascope_model::dpa::{Modifiers, Operands, Tiles};

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
    status(|| {
        // SAFETY: the caller promises it.
        let unit = unsafe { self::unit(unit) }?;
        let (k, scales) = (unit.signature().k, unit.signature().scales());
        let (products, blocks) = (product("n", &[n, k])?, product("n", &[n, scales])?);
        // SAFETY: the caller promises it.
        let (a, b, c, scale_a, scale_b, d) = unsafe {
            (
                memory::read("a", a, products)?,
                memory::read("b", b, products)?,
                memory::read("c", c, n)?,
                memory::read("scale_a", scale_a, blocks)?,
                memory::read("scale_b", scale_b, blocks)?,
                memory::write("d", d, n)?,
            )
        };
        let mut results = Vec::with_capacity(n);
        for index in 0..n {
            let operands = Operands {
                a: &a[index * k..][..k],
                b: &b[index * k..][..k],
                c: c[index],
                scale_a: &scale_a[index * scales..][..scales],
                scale_b: &scale_b[index * scales..][..scales],
            };
            results.push(unit.dot(&operands, &Modifiers::default())?);
        }
        d.copy_from_slice(&results);
        Ok(())
    })
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
    status(|| {
        // SAFETY: the caller promises it.
        let unit = unsafe { self::unit(unit) }?;
        let (k, scales) = (unit.signature().k, unit.signature().scales());
        let outputs = product("m and n", &[m, n])?;
        // SAFETY: the caller promises it.
        let (tiles, d) = unsafe {
            let tiles = Tiles {
                m,
                n,
                a: memory::read("a", a, product("m", &[m, k])?)?,
                b: memory::read("b", b, product("n", &[k, n])?)?,
                c: memory::read("c", c, outputs)?,
                scale_a: memory::read("scale_a", scale_a, product("m", &[m, scales])?)?,
                scale_b: memory::read("scale_b", scale_b, product("n", &[scales, n])?)?,
            };
            (tiles, memory::write("d", d, outputs)?)
        };
        d.copy_from_slice(&unit.tile(&tiles, &Modifiers::default())?);
        Ok(())
    })
}
