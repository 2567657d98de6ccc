//! Generated operands: a case is a function of family, seed and index.

use std::ffi::{c_char, c_int};

use crate::failure::{status, wrong};
use crate::memory;
use crate::unit::{mmascope_unit, unit};
use mmascope_lab::cases::{Family, Generator};

/// One case of a family for a unit: K words of a and of b, one of c, K/block of each scale (NULL where the unit has
/// none). The same family, seed and index give the same case on every machine, as `mmascope gen` prints it.
///
/// # Safety
/// `family` ends with a NUL; the arrays are as long as said and do not overlap. Null and misaligned ones are errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_case(
    unit: *const mmascope_unit,
    family: *const c_char,
    seed: u64,
    index: u64,
    a: *mut u64,
    b: *mut u64,
    c: *mut u64,
    scale_a: *mut u64,
    scale_b: *mut u64,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (unit, family) = unsafe { (self::unit(unit)?, memory::text("family", family)?) };
        let (k, scales) = (unit.signature().k, unit.signature().scales());
        let places = (scale_a, scale_b);
        // SAFETY: the caller promises it.
        let (a, b, c, scale_a, scale_b) = unsafe {
            (
                memory::write("a", a, k)?,
                memory::write("b", b, k)?,
                memory::place("c", c)?,
                memory::write("scale_a", scale_a, scales)?,
                memory::write("scale_b", scale_b, scales)?,
            )
        };
        if scales == 0 {
            memory::without("scale_a", places.0)?;
            memory::without("scale_b", places.1)?;
        }
        let generator = Generator::for_unit(Family::named(family)?, seed, unit)?;
        if let Some(count) = generator.count()
            && index >= count
        {
            return Err(wrong(format!(
                "index is {index}; {family} has {count} cases"
            )));
        }
        let case = generator.case(index);
        a.copy_from_slice(&case.a);
        b.copy_from_slice(&case.b);
        *c = case.c;
        scale_a.copy_from_slice(&case.scale_a);
        scale_b.copy_from_slice(&case.scale_b);
        Ok(())
    })
}
