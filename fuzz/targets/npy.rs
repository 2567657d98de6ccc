//! Any bytes as an `.npy` file: refused, or an array whose elements become operands.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mmascope::array::{Array, Casting};
use mmascope::format::{BF16, E2M1FN, E4M3FN, F64, TF32, UE8M0};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = Array::from_npy_bytes(bytes) {
        assert!(array.bytes().len() <= bytes.len());
        for format in [F64, TF32, BF16, E4M3FN, E2M1FN] {
            let _ = array.words(&format, &Casting::default());
        }
        let _ = array.scale_words(&UE8M0);
    }
});
