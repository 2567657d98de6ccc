//! Any bytes as an `.npy` file: refused, or an array whose elements become operands.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

fuzz_target!(|bytes: &[u8]| entry::npy(bytes));
