//! Summation trees of units and products.

use std::ffi::{c_char, c_int};

use crate::unit::{mmascope_unit, unit};
use crate::{failure::status, memory, text};
use mmascope_gemm::gemm::schedule::{OutputPlace, Schedule};
use mmascope_model::tree::{TreeFacts, TreeForm};

/// The summation tree of one output of a product over k, as the JSON text of a tree
/// file: nested, or flat above 1,000 levels. It says that the first k leaves are products. `schedule` may be NULL.
/// The buffer is as in `mmascope_unit_text`.
///
/// # Safety
/// As `mmascope_unit_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmascope_tree(
    unit: *const mmascope_unit,
    schedule: *const c_char,
    k: usize,
    buffer: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> c_int {
    status(|| {
        // SAFETY: the caller promises it.
        let (unit, schedule) = unsafe {
            (
                self::unit(unit)?,
                memory::text_or_none("schedule", schedule)?,
            )
        };
        let schedule: Schedule = schedule.map_or_else(|| Ok(Schedule::default()), str::parse)?;
        let tree = schedule.tree(unit, &OutputPlace::single(k))?;
        let facts = TreeFacts::of_subject("unit", unit.signature().a, schedule.format(unit), k);
        let file = tree.file_with(&facts, &[], TreeForm::Nested);
        // SAFETY: the caller promises it.
        unsafe { text::give(file.trim_end(), buffer, size, needed) }
    })
}
