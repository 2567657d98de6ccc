//! Any bytes as a `.safetensors` file: refused, or arrays whose elements become operands.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

fuzz_target!(|bytes: &[u8]| entry::safetensors(bytes));
