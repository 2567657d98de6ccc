//! Any bytes as a `.safetensors` file: refused, or arrays whose elements become operands.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mmascope::array::{Array, Casting};
use mmascope::format::{BF16, E2M1FN, E4M3FN, F64, TF32, UE8M0};

fuzz_target!(|bytes: &[u8]| {
    for name in Array::safetensors_names(bytes).unwrap_or_default() {
        if let Ok(array) = Array::from_safetensors_bytes(bytes, &name) {
            assert!(array.bytes().len() <= bytes.len());
            for format in [F64, TF32, BF16, E4M3FN, E2M1FN] {
                let _ = array.words(&format, &Casting::default());
            }
            let _ = array.scale_words(&UE8M0);
        }
    }
});
