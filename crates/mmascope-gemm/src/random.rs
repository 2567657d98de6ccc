//! Computes random words of many counters at once. It uses no other part of the crate.

#[cfg(all(feature = "kernel", target_arch = "x86_64"))]
mod avx2;
mod philox;

pub use philox::philox;

/// `philox([index, first + i], key)` for every `i` of `out`, with the widest registers of the machine.
pub fn fill(index: [u32; 2], first: u32, key: [u32; 2], out: &mut [[u32; 4]]) {
    #[cfg(all(feature = "kernel", target_arch = "x86_64"))]
    if avx2::fill(index, first, key, out) {
        return;
    }
    philox::fill(index, first, key, out);
}
