//! Random words of many counters at once.

pub use crate::philox::philox;

/// `philox([index, first + i], key)` for every `i` of `out`, with the widest registers of the machine.
pub fn fill(index: [u32; 2], first: u32, key: [u32; 2], out: &mut [[u32; 4]]) {
    #[cfg(feature = "kernel")]
    crate::kernel::random::fill(index, first, key, out);
    #[cfg(not(feature = "kernel"))]
    crate::philox::fill(index, first, key, out);
}
