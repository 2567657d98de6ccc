//! Any bytes as an `.npz` file: refused, or an array whose elements become operands.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

fuzz_target!(|bytes: &[u8]| entry::npz(bytes));
